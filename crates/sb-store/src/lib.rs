//! Everything durable.

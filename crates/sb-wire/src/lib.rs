//! Protocols spoken from both ends; no I/O.

pub mod sse;

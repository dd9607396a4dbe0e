//! Protocols spoken from both ends; no I/O.

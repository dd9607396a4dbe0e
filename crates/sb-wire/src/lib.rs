//! Protocols spoken from both ends; no I/O.

pub mod jsonrpc;
pub mod sse;

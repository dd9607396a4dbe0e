//! Protocols spoken from both ends; no I/O.

pub mod a2a;
pub mod jsonrpc;
pub mod openai;
pub mod sse;

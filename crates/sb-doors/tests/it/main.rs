//! The doors over real sockets: requests as programs send them, answers as they come back.
//!
//! Each test has a home, an engine and a listener of its own, so they run side by side. Waiting is done
//! by following events or asking again a bounded number of times, never by sleeping.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod a2a;
mod a2a_pushes;
mod approvals;
mod bad_input;
mod channels;
mod closing;
mod concurrency;
mod files;
mod guesses;
mod hooks;
mod keys;
mod local;
mod messages;
mod messenger;
mod openai;
mod page;
mod people;
mod server;
mod sessions;
mod status;
mod streaming;
mod tls;
mod tokens;

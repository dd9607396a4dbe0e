//! The shared suites: laws as functions, called from the `tests/it` of the crates they hold for.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a suite fails by panicking")]

pub mod channel;
pub mod store;

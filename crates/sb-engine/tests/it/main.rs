//! The engine whole: real store, scripted agent, spoken to as a door speaks to it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod budgets;
mod chat;
mod choices;
mod live;
mod restart;
mod sessions;
mod tokens;

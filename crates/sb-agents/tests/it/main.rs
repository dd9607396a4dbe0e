//! Agents elsewhere, under the whole engine.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod a2a;
mod a2a_agent;
mod acp;
mod pi;
mod world;

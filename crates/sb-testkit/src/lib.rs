//! Simulated world, scripted harness, the shared suites.

pub mod app;
pub mod bench;
pub mod harness;
mod hooked;
pub mod messenger;
pub mod models;
pub mod simulation;
pub mod soak;
pub mod suites;
mod wait;

pub use wait::until;

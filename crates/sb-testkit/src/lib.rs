//! Simulated world, scripted harness, the shared suites.

pub mod models;
pub mod suites;

//! Simulated world, scripted harness, the shared suites.

pub mod suites;

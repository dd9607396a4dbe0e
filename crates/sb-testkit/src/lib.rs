//! Simulated world, scripted harness, the shared suites.

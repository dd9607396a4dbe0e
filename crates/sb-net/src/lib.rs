//! The outside, injected: HTTP, child processes, the clock and chance.

pub use sb_model as model;

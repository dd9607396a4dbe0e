//! The decisions, as small state machines: no `async`, no clock, no chance, no I/O.

pub use sb_model as model;

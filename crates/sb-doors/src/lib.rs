//! Ways in: each translates its wire to the engine API and back, and nothing else.
//!
//! A door names no messenger, no harness and no store; it knows who asks, and asks the engine.

pub mod a2a;
pub mod http;
pub mod local;
pub mod openai;
pub mod standing;
pub mod terminal;
pub mod trust;

pub use sb_engine as engine;
pub use sb_engine::model;

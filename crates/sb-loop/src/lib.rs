//! The built-in model loop: asks a model, runs the tools it calls, and asks again until it is done.
//!
//! A pure machine ([`view`](crate::view)) reads the next step off the session's log; a thin shell
//! ([`turn`](crate::turn)) performs it and logs what came of it. So going on after an approval, after
//! a restart and after a plain answer are one path. Providers are data (`providers/*.toml`); a dialect
//! is a pair of pure functions, request out and stream in. Invariants: no call acts before the engine
//! says `Go`; nothing is tried again once words were shown or a tool ran; dropping a turn closes its
//! connection and kills its programs.

mod answer;
mod calling;
mod compact;
mod dialect;
mod harness;
mod lending;
mod opening;
mod pictures;
mod providers;
mod quarantine;
pub mod sheets;
mod source;
mod toolbox;
mod tools;
mod transcript;
mod trouble;
mod turn;
mod view;

pub use dialect::reading::read_stream;
pub use harness::{Keys, LoopContext, LoopHarness};
pub use providers::{Dialect, Family, Price, Provider, check_model, providers};
pub use toolbox::{Offer, Toolbox};
pub use tools::{Done, Outcome, ToolDef, tool_defs};

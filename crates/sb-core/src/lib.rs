//! The decisions, as small state machines.
//!
//! No `async`, no clock, no chance, no I/O: time comes in as an argument, what follows comes out as
//! values. Everything here can be tested by the million.

mod apply;
pub mod commands;
mod conversation;
mod ids;
pub mod lines;
mod permit;
mod reply;
pub mod rules;
mod slots;
mod view;

pub use apply::apply;
pub use conversation::{Context, Conversation, Effect, Input, Outcome, Seen, Show};
pub use permit::{Standing, permit};
pub use reply::{failure_card, said_from, waiting_line};
pub use sb_model as model;
pub use slots::Slots;
pub use view::view;

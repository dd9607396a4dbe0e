//! The decisions, as small state machines.
//!
//! No `async`, no clock, no chance, no I/O: time comes in as an argument, what follows comes out as
//! values. Everything here can be tested by the million.

mod apply;
mod breaker;
pub mod commands;
mod conversation;
pub mod gate;
mod ids;
pub mod lines;
mod outside;
mod permit;
mod presenter;
mod quota;
mod reply;
pub mod rules;
pub mod sending;
mod slots;
mod view;

pub use apply::apply;
pub use breaker::Breaker;
pub use conversation::{Context, Conversation, Effect, Growing, Input, Outcome, Prepared, Seen, Show};
pub use outside::Prints;
pub use permit::{Standing, permit};
pub use presenter::{Pace, Presenter, Showing};
pub use quota::{Quota, Quotas};
pub use reply::{failure_card, said_from, waiting_line};
pub use sb_model as model;
pub use slots::Slots;
pub use view::view;

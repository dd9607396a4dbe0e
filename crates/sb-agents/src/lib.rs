//! Agents that run elsewhere, as harnesses.
//!
//! They keep a memory of their own and act by themselves; what they ask for passes our gate, what they do
//! is logged as they tell it. None of them is trusted with our keys or our environment.

mod a2a;
mod acp;
mod exit;
mod keep;
mod lending;
mod pi;

pub use a2a::{A2aContext, A2aHarness, A2aKeys};
pub use acp::{AcpContext, AcpHarness, Launch, Launching, Preset, presets};
pub use pi::{PiHarness, key_variable};

//! Runs it all: one actor for each conversation with something to do, and the engine API for doors.
//!
//! The engine commits what the core decides and performs what follows, in that order. It names no
//! door, no messenger and no harness; those are handed to it. Its invariant: nothing leaves the
//! process before the commit that says so.

mod actor;
mod actors;
mod api;
mod asked;
mod bridge;
mod care;
mod desk;
mod error;
mod first_word;
mod follow;
mod house;
mod jobs;
mod kept;
mod ledger;
mod live;
mod mcp;
mod meter;
mod notes;
mod places;
mod prepare;
mod profiles;
mod stirred;
mod tasks;
mod tokens;
mod turn;
mod waker;

pub use api::{Agents, Engine, Parts, Receipt, Submitted};
pub use asked::SubmittedAsked;
pub use bridge::{BadConfig, BridgeState, BridgeStatus, ChannelView, LogLine, Replayed, check_config};
pub use care::Checkup;
pub use desk::{Health, SessionView};
pub use error::{EngineError, EngineErrorKind, Result};
pub use follow::{Follow, ReplyEvent};
pub use jobs::{JobTime, JobView, JobWish, RunState, RunView, schedule_shown};
pub use ledger::{AccountView, LedgerWish, Signed};
pub use mcp::mcp_secret;
pub use sb_channel as channel;
pub use sb_core as core;
pub use sb_core::model;
pub use sb_harness as harness;
pub use sb_store as store;
pub use stirred::Touched;
pub use tasks::Looked;

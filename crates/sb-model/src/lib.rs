//! The vocabulary every room shares: ids, messages, changes, faults, and the traits for time and chance.
//!
//! No behaviour lives here beyond parsing and printing the values themselves: decisions are
//! `sb-core`'s, storage is `sb-store`'s. A type here is serialisable only because it is stored.

mod account;
mod address;
mod asked;
mod budget;
mod call;
mod change;
mod channel;
mod ending;
mod exchange;
mod fault;
mod harness_ref;
mod house;
mod ids;
mod job;
mod mcp;
mod memory;
mod message;
mod post;
mod profile;
mod record;
mod secret;
mod time;
mod turn;

pub use account::AccountKey;
pub use address::{Address, Chat, ChatSort, FileRef, Handle, Origin, Person};
pub use asked::{Asked, Before, Place};
pub use budget::{Budget, Budgets};
pub use call::{Call, Rule, ToolClass, Verdict, Ways};
pub use change::{Change, Choices, Decision, Exchange, Session, SessionBrief, Snapshot};
pub use channel::{ChannelConfig, ChannelOptions, ChatFacts, Guest, Isolation, Limit, Pairing, Streaming};
pub use ending::{EndKind, Ending, Refusal};
pub use exchange::{DECLINED, HarnessEvent, HarnessInput, ToolUpdate};
pub use fault::{Fault, FaultKind, TurnFault, TurnFaultKind};
pub use harness_ref::HarnessRef;
pub use house::{HOUSE_TOOLS, HouseTool, house_tool};
pub use ids::{
    BadId, CallId, ConversationId, Digest, MessageId, MessageRef, ProfileName, RequestId, Seq, SessionId,
    Slug, TokenId, TurnId,
};
pub use job::{Job, JobRun, Schedule};
pub use mcp::{McpAt, McpFound, McpOverride, McpServer, McpTool, McpToolState};
pub use memory::Memo;
pub use message::{Attachment, Busy, Inbound, Key, Manner, Message, Principal, Rights};
pub use post::{Choice, Post, PostKey, Tone};
pub use profile::{Level, ModelRef, Profile, ToolSet};
pub use record::{Entry, Record};
pub use sb_text as text;
pub use secret::Secret;
pub use time::{Clock, Dice, Timestamp};
pub use turn::{Pending, Phase, StopReason, Task, Turn, Usage};

//! Turns: one run of the harness, from its prompt to its stop reason.

use serde::{Deserialize, Serialize};

use crate::{Call, Message, Principal, RequestId, Rights, Seq, SessionId, Timestamp, TurnId, Ways};

/// What a turn is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Answer what was said.
    Answer,
    /// Shorten the session: its beginning becomes a summary.
    Compact,
}

/// Where a turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Wants a slot, or has one and its harness is at work.
    Running,
    /// Its task has ended; a person must decide. Keeps nothing in memory and no slot.
    Parked,
    /// Told to stop; ends within ten seconds.
    Stopping,
}

/// The request a turn waits on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    pub request: RequestId,
    pub call: Call,
    /// Why it is asked, such as "a write at autonomy L3".
    pub reason: String,
    /// Its arguments carry text from outside, so it is allowed once at most.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub carries: bool,
    #[serde(default, skip_serializing_if = "Ways::is_plain")]
    pub ways: Ways,
    pub since: Timestamp,
}

/// One run over what was said, as stored. It outlives the process: `starts` counts how often it was begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub id: TurnId,
    pub session: SessionId,
    pub task: Task,
    pub phase: Phase,
    /// Every message this turn answers, with the place in the log from which its answer counts:
    /// those it began with, those steered in, and the commands that decided a request of it.
    pub messages: Vec<(Message, Seq)>,
    /// 1 when first begun; a third crash fails the turn.
    pub starts: u32,
    pub pending: Option<Pending>,
    /// Calls a person allowed that have not run yet: the digest, and who allowed it.
    pub granted: Vec<(crate::Digest, Principal)>,
    /// The least of the rights of those it speaks for.
    pub rights: Rights,
    pub began: Timestamp,
    /// Milliseconds spent working before the current stretch, for the deadline.
    pub worked_ms: i64,
}

/// Why a turn ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The agent said all it had to say.
    Done,
    /// A person must decide; the turn goes on from its log afterwards.
    Parked,
    /// It was told to stop.
    Stopped,
    /// The model declined to answer.
    Declined,
    /// A limit of the model's or the loop's cut it short.
    Limit,
}

/// What was used, as the provider counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Model calls.
    pub calls: u64,
    /// Tokens read, cached ones included.
    pub input: u64,
    /// Of `input`, those read from a cache.
    pub cached: u64,
    /// Tokens written.
    pub output: u64,
    /// Millionths of a US dollar, as far as the provider's prices are known.
    pub cost_micros: u64,
    pub turns: u64,
    pub messages: u64,
    /// Tool calls that were asked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tools: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, more: Usage) {
        self.calls += more.calls;
        self.input += more.input;
        self.cached += more.cached;
        self.output += more.output;
        self.cost_micros += more.cost_micros;
        self.turns += more.turns;
        self.messages += more.messages;
        self.tools += more.tools;
    }
}

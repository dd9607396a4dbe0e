//! What can go wrong outside, sorted by what is to be done about it.

use serde::{Deserialize, Serialize};

/// How a failure of something outside is treated; one table acts on it, nobody else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// Busy, limited, slow, unreachable: may pass. `wait_ms` is what the other side asked for.
    Passing { wait_ms: Option<u64> },
    /// As `Passing`, but of one chat only: it says nothing about the rest of the account.
    ChatBusy { wait_ms: Option<u64> },
    /// This very thing will never be taken.
    Refused,
    /// Its formatting is not taken; the same words may go without.
    Format,
    /// What it names (a message to edit, a thread) is no longer there; the same may go without it.
    Lost,
    /// The chat is elsewhere now, under this id.
    Moved { to: String },
    /// Blocked, kicked, deleted: nothing reaches this chat until it speaks again.
    ChatGone,
    /// The handle for this answer is used up or too old.
    Expired,
    /// This cannot be done here at all, such as a method an older server does not know.
    Unsupported,
    /// Our credentials are not accepted.
    Auth,
    /// The other side answered with something we cannot read.
    Garbled,
}

/// A failure of something outside: its kind, and a sentence free of secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{doing}: {detail}")]
pub struct Fault {
    pub kind: FaultKind,
    /// What we were doing, such as "asking api.example.org".
    pub doing: String,
    /// What came of it; never a whole URL, never a header.
    pub detail: String,
    /// It was sent and the answer was lost, so it may have been done.
    pub maybe_done: bool,
    /// HTTP status, where there was one.
    pub status: Option<u16>,
}

impl Fault {
    /// One that is known before anything was asked: nothing was done, and there is no status.
    pub fn new(kind: FaultKind, doing: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { kind, doing: doing.into(), detail: detail.into(), maybe_done: false, status: None }
    }

    /// The same, where a limit (429) is of one chat only and says nothing about the rest of the account.
    pub fn of_chat(mut self) -> Self {
        if let (FaultKind::Passing { wait_ms }, Some(429)) = (&self.kind, self.status) {
            self.kind = FaultKind::ChatBusy { wait_ms: *wait_ms };
        }
        self
    }
}

/// Why a turn failed, told in the chat (never silence).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnFaultKind {
    /// The provider is overloaded or failing; trying again later helps.
    Overloaded,
    /// The provider limits how often we may ask.
    RateLimited,
    /// The provider wants money or quota.
    Credit,
    /// The provider does not take our key, or there is none.
    Auth,
    /// The provider could not be reached.
    Network,
    /// The provider refused the request itself (unknown model, bad parameters).
    Refused,
    /// The conversation no longer fits the model.
    ContextFull,
    /// A budget that the operator set is used up.
    Budget,
    /// The turn took longer than its deadline.
    Deadline,
    /// The harness crashed, or its turn was cut off too often.
    Crashed,
    /// The machine on which the agent runs cannot be reached.
    NodeOffline,
    /// Something of ours, such as a profile that is gone.
    Internal,
}

impl TurnFaultKind {
    /// The word for it in traces and for programs, out of a closed list that says how a turn failed. Besides these
    /// there are `refusal`, `max_tokens` and `cancelled`, which end a turn without failing it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Credit | Self::Budget => "quota",
            Self::RateLimited => "rate_limit",
            Self::Auth => "auth",
            Self::Refused => "bad_request",
            Self::ContextFull => "context_exhausted",
            Self::Deadline => "timeout",
            Self::Overloaded | Self::Network => "provider_unavailable",
            Self::NodeOffline => "node_offline",
            Self::Crashed => "harness_exited",
            Self::Internal => "unknown",
        }
    }
    /// Whether the same may go well when it is tried again as it is.
    pub fn may_pass(self) -> bool {
        !matches!(self, Self::ContextFull | Self::Budget | Self::Internal)
    }
}

/// A failed turn: the kind, and one sentence for the person, without secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{detail}")]
pub struct TurnFault {
    pub kind: TurnFaultKind,
    pub detail: String,
    /// How long the provider asked us to wait, if it said.
    pub wait_ms: Option<u64>,
}

impl TurnFault {
    pub fn new(kind: TurnFaultKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), wait_ms: None }
    }
}

//! How a message ends: exactly one of these, checked by type, never by text.

use serde::{Deserialize, Serialize};

use crate::{Attachment, RequestId, Seq, SessionId, TurnFault, TurnId};

/// The sorts of ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndKind {
    /// Answered.
    Replied,
    /// For the moment: a person must decide. The message keeps waiting, and ends once more later.
    Waiting,
    /// The turn failed; the text says what failed and what to do.
    Failed,
    /// Stopped by a person; the text holds what was written so far.
    Stopped,
    /// The agent chose to say nothing.
    Silent,
    /// Dropped by `/stop` before its turn.
    Dropped,
    /// Not taken up: see the refusal.
    Refused,
}

/// Why a message was not taken up. Each has one HTTP status and one code word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// 403: the sender may talk, not decide.
    MayNotDecide,
    /// 403: the sender may talk, not change what the chat chose.
    MayNotInstruct,
    /// 409: a turn is running and this cannot be done meanwhile.
    Busy,
    /// 409: the approval named is not the one that waits, or none waits.
    NotWaiting,
    /// 409: a call waits for a person, and this cannot be done meanwhile.
    Waiting,
    /// 409: the session named is not the conversation's current one.
    OtherSession,
    /// 400: the command's words are not understood.
    BadCommand,
    /// 404: what the command names does not exist.
    Unknown,
    /// 403: the ledger has the profile's agent, or one above it, suspended.
    Suspended,
    /// 429: a budget is used up.
    Budget,
}

/// How one message ended. What happened in order is the log from `from` to `to`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    pub kind: EndKind,
    /// What is said back, Markdown.
    pub said: String,
    pub session: Option<SessionId>,
    pub turn: Option<TurnId>,
    /// The stretch of the session's log that belongs to this answer, both ends included; empty if `from` > `to`.
    pub from: Seq,
    pub to: Seq,
    /// Files the agent shared, in order.
    pub files: Vec<Attachment>,
    /// The request that waits, where `kind` is waiting.
    pub waiting: Option<RequestId>,
    pub refusal: Option<Refusal>,
    pub fault: Option<TurnFault>,
}

impl Ending {
    /// An answer of our own that touches no log: commands, refusals.
    pub fn plain(kind: EndKind, said: impl Into<String>, session: Option<SessionId>) -> Self {
        Self {
            kind,
            said: said.into(),
            session,
            turn: None,
            from: Seq(1),
            to: Seq(0),
            files: Vec::new(),
            waiting: None,
            refusal: None,
            fault: None,
        }
    }
}

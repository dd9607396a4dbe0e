//! A session's log: the memory of the agent, append-only. `/undo` and `/compact` add records too.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Attachment, Call, CallId, EndKind, MessageId, Principal, RequestId, Rule, Seq, Timestamp, TurnFault,
    TurnId, Usage,
};

/// One record with its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub seq: Seq,
    pub at: Timestamp,
    /// The turn it belongs to; none for what a command did between turns.
    pub turn: Option<TurnId>,
    pub record: Record,
}

/// One thing that happened in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// A person's words, as they reach the agent.
    Said {
        message: MessageId,
        from: Principal,
        text: String,
        files: Vec<Attachment>,
        /// It was said while the agent worked, and reached it before a step.
        steered: bool,
    },
    /// One whole answer of the model: words, then calls.
    Answered {
        text: String,
        calls: Vec<Call>,
        /// `provider:id` of the model that answered.
        model: String,
        /// Blocks the provider wants back unchanged within the turn (signed thinking), by its name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<Value>,
        usage: Usage,
        /// The answer was cut off: by a stop, a failure, or the model's limit.
        #[serde(default)]
        cut: bool,
    },
    /// A person must decide a call.
    Asked { request: RequestId, call: CallId, reason: String },
    /// A person decided; the very call it is about stands here, so the record speaks for itself.
    Decided {
        request: RequestId,
        call: Call,
        by: Principal,
        allowed: bool,
        why: String,
        always: Option<Rule>,
    },
    /// A call that acts is about to run; written before it does.
    Acting { call: CallId },
    /// What came of a call.
    Result {
        call: CallId,
        ok: bool,
        text: String,
        files: Vec<Attachment>,
        /// It brought content from outside, which is never an instruction.
        #[serde(default)]
        outside: bool,
    },
    /// A file the agent shares with the person, after its reply.
    Shared { file: Attachment },
    /// The turn's last exchange is forgotten; what its calls did stays done.
    Undone { turn: TurnId },
    /// All up to and including `covers` is remembered as these words.
    Summary { text: String, covers: Seq },
    /// An agent elsewhere holds this session from here on, under an id of its own.
    Opened { id: String },
    /// The turn was cut off by a restart and begun again.
    Restarted { starts: u32 },
    /// The turn ended.
    Ended {
        how: EndKind,
        fault: Option<TurnFault>,
        /// The model, or its provider's filter, declined to answer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        declined: bool,
    },
    /// Something a command changed, for the trace: what, and who. `told`: it is part of the reply too.
    Noted { text: String, by: Principal, told: bool },
}

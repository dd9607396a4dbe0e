//! Changes: everything a decision about a conversation can record, and the state they add up to.
//!
//! One decision is one list of changes and one transaction. `sb-core` folds them over a [`Snapshot`];
//! the store writes them as rows and reads the same snapshot back: a law of the store suite.

use serde::{Deserialize, Serialize};

use crate::{
    AccountKey, Call, ConversationId, Digest, Ending, Entry, Message, MessageId, Pending, Phase, Post,
    PostKey, Principal, ProfileName, Record, RequestId, Rights, Rule, Seq, SessionId, Task, Timestamp, Turn,
    TurnId, Usage,
};

/// What a chat chose; holds for its current and later sessions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Choices {
    /// `provider:id` of one of the profile's models.
    pub model: Option<String>,
    /// What the chat asks of the agent, after the operator's instructions.
    pub system: Option<String>,
    /// The only tools the agent may use here, of those the profile gives.
    pub tools: Option<Vec<String>>,
}

/// A session without its log.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    pub id: SessionId,
    pub title: Option<String>,
    pub began: Timestamp,
    /// It has read content from outside since a person last decided something in it.
    pub tainted: bool,
    /// What may run unasked for the rest of the session.
    pub allowed: Vec<Rule>,
    pub usage: Usage,
    /// The last entry of its log.
    pub last: Seq,
}

/// One exchange of a session that `/undo` and `/retry` can take up, as the store finds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    pub turn: TurnId,
    /// Its `Said` records, in order.
    pub prompts: Vec<Record>,
    /// What was answered.
    pub said: String,
}

/// A decision about a request of the agent's, as its session's log has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    pub request: RequestId,
    pub allowed: bool,
    pub by: Principal,
}

/// A session as lists show it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionBrief {
    pub id: SessionId,
    pub conversation: ConversationId,
    pub profile: ProfileName,
    pub title: Option<String>,
    pub began: Timestamp,
    pub last_active: Timestamp,
    pub current: bool,
    pub usage: Usage,
    /// `idle`, `running`, `waiting`; always idle for one that is not current.
    pub state: String,
}

/// One conversation as its actor knows it: everything but the logs.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    pub id: ConversationId,
    pub profile: ProfileName,
    pub choices: Choices,
    /// The current session; none until the first turn begins.
    pub session: Option<Session>,
    /// Taken, not yet of a turn, without an ending; in the order of taking.
    pub waiting: Vec<Message>,
    pub turn: Option<Turn>,
    /// The newest message taken in this conversation, whether it has its ending or not.
    pub newest: MessageId,
    /// A question was closed here and nobody has spoken to the agent since: an answer that comes late is no
    /// message to it.
    pub ask_closed: bool,
}

/// One thing a decision records. `Logged` carries its place, so replaying a decision writes the same rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A new session, and it is the current one.
    SessionBegan {
        id: SessionId,
        at: Timestamp,
    },
    /// An older session of the conversation is current again.
    SessionResumed(Session),
    Titled {
        session: SessionId,
        title: String,
    },
    Chose(Choices),
    /// All that may run unasked in the session, from now on.
    Allowed {
        session: SessionId,
        rules: Vec<Rule>,
    },
    Tainted {
        session: SessionId,
        tainted: bool,
    },
    Logged {
        session: SessionId,
        entry: Entry,
    },
    /// The house does this call for the agent, in this very transaction, and writes what came of it into the
    /// log, in this place.
    House {
        session: SessionId,
        seq: Seq,
        at: Timestamp,
        turn: TurnId,
        agent: Option<AccountKey>,
        call: Box<Call>,
    },
    /// A turn begins over these waiting messages, each answered from `from` on; they wait no longer.
    TurnBegan {
        turn: TurnId,
        session: SessionId,
        task: Task,
        messages: Vec<MessageId>,
        from: Seq,
        /// The least of the rights of those it speaks for.
        rights: Rights,
        at: Timestamp,
    },
    /// Begun again after a crash.
    TurnRestarted {
        turn: TurnId,
    },
    /// Laid down by a clean end of the program, which is no crash: this start does not count.
    TurnLaidDown {
        turn: TurnId,
    },
    /// A waiting message becomes part of the running turn: steered words, or a decision.
    Joined {
        turn: TurnId,
        message: MessageId,
        from: Seq,
        /// The turn's rights from now on.
        rights: Rights,
    },
    /// A person must decide, or has: none.
    Asks {
        turn: TurnId,
        pending: Option<Pending>,
    },
    Granted {
        turn: TurnId,
        granted: Vec<(Digest, Principal)>,
    },
    Entered {
        turn: TurnId,
        phase: Phase,
        worked_ms: i64,
    },
    /// The turn is over. `exchange`: it was one of the talk, which `/undo` may take back.
    TurnEnded {
        turn: TurnId,
        exchange: bool,
    },
    /// The exchange is forgotten: the next `/undo` means the one before.
    Undone {
        turn: TurnId,
    },
    Used {
        session: SessionId,
        usage: Usage,
    },
    /// What somebody's messages used, counted for their day.
    Spent {
        by: Principal,
        at: Timestamp,
        used: Usage,
    },
    /// A message has its ending.
    Ended {
        message: MessageId,
        ending: Ending,
    },
    /// A waiting message was changed by whoever wrote it.
    Edited {
        message: MessageId,
        text: String,
    },
    /// Something is to be put into a chat. A key that is known already changes nothing.
    Posted(Box<Post>),
    /// What a question says changed, wherever it was shown: its words are these now, and it asks nothing any more. Where it is out
    /// already it is edited if the platform can, else it stays as it is.
    Reposted {
        key: PostKey,
        text: String,
    },
    /// See [`Snapshot::ask_closed`].
    AskClosed(bool),
    /// When the conversation wants to be woken, if ever.
    WakeAt(Option<Timestamp>),
}

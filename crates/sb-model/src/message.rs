//! What comes in: a message with its attachments, who said it, and how its way in wants it treated.

use serde::{Deserialize, Serialize};

use crate::{ConversationId, Digest, MessageId, Origin, ProfileName, SessionId, Timestamp};

/// Who spoke or decided, as the way in names them: `http:token 3046d92e`, `cli:ada`, `slack:U07`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Principal(pub String);

impl Principal {
    /// Whether it is another agent, whose words are content from outside.
    pub fn is_agent(&self) -> bool {
        self.0.starts_with("a2a:")
    }
}

/// What a principal may do in the conversation it wrote to, beyond talking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rights {
    /// May approve and decline.
    pub decide: bool,
    /// May change what the chat chose: `/model`, `/system`, `/tools`.
    pub instruct: bool,
}

impl Rights {
    /// Everything.
    pub const ALL: Rights = Rights { decide: true, instruct: true };
    /// Talking only.
    pub const TALK: Rights = Rights { decide: false, instruct: false };
    /// What both have.
    pub fn least(self, other: Rights) -> Rights {
        Rights { decide: self.decide && other.decide, instruct: self.instruct && other.instruct }
    }
}

/// What a plain message does to a conversation whose turn is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Busy {
    /// Reach the agent before its next step; with no further step, a turn of its own.
    Steer,
    /// A turn of its own afterwards.
    Queue,
    /// All that waits is one turn afterwards.
    Collect,
    /// Stop the agent; its reply is what it wrote so far; then a turn of its own.
    Interrupt,
    /// Refuse it (HTTP 409).
    Refuse,
}

/// How a way in wants its messages treated. Travels with each message, so that a restart changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manner {
    pub busy: Busy,
    /// How long to wait for more messages of the same chat, in milliseconds; 0 answers at once.
    pub debounce_ms: u32,
    /// Commands that cannot be answered during a turn: wait for its end, or are refused at once.
    pub commands_wait: bool,
    /// A whole message that is only "stop", "wait" … counts as `/stop`.
    pub stop_words: bool,
    /// Several people write here, so each line of a joined turn says who wrote it.
    pub names_writers: bool,
    /// A request that waits for a person is withdrawn after this time; none: it waits as long as needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask_expiry_ms: Option<u64>,
}

/// One file that came with a message, its bytes in the blob store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// A bare file name, never a path.
    pub name: String,
    /// By its bytes where they tell, else as declared.
    pub media_type: String,
    /// Bytes.
    pub size: u64,
    pub digest: Digest,
}

impl Attachment {
    /// Largest picture that is shown to a model, in bytes.
    pub const LARGEST_PICTURE: u64 = 5 * 1024 * 1024;
    /// Whether a model can be shown it as a picture.
    pub fn is_picture(&self) -> bool {
        matches!(self.media_type.as_str(), "image/png" | "image/jpeg" | "image/gif" | "image/webp")
            && self.size <= Self::LARGEST_PICTURE
    }
    /// Whether a model that takes documents can be shown it as one.
    pub fn is_document(&self) -> bool {
        self.media_type == "application/pdf" && self.size <= Self::LARGEST_PICTURE
    }
}

/// What a way in calls one message, so that a repeat of it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Unique across the whole store: begins with the way in's name.
    pub text: String,
    /// What it stands for; another digest under a known key is a mistake of the sender's.
    pub body: Digest,
    /// How long it is remembered, in milliseconds.
    pub kept_ms: i64,
}

/// What a way in hands over; it becomes a [`Message`] once it is durable.
#[derive(Debug, Clone, PartialEq)]
pub struct Inbound {
    pub conversation: ConversationId,
    pub profile: ProfileName,
    /// Set where the sender means one session (`continue <session>`): refused if it is not the current one.
    pub session: Option<SessionId>,
    /// The way in's own key for this message. A known key gives the first message's receipt.
    pub key: Option<Key>,
    pub from: Principal,
    pub rights: Rights,
    pub text: String,
    pub files: Vec<Attachment>,
    pub manner: Manner,
    /// Set for what came by a messenger.
    pub origin: Option<Box<Origin>>,
}

/// A taken message: durable, and kept until it has its ending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    pub at: Timestamp,
    pub from: Principal,
    pub rights: Rights,
    pub text: String,
    pub files: Vec<Attachment>,
    pub manner: Manner,
    /// As in [`Inbound::session`].
    pub session: Option<SessionId>,
    /// As in [`Inbound::origin`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Box<Origin>>,
}

//! Where a message on a messenger came from, fixed when it is taken: it travels with the message, its
//! turn and its reply, so there is no "last chat" anywhere.

use serde::{Deserialize, Serialize};

use crate::{MessageRef, Slug, Timestamp};

/// What sort of chat it is; features differ by it, and so does who is let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatSort {
    /// One person and us.
    Direct,
    /// Several people.
    Group,
}

/// A place on a platform, as its adapter names it. A missing thread where one was given is another place.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Chat {
    /// The platform's id of it.
    pub id: String,
    /// Its thread or topic, where the platform keeps these apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    pub sort: ChatSort,
}

impl Chat {
    /// A direct chat without threads.
    pub fn direct(id: impl Into<String>) -> Self {
        Self { id: id.into(), thread: None, sort: ChatSort::Direct }
    }
    /// A group without threads.
    pub fn group(id: impl Into<String>) -> Self {
        Self { id: id.into(), thread: None, sort: ChatSort::Group }
    }
}

/// Who wrote, as the platform knows them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Person {
    /// The platform's own, unchanging id; none for somebody it does not name (an anonymous admin, a
    /// channel), who is never let decide.
    pub id: Option<String>,
    /// What people call them. A label only: never compared with anything.
    pub name: String,
    /// The platform says it is a program.
    pub bot: bool,
}

/// What a platform lends for one answer: a reply token, an open request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Handle {
    pub token: String,
    /// No use after this.
    pub until: Timestamp,
    /// How many messages it is good for.
    pub uses: u32,
}

/// Where an answer goes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Address {
    pub channel: Slug,
    pub chat: Chat,
    /// The message it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<Handle>,
}

impl Address {
    /// Whether both are the same place of the same channel.
    pub fn is_same_place(&self, other: &Address) -> bool {
        self.channel == other.channel && self.chat == other.chat
    }
}

/// A file that still lies on the platform. Works after a restart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRef {
    /// Opaque to all but the adapter.
    pub reference: String,
    /// As the platform gives it; reduced to a bare name when it is kept. May be empty.
    pub name: String,
    /// As declared; what counts is the bytes. May be empty.
    pub media_type: String,
    /// Bytes, where the platform says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// It is a voice note of so many seconds; zero: the platform does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voice_s: Option<u32>,
}

/// What a message on a messenger has beyond its words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub address: Address,
    pub person: Person,
    /// What it refers to, a line each, for the agent: a quoted or forwarded message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileRef>,
    /// Messages of one album are one turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub album: Option<String>,
    /// It was meant for us. An album with no such message is dropped.
    pub addressed: bool,
}

//! A configured messenger as it is stored, and what a home remembers of its chats and people.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Busy, Chat, ProfileName, Slug, Timestamp};

/// One configured channel. Its secrets are kept apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelConfig {
    pub slug: Slug,
    /// The kind's id.
    pub kind: String,
    pub profile: ProfileName,
    pub enabled: bool,
    /// Fields that are no secrets.
    pub settings: BTreeMap<String, String>,
    pub options: ChannelOptions,
}

/// How a channel behaves: the flags of `bridge`, which `channel add` and `channel set` keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChannelOptions {
    /// Chats answered by another profile.
    pub routes: BTreeMap<String, ProfileName>,
    pub debounce_ms: u32,
    pub busy: Busy,
    pub stream: Streaming,
    pub typing: bool,
    pub reactions: bool,
    /// Who may decide, by their ids; nobody named: whoever may talk, unless anybody may.
    pub approvers: Vec<String>,
    /// People and chats let in, by their ids; `*` lets anybody in.
    pub allow: Vec<String>,
    /// In groups only what mentions us is for us.
    pub require_mention: bool,
    /// A final answer is sent fresh, not by editing, when the message shown meanwhile is older than this.
    pub fresh_final_s: Option<u64>,
    /// What was said while the bridge was down is answered if it is no older than this.
    pub catch_up_s: Option<u64>,
    pub isolate: Isolation,
    /// A request that waits for a person is withdrawn after this time.
    pub ask_expiry_s: Option<u64>,
    /// What one person may write; more is not taken.
    pub limit: Option<Limit>,
}

impl Default for ChannelOptions {
    fn default() -> Self {
        Self {
            routes: BTreeMap::new(),
            debounce_ms: 500,
            busy: Busy::Steer,
            stream: Streaming::Progress,
            typing: true,
            reactions: true,
            approvers: Vec::new(),
            allow: Vec::new(),
            require_mention: false,
            fresh_final_s: None,
            catch_up_s: None,
            isolate: Isolation::Thread,
            ask_expiry_s: None,
            limit: None,
        }
    }
}

/// So many messages in a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    pub messages: u32,
    pub per_s: u32,
}

impl Limit {
    /// The one of two that lets less through in the long run.
    #[must_use]
    pub fn tighter(self, other: Self) -> Self {
        let through = |this: Self, per: Self| u64::from(this.messages) * u64::from(per.per_s);
        if through(self, other) <= through(other, self) { self } else { other }
    }
}

/// What is shown of a reply while it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Streaming {
    /// Its text, and the tool that runs.
    Progress,
    /// Its text.
    Partial,
    /// Nothing until it is done.
    Off,
}

/// What is one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Isolation {
    #[serde(rename = "chat")]
    Chat,
    /// A thread or topic where the platform keeps them apart, else the chat.
    #[serde(rename = "thread")]
    Thread,
    /// A person, wherever they write.
    #[serde(rename = "sender")]
    Sender,
    #[serde(rename = "chat+sender")]
    ChatAndSender,
}

/// Somebody who was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    pub channel: Slug,
    /// The platform's id.
    pub id: String,
    /// A label.
    pub name: String,
    pub since: Timestamp,
}

/// Somebody who asks to be let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairing {
    pub channel: Slug,
    /// Eight characters, shown to the person in their direct chat.
    pub code: String,
    pub id: String,
    pub name: String,
    pub chat: Chat,
    pub asked: Timestamp,
    pub until: Timestamp,
}

/// What the home knows of one chat beyond its messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChatFacts {
    /// The id by which its conversation was first known; set where the platform moved it.
    pub known_as: Option<String>,
    /// Why nothing reaches it.
    pub gone: Option<String>,
}

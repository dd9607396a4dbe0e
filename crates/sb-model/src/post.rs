//! Posts: what is to be put into a chat of a messenger. A post is decided with the turn that it is
//! about, in one commit; how it is split, shown and sent is settled on its way out.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Address, Attachment, CallId, MessageId, MessageRef, RequestId, TurnId};

/// Names a post for ever: what it is about, so that the same thing is never posted under two names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PostKey(pub String);

impl PostKey {
    /// A turn's words from its last question on, if it asked any.
    pub fn reply(turn: TurnId, after: Option<RequestId>) -> Self {
        match after {
            None => Self(format!("turn:{turn}")),
            Some(request) => Self(format!("turn:{turn}:{request}")),
        }
    }
    /// How a turn ended that nobody was at work on.
    pub fn closing(turn: TurnId) -> Self {
        Self(format!("turn:{turn}:end"))
    }
    /// Our own answer to one message.
    pub fn answer(message: MessageId) -> Self {
        Self(format!("message:{}", message.0))
    }
    /// A request put before people; `again`: shown once more, for this message.
    pub fn question(request: RequestId, again: Option<MessageId>) -> Self {
        match again {
            None => Self(format!("request:{request}")),
            Some(message) => Self(format!("request:{request}:{}", message.0)),
        }
    }
    /// A message that the agent sends into another conversation by this call.
    pub fn sent(turn: TurnId, call: &CallId) -> Self {
        Self(format!("sent:{turn}:{call}"))
    }
    /// Whether it is a request put before people, which must be kept until it is answered.
    pub fn is_question(&self) -> bool {
        self.0.starts_with("request:")
    }
    /// That a turn was cut off by a restart; said once, however often it is.
    pub fn restarted(turn: TurnId) -> Self {
        Self(format!("restart:{turn}"))
    }
}

impl fmt::Display for PostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One way to answer a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// What the button or the numbered line says.
    pub label: String,
    /// What a person would type instead: 64 bytes at most, so that it fits a button.
    pub says: String,
    pub tone: Tone,
}

/// How a choice looks, where a platform can show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    Good,
    Plain,
    Bad,
}

/// One post.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Post {
    pub key: PostKey,
    pub to: Address,
    /// Markdown. May be empty where there are files.
    pub text: String,
    /// Files that go after the words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Attachment>,
    /// Answers it offers: of a question, or what can be done about a failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// The messages it answers: once it is out, their marks are taken off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<MessageRef>,
    /// It says that answering failed: the mark becomes a warning.
    #[serde(default)]
    pub failed: bool,
}

impl Post {
    /// One that says nothing yet.
    pub fn new(key: PostKey, to: Address) -> Self {
        let (files, choices, answers) = (Vec::new(), Vec::new(), Vec::new());
        Self { key, to, text: String::new(), files, choices, answers, failed: false }
    }
}

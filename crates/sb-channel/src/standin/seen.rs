//! What a person sees.

use bytes::Bytes;
use sb_net::model::MessageRef;

/// A chat as a person sees it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Seen {
    /// The oldest first.
    pub messages: Vec<SeenMessage>,
    /// A reply that grows by the platform's own means.
    pub growing: Option<String>,
    /// We are shown to be at work.
    pub typing: bool,
}

impl Seen {
    /// Our messages.
    pub fn ours(&self) -> impl Iterator<Item = &SeenMessage> {
        self.messages.iter().filter(|m| m.ours)
    }
    /// What our messages say.
    pub fn texts(&self) -> Vec<&str> {
        self.ours().map(|m| m.text.as_str()).collect()
    }
    /// How many of our messages hold these words.
    pub fn count(&self, words: &str) -> usize {
        self.ours().filter(|m| m.text.contains(words)).count()
    }
}

/// A message as a person sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenMessage {
    pub reference: MessageRef,
    pub ours: bool,
    /// Its words, without formatting.
    pub text: String,
    /// What its buttons say.
    pub buttons: Vec<String>,
    pub files: Vec<SeenFile>,
    /// Our mark on it.
    pub mark: Option<String>,
    pub answers: Option<MessageRef>,
    pub thread: Option<String>,
}

impl SeenMessage {
    /// Plain words.
    pub fn new(reference: MessageRef, ours: bool, text: impl Into<String>) -> Self {
        Self {
            reference,
            ours,
            text: text.into(),
            buttons: Vec::new(),
            files: Vec::new(),
            mark: None,
            answers: None,
            thread: None,
        }
    }
}

/// A file as a person sends or gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenFile {
    pub name: String,
    pub media_type: String,
    pub bytes: Bytes,
}

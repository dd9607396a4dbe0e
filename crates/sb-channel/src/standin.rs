//! What a stand-in offers: a platform imitated, as its people see it and as its operator breaks it.
//!
//! The conformance suite knows a platform by this alone. A stand-in is called in process, so that a test
//! needs no socket and no real time; what it shows is what a person would see now.

use sb_net::Http;
use sb_net::model::{Chat, MessageRef, Person};

/// A platform imitated.
pub trait StandIn: Send + Sync + 'static {
    /// A client whose every request reaches it.
    fn http(&self) -> Http;
    /// The settings of a channel that uses it: fields and values.
    fn settings(&self) -> Vec<(String, String)>;

    /// A new person.
    fn person(&self, name: &str) -> Person;
    /// The chat of a person and us.
    fn direct(&self, person: &Person) -> Chat;
    /// A new group that we are in; none where the platform has none.
    fn group(&self, title: &str) -> Option<Chat>;

    /// Somebody writes. What it returns names the message for the calls below.
    fn say(&self, chat: &Chat, person: &Person, text: &str) -> String;
    /// Somebody writes so that it is meant for us, also in a group.
    fn mention(&self, chat: &Chat, person: &Person, text: &str) -> String {
        self.say(chat, person, text)
    }
    /// The platform tells of a message once more; false where it never does.
    fn say_again(&self, _message: &str) -> bool {
        false
    }
    /// Somebody sends files in one go, with words; false where the platform has none.
    fn send_files(&self, _chat: &Chat, _person: &Person, _text: &str, _files: &[SeenFile]) -> bool {
        false
    }
    /// Somebody presses the newest button of that label; false if none shows it.
    fn press(&self, _chat: &Chat, _person: &Person, _label: &str) -> bool {
        false
    }
    /// Somebody changes their message; false where nobody can.
    fn edit(&self, _message: &str, _text: &str) -> bool {
        false
    }

    /// What is in a chat now, as a person sees it.
    fn seen(&self, chat: &Chat) -> Seen;
    /// Updates we were not told to forget yet.
    fn unacknowledged(&self) -> usize;
    /// Requests that were made to it.
    fn requests(&self) -> u64;

    /// The next `times` requests that put something into a chat go wrong so.
    fn break_next(&self, how: Breakage, times: u32);
    /// The next `times` requests that ask for updates fail.
    fn break_receiving(&self, how: Breakage, times: u32);
    /// Nothing goes wrong any more.
    fn mend(&self);
    /// Every open connection breaks.
    fn drop_connections(&self);
}

/// How a request goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breakage {
    /// The server fails; it may pass.
    Flaky,
    /// Too fast; so many seconds are to be waited.
    RateLimit(u32),
    /// Our credentials are not taken any more.
    Revoked,
    /// The chat is closed to us.
    ChatGone,
    /// It is acted on, and its answer is lost.
    LostAnswer,
    /// Formatting is not taken.
    Format,
}

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

/// A file as a person sends or gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenFile {
    pub name: String,
    pub media_type: String,
    pub bytes: bytes::Bytes,
}

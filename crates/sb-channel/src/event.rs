//! What a platform tells us, translated: pure values, made by an adapter's parser.

use sb_net::model::{Chat, ChatSort, Fault, FileRef, Handle, MessageRef, Person, Timestamp};

/// What a feed or a webhook brought at once, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    pub events: Vec<Event>,
    /// Where to go on after this batch; stored with it.
    pub cursor: Option<String>,
}

/// One thing that happened there.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Said(Box<Incoming>),
    Pressed(Pressed),
    /// The platform's own stop button; `key` as in [`Incoming::key`].
    Stopped {
        key: String,
        chat: Chat,
        person: Person,
    },
    /// Somebody changed their message, known by its key. Touches it while it waits; starts nothing.
    Edited {
        key: String,
        text: String,
    },
    /// Somebody took their message back.
    Unsent {
        key: String,
    },
    /// The chat has another id from now on.
    Moved {
        chat: String,
        to: String,
    },
    /// We were blocked, removed, or the chat is no more.
    Gone {
        chat: String,
        why: String,
    },
    /// We were let in (again).
    Back {
        chat: String,
    },
    /// What became of something we sent, told later.
    Reported(Report),
    /// Something for whoever runs this, such as a message that is not answered and why: a line of the channel's log.
    Noted {
        what: String,
    },
    /// Nobody here knows what it is: kept, counted, passed over. `raw` is the payload.
    Unknown {
        what: String,
        raw: String,
    },
}

/// A message somebody wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct Incoming {
    /// The platform's own name of the *message*, unique within the account, never of the envelope: the same message
    /// told twice has the same key.
    pub key: String,
    pub chat: Chat,
    pub person: Person,
    /// Enough to answer and mark it; none where it cannot be.
    pub message: Option<MessageRef>,
    /// As typed, without a mention of us at its beginning; a command without the suffix that names us.
    pub text: String,
    pub files: Vec<FileRef>,
    /// Messages of one album share this.
    pub album: Option<String>,
    /// In a group: it mentions us, answers us, or is a command of ours. In a direct chat: true.
    pub addressed: bool,
    /// The message it answers or quotes.
    pub quoted: Option<Quoted>,
    /// It is somebody else's words, passed on: whose.
    pub forwarded: Option<String>,
    /// What it is about, where that stands beside the words: a mail's subject.
    pub about: Option<String>,
    pub handle: Option<Handle>,
    /// When it was written, where the platform says.
    pub at: Option<Timestamp>,
}

impl Incoming {
    /// Plain words: nothing attached, nothing quoted. In a group they are not meant for us.
    pub fn new(key: impl Into<String>, chat: Chat, person: Person, text: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            addressed: chat.sort == ChatSort::Direct,
            chat,
            person,
            message: None,
            text: text.into(),
            files: Vec::new(),
            album: None,
            quoted: None,
            forwarded: None,
            about: None,
            handle: None,
            at: None,
        }
    }
}

impl From<Incoming> for Event {
    fn from(said: Incoming) -> Self {
        Event::Said(Box::new(said))
    }
}

/// The message another one answers or quotes.
#[derive(Debug, Clone, PartialEq)]
pub struct Quoted {
    /// Who wrote it, as people call them.
    pub from: String,
    /// It was ours.
    pub ours: bool,
    pub text: String,
}

/// A button somebody pressed.
#[derive(Debug, Clone, PartialEq)]
pub struct Pressed {
    /// The platform's own name of the press.
    pub key: String,
    pub chat: Chat,
    pub person: Person,
    /// [`Choice::says`](sb_net::model::Choice) of the button, as the platform claims: no proof that we offered it.
    pub says: String,
    /// The message the button is on.
    pub on: Option<MessageRef>,
    /// What [`Gesture::Heard`](crate::Gesture::Heard) is told.
    pub handle: String,
    /// By which it can be answered, as [`Incoming::handle`].
    pub lends: Option<Handle>,
}

/// What became of something we sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The key of the attempt ([`Attempt::key`](crate::Attempt::key)) by which it was sent, as the platform gives it
    /// back.
    pub key: String,
    /// As the platform calls the message.
    pub message: MessageRef,
    /// It was taken; or why it came to nothing although it had been taken.
    pub fate: Result<(), Fault>,
}

//! [`Channel`]: one configured messenger, running.

use std::io;

use async_trait::async_trait;
use sb_net::model::text::Rendered;
use sb_net::model::{Chat, Choice, Fault, FaultKind, FileRef, Handle, MessageRef};
use tokio::io::AsyncWrite;

use crate::{Batch, Event, Features, Result, Webhook};

/// Who we are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The platform's id of us: what comes from it is never answered.
    pub id: String,
    /// As people find us there: `@name`, a number, an address.
    pub name: String,
    /// Where a person opens a chat with us, if there is such an address.
    pub link: Option<String>,
    /// What the operator should know about how the account is set up, a sentence each.
    pub notes: Vec<String>,
}

impl Account {
    /// One without an address, of which there is nothing to know.
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), link: None, notes: Vec::new() }
    }
}

/// How updates reach us.
pub enum Inlet<'a> {
    /// By a poll or a socket. Feeds are named: each keeps a cursor of its own.
    Feeds(Vec<(&'static str, &'a dyn Feed)>),
    /// The platform calls us at `/hooks/<slug>`.
    Webhook(&'a dyn Webhook),
    /// Nothing is received.
    None,
}

/// One configured messenger. Every method may be called at any time, from several tasks, and dropped at any await.
#[async_trait]
pub trait Channel: Send + Sync + 'static {
    /// Asks the platform who we are. Called first, also by `doctor`; what it needs to know about us for parsing
    /// it keeps. [`FaultKind::Auth`] stops a bridge at its first start.
    async fn check(&self) -> Result<Account>;

    /// What this account can in such a chat; the manifest's, unless the account or its settings narrow it.
    fn features(&self, chat: &Chat) -> Features;

    /// How updates reach us, as configured.
    fn inlet(&self) -> Inlet<'_>;

    /// Puts one finished piece into a chat. Never splits, waits or retries.
    async fn send(&self, to: &Chat, piece: Piece<'_>, attempt: &Attempt) -> Result<MessageRef>;

    // Each of the rest answers for one feature, and is called only if that is declared.

    /// Makes one of our messages say this instead. Saying the same again is a success.
    async fn edit(&self, to: &Chat, _at: &MessageRef, _piece: Piece<'_>) -> Result<()> {
        let _ = to;
        Err(unsupported("editing a message"))
    }

    /// Something shown in passing. Failing it harms nothing; it is not repeated.
    async fn gesture(&self, _to: &Chat, _gesture: Gesture<'_>) -> Result<()> {
        Err(unsupported("a gesture"))
    }

    /// Shows that we are at work on this message: for platforms that show it so. The rest are told by
    /// [`Gesture::Typing`], as is whoever has no message to name.
    async fn work_on(&self, to: &Chat, _message: &MessageRef) -> Result<()> {
        self.gesture(to, Gesture::Typing(true)).await
    }

    /// Pours a file that lies on the platform into `into`, `most` bytes at most.
    async fn fetch(
        &self,
        _file: &FileRef,
        _into: &mut (dyn AsyncWrite + Unpin + Send),
        _most: u64,
    ) -> Result<u64> {
        Err(unsupported("fetching a file"))
    }

    /// Translates a payload that was kept because nobody knew it; none, if it still means nothing.
    fn read_again(&self, _raw: &str) -> Option<Event> {
        None
    }

    /// Makes the platform offer these commands in its menu. Called after each successful start.
    async fn offer(&self, _commands: &[Command]) -> Result<()> {
        Ok(())
    }

    /// Tells the platform where its webhook is, if it wants to be told: `None`, that there is none.
    async fn register(&self, _url: Option<&str>) -> Result<()> {
        Ok(())
    }

    /// The platform's own way to show a growing reply, for [`Live::Stream`](crate::Live::Stream).
    fn live(&self) -> Option<&dyn LiveReply> {
        None
    }
}

/// A reply that grows by the platform's own means, one at a time in a chat.
#[async_trait]
pub trait LiveReply: Send + Sync {
    /// Shows `piece` as what is written so far. `id` names the growing reply and is never zero: the first call with
    /// an id begins it. What makes it the message that stays is [`Channel::send`] afterwards.
    async fn grow(&self, to: &Chat, id: u32, words: &Rendered) -> Result<()>;
}

/// A poll or a socket.
#[async_trait]
pub trait Feed: Send + Sync {
    /// Opens it after the last stored cursor. The engine opens it again, with backoff, when it fails: never loop or
    /// sleep on errors here. The old one is dropped before a new one is opened.
    async fn open(&self, after: Option<&str>) -> Result<Box<dyn Updates>>;
}

/// An open feed.
#[async_trait]
pub trait Updates: Send {
    /// What came next; an empty batch is a sign of life. May be dropped at any await: that must lose nothing.
    async fn next(&mut self) -> Result<Batch>;
    /// The last batch is stored: only now the platform may be told so.
    async fn ack(&mut self) -> Result<()> {
        Ok(())
    }
}

/// What is put into a chat.
#[derive(Clone, Copy)]
pub enum Piece<'a> {
    /// Words; with choices, a question. An edit without choices takes buttons away.
    Text { words: &'a Rendered, choices: &'a [Choice], answers: Option<&'a MessageRef> },
    /// One file, or as many as the platform takes at once (see [`FilesOut`](crate::FilesOut)).
    Files { files: &'a [OutFile], caption: Option<&'a Rendered>, answers: Option<&'a MessageRef> },
}

impl<'a> Piece<'a> {
    /// Its words, for a kind that sends nothing else.
    ///
    /// # Errors
    /// If it is files.
    pub fn words(self) -> Result<&'a Rendered> {
        match self {
            Piece::Text { words, .. } => Ok(words),
            Piece::Files { .. } => Err(unsupported("sending files")),
        }
    }
}

/// A file on its way out.
#[derive(Clone)]
pub struct OutFile {
    pub name: String,
    pub media_type: String,
    /// Bytes.
    pub size: u64,
    /// Opens its bytes, from the beginning.
    pub content: std::sync::Arc<dyn Opens>,
}

/// Opens the bytes of a file.
#[async_trait]
pub trait Opens: Send + Sync {
    async fn open(&self) -> io::Result<tokio::fs::File>;
}

/// What is known of one try to send a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The same for every try of the same piece, and for no other: the key for platforms that drop repeats.
    pub key: String,
    /// An earlier try may have come through: look for it first, if you can.
    pub maybe_sent: bool,
    /// The handle to answer by, where there is one.
    pub handle: Option<Handle>,
}

/// Something shown in passing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gesture<'a> {
    /// We are at work; shown again as [`Typing`](crate::Typing) says. `false`: not any more.
    Typing(bool),
    /// Marks a person's message; `None` takes our mark off.
    Mark(&'a MessageRef, Option<Mark>),
    /// A press was taken: the platform stops showing that it waits.
    Heard(&'a str),
}

/// What a mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Taken: it will be answered, or is being answered.
    Taken,
    /// Answering it failed.
    Failed,
}

/// A command as a platform's menu shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Without the slash.
    pub name: String,
    pub help: String,
}

fn unsupported(what: &str) -> Fault {
    Fault::new(FaultKind::Unsupported, what, "this messenger does not do that")
}

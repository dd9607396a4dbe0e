//! What a platform can, as values: the engine acts on them, docs are printed from them.

use std::time::Duration;

use sb_net::model::text::{Dialect, Fit, Unit};
use serde::{Serialize, Serializer};

/// What a messenger can in one sort of chat.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Features {
    pub text: TextRules,
    pub live: Live,
    pub typing: Typing,
    pub marks: Marks,
    /// Largest file that can be fetched, in bytes; none: files cannot be received.
    pub files_in: Option<u64>,
    pub files_out: Option<FilesOut>,
    /// One of our messages can be made to say something else.
    pub edits: bool,
    /// Threads or topics are kept apart.
    pub threads: bool,
    /// A message can mention us.
    pub mentions: bool,
    pub questions: Questions,
    pub repeats: Repeats,
    pub first_word: FirstWord,
    /// Sending needs the feed's own connection.
    pub sends_over_feed: bool,
}

impl Features {
    /// Texts of 4,096 characters without styles, and nothing else: `Features { edits: true, ..Features::PLAIN }`.
    pub const PLAIN: Features = Features {
        text: TextRules { fit: Fit { limit: 4096, unit: Unit::Chars, dialect: Dialect::Plain } },
        live: Live::Off,
        typing: Typing::Off,
        marks: Marks::NONE,
        files_in: None,
        files_out: None,
        edits: false,
        threads: false,
        mentions: false,
        questions: Questions::Text,
        repeats: Repeats::Seen,
        first_word: FirstWord::Any,
        sends_over_feed: false,
    };
}

/// How words are sent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TextRules {
    /// What one message holds, how it is counted, and its form.
    #[serde(serialize_with = "fit")]
    pub fit: Fit,
}

/// How a reply is shown while it is written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Live {
    Off,
    /// A message is sent once it has `first` characters, and edited no oftener than `every`.
    Edit {
        #[serde(serialize_with = "ms")]
        every: Duration,
        first: usize,
        /// Edits of one message, at most.
        most: Option<u32>,
    },
    /// By the platform's own means ([`LiveReply`](crate::LiveReply)).
    Stream {
        #[serde(serialize_with = "ms")]
        every: Duration,
        /// It vanishes if not shown again within this time.
        #[serde(serialize_with = "ms")]
        renew: Duration,
        /// It shows at once, without words, that something is being written.
        empty: bool,
    },
}

/// How it is shown that we are at work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Typing {
    Off,
    /// Shown again every so often; ends by itself.
    Renew {
        #[serde(serialize_with = "ms")]
        every: Duration,
    },
    /// Shown again every so often, and turned off at the end.
    OnOff {
        #[serde(serialize_with = "ms")]
        every: Duration,
    },
}

/// How a person's message is marked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Marks {
    /// What stands on a message that will be answered; none: nothing is marked.
    pub taken: Option<&'static str>,
    /// What stands on one whose answer failed.
    pub failed: Option<&'static str>,
}

impl Marks {
    /// What [`taken`](Self::taken) is called where a read receipt stands for it: one that stays.
    pub const READ: &'static str = "read";
    /// No marks at all.
    pub const NONE: Marks = Marks { taken: None, failed: None };
}

/// How files are sent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FilesOut {
    /// Largest one, in bytes.
    pub largest: u64,
    /// What a caption holds; none: files go without words.
    #[serde(serialize_with = "maybe_fit")]
    pub caption: Option<Fit>,
    /// Files in one message, at most.
    pub at_once: usize,
}

/// How a question can be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Questions {
    /// By typing.
    Text,
    /// By a button too; so many at most.
    Buttons(u8),
}

/// What happens when the same piece is sent twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeats {
    /// The platform drops the second one, by the attempt's key.
    Dropped,
    /// The adapter can look for the first one.
    Found,
    /// People see both.
    Seen,
}

/// Whether we may write first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FirstWord {
    Any,
    /// Within this time of a person's last message.
    Within(#[serde(serialize_with = "ms")] Duration),
    /// Only by a message's handle.
    ReplyOnly,
}

fn ms<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

fn fit<S: Serializer>(fit: &Fit, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("{} {:?}, {:?}", fit.limit, fit.unit, fit.dialect))
}

fn maybe_fit<S: Serializer>(maybe: &Option<Fit>, to: S) -> Result<S::Ok, S::Error> {
    match maybe {
        Some(value) => fit(value, to),
        None => to.serialize_none(),
    }
}

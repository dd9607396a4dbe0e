//! [`StoreError`]: the one error of this crate.
//!
//! Its kind says what the caller can do about it; its text is a whole sentence for a person, with the
//! remedy where there is one. It never holds content of messages, nor secrets.

use std::error::Error;
use std::fmt;

use rusqlite::ErrorCode;

/// What went wrong, sorted by what can be done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StoreErrorKind {
    /// Another process holds this home.
    Locked,
    /// The conversation has moved on since it was loaded: load it anew.
    Stale,
    /// No room is left. Nothing of the request was recorded.
    DiskFull,
    /// What is stored cannot be read.
    Corrupt,
    /// What was named does not exist.
    NotFound,
    /// The home was written by a newer program.
    Newer,
    /// The changes contradict what is stored, such as ending a message twice: a bug of the caller's.
    Contradiction,
    /// Anything else the disk or the database refused.
    Io,
}

/// A failure of the store. Whatever failed changed nothing.
#[derive(Debug)]
pub struct StoreError {
    /// What can be done about it.
    pub kind: StoreErrorKind,
    /// What the store was doing, such as "taking in messages".
    pub doing: String,
    /// The cause, where there is one.
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

/// What the store's functions return.
pub type Result<T> = std::result::Result<T, StoreError>;

impl StoreError {
    /// A failure whose `doing` is filled in by whoever knows it.
    pub(crate) fn new(kind: StoreErrorKind, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { kind, doing: String::new(), source: Some(cause.into()) }
    }
    pub(crate) fn contradiction(what: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Contradiction, what.into())
    }
    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::NotFound, what.into())
    }
    /// Says what was being done, unless something closer to the failure has said it.
    pub(crate) fn while_doing(mut self, doing: &str) -> Self {
        if self.doing.is_empty() {
            doing.clone_into(&mut self.doing);
        }
        self
    }
    /// The same failure for another of those it befell.
    pub(crate) fn again(&self) -> Self {
        let source = self.source.as_ref().map(|s| s.to_string().into());
        Self { kind: self.kind, doing: self.doing.clone(), source }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            StoreErrorKind::Locked => {
                "another switchboard holds this home; talk to that one, stop it, or name another \
                 folder in SWITCHBOARD_HOME"
            }
            StoreErrorKind::Stale => "the conversation has moved on meanwhile; load it again",
            StoreErrorKind::DiskFull => {
                "no room is left; nothing was recorded. Free some space and try again"
            }
            StoreErrorKind::Corrupt => {
                "what is stored cannot be read; run `switchboard doctor`, or go back to a backup"
            }
            StoreErrorKind::NotFound => "there is no such thing",
            StoreErrorKind::Newer => "a newer switchboard wrote this home; use that version or a later one",
            StoreErrorKind::Contradiction => {
                "this contradicts what is stored, which is a bug; nothing was recorded"
            }
            StoreErrorKind::Io => "it failed",
        };
        write!(f, "{}: {what}", self.doing)?;
        match &self.source {
            Some(source) => write!(f, " ({source})"),
            None => Ok(()),
        }
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|s| s.as_ref() as &(dyn Error + 'static))
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(e: rusqlite::Error) -> Self {
        let kind = match &e {
            rusqlite::Error::SqliteFailure(code, _) => match code.code {
                ErrorCode::DiskFull => StoreErrorKind::DiskFull,
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => StoreErrorKind::Corrupt,
                ErrorCode::ConstraintViolation => StoreErrorKind::Contradiction,
                _ => StoreErrorKind::Io,
            },
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..) => StoreErrorKind::Corrupt,
            rusqlite::Error::QueryReturnedNoRows => StoreErrorKind::NotFound,
            _ => StoreErrorKind::Io,
        };
        Self::new(kind, e)
    }
}

impl From<std::io::Error> for StoreError {
    fn from(e: std::io::Error) -> Self {
        let kind = match e.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => StoreErrorKind::DiskFull,
            std::io::ErrorKind::NotFound => StoreErrorKind::NotFound,
            _ => StoreErrorKind::Io,
        };
        Self::new(kind, e)
    }
}

/// JSON is only ever parsed here when it comes out of the store.
impl From<serde_json::Error> for StoreError {
    fn from(e: serde_json::Error) -> Self {
        Self::new(StoreErrorKind::Corrupt, e)
    }
}

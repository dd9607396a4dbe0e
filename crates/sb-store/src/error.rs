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
    /// The ledger does not allow it; the cause is a sentence. Nothing was signed.
    Refused,
    /// It is more than may be kept. Nothing of the request was recorded.
    TooLong,
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
        if !self.doing.is_empty() {
            write!(f, "{}: ", self.doing)?;
        }
        let (what, remedy) = self.kind.words();
        match &self.source {
            // What went wrong is known better than by its kind.
            Some(source) if self.kind.is_told_by_cause(source.as_ref()) => write!(f, "{source}"),
            Some(source) => write!(f, "{what} ({source}){remedy}"),
            None => write!(f, "{what}{remedy}"),
        }
    }
}

impl StoreErrorKind {
    /// What it is, and what can be done about it.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Locked => (
                "another switchboard holds this home",
                "; talk to that one, stop it, or name another folder in SWITCHBOARD_HOME",
            ),
            Self::Stale => ("the conversation has moved on meanwhile", "; load it again"),
            Self::DiskFull => ("no room is left; nothing was recorded", ". Free some space and try again"),
            Self::Corrupt => ("what is stored cannot be read", "; go back to a backup"),
            Self::NotFound => ("there is no such thing", ""),
            Self::Newer => ("a newer switchboard wrote this home", "; use that version or a later one"),
            Self::Contradiction => {
                ("this contradicts what is stored, which is a bug; nothing was recorded", "")
            }
            Self::Refused => ("the ledger does not allow it", ""),
            Self::TooLong => ("it is more than may be kept", ""),
            Self::Io => ("it failed", ""),
        }
    }

    /// Whether the cause alone says everything.
    fn is_told_by_cause(self, cause: &(dyn Error + Send + Sync + 'static)) -> bool {
        match self {
            Self::NotFound | Self::Refused | Self::TooLong | Self::Io => true,
            // A sentence of ours, with its own remedy.
            Self::Corrupt => !(cause.is::<rusqlite::Error>() || cause.is::<serde_json::Error>()),
            _ => false,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_twice_and_what_can_be_done_is_said_last() {
        let said = |kind, cause: &str| StoreError::new(kind, cause).while_doing("reading").to_string();
        assert_eq!(said(StoreErrorKind::NotFound, "there is no profile p"), "reading: there is no profile p");
        assert_eq!(said(StoreErrorKind::Io, "the store is closed"), "reading: the store is closed");
        assert_eq!(
            said(StoreErrorKind::Locked, "process 7"),
            "reading: another switchboard holds this home (process 7); talk to that one, stop it, or name another folder in SWITCHBOARD_HOME"
        );
        let broken = StoreError::from(rusqlite::Error::IntegralValueOutOfRange(0, 1));
        let broken = broken.while_doing("reading").to_string();
        assert!(
            broken.starts_with("reading: what is stored cannot be read (")
                && broken.ends_with("); go back to a backup"),
            "{broken}"
        );
        let bare = StoreError { kind: StoreErrorKind::Newer, doing: String::new(), source: None };
        assert!(bare.to_string().starts_with("a newer switchboard wrote this home; "));
    }
}

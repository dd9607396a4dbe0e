//! What the engine can fail with; each kind is one treatment for a door.

use sb_core::model::ProfileName;
use sb_store::{StoreError, StoreErrorKind};

/// The sorts of failure, as a door must tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineErrorKind {
    /// There is no such profile.
    NoProfile,
    /// There is no such session, token or message.
    NotFound,
    /// What was given cannot be used; the sentence says why.
    Bad,
    /// The key is known with another body.
    OtherBody,
    /// The conversation has too much waiting.
    Full,
    /// The disk is full: nothing was taken.
    DiskFull,
    /// The engine is closing: nothing was taken.
    Closing,
    /// The store failed.
    Store,
}

/// A failure of the engine: its kind, and a sentence that says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{said}")]
pub struct EngineError {
    pub kind: EngineErrorKind,
    pub said: String,
    #[source]
    source: Option<StoreError>,
}

/// The engine's result.
pub type Result<T> = std::result::Result<T, EngineError>;

impl EngineError {
    pub(crate) fn new(kind: EngineErrorKind, said: impl Into<String>) -> Self {
        Self { kind, said: said.into(), source: None }
    }
    pub(crate) fn no_profile(name: &ProfileName) -> Self {
        Self::new(
            EngineErrorKind::NoProfile,
            format!("There is no profile {name}. `switchboard profile list` shows those there are."),
        )
    }
    pub(crate) fn other_body() -> Self {
        Self::new(
            EngineErrorKind::OtherBody,
            "This idempotency key was used with another body. Use a new key for a new message.",
        )
    }
    pub(crate) fn full() -> Self {
        Self::new(
            EngineErrorKind::Full,
            "Too many messages wait in this conversation; nothing was taken. Wait for answers, or send /stop.",
        )
    }
}

impl From<StoreError> for EngineError {
    fn from(e: StoreError) -> Self {
        let kind = match e.kind {
            StoreErrorKind::DiskFull => EngineErrorKind::DiskFull,
            StoreErrorKind::NotFound => EngineErrorKind::NotFound,
            StoreErrorKind::Refused => EngineErrorKind::Bad,
            _ => EngineErrorKind::Store,
        };
        let said = match (&e.source, e.kind) {
            // A sentence of the ledger's own.
            (Some(why), StoreErrorKind::Refused) => why.to_string(),
            _ => e.to_string(),
        };
        Self { kind, said, source: Some(e) }
    }
}

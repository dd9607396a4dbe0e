//! [`DeskError`]: why a call over the home's socket failed, as a sentence for the person at it.

use reqwest::{Response, StatusCode};
use serde::Deserialize;

/// The sorts of failure a command must tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeskErrorKind {
    /// No server answers on the socket.
    Nobody,
    /// The server refused: its status and code word.
    Refused { status: u16, code: String },
    /// The connection broke; what was sent may have been taken.
    Lost,
    /// The answer could not be read.
    Garbled,
}

/// Why a call failed: a sentence for a person.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{said}")]
pub struct DeskError {
    pub kind: DeskErrorKind,
    pub said: String,
}

/// The result of a call.
pub type Result<T> = std::result::Result<T, DeskError>;

/// What a refusal says; one that cannot be read is told by its status.
pub(super) async fn refusal(response: Response) -> DeskError {
    #[derive(Deserialize)]
    struct Body {
        error: String,
        #[serde(default)]
        code: String,
    }
    let status = response.status();
    let body = response.bytes().await.unwrap_or_default();
    let (said, code) = match serde_json::from_slice::<Body>(&body) {
        Ok(body) => (body.error, body.code),
        Err(_) => (unreadable(status), String::new()),
    };
    DeskError::new(DeskErrorKind::Refused { status: status.as_u16(), code }, said)
}

fn unreadable(status: StatusCode) -> String {
    format!(
        "The server answered {status} without saying why. Is it of the same version as this program? Its log says more."
    )
}

impl DeskError {
    pub(crate) fn new(kind: DeskErrorKind, said: impl Into<String>) -> Self {
        Self { kind, said: said.into() }
    }

    pub(crate) fn of(why: &reqwest::Error) -> Self {
        if why.is_connect() {
            Self::new(
                DeskErrorKind::Nobody,
                "No server answers on the home's socket. Start one: switchboard up",
            )
        } else if why.is_decode() {
            let said = "The server's answer could not be read. Is it of the same version as this program?";
            Self::new(DeskErrorKind::Garbled, said)
        } else {
            let said = "The connection to the server broke. What it had taken is kept; look with: switchboard session list";
            Self::new(DeskErrorKind::Lost, said)
        }
    }

    /// Whether whoever served has ended or is about to: what was sent was taken or was not.
    pub(super) fn is_ending(&self) -> bool {
        match &self.kind {
            DeskErrorKind::Nobody | DeskErrorKind::Lost => true,
            DeskErrorKind::Refused { code, .. } => code == "closing",
            DeskErrorKind::Garbled => false,
        }
    }

    /// Whether to ask anew: it was not taken, or may be taken twice.
    pub(super) fn is_to_repeat(&self, repeats: bool) -> bool {
        self.is_nobody() || (repeats && self.is_ending())
    }

    /// Whether no server answers.
    pub fn is_nobody(&self) -> bool {
        self.kind == DeskErrorKind::Nobody
    }
}

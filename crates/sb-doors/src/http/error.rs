//! What a request can be refused with: one table of codes, from which answers and pages are made.
//!
//! A code is a promise: programs act on it, so it keeps its name and its status. The sentence beside it
//! is for people, names the fault and what to do, and may change.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::engine::{EngineError, EngineErrorKind};
use crate::model::Refusal;

/// The body of every error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    /// A sentence that names the fault and what to do.
    pub error: String,
    /// A word that never changes.
    pub code: String,
}

macro_rules! codes {
    ($($name:ident $word:literal $status:literal $when:literal;)*) => {
        /// Every code an error can carry.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $(#[doc = $when] $name,)* }

        impl Code {
            /// All of them, in the order of the page.
            pub const ALL: &[Code] = &[$(Code::$name),*];
            /// The word itself.
            pub fn word(self) -> &'static str {
                match self { $(Code::$name => $word),* }
            }
            /// The HTTP status it comes with.
            pub fn status(self) -> u16 {
                match self { $(Code::$name => $status),* }
            }
            /// When it is given.
            pub fn when(self) -> &'static str {
                match self { $(Code::$name => $when),* }
            }
        }
    };
}

codes! {
    NotJson "not_json" 400 "The body is no JSON object; the sentence says where it breaks.";
    UnknownField "unknown_field" 400 "The body has a field that does not exist here.";
    BadField "bad_field" 400 "A field or query parameter has a value it cannot have.";
    NoText "no_text" 400 "There are neither words nor files.";
    BadConversation "bad_conversation" 400 "The conversation's name is empty, over 256 bytes, or has control characters.";
    TooManyFiles "too_many_files" 400 "More than 64 files came with one message.";
    BadFileName "bad_file_name" 400 "A file's name is empty, over 255 bytes, has control characters, or is a path.";
    BadBase64 "bad_base64" 400 "A file's bytes are not valid base64.";
    BadPicture "bad_picture" 400 "A file said to be a picture is none that can be read.";
    BadKey "bad_key" 400 "The Idempotency-Key is not 1 to 255 visible ASCII characters.";
    BadCommand "bad_command" 400 "A command's words are not understood; the sentence says how to write it.";
    Bad "bad_request" 400 "What was given cannot be used; the sentence says why.";
    NoToken "no_token" 401 "There is no bearer token.";
    BadToken "bad_token" 401 "The token is not known, or was taken back.";
    OtherProfile "other_profile" 401 "The token is another profile's.";
    MayNotDecide "may_not_decide" 403 "The token may talk, not approve or decline.";
    MayNotInstruct "may_not_instruct" 403 "The token may talk, not change what the conversation chose.";
    Suspended "suspended" 403 "The profile's agent, or one above it, is suspended in the ledger, so it answers nobody.";
    CrossOrigin "cross_origin" 403 "A page of another origin made the request.";
    WrongHost "wrong_host" 403 "The server is reached on this machine only, and the request names another host.";
    NotFound "not_found" 404 "There is nothing at this address.";
    UnknownProfile "unknown_profile" 404 "There is no such profile (said only to tokens that reach all).";
    UnknownSession "unknown_session" 404 "There is no such session.";
    Unknown "unknown" 404 "What a command names does not exist.";
    WrongMethod "wrong_method" 405 "The address takes other methods; see the header Allow.";
    SlowBody "slow_body" 408 "The body stood still for 30 seconds, or took over five minutes.";
    Busy "busy" 409 "The agent is at work, and this cannot be done meanwhile.";
    NotWaiting "not_waiting" 409 "The request named is not the one that waits, or none waits.";
    Waiting "waiting" 409 "A request waits for a person, and this cannot be done meanwhile.";
    OtherSession "other_session" 409 "The session is no longer its conversation's current one.";
    ProfileExists "profile_exists" 409 "There is a profile of this name already.";
    TooLarge "too_large" 413 "The body is over 32 MB, or one file over 25 MB.";
    OtherBody "other_body" 422 "The Idempotency-Key was used with another body.";
    Budget "budget" 429 "A budget of the profile is used up: the session's, or the sender's for today.";
    TooManyGuesses "too_many_guesses" 429 "Too many wrong tokens came from this address; Retry-After says when to try again.";
    Full "full" 429 "Too many messages wait in this conversation.";
    Internal "internal" 500 "Something of ours failed; the server's log says more.";
    Closing "closing" 503 "The server is closing.";
    Store "store" 503 "The home is damaged; the sentence says how.";
    DiskFull "disk_full" 507 "The disk is full; nothing was taken.";
}

/// The table of codes: word, status, and when it is given.
pub fn codes() -> impl Iterator<Item = (&'static str, u16, &'static str)> {
    Code::ALL.iter().map(|code| (code.word(), code.status(), code.when()))
}

/// The table as the page about this door shows it.
pub fn codes_as_markdown() -> String {
    let mut table = String::from("| code | status | when |\n|---|---|---|\n");
    for (word, status, when) in codes() {
        table.push_str(&format!("| `{word}` | {status} | {when} |\n"));
    }
    table
}

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{said}")]
pub struct HttpError {
    pub code: Code,
    pub said: String,
}

/// What a handler gives.
pub(crate) type Result<T> = std::result::Result<T, HttpError>;

impl HttpError {
    pub(crate) fn new(code: Code, said: impl Into<String>) -> Self {
        Self { code, said: said.into() }
    }
    /// The server closes while somebody waits for an answer.
    pub(crate) fn closing() -> Self {
        Self::new(
            Code::Closing,
            "The server is closing. A message it took is kept, and is answered when it starts again: send it again with the same Idempotency-Key, or follow its session.",
        )
    }
    /// A message that ended by not being taken up.
    pub(crate) fn refused(refusal: Option<Refusal>, said: String) -> Self {
        let code = match refusal {
            Some(Refusal::MayNotDecide) => Code::MayNotDecide,
            Some(Refusal::MayNotInstruct) => Code::MayNotInstruct,
            Some(Refusal::Busy) => Code::Busy,
            Some(Refusal::NotWaiting) => Code::NotWaiting,
            Some(Refusal::Waiting) => Code::Waiting,
            Some(Refusal::OtherSession) => Code::OtherSession,
            Some(Refusal::BadCommand) => Code::BadCommand,
            Some(Refusal::Unknown) => Code::Unknown,
            Some(Refusal::Suspended) => Code::Suspended,
            Some(Refusal::Budget) => Code::Budget,
            None => Code::Bad,
        };
        Self { code, said }
    }
    /// The body of the answer.
    pub(crate) fn problem(&self) -> Problem {
        Problem { error: self.said.clone(), code: self.code.word().to_owned() }
    }
}

impl From<EngineError> for HttpError {
    fn from(e: EngineError) -> Self {
        let code = match e.kind {
            EngineErrorKind::NoProfile => Code::UnknownProfile,
            EngineErrorKind::NotFound => Code::NotFound,
            EngineErrorKind::Bad => Code::Bad,
            EngineErrorKind::OtherBody => Code::OtherBody,
            EngineErrorKind::Full => Code::Full,
            EngineErrorKind::DiskFull => {
                let said = "The disk is full, so nothing was taken. Free some space, then send it again.";
                tracing::error!(error = %e, "the disk is full");
                return Self::new(Code::DiskFull, said);
            }
            EngineErrorKind::Closing => return Self::new(Code::Closing, e.said),
            EngineErrorKind::Store => {
                tracing::error!(error = %e, "the store failed");
                return Self::new(Code::Internal, "The store failed. The server's log says more; try again.");
            }
        };
        Self { code, said: e.said }
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(self.problem())).into_response();
        // For doors that say it in a shape of their own.
        response.extensions_mut().insert(self.clone());
        let headers = response.headers_mut();
        match self.code {
            Code::NoToken | Code::BadToken | Code::OtherProfile => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Code::Closing => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
            }
            Code::Store => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
            }
            Code::Full => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("10"));
            }
            _ => {}
        }
        response
    }
}

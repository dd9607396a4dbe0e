//! How requests go wrong: planned beforehand, or because of what they ask.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

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
    /// It is not taken, however often it is asked: too long, or not known here.
    Refused,
}

impl Breakage {
    /// The plainest refusal: its status, `retry-after`, and `{"error": "too_fast"}`. For platforms that say no more.
    pub fn plainly(self) -> Response {
        let (status, error) = match self {
            Breakage::Flaky | Breakage::LostAnswer => (StatusCode::INTERNAL_SERVER_ERROR, "flaky"),
            Breakage::RateLimit(_) => (StatusCode::TOO_MANY_REQUESTS, "too_fast"),
            Breakage::Revoked => (StatusCode::UNAUTHORIZED, "revoked"),
            Breakage::ChatGone => (StatusCode::FORBIDDEN, "chat_gone"),
            Breakage::Format => (StatusCode::BAD_REQUEST, "format"),
            Breakage::Refused => (StatusCode::BAD_REQUEST, "refused"),
        };
        let body = Json(json!({"error": error}));
        match self {
            Breakage::RateLimit(seconds) => {
                (status, [("retry-after", seconds.to_string())], body).into_response()
            }
            _ => (status, body).into_response(),
        }
    }
}

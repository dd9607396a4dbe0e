//! How Discord refuses: a status, a code and a sentence.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use sb_channel::standin::{Breakage, lost_answer};
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refusal {
    pub status: u16,
    pub code: u64,
    pub message: String,
    pub errors: Option<Value>,
    /// In seconds, and whether everything is meant.
    pub wait: Option<(f64, bool)>,
    /// It was acted on; nobody is told.
    pub lost: bool,
}

impl Refusal {
    pub(super) fn new(status: u16, code: u64, message: &str) -> Self {
        Self { status, code, message: message.to_owned(), errors: None, wait: None, lost: false }
    }
    /// A field of the body that cannot be.
    pub(super) fn body(field: &str, code: &str, message: &str) -> Self {
        let errors = json!({field: {"_errors": [{"code": code, "message": message}]}});
        Self { errors: Some(errors), ..Self::new(400, 50_035, "Invalid Form Body") }
    }
    pub(super) fn limited(seconds: f64, global: bool) -> Self {
        Self { wait: Some((seconds, global)), ..Self::new(429, 0, "You are being rate limited.") }
    }
    pub(super) fn unknown_channel() -> Self {
        Self::new(404, 10_003, "Unknown Channel")
    }
    pub(super) fn unknown_message() -> Self {
        Self::new(404, 10_008, "Unknown Message")
    }
    pub(super) fn of(how: Breakage) -> Self {
        match how {
            Breakage::Flaky => Self::new(500, 0, "500: Internal Server Error"),
            Breakage::RateLimit(seconds) => Self::limited(f64::from(seconds), false),
            Breakage::Revoked => Self::new(401, 0, "401: Unauthorized"),
            Breakage::ChatGone => Self::new(403, 50_001, "Missing Access"),
            Breakage::LostAnswer => Self { lost: true, ..Self::new(500, 0, "") },
            Breakage::Format => {
                Self::body("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
            }
            Breakage::Refused => Self::new(400, 50_006, "Cannot send an empty message"),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        if self.lost {
            return lost_answer();
        }
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_REQUEST);
        let mut body = json!({"message": self.message, "code": self.code});
        if let Some(errors) = self.errors {
            body["errors"] = errors;
        }
        let Some((seconds, global)) = self.wait else { return (status, Json(body)).into_response() };
        body["retry_after"] = seconds.into();
        body["global"] = global.into();
        let after = [
            // Without it, discord.py takes the answer for that of a gate before Discord.
            ("via", "1.1 google".to_owned()),
            ("retry-after", seconds.ceil().to_string()),
            ("x-ratelimit-reset-after", seconds.to_string()),
            ("x-ratelimit-scope", if global { "global" } else { "user" }.to_owned()),
        ];
        let mut response = (status, after, Json(body)).into_response();
        if global {
            response.headers_mut().insert("x-ratelimit-global", axum::http::HeaderValue::from_static("true"));
        }
        response
    }
}

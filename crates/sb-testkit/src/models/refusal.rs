//! Answers that are no success, in each dialect's own shape.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use sb_harness::FailKind;
use serde_json::{Value, json};

use super::state::Planned;

/// A refusal: status, type, code and message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub status: u16,
    pub kind: &'static str,
    pub code: Option<&'static str>,
    pub message: String,
}

impl Refusal {
    /// A request that breaks a rule.
    pub fn bad(message: impl Into<String>) -> Self {
        Self { status: 400, kind: "invalid_request_error", code: None, message: message.into() }
    }
    pub fn no_key() -> Self {
        Self {
            status: 401,
            kind: "authentication_error",
            code: Some("invalid_api_key"),
            message: "invalid key".into(),
        }
    }

    /// How Anthropic fails this way.
    pub fn anthropic(kind: FailKind) -> Self {
        let (status, kind, message) = match kind {
            FailKind::RateLimit => {
                (429, "rate_limit_error", "Number of requests has exceeded your rate limit")
            }
            FailKind::Credit => (402, "billing_error", "Your credit balance is too low"),
            FailKind::Auth => (401, "authentication_error", "invalid x-api-key"),
            FailKind::Refused => (400, "invalid_request_error", "the script refuses this"),
            FailKind::ContextFull => {
                (400, "invalid_request_error", "prompt is too long: 2000 tokens > 1000 maximum")
            }
            FailKind::Overloaded => (529, "overloaded_error", "Overloaded"),
            FailKind::Network | FailKind::Crash => (500, "api_error", "Internal server error"),
        };
        Self { status, kind, code: None, message: message.to_owned() }
    }

    /// How OpenAI fails this way.
    pub fn openai(kind: FailKind) -> Self {
        let (status, kind, code, message) = match kind {
            FailKind::RateLimit => (429, "requests", Some("rate_limit_exceeded"), "Rate limit reached"),
            FailKind::Credit => {
                (429, "insufficient_quota", Some("insufficient_quota"), "You exceeded your current quota")
            }
            FailKind::Auth => {
                (401, "invalid_request_error", Some("invalid_api_key"), "Incorrect API key provided")
            }
            FailKind::Refused => (400, "invalid_request_error", None, "the script refuses this"),
            FailKind::ContextFull => (
                400,
                "invalid_request_error",
                Some("context_length_exceeded"),
                "This model's maximum context length is 1000 tokens",
            ),
            FailKind::Overloaded => (503, "server_error", None, "The engine is currently overloaded"),
            FailKind::Network | FailKind::Crash => (500, "server_error", None, "The server had an error"),
        };
        Self { status, kind, code, message: message.to_owned() }
    }

    pub fn in_anthropics_shape(&self) -> Value {
        json!({"type": "error", "error": {"type": self.kind, "message": self.message}, "request_id": "req_standin"})
    }
    pub fn in_openais_shape(&self) -> Value {
        json!({"error": {"message": self.message, "type": self.kind, "param": null, "code": self.code}})
    }

    pub fn response(&self, body: Value, planned: Option<&Planned>) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(body)).into_response();
        for (name, value) in planned.iter().flat_map(|p| &p.headers) {
            if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

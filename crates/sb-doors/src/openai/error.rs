//! What a request is refused with, in OpenAI's shape: what its clients make their errors from.
//!
//! They send again by themselves what failed with 408, 409, 429 or 500 and above, unless a header says not
//! to. Invariant: where the agent may have acted, it does. What the doors share refuses in the HTTP
//! channel's shape; [`translate`] says the same in this one.

use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sb_wire::openai::{ErrorBody, ErrorDetail};

use crate::engine::EngineError;
use crate::http::{Code, HttpError};

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{said}")]
pub(crate) struct Fault {
    pub status: u16,
    pub kind: &'static str,
    pub code: Option<&'static str>,
    pub param: Option<String>,
    pub said: String,
    /// Seconds after which to try again.
    pub after: Option<u64>,
    /// Whether its client may send it again by itself; none: as it likes.
    pub again: Option<bool>,
}

/// What a handler gives.
pub(crate) type Result<T> = std::result::Result<T, Fault>;

const INVALID: &str = "invalid_request_error";

impl Fault {
    fn new(status: u16, kind: &'static str, code: Option<&'static str>, said: impl Into<String>) -> Self {
        Self { status, kind, code, param: None, said: said.into(), after: None, again: None }
    }
    pub fn bad_body(why: impl std::fmt::Display) -> Self {
        Self::new(400, INVALID, None, format!("The body is not the JSON object it should be: {why}."))
    }
    /// A field of the body is not as it must be.
    pub fn field(param: impl Into<String>, said: impl Into<String>) -> Self {
        Self { param: Some(param.into()), ..Self::new(400, INVALID, None, said) }
    }
    /// As [`field`](Self::field), with one of OpenAI's own codes.
    pub fn coded(param: impl Into<String>, code: &'static str, said: impl Into<String>) -> Self {
        Self { param: Some(param.into()), ..Self::new(400, INVALID, Some(code), said) }
    }
    /// The same whether there is no such profile or the token does not reach it.
    pub fn no_model(name: &str) -> Self {
        let name: String = name.chars().take(100).collect();
        let said = format!(
            "There is no model {name:?} for this token. Models are profiles here; GET /v1/models lists them."
        );
        Self { param: Some("model".to_owned()), ..Self::new(404, INVALID, Some("model_not_found"), said) }
    }
    pub fn not_found(said: impl Into<String>) -> Self {
        Self::new(404, INVALID, None, said)
    }
    pub fn forbidden(said: impl Into<String>) -> Self {
        Self::new(403, "permission_error", None, said)
    }
    pub fn busy(said: impl Into<String>) -> Self {
        let busy = Self::new(409, "rate_limit_error", Some("conversation_busy"), said);
        Self { after: Some(2), again: Some(false), ..busy }
    }
    /// A budget is used up: trying again changes nothing soon.
    pub fn used_up(said: impl Into<String>) -> Self {
        let used_up = Self::new(429, "insufficient_quota", Some("insufficient_quota"), said);
        Self { again: Some(false), ..used_up }
    }
    /// The turn failed: what it did, it did.
    pub fn failed(said: impl Into<String>, code: Option<&'static str>) -> Self {
        Self { again: Some(false), ..Self::new(500, "server_error", code, said) }
    }
    pub fn closing(said: impl Into<String>) -> Self {
        Self { after: Some(5), ..Self::new(503, "server_error", Some("overloaded"), said) }
    }

    /// The body.
    pub fn body(&self) -> ErrorBody {
        ErrorBody {
            error: ErrorDetail {
                message: self.said.clone(),
                kind: self.kind.to_owned(),
                param: self.param.clone(),
                code: self.code.map(str::to_owned),
            },
        }
    }
}

impl From<&HttpError> for Fault {
    fn from(e: &HttpError) -> Self {
        let said = e.said.clone();
        match e.code {
            Code::NoToken | Code::BadToken | Code::OtherProfile => {
                Self::new(401, "authentication_error", Some("invalid_api_key"), said)
            }
            Code::MayNotDecide
            | Code::MayNotInstruct
            | Code::Suspended
            | Code::CrossOrigin
            | Code::WrongHost => Self::forbidden(said),
            Code::NotFound | Code::UnknownSession | Code::Unknown => Self::not_found(said),
            Code::UnknownProfile => Self {
                param: Some("model".to_owned()),
                ..Self::new(404, INVALID, Some("model_not_found"), said)
            },
            Code::TooManyGuesses => Self::new(429, "rate_limit_error", Some("rate_limit_exceeded"), said),
            Code::Full => {
                let full = Self::new(429, "rate_limit_error", Some("rate_limit_exceeded"), said);
                Self { after: Some(10), again: Some(false), ..full }
            }
            Code::Busy | Code::Waiting | Code::NotWaiting | Code::OtherSession => Self::busy(said),
            Code::Budget => Self::used_up(said),
            Code::Closing => Self::closing(said),
            Code::Store => Self { after: Some(60), ..Self::new(503, "server_error", None, said) },
            Code::Internal => Self::new(500, "server_error", None, said),
            Code::DiskFull => Self::new(507, "server_error", None, said),
            code => Self::new(code.status(), INVALID, None, said),
        }
    }
}

impl From<HttpError> for Fault {
    fn from(e: HttpError) -> Self {
        Self::from(&e)
    }
}

impl From<EngineError> for Fault {
    fn from(e: EngineError) -> Self {
        HttpError::from(e).into()
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(self.body())).into_response();
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if let Some(again) = self.again {
            let value = HeaderValue::from_static(if again { "true" } else { "false" });
            headers.insert(HeaderName::from_static("x-should-retry"), value);
        }
        response
    }
}

/// Says in OpenAI's shape what was refused in the HTTP channel's.
pub(super) async fn translate(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let Some(error) = response.extensions().get::<HttpError>() else { return response };
    let mut said = Fault::from(error).into_response();
    for name in [header::RETRY_AFTER, header::ALLOW] {
        if let Some(value) = response.headers().get(&name) {
            said.headers_mut().insert(name, value.clone());
        }
    }
    said
}

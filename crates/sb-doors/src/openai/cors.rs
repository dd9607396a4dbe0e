//! Pages of other origins: which may ask here. Nobody, unless the operator names origins.
//!
//! A bearer token is no cookie: a page has it only if somebody gave it to that page. So `*` is allowed, but
//! never the default. What a page asks beforehand is answered without a token.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::error::Fault;
use crate::http::is_same_origin;

/// How long a page may remember what it was told, in seconds.
const REMEMBERED: &str = "600";
const METHODS: &str = "GET, POST, OPTIONS";
const EXPOSED: &str = "x-request-id, retry-after, x-should-retry";

/// Origins whose pages may ask.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins(Vec<String>);

impl Origins {
    pub fn new(origins: Vec<String>) -> Self {
        Self(origins)
    }
    fn allows(&self, origin: &str) -> bool {
        self.0.iter().any(|o| o == "*" || o.eq_ignore_ascii_case(origin))
    }
}

/// Whether something may stand for `--cors-origin`; the sentence says why not.
pub fn check_origin(text: &str) -> std::result::Result<(), String> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_origin = host.is_some_and(|h| {
        !h.is_empty() && h.bytes().all(|b| b.is_ascii_graphic()) && !h.contains(['/', '?', '#', '@', '*'])
    });
    match text == "*" || is_origin {
        true => Ok(()),
        false => Err(format!(
            "--cors-origin takes an origin as browsers send it, such as https://chat.example.org without a path, or * for any; not {text:?}."
        )),
    }
}

/// Lets a page's request through, or refuses it; answers what it asks beforehand.
pub(super) async fn admit(State(origins): State<Arc<Origins>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let Some(origin) = headers.get(header::ORIGIN).cloned() else { return next.run(request).await };
    let is_same = is_same_origin(headers, request.uri().authority().map(|a| a.as_str()));
    let is_one = headers.get_all(header::ORIGIN).iter().count() == 1;
    let is_allowed = is_one && origin.to_str().is_ok_and(|o| origins.allows(o));
    if !(is_same || is_allowed) {
        return Fault::forbidden(
            "Pages of this origin may not ask here. Its operator allows one with --cors-origin.",
        )
        .into_response();
    }
    let mut response = match request.method() == Method::OPTIONS {
        true => preflight(request.headers()),
        false => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    response
}

fn preflight(asked: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(REMEMBERED));
    if let Some(names) = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    response
}

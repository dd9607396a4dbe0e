//! How the server is: alive, ready, its numbers, and its description. All but the numbers without a token.

use std::sync::{Arc, LazyLock};

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder};
use serde::Serialize;
use utoipa::ToSchema;

use super::error::{Code, HttpError, Result};
use super::{Door, Gate, openapi};

/// Upper ends of what times are sorted into, in seconds.
const SECONDS: &[f64] =
    &[0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0];

/// What collects the numbers for `/metrics`, times sorted as its page says.
///
/// # Errors
/// None, as far as the exporter says now.
pub fn metrics_builder() -> std::result::Result<PrometheusBuilder, BuildError> {
    PrometheusBuilder::new().set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), SECONDS)
}

/// How the server is.
#[derive(Debug, Serialize, ToSchema)]
pub struct Status {
    /// `ok` or `ready`.
    pub status: String,
}

fn status(word: &str) -> Response {
    Json(Status { status: word.to_owned() }).into_response()
}

/// `GET /healthz`: the process serves.
pub(crate) async fn health() -> Response {
    status("ok")
}

/// `GET /readyz`: messages are taken, and nothing of the home was found damaged.
pub(crate) async fn ready(State(door): State<Arc<Door>>) -> Result<Response> {
    match (door.is_open(), door.engine.trouble()) {
        (true, None) => Ok(status("ready")),
        (true, Some(trouble)) => Err(HttpError::new(Code::Store, trouble)),
        (false, _) => Err(HttpError::new(Code::Closing, "The server is closing; it takes nothing new.")),
    }
}

/// `GET /openapi.json`
pub(crate) async fn openapi() -> Response {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| openapi::document().to_json().unwrap_or_else(|_| "{}".to_owned()));
    ([(header::CONTENT_TYPE, "application/json")], TEXT.as_str()).into_response()
}

/// `GET /metrics`, for the machine's token.
pub(crate) async fn metrics(State(gate): State<Arc<Gate>>) -> Result<Response> {
    let Some(handle) = &gate.metrics else {
        return Err(HttpError::new(Code::NotFound, "This server keeps no metrics."));
    };
    let health = gate.door.engine.health();
    metrics::gauge!("switchboard_conversations_awake").set(health.awake as f64);
    metrics::gauge!("switchboard_turns_waiting_for_place").set(health.waiting_for_place as f64);
    metrics::gauge!("switchboard_conversations_unfinished").set(gate.door.engine.unfinished().await? as f64);
    let text = handle.render();
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

//! Stand-ins for the model servers: Anthropic's Messages and OpenAI's Chat Completions in one router.
//!
//! They obey the script in the last user message, like the scripted model, and check every request as
//! strictly as the real ones do, so that what passes here is what a real server takes. They record what
//! they were asked and whether the client hung up. The official SDKs are run against them, so that what
//! is tested on them is believed.
//!
//! A model's name sets what it is: `tiny-N` holds N words, `thinking…` thinks before it answers.

mod anthropic;
mod anthropic_rules;
mod openai;
mod openai_rules;
mod refusal;
mod script;
mod state;
mod writer;

use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

pub use sb_harness::FailKind;
pub use state::{Models, Quirks, Seen};

/// The largest request the real servers take, about.
const LARGEST: usize = 32 * 1024 * 1024;

/// The only key that is not taken.
pub const WRONG_KEY: &str = "wrong-key";

/// Whether Anthropic's server would take this request, and why not.
///
/// # Errors
/// What it would answer.
pub fn anthropic_takes(body: &Value) -> Result<(), String> {
    let version = anthropic_rules::Version::First;
    anthropic_rules::check(body, version).map(|_| ()).map_err(|refusal| refusal.message)
}

/// Whether OpenAI's server would take this request, and why not.
///
/// # Errors
/// What it would answer.
pub fn openai_takes(body: &Value) -> Result<(), String> {
    openai_rules::check(body, Quirks::default()).map(|_| ()).map_err(|refusal| refusal.message)
}

/// Both servers, and a small one to steer them by: `/standin/requests`, `/standin/hangups`,
/// `/standin/fail/<kind>/<times>`.
pub fn router(models: Models) -> Router {
    Router::new()
        .route("/v1/messages", post(anthropic::messages))
        .route("/v1/chat/completions", post(openai::completions))
        .route("/standin/requests", get(requests).delete(forget))
        .route("/standin/hangups", get(hangups))
        .route("/standin/fail/{kind}/{times}", post(fail))
        .fallback(async || {
            (
                StatusCode::NOT_FOUND,
                Json(json!({"error": {"type": "not_found_error", "message": "no such path"}})),
            )
        })
        .layer(DefaultBodyLimit::max(LARGEST))
        .with_state(models)
}

async fn requests(State(models): State<Models>) -> Json<Value> {
    let shown = |seen: Seen| json!({"path": seen.path, "headers": seen.headers, "body": seen.body});
    Json(models.requests().into_iter().map(shown).collect())
}

async fn forget(State(models): State<Models>) -> StatusCode {
    models.forget();
    StatusCode::NO_CONTENT
}

async fn hangups(State(models): State<Models>) -> Json<Value> {
    Json(json!({"hangups": models.hangups()}))
}

async fn fail(State(models): State<Models>, Path((kind, times)): Path<(String, usize)>) -> StatusCode {
    match script::kind_of(&kind) {
        Some(kind) => {
            models.fail_next(kind, times, &[]);
            StatusCode::NO_CONTENT
        }
        None => StatusCode::BAD_REQUEST,
    }
}

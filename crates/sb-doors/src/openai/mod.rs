//! OpenAI's chat API: profiles as models, tokens as keys, whole transcripts as requests.
//!
//! An app sends all that was said each time. What was said before the last message is the key by which its
//! session is found ([`words`], [`Asked`](crate::model::Asked)). Invariants: a request that was sent again
//! runs nothing twice; what apps ask beside the talk enters no session; every error has OpenAI's shape.

mod answer;
mod aside;
mod ask;
mod chat;
mod content;
mod cors;
mod error;
mod models;
mod readers;
mod request;
mod responses;
mod shared;
mod stream;
mod words;

use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{any, get, post};

pub(crate) use cors::Origins;
pub use cors::check_origin;
pub(crate) use readers::Readers;

use crate::http::{Door, Gate, authenticate, check_files, wrong_method};
use error::{Fault, translate};

/// Judges a body as the door would, in both APIs, and takes nothing: the status of a refusal, and its sentence.
///
/// # Errors
/// What is wrong with it, if it is right in neither.
pub fn judge(bytes: &[u8]) -> std::result::Result<(), (u16, String)> {
    let judged = request::fields(bytes).and_then(|fields| {
        let request = match fields.contains_key("input") {
            true => request::Request::of_input(&fields)?,
            false => request::Request::read(&fields)?,
        };
        let told = request.talk.told();
        drop(told);
        Ok(check_files(&request.talk.last.files).map(drop)?)
    });
    judged.map_err(|fault| (fault.status, fault.said))
}

/// The routes of this door.
pub(crate) fn routes(door: Arc<Door>, gate: Arc<Gate>, origins: Origins) -> Router {
    let mut routes = Router::new();
    // People paste addresses with and without the version, and apps add one or not.
    for base in ["/v1", ""] {
        let at = |path: &str| format!("{base}{path}");
        routes = routes
            .route(&at("/models"), get(models::list))
            .route(&at("/models/{*id}"), get(models::one))
            .route(&at("/chat/completions"), post(chat::completions))
            .route(&at("/chat/completions/"), post(chat::completions))
            .route(&at("/responses"), post(responses::create))
            .route(&at("/responses/"), post(responses::create));
    }
    routes = routes
        .route("/v1/files/{id}", get(shared::show))
        .route("/v1/files/{id}/content", get(shared::content));
    for path in ["/v1/completions", "/v1/embeddings", "/v1/audio/{*rest}", "/v1/images/{*rest}"] {
        routes = routes.route(path, any(not_here));
    }
    routes
        .with_state(door)
        .method_not_allowed_fallback(wrong_method)
        .route_layer(from_fn_with_state(gate, authenticate))
        .layer(from_fn(translate))
        .layer(from_fn_with_state(Arc::new(origins), cors::admit))
}

async fn not_here() -> Fault {
    Fault::not_found(
        "This server answers /v1/models, /v1/chat/completions and /v1/responses of this API, and nothing else of it.",
    )
}

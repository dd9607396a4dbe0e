//! `/hooks/{slug}`: platforms call here, and whatever follows the slug in the path.
//!
//! Who calls is for the channel's adapter to judge, from the whole request; nothing is judged here but its
//! size. So no token is asked for, nothing counts as a wrong guess, and the host and origin a platform
//! names do not matter.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use tokio_util::sync::CancellationToken;

use super::{Door, HttpError, Result, Segments, body, envelope, status};
use crate::engine::Engine;
use crate::engine::channel::{WebhookReply, WebhookRequest};
use crate::model::Slug;

/// Largest body of a call, in bytes; no platform sends nearly as much.
pub const LARGEST_CALL: usize = 1024 * 1024;

/// The routes that platforms call.
pub(super) fn routes(door: Arc<Door>) -> Router {
    Router::new()
        .route("/hooks/{slug}", any(whole))
        .route("/hooks/{slug}/", any(whole))
        .route("/hooks/{slug}/{*rest}", any(below))
        .with_state(door)
}

/// All that a bridge on its own listens for: its platform's calls, and whether it is alive.
pub fn bridge_router(engine: Engine, closing: CancellationToken) -> Router {
    let alive = Router::new().route("/healthz", get(status::health));
    envelope(alive.merge(routes(Door::new(engine, closing, false))))
}

async fn whole(
    State(door): State<Arc<Door>>,
    Segments(slug): Segments<String>,
    request: Request,
) -> Result<Response> {
    call(&door, slug, request).await
}

async fn below(
    State(door): State<Arc<Door>>,
    Segments((slug, _)): Segments<(String, String)>,
    request: Request,
) -> Result<Response> {
    call(&door, slug, request).await
}

async fn call(door: &Door, slug: String, request: Request) -> Result<Response> {
    if !door.is_open() {
        return Err(HttpError::closing());
    }
    let (head, content) = request.into_parts();
    let at = door.engine.now();
    let read = body::read_within(LARGEST_CALL, &head.headers, content, &door.large_bodies).await?;
    let text = |value: &header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let call = WebhookRequest {
        method: head.method.as_str().to_owned(),
        path: after_slug(head.uri.path_and_query().map_or("", |p| p.as_str())).to_owned(),
        // Names are in lower case already, as they are kept.
        headers: head
            .headers
            .iter()
            .map(|(n, v): (&HeaderName, _)| (n.as_str().to_owned(), text(v)))
            .collect(),
        body: read.bytes.clone(),
        at,
    };
    Ok(answer(door.engine.hook(&Slug(slug), call).await))
}

/// What stands after `/hooks/<slug>`, with the query.
fn after_slug(path: &str) -> &str {
    let rest = path.strip_prefix("/hooks/").unwrap_or_default();
    rest.find(['/', '?']).and_then(|at| rest.get(at..)).unwrap_or_default()
}

fn answer(reply: WebhookReply) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if reply.body.is_empty() {
        return status.into_response();
    }
    (status, [(header::CONTENT_TYPE, reply.media_type)], reply.body).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_is_told_what_follows_the_slug_as_it_came() {
        for (path, rest) in [
            ("/hooks/tg", ""),
            ("/hooks/tg/", "/"),
            ("/hooks/tg?a=%2F", "?a=%2F"),
            ("/hooks/tg/x%20y/z?a=/b", "/x%20y/z?a=/b"),
        ] {
            assert_eq!(after_slug(path), rest);
        }
    }
}

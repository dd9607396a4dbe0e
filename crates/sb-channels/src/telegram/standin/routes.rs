//! The Bot API's addresses.

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::faults::Break;
use super::params::{LARGEST_BODY, Params, Refusal};
use super::{Shared, page, receive};

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/{bot}/{method}", any(call))
        .route("/file/{bot}/{*path}", get(file))
        .merge(page::routes())
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .with_state(shared)
}

/// Whether the first part of an address names the bot.
fn check(shared: &Shared, bot: &str) -> Result<(), Refusal> {
    let token = bot.strip_prefix("bot").filter(|token| crate::telegram::api::is_token(token));
    let token = token.ok_or_else(|| Refusal::new(404, "Not Found"))?;
    match shared.look(|platform| platform.token == token) {
        true => Ok(()),
        false => Err(Refusal::new(401, "Unauthorized")),
    }
}

async fn call(
    State(shared): State<Arc<Shared>>,
    Path((bot, method)): Path<(String, String)>,
    request: Request,
) -> Response {
    let method = method.to_ascii_lowercase();
    match answer(&shared, &bot, &method, request).await {
        Ok((_, Some(Break::LostAnswer))) => Refusal::lost().into_response(),
        Ok((result, _)) => Json(json!({"ok": true, "result": result})).into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

/// The result of a call, and whether something goes wrong on its way back.
async fn answer(
    shared: &Arc<Shared>,
    bot: &str,
    method: &str,
    request: Request,
) -> Result<(Value, Option<Break>), Refusal> {
    let params = Params::read(request).await?;
    check(shared, bot)?;
    let broken = shared.with(|platform| {
        if platform.calls.len() < 1_000 {
            *platform.calls.entry(method.to_owned()).or_default() += 1;
        }
        platform.breaks(method)
    });
    if let Some(refusal) = broken.and_then(Break::refusal) {
        return Err(refusal);
    }
    let result = match method {
        "getupdates" => receive::get_updates(shared, &params).await,
        "setwebhook" => receive::set_webhook(shared, &params),
        "deletewebhook" => receive::delete_webhook(shared, &params),
        _ => shared.with(|platform| platform.act(method, &params)),
    };
    result.map(|result| (result, broken))
}

async fn file(State(shared): State<Arc<Shared>>, Path((bot, path)): Path<(String, String)>) -> Response {
    if let Err(refusal) = check(&shared, &bot) {
        return refusal.into_response();
    }
    let found = shared.look(|platform| platform.files.iter().find(|file| file.path == path).cloned());
    match found {
        Some(file) => ([(CONTENT_TYPE, "application/octet-stream")], file.bytes).into_response(),
        None => Refusal::new(404, "Not Found").into_response(),
    }
}

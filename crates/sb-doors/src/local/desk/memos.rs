//! The `/desk` routes about what agents noted.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{delete, get};
use axum::{Json, Router};

use super::Here;
use crate::http::{Result, Segments, rfc3339};
use crate::local::Desk;
use crate::local::wire::MemoInfo;
use crate::model::ProfileName;

pub(super) fn routes() -> Router<Arc<Desk>> {
    Router::new()
        .route("/desk/profiles/{name}/memos", get(list).delete(forget_all))
        .route("/desk/profiles/{name}/memos/{id}", delete(forget))
}

async fn list(State(desk): Here, Segments(name): Segments<String>) -> Result<Json<Vec<MemoInfo>>> {
    let all = desk.door.engine.memos(&ProfileName(name)).await?;
    let told = all.into_iter().map(|memo| MemoInfo {
        id: memo.id,
        at: rfc3339(memo.at),
        words: memo.words,
        outside: memo.outside,
    });
    Ok(Json(told.collect()))
}

async fn forget(State(desk): Here, Segments((name, id)): Segments<(String, i64)>) -> Result<StatusCode> {
    desk.door.engine.forget(&ProfileName(name), Some(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn forget_all(State(desk): Here, Segments(name): Segments<String>) -> Result<StatusCode> {
    desk.door.engine.forget(&ProfileName(name), None).await?;
    Ok(StatusCode::NO_CONTENT)
}

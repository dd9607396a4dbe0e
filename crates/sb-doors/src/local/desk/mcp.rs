//! The `/desk` routes about a profile's MCP servers.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::routing::{post, put};
use axum::{Json, Router};

use super::super::Desk;
use super::super::wire::{PutMcp, TestMcp};
use super::{Here, body};
use crate::engine::EngineError;
use crate::http::{Code, HttpError, Result, Segments};
use crate::model::{McpFound, ProfileName, Secret};

pub(super) fn routes() -> Router<Arc<Desk>> {
    Router::new()
        .route("/desk/profiles/{name}/mcp/{server}", put(put_server).delete(remove))
        .route("/desk/profiles/{name}/mcp/{server}/test", post(test))
}

async fn put_server(
    State(desk): Here,
    Segments((name, server)): Segments<(String, String)>,
    request: Request,
) -> Result<Json<McpFound>> {
    let put: PutMcp = body(request).await?;
    if put.server.name != server {
        let said =
            format!("The server in the body is called {:?}, the address says {server:?}.", put.server.name);
        return Err(HttpError::new(Code::BadField, said));
    }
    let given = put.values.into_iter().map(|(name, value)| (name, Secret::new(value))).collect();
    let engine = desk.door.engine.clone();
    whole(async move { engine.put_mcp(&ProfileName(name), put.server, given, put.new).await }).await.map(Json)
}

async fn test(
    State(desk): Here,
    Segments((name, server)): Segments<(String, String)>,
    request: Request,
) -> Result<Json<McpFound>> {
    let TestMcp { accept } = body(request).await?;
    let engine = desk.door.engine.clone();
    whole(async move { engine.find_mcp(&ProfileName(name), &server, accept).await }).await.map(Json)
}

async fn remove(
    State(desk): Here,
    Segments((name, server)): Segments<(String, String)>,
) -> Result<StatusCode> {
    let engine = desk.door.engine.clone();
    whole(async move { engine.remove_mcp(&ProfileName(name), &server).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Does it to its end, also where the command that asked for it was ended meanwhile: what was begun is ended
/// again.
async fn whole<T: Send + 'static>(
    work: impl Future<Output = std::result::Result<T, EngineError>> + Send + 'static,
) -> Result<T> {
    let done = tokio::spawn(work).await;
    Ok(done.map_err(|_| HttpError::new(Code::Internal, "The change failed. The server's log says more."))??)
}

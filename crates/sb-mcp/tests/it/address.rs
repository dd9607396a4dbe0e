//! Servers at an address.

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use sb_harness::model::McpAt;
use serde_json::{Value, json};

use crate::world::{World, server};

/// Serves on loopback until the test ends; gives the address.
async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

fn answer(id: &Value, result: Value) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// A server over streamable HTTP that wants a key.
async fn asked(headers: HeaderMap, body: Bytes) -> Response {
    if headers.get("x-key").is_none_or(|key| key != "X-Key-X-Key") {
        let wants = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, wants).into_response();
    }
    let asked: Value = serde_json::from_slice(&body).expect("JSON");
    let id = &asked["id"];
    match asked["method"].as_str().unwrap_or_default() {
        "initialize" => answer(
            id,
            json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                   "serverInfo": {"name": "far", "version": "2"}}),
        ),
        "tools/list" => answer(
            id,
            json!({"tools": [{"name": "look", "description": "Looks", "inputSchema": {"type": "object"},
                              "annotations": {"readOnlyHint": true}}]}),
        ),
        "tools/call" => answer(id, json!({"content": [{"type": "text", "text": "seen"}]})),
        method if method.starts_with("notifications/") => StatusCode::ACCEPTED.into_response(),
        _ => {
            let body = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "unknown"}});
            ([(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
        }
    }
}

#[tokio::test]
async fn a_server_at_an_address_is_asked_with_its_header() {
    let url = serve(Router::new().route("/mcp", post(asked))).await + "/mcp";
    let mut world = World::of(|_| server(McpAt::Url(url)));
    let why = world.find().await.expect_err("no key");
    assert!(why.contains("--header Authorization=VARIABLE"), "{why}");
    world.profile.mcp[0].secrets = vec!["X-Key".into()];
    world.accept().await;
    let done = world.done("f__look").await;
    assert_eq!((done.text.as_str(), done.outside), ("seen", true));
}

#[tokio::test]
async fn the_older_transport_is_refused_by_name() {
    let stream = get(|| async {
        ([(header::CONTENT_TYPE, "text/event-stream")], "event: endpoint\ndata: /messages?id=1\n\n")
    });
    let url = serve(Router::new().route("/sse", stream)).await + "/sse";
    let why = World::of(|_| server(McpAt::Url(url))).find().await.expect_err("refused");
    assert!(why.contains("older transport") && why.contains("streamable HTTP"), "{why}");
}

#[tokio::test]
async fn an_address_where_nobody_or_no_mcp_is_says_so_without_its_path() {
    let url = serve(Router::new().route("/", get(|| async { "hello" }))).await;
    for url in [format!("{url}/secret-path"), "http://127.0.0.1:9/secret-path".to_owned()] {
        let why = World::of(|_| server(McpAt::Url(url))).find().await.expect_err("refused");
        assert!(why.contains("cannot be spoken to") && !why.contains("secret-path"), "{why}");
        assert!(why.contains("refused") || why.contains("404"), "{why}");
        assert!(!why.contains("rmcp"), "{why}");
    }
}

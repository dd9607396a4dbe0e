//! Files: in with a message, out with an answer, and never anywhere else.

use axum::body::Body;
use axum::http::Request;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::server::{Events, MACHINE, Server};

/// One red pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async fn said_files(server: &Server, session: &Value) -> Value {
    let path = format!("/v1/sessions/{}", session.as_str().unwrap());
    let shown = server.get(MACHINE, &path).await.succeeded().json;
    let said = shown["transcript"].as_array().unwrap().iter().rev().find(|line| line["kind"] == "said");
    said.unwrap()["files"].clone()
}

/// Holds: W-33.
#[tokio::test]
async fn files_reach_the_agent_with_names_and_types_of_their_own() {
    let server = Server::start().await;
    let text = STANDARD.encode("a,b\n1,2\n");
    let files = json!([
        {"base64": text, "name": "table.csv", "media_type": "text/csv; charset=utf-8"},
        {"base64": PNG},
        {"base64": PNG, "name": "photo.bin", "media_type": "application/x-odd"},
        {"base64": text},
        {"base64": text, "name": "notes.md"},
        {"base64": STANDARD.encode([0, 1, 2])},
        {"base64": STANDARD.encode("GIF89a is how a picture begins, and this is none")},
    ]);
    let reply = server.say(MACHINE, json!({"text": "look", "files": files})).await.succeeded();
    let got = said_files(&server, &reply.json["session"]).await;
    let facts: Vec<_> = got.as_array().unwrap().iter().map(|f| (&f["name"], &f["media_type"])).collect();
    assert_eq!(facts[0], (&json!("table.csv"), &json!("text/csv")));
    assert_eq!(facts[1], (&json!("file-2.png"), &json!("image/png")));
    assert_eq!(facts[2], (&json!("photo.bin"), &json!("image/png")));
    assert_eq!(facts[3], (&json!("file-4.txt"), &json!("text/plain")));
    assert_eq!(facts[4], (&json!("notes.md"), &json!("text/markdown")));
    assert_eq!(facts[5], (&json!("file-6.bin"), &json!("application/octet-stream")));
    assert_eq!(facts[6], (&json!("file-7.txt"), &json!("text/plain")));
    let kept = std::fs::read(server.app.workspace().join("inbox/table.csv")).unwrap();
    assert_eq!(kept, b"a,b\n1,2\n");
}

#[tokio::test]
async fn a_file_needs_no_words_beside_it() {
    let server = Server::start().await;
    let reply = server.say(MACHINE, json!({"files": [{"base64": PNG}]})).await.succeeded();
    assert!(reply.said().contains("inbox/file-1.png"), "{}", reply.said());
}

/// Holds: W-35, W-19.
#[tokio::test]
async fn a_shared_file_comes_back_whole_also_at_a_streams_end() {
    let server = Server::start().await;
    let text = "!tool share_file {\"name\": \"report.txt\", \"text\": \"All is well.\"}\n!say Here.";
    let reply = server.say(MACHINE, json!({"text": text})).await.succeeded();
    let wanted = json!([{
        "name": "report.txt",
        "media_type": "text/plain",
        "size": 12,
        "base64": STANDARD.encode("All is well."),
    }]);
    assert_eq!(reply.json["files"], wanted);
    assert!(reply.lines().contains(&"file: report.txt (text/plain, 12 bytes)"));
    let events = server.stream(MACHINE, json!({"text": text})).await.rest().await;
    assert_eq!(events.last().unwrap().1["files"], wanted);
}

/// Has the agent share a file of so many bytes; the session, and the file.
async fn share(server: &Server, bytes: usize) -> (String, String) {
    let text = "0123456789abcde\u{20}".repeat(bytes / 16);
    let script = format!("!tool share_file {}\n!say Here.", json!({"name": "large.txt", "text": text}));
    let reply = server.say(MACHINE, json!({"text": script})).await.succeeded();
    assert!(reply.json["files"][0]["base64"] == STANDARD.encode(&text), "not the same");
    assert_eq!(reply.headers["content-type"], "application/json");
    assert!(reply.headers.contains_key("content-length"));
    (reply.json["session"].as_str().unwrap().to_owned(), text)
}

#[tokio::test]
async fn a_large_file_comes_back_whole_at_once_and_at_a_streams_end() {
    let server = Server::start().await;
    let (session, text) = share(&server, 4_000_000).await;
    let path = format!("/v1/sessions/{session}?stream=true");
    let events = Events::of(server.request(Method::GET, &path).bearer_auth(MACHINE)).await.rest().await;
    let file = &events.last().unwrap().1["files"][0];
    assert_eq!(file["size"], 4_000_000);
    assert!(file["base64"] == STANDARD.encode(&text), "not the same");
}

/// Bodies are asked for their pieces as readers take them, so what was not asked for is not in memory.
#[tokio::test]
async fn readers_that_stall_hold_a_piece_of_a_file_each_and_no_more() {
    let server = Server::start().await;
    let (session, text) = share(&server, 2_000_000).await;
    let mut stalled = Vec::new();
    for _ in 0..40 {
        let request = Request::get(format!("/v1/sessions/{session}?stream=true"))
            .header("authorization", format!("Bearer {MACHINE}"));
        let response = server.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        stalled.push(response.into_body().into_data_stream());
    }
    for body in &mut stalled {
        // Its words, then the file's first bytes; there they stall.
        let mut piece = body.next().await.unwrap().unwrap();
        while !piece.starts_with(b"MDEyMzQ1") {
            piece = body.next().await.unwrap().unwrap();
        }
        assert_eq!(piece.len(), 64 * 1024);
    }
    let rest: Vec<_> = stalled.pop().unwrap().map(|piece| piece.unwrap()).collect().await;
    assert!(rest.len() >= 40 && rest.iter().all(|piece| piece.len() <= 64 * 1024), "{}", rest.len());
    let rest = String::from_utf8(rest.concat()).unwrap();
    assert!(rest.starts_with(&STANDARD.encode(&text)[64 * 1024..]), "not the same");
    assert!(rest.ends_with("\n\n"));
}

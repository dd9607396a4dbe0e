//! Files: in with a message, out with an answer, and never anywhere else.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::server::{MACHINE, Server};

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

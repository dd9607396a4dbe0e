//! The numbers a server keeps, and the page about them.

use std::collections::BTreeSet;

use crate::world::{Server, UP, World, client, say};

/// The names of our metrics in a text, those of a histogram's parts taken together.
fn names(text: &str) -> BTreeSet<&str> {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let words = text.split(|c| !is_name(c)).filter(|word| word.starts_with("switchboard_"));
    words.filter(|word| !["_bucket", "_sum", "_count"].iter().any(|end| word.ends_with(end))).collect()
}

#[tokio::test]
async fn every_number_is_kept_and_on_its_page() {
    let world = World::new();
    let token = "the-machines-own-token";
    let mut program = world.program();
    program.args(["up", "--listen", "127.0.0.1:0"]).env("SWITCHBOARD_TOKEN", token);
    let server = Server::start(program, UP).await;
    assert_eq!(say(&server.url(), "assistant", token, r#"{"text": "Hi"}"#).await.0, 200);
    assert_eq!(say(&server.url(), "assistant", "no-token", r#"{"text": "Hi"}"#).await.0, 401);
    let asked = client().get(format!("{}/metrics", server.url())).bearer_auth(token).send().await;
    let text = asked.expect("an answer").text().await.expect("text");
    for line in [
        "switchboard_messages_taken_total 1",
        "switchboard_turns_ended_total{how=\"replied\"} 1",
        "switchboard_turn_seconds_count 1",
        "switchboard_turn_seconds_bucket{le=\"600\"} 1",
        "switchboard_model_calls_total{provider=\"scripted\",outcome=\"answered\"} 1",
        "switchboard_http_requests_total{route=\"/v1/profiles/{profile}/messages\",status=\"401\"} 1",
        "switchboard_http_wrong_tokens_total 1",
        "switchboard_conversations_unfinished 0",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} is not in:\n{text}");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");
    let page = std::fs::read_to_string(path).expect("the page");
    assert_eq!(names(&text), names(&page));
}

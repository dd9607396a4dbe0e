//! A session as it is shown: what is in it, to whom, and how to follow it.

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Events, MACHINE, Server, reply};

const WRITES: &str = "!tool write_file {\"path\":\"secret.txt\"}\n!say Written.";

fn kinds(shown: &Value) -> Vec<&str> {
    shown["transcript"].as_array().unwrap().iter().map(|line| line["kind"].as_str().unwrap()).collect()
}

async fn follow(server: &Server, session: &str) -> Vec<(String, Value)> {
    let path = format!("/v1/sessions/{session}?stream=true");
    Events::of(server.request(Method::GET, &path).bearer_auth(MACHINE)).await.rest().await
}

/// Holds: W-03.
#[tokio::test]
async fn a_session_shows_everything_that_happened_in_order() {
    let server = Server::start().await;
    let (decides, id) = server.app.token("assistant", true).await;
    let asked = server.say(&decides, json!({"text": WRITES, "conversation": "ops"})).await.succeeded();
    let path = format!("/v1/sessions/{}", asked.json["session"].as_str().unwrap());
    let waiting = server.get(&decides, &path).await.succeeded().json;
    assert_eq!((&waiting["state"], &waiting["profile"]), (&json!("waiting"), &json!("assistant")));
    assert_eq!(waiting["waiting"]["request"], asked.json["request"]);
    assert_eq!(waiting["waiting"]["input"], json!({"path": "secret.txt"}));
    server.say(&decides, json!({"text": "/approve", "conversation": "ops"})).await.succeeded();
    server.say(&decides, json!({"text": "/title Writing", "conversation": "ops"})).await.succeeded();

    let shown = server.get(&decides, &path).await.succeeded().json;
    assert_eq!(shown["conversation"], "ops");
    assert_eq!(shown["title"], "Writing");
    assert_eq!((&shown["state"], &shown["current"]), (&json!("idle"), &json!(true)));
    assert_eq!(shown["waiting"], json!(null));
    assert_eq!(shown["models"], json!(["scripted"]));
    assert_eq!(shown["usage"]["turns"], 1);
    assert_eq!(shown["usage"]["messages"], 1);
    let first = ["said", "answered", "asked", "decided", "result", "answered", "ended"];
    assert_eq!(kinds(&shown)[..7], first);
    assert_eq!(shown["transcript"][3]["who"], format!("http:token {id}"));
    let at = shown["transcript"][0]["at"].as_str().unwrap();
    assert!(at.starts_with("20") && at.contains('T') && at.ends_with('Z'), "{at}");
}

#[tokio::test]
async fn what_calls_were_made_with_is_shown_to_deciders_only() {
    let server = Server::start().await;
    let (talks, _) = server.app.token("assistant", false).await;
    let asked = server.say(&talks, json!({"text": WRITES})).await.succeeded();
    let path = format!("/v1/sessions/{}", asked.json["session"].as_str().unwrap());
    let shown = server.get(&talks, &path).await.succeeded().json;
    assert_eq!(shown["waiting"]["tool"], "write_file");
    assert_eq!(shown["waiting"].get("input"), None);
    assert_eq!(shown["transcript"][1]["calls"][0].get("input"), None);
    let all = server.get(MACHINE, &path).await.succeeded().json;
    assert_eq!(all["transcript"][1]["calls"][0]["input"], json!({"path": "secret.txt"}));
}

#[tokio::test]
async fn a_session_is_shown_to_its_profiles_tokens_only() {
    let server = Server::start().await;
    server.app.add_profile("payer").await;
    let (other, _) = server.app.token("payer", true).await;
    let said = server.say(MACHINE, json!({"text": "hi"})).await.succeeded();
    let path = format!("/v1/sessions/{}", said.json["session"].as_str().unwrap());
    server.get(&other, &path).await.is_error(401, "other_profile");
    server.get(&other, &format!("{path}?stream=true")).await.is_error(401, "other_profile");
    server.get(MACHINE, "/v1/sessions/0123456789abcdef").await.is_error(404, "unknown_session");
    for odd in ["0123", "0123456789ABCDEF", "0123456789abcdeg", "..%2f..%2fetc", "%00", "0123-4567"] {
        let path = format!("/v1/sessions/{odd}");
        server.get(MACHINE, &path).await.is_error(404, "unknown_session");
    }
    server.get(MACHINE, "/v1/sessions/%ff").await.is_error(404, "not_found");
    server.get(MACHINE, &format!("{path}?stream=perhaps")).await.is_error(400, "bad_field");
    server.get(MACHINE, &format!("{path}?strean=true")).await.is_error(400, "bad_field");
}

#[tokio::test]
async fn following_an_idle_session_gives_its_last_answer() {
    let server = Server::start().await;
    let said =
        server.say(MACHINE, json!({"text": "!say The last.", "conversation": "ops"})).await.succeeded();
    let session = said.json["session"].as_str().unwrap();
    server.say(MACHINE, json!({"text": "/dance", "conversation": "ops"})).await.is_error(400, "bad_command");
    server.say(MACHINE, json!({"text": "/usage", "conversation": "ops"})).await.succeeded();
    let events = follow(&server, session).await;
    assert_eq!(events.last().unwrap(), &("done".to_owned(), said.json.clone()));
    // An older session keeps its own last answer.
    server.say(MACHINE, json!({"text": "/new", "conversation": "ops"})).await.succeeded();
    server.say(MACHINE, json!({"text": "!say Another.", "conversation": "ops"})).await.succeeded();
    let events = follow(&server, session).await;
    assert_eq!(events.last().unwrap().1["said"], "The last.");
}

#[tokio::test]
async fn following_a_waiting_session_tells_what_waits() {
    let server = Server::start().await;
    let asked = server.say(MACHINE, json!({"text": WRITES})).await.succeeded();
    let events = follow(&server, asked.json["session"].as_str().unwrap()).await;
    let done = &events.last().unwrap().1;
    assert_eq!((&done["state"], &done["request"]), (&json!("waiting"), &asked.json["request"]));
}

#[tokio::test]
async fn two_may_follow_one_run_from_its_middle() {
    let server = Server::start().await;
    let mut first = server.stream(MACHINE, json!({"text": "!stream 10 20"})).await;
    let session = first.await_event("session").await["session"].as_str().unwrap().to_owned();
    first.await_event("delta").await;
    let second = follow(&server, &session).await;
    let text: String =
        second.iter().filter(|(n, _)| n == "delta").map(|(_, d)| d["text"].as_str().unwrap()).collect();
    let done = first.await_event("done").await;
    assert_eq!(text, done["said"].as_str().unwrap());
    assert_eq!(second.last().unwrap().1, done);
}

#[tokio::test]
async fn a_removed_profiles_session_is_still_shown_to_the_machine() {
    let server = Server::start().await;
    let said = server.say(MACHINE, json!({"text": "hi"})).await.succeeded();
    server.app.engine.remove_profile(&"assistant".into()).await.unwrap();
    let path = format!("/v1/sessions/{}", said.json["session"].as_str().unwrap());
    let shown = server.get(MACHINE, &path).await.succeeded().json;
    assert_eq!(shown["models"], json!([]));
    reply(server.post(MACHINE, json!({"text": "hi"}))).await.is_error(404, "unknown_profile");
}

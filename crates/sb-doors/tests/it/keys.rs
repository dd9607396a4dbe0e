//! Repeats: one key, one message, one answer, whatever happens in between.

use serde_json::{Value, json};

use crate::server::{MACHINE, Reply, Server, reply};

async fn keyed(server: &Server, token: &str, key: &str, body: Value) -> Reply {
    reply(server.post(token, body).header("idempotency-key", key)).await
}

async fn turns(server: &Server, session: &Value) -> Value {
    let path = format!("/v1/sessions/{}", session.as_str().unwrap());
    server.get(MACHINE, &path).await.succeeded().json["usage"]["turns"].clone()
}

#[tokio::test]
async fn the_same_key_gives_the_same_answer_and_one_turn() {
    let server = Server::start().await;
    let body = json!({"text": SCRIPT});
    let first = keyed(&server, MACHINE, "k1", body.clone()).await.succeeded();
    let again = keyed(&server, MACHINE, "k1", body).await.succeeded();
    assert_eq!(first.json, again.json);
    assert_eq!(turns(&server, &first.json["session"]).await, 1);
}

const SCRIPT: &str = "!say a\n!tool list_files {}\n!say b";

#[tokio::test]
async fn two_at_once_under_one_key_are_one_message() {
    let server = Server::start().await;
    let body = json!({"text": "!stream 5 10"});
    let (first, second) = tokio::join!(
        keyed(&server, MACHINE, "k1", body.clone()),
        keyed(&server, MACHINE, "k1", body.clone())
    );
    assert_eq!(first.succeeded().json, second.json);
    let session = second.succeeded().json["session"].clone();
    assert_eq!(turns(&server, &session).await, 1);
}

#[tokio::test]
async fn another_body_under_a_key_is_refused() {
    let server = Server::start().await;
    keyed(&server, MACHINE, "k1", json!({"text": "one"})).await.succeeded();
    keyed(&server, MACHINE, "k1", json!({"text": "two"})).await.is_error(422, "other_body");
    keyed(&server, MACHINE, "k2", json!({"text": "two"})).await.succeeded();
}

#[tokio::test]
async fn a_key_is_its_tokens_own() {
    let server = Server::start().await;
    let (ann, _) = server.app.token("assistant", false).await;
    let (ben, _) = server.app.token("assistant", false).await;
    let first = keyed(&server, &ann, "k1", json!({"text": "one"})).await.succeeded();
    let second = keyed(&server, &ben, "k1", json!({"text": "two"})).await.succeeded();
    assert_ne!(first.said(), second.said());
}

#[tokio::test]
async fn a_key_is_known_after_a_restart() {
    let server = Server::start().await;
    let body = json!({"text": SCRIPT, "conversation": "ops"});
    let first = keyed(&server, MACHINE, "k1", body.clone()).await.succeeded();
    let server = Server::over(server.app.reopen().await).await;
    let again = keyed(&server, MACHINE, "k1", body).await.succeeded();
    assert_eq!(first.json, again.json);
    keyed(&server, MACHINE, "k1", json!({"text": "x"})).await.is_error(422, "other_body");
}

#[tokio::test]
async fn a_refusal_is_repeated_under_its_key_too() {
    let server = Server::start().await;
    keyed(&server, MACHINE, "k1", json!({"text": "/approve"})).await.is_error(409, "not_waiting");
    keyed(&server, MACHINE, "k1", json!({"text": "/approve"})).await.is_error(409, "not_waiting");
}

#[tokio::test]
async fn a_waiting_answer_becomes_the_whole_one_once_it_was_decided() {
    let server = Server::start().await;
    let body = json!({"text": "!say First.\n!tool write_file {}\n!say Done.", "conversation": "ops"});
    let asked = keyed(&server, MACHINE, "k1", body.clone()).await.succeeded();
    assert_eq!(asked.json["state"], "waiting");
    let again = keyed(&server, MACHINE, "k1", body.clone()).await.succeeded();
    assert_eq!(asked.json, again.json);
    let server = Server::over(server.app.reopen().await).await;
    assert_eq!(asked.json, keyed(&server, MACHINE, "k1", body.clone()).await.succeeded().json);
    server.say(MACHINE, json!({"text": "/approve", "conversation": "ops"})).await.succeeded();
    let whole = keyed(&server, MACHINE, "k1", body).await.succeeded();
    assert_eq!((whole.said(), &whole.json["state"]), ("First.\n\nDone.", &json!("done")));
}

//! The end of a server: streams are told, requests are told, and it is over in time.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::server::{MACHINE, Server, reply};

#[tokio::test]
async fn a_closing_server_ends_its_streams_and_itself_in_time() {
    let server = Server::start().await;
    let mut stream = server.stream(MACHINE, json!({"text": "!stream 1000 20", "conversation": "a"})).await;
    stream.await_event("delta").await;
    let whole = server.post(MACHINE, json!({"text": "!wait 600", "conversation": "b"}));
    let whole = tokio::spawn(reply(whole));
    let sessions = async || server.app.engine.sessions(None, 10).await.unwrap().len();
    sb_testkit::until("two sessions", async || (sessions().await == 2).then_some(())).await;
    server.closing.cancel();
    assert_eq!(stream.await_event("error").await["code"], "closing");
    let told = whole.await.unwrap();
    told.is_error(503, "closing");
    assert!(told.headers.contains_key("retry-after"));
    let over = tokio::time::timeout(Duration::from_secs(5), server.serving).await;
    over.expect("ended within five seconds").unwrap().unwrap();
}

#[tokio::test]
async fn a_message_cut_off_by_closing_is_answered_after_the_next_start() {
    let server = Server::start().await;
    let keyed = |server: &Server| {
        let body = json!({"text": "!wait 0.2\n!say At last.", "conversation": "a"});
        server.post(MACHINE, body).header("idempotency-key", "once")
    };
    let cut = tokio::spawn(reply(keyed(&server)));
    sb_testkit::until("a session", async || server.app.engine.sessions(None, 1).await.unwrap().pop()).await;
    server.closing.cancel();
    cut.await.unwrap().is_error(503, "closing");
    let server = Server::over(server.app.reopen().await).await;
    let answer = reply(keyed(&server)).await.succeeded();
    assert!(answer.said().starts_with("I was restarted while I worked on this"), "{}", answer.said());
    assert!(answer.said().ends_with("At last."));
}

#[tokio::test]
async fn readiness_ends_with_the_engine_and_health_does_not() {
    let server = Server::start().await;
    reply(server.request(Method::GET, "/readyz")).await.succeeded();
    server.app.engine.close().await.unwrap();
    reply(server.request(Method::GET, "/readyz")).await.is_error(503, "closing");
    reply(server.request(Method::GET, "/healthz")).await.succeeded();
    let refused = server.say(MACHINE, json!({"text": "hi"})).await;
    refused.is_error(503, "closing");
}

#[tokio::test]
async fn a_damaged_home_is_not_ready_and_serves_what_is_whole() {
    let server = Server::start().await;
    let in_it = |text: &str, conversation: &str| json!({"text": text, "conversation": conversation});
    server.say(MACHINE, in_it("/system XYZZY", "broken")).await.succeeded();
    let damage = |home: &std::path::Path| {
        let db = home.join("switchboard.db");
        let mut bytes = std::fs::read(&db).unwrap();
        let at = bytes.windows(16).position(|w| w == br#""system":"XYZZY""#).expect("it is stored");
        bytes[at..at + 8].copy_from_slice(b"........");
        std::fs::write(&db, bytes).unwrap();
    };
    let server = Server::over(server.app.reopen_after(damage).await).await;
    reply(server.request(Method::GET, "/readyz")).await.succeeded();
    server.say(MACHINE, in_it("hi", "broken")).await.is_error(500, "internal");
    let told = reply(server.request(Method::GET, "/readyz")).await;
    told.is_error(503, "store");
    assert!(told.headers.contains_key("retry-after"));
    reply(server.request(Method::GET, "/healthz")).await.succeeded();
    server.say(MACHINE, in_it("hi", "whole")).await.succeeded();
}

//! Guessing tokens: limited before a token is looked up or a body is read, for each source by itself.

use reqwest::Method;
use sb_doors::http::GUESSES;
use serde_json::json;

use crate::server::{MACHINE, Reply, Server, reply};

/// Shows a wrong token, as though the proxy had seen it come from there.
async fn guess(server: &Server, from: &str) -> Reply {
    let request = server.post("sb_wrong", json!({"text": "hi"})).header("x-forwarded-for", from);
    reply(request).await
}

/// Guesses until it is refused to guess; a machine so slow that one more try grew back meanwhile is given it.
async fn exhaust(server: &Server, from: impl Fn(u32) -> String) {
    for n in 0..GUESSES * 2 {
        let answer = guess(server, &from(n)).await;
        if n >= GUESSES && answer.status == 429 {
            return;
        }
        answer.is_error(401, "bad_token");
    }
    panic!("never refused");
}

#[tokio::test]
async fn who_guesses_too_often_is_refused_for_a_while_whatever_new_it_shows() {
    let server = Server::start().await;
    // What a client writes about itself changes nothing.
    exhaust(&server, |n| format!("192.0.2.{n}")).await;
    let refused = server.say(MACHINE, json!({"text": "hi"})).await;
    refused.is_error(429, "too_many_guesses");
    let seconds: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=2).contains(&seconds), "{seconds}");
    // Neither is its body read: it is refused although it is none, and before all of it came.
    let request =
        server.post(MACHINE, json!(null)).header("expect", "100-continue").body("x".repeat(100_000));
    reply(request).await.is_error(429, "too_many_guesses");
    server.get(MACHINE, "/metrics").await.is_error(429, "too_many_guesses");
    reply(server.request(Method::GET, "/healthz")).await.succeeded();
}

#[tokio::test]
async fn right_tokens_and_missing_ones_are_no_guesses() {
    let server = Server::start().await;
    for _ in 0..GUESSES * 2 {
        server.say(MACHINE, json!({"text": "/whoami"})).await.succeeded();
        reply(server.request(Method::GET, "/metrics")).await.is_error(401, "no_token");
    }
}

#[tokio::test]
async fn who_was_right_lately_is_let_in_whatever_others_guess_from_the_same_address() {
    let server = Server::start().await;
    let (known, id) = server.app.token("assistant", false).await;
    let (new, _) = server.app.token("assistant", false).await;
    server.say(&known, json!({"text": "hi"})).await.succeeded();
    exhaust(&server, |_| "192.0.2.1".to_owned()).await;
    for _ in 0..5 {
        server.say(&known, json!({"text": "hi"})).await.succeeded();
    }
    for other in ["sb_wrong", MACHINE, &new] {
        server.say(other, json!({"text": "hi"})).await.is_error(429, "too_many_guesses");
    }
    // Remembered, it is looked up all the same: taken back, it opens nothing, and is a guess like others.
    server.app.engine.remove_token(&"assistant".into(), &id).await.unwrap();
    server.say(&known, json!({"text": "hi"})).await.is_error(401, "bad_token");
    server.say(&known, json!({"text": "hi"})).await.is_error(429, "too_many_guesses");
}

#[tokio::test]
async fn a_known_token_that_may_not_see_the_numbers_is_no_guess() {
    let server = Server::start().await;
    let (known, _) = server.app.token("assistant", true).await;
    for _ in 0..GUESSES * 2 {
        server.get(&known, "/metrics").await.is_error(401, "bad_token");
    }
    server.get(MACHINE, "/metrics").await;
    server.say(MACHINE, json!({"text": "hi"})).await.succeeded();
}

#[tokio::test]
async fn guesses_at_the_machines_token_count_too() {
    let server = Server::start().await;
    for _ in 0..GUESSES * 2 {
        server.get("sb_wrong", "/metrics").await;
    }
    server.get(MACHINE, "/metrics").await.is_error(429, "too_many_guesses");
}

#[tokio::test]
async fn behind_a_proxy_each_counts_whom_the_proxy_saw() {
    let server = Server::behind_proxy().await;
    exhaust(&server, |n| format!("203.0.113.{n}, 192.0.2.1")).await;
    guess(&server, "::ffff:192.0.2.1").await.is_error(429, "too_many_guesses");
    guess(&server, "192.0.2.2").await.is_error(401, "bad_token");
    server.say(MACHINE, json!({"text": "hi"})).await.succeeded();
}

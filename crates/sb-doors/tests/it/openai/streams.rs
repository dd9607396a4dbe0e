//! Answers as they are written: their chunks, their end, and what becomes of one nobody reads.

use serde_json::{Value, json};

use super::{Chunks, Talk, ask, is_error, post, said, say, words};
use crate::server::{MACHINE, Server, reply};

/// Holds: O-10, O-11, O-12.
#[tokio::test]
async fn a_stream_is_the_role_then_the_words_then_why_it_ends() {
    let server = Server::start().await;
    let talk = Talk::new().with("!say One.\n!tool read_file {}\n!say Two.");
    let chunks = Chunks::of(&server, MACHINE, talk.body()).await.rest().await;
    let choice = |delta: Value, finish: Value| json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
    let last = chunks.last().unwrap();
    assert_eq!(chunks[0]["choices"], choice(json!({"role": "assistant", "content": ""}), json!(null)));
    assert_eq!(last["choices"], choice(json!({}), json!("stop")));
    assert_eq!(words(&chunks), "One.\n\nTwo.");
    for chunk in &chunks {
        assert_eq!(chunk["object"], "chat.completion.chunk");
        assert_eq!((&chunk["id"], &chunk["created"]), (&last["id"], &last["created"]));
        assert!(chunk.get("usage").is_none(), "nobody asked for it");
    }
    let (_, session) = say(&server, &talk.answered(&words(&chunks)), "more").await;
    assert_eq!(last["id"].as_str().unwrap().split('-').nth(1), Some(session.as_str()));
}

/// Holds: O-18.
#[tokio::test]
async fn usage_comes_last_where_it_is_asked_for() {
    let server = Server::start().await;
    let mut body = Talk::new().with("hello").body();
    body["stream_options"] = json!({"include_usage": true});
    let chunks = Chunks::of(&server, MACHINE, body).await.rest().await;
    let (last, others) = chunks.split_last().unwrap();
    assert_eq!(last["choices"], json!([]));
    assert!(last["usage"]["total_tokens"].is_u64());
    assert!(others.iter().all(|c| c["usage"] == json!(null) && c.get("usage").is_some()));
}

#[tokio::test]
async fn what_a_stream_and_a_whole_answer_say_is_alike_and_both_go_on() {
    let server = Server::start().await;
    for text in ["!stream 30 1", "/help", "!tool write_file {}\n!say Written.", "!say  a \n!say b"] {
        let talk = Talk::new().with(text);
        let whole = ask(&server, &talk).await;
        let streamed = words(&Chunks::of(&server, MACHINE, talk.body()).await.rest().await);
        let plain = |text: &str| {
            // A request's id is its own.
            let words = text.split_whitespace().filter(|w| !w.contains(|c: char| c.is_ascii_digit()));
            words.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(plain(&streamed), plain(whole.text()), "{text}");
        let (_, session) = say(&server, &talk.answered(&streamed), "/status").await;
        assert_ne!(session, whole.session());
    }
}

#[tokio::test]
async fn an_error_after_the_beginning_is_a_chunk_of_its_own() {
    let server = Server::start().await;
    let mut chunks = Chunks::of(&server, MACHINE, Talk::new().with("!stream 3 1\n!fail credit").body()).await;
    let mut last = String::new();
    while let Some(data) = chunks.next().await {
        last = data;
    }
    let last: Value = serde_json::from_str(&last).expect("the error is the last");
    assert_eq!(last["error"]["type"], "server_error");
    assert_eq!(last["error"]["code"], "insufficient_quota");
    assert!(last["error"]["message"].as_str().unwrap().contains("account is empty"), "{last}");
}

#[tokio::test]
async fn a_refusal_before_the_beginning_is_a_plain_error() {
    let server = Server::start().await;
    let (talks, _) = server.app.token("assistant", false).await;
    for (token, text, status, kind, code) in [
        (talks.as_str(), "/approve", 403, "permission_error", json!(null)),
        ("a-token-of-nobody", "hello", 401, "authentication_error", json!("invalid_api_key")),
    ] {
        let mut body = Talk::new().with(text).body();
        body["stream"] = json!(true);
        is_error(&reply(post(&server, token, &body)).await, status, kind, code, json!(null));
    }
}

#[tokio::test]
async fn a_stream_that_is_hung_up_stops_its_turn_and_the_talk_goes_on_from_what_was_read() {
    let server = Server::start().await;
    let talk = Talk::new().with("!stream 100000 20");
    let mut left = Chunks::of(&server, MACHINE, talk.body()).await;
    let chunk = left.first_words().await;
    let session = chunk["id"].as_str().unwrap().split('-').nth(1).unwrap().to_owned();
    let read = chunk["choices"][0]["delta"]["content"].as_str().unwrap().to_owned();
    drop(left);
    server.ends(&session).await;
    let (_, again) = say(&server, &talk.answered(&read), "and then?").await;
    assert_eq!(again, session);
    assert_eq!(said(&server, &session).await.len(), 2);
}

#[tokio::test]
async fn a_whole_answer_is_written_though_its_reader_left_and_is_found_by_what_the_app_has() {
    let server = Server::start().await;
    let talk = Talk::new().with("!wait 0.2\n!say All of it.");
    let body = talk.body();
    let asked = tokio::time::timeout(std::time::Duration::from_millis(100), ask(&server, &talk)).await;
    assert!(asked.is_err(), "it left before the answer: {body}");
    let session = server.app.engine.sessions(None, 1).await.unwrap()[0].id.to_string();
    server.ends(&session).await;
    // With no answer, as an app has it that gave up; and with the whole one, as one that looked later.
    let (_, without) = say(&server, &talk, "are you there?").await;
    assert_eq!(without, session);
    let (_, with) = say(&server, &talk.answered("All of it."), "and?").await;
    assert_eq!(said(&server, &with).await.first().map(String::as_str), Some("!wait 0.2\n!say All of it."));
}

#[tokio::test]
async fn a_reader_that_stalls_holds_nothing_up() {
    let server = Server::start().await;
    let stalled = Chunks::of(&server, MACHINE, Talk::new().with("!stream 5000 0").body()).await;
    let session = server.app.engine.sessions(None, 1).await.unwrap()[0].id.to_string();
    server.ends(&session).await;
    let chunks = stalled.rest().await;
    assert!(words(&chunks).contains("word5000"), "all of it came");
}

#[tokio::test]
async fn a_stop_from_the_chat_gets_through_at_once() {
    let server = Server::start().await;
    let talk = Talk::new().with("!stream 100000 20");
    let mut works = Chunks::of(&server, MACHINE, talk.body()).await;
    works.first_words().await;
    let stopped = ask(&server, &talk.with("/stop")).await;
    let chunks = works.rest().await;
    assert_eq!(chunks.last().unwrap()["choices"][0]["finish_reason"], "stop");
    assert!(words(&chunks).contains("Stopped."));
    assert_eq!(
        chunks.last().unwrap()["id"].as_str().unwrap().split('-').nth(1),
        Some(stopped.session().as_str())
    );
}

//! The same request again: answered from the same turn where it is one, else a talk or a branch of its own.

use serde_json::Value;

use super::{Answered, Chunks, Talk, ask, post, said, say, sessions};
use crate::server::{MACHINE, Reply, Server, reply};

async fn counted(server: &Server, talk: &Talk, count: &str) -> Answered {
    let request = post(server, MACHINE, &talk.body()).header("x-stainless-retry-count", count);
    Answered(reply(request).await.succeeded().json)
}

#[tokio::test]
async fn a_request_that_says_it_was_sent_before_gets_the_first_ones_answer() {
    let server = Server::start().await;
    let talk = Talk::new().with("hello");
    let first = counted(&server, &talk, "0").await;
    let again = counted(&server, &talk, "1").await;
    assert_eq!((again.id(), again.text()), (first.id(), first.text()));
    assert_eq!(said(&server, &first.session()).await, ["hello"]);
    assert_ne!(counted(&server, &talk, "0").await.id(), first.id(), "the count says that it is new");
    let (other, odd) = (counted(&server, &Talk::new().with("bye"), "2").await, ask(&server, &talk).await);
    assert!(other.id() != first.id() && odd.id() != first.id());
}

#[tokio::test]
async fn a_retry_is_known_after_a_restart() {
    let server = Server::start().await;
    let talk = Talk::new().with("hello");
    let first = counted(&server, &talk, "0").await;
    let server = Server::over(server.app.reopen().await).await;
    assert_eq!(counted(&server, &talk, "1").await.id(), first.id());
}

async fn keyed(server: &Server, talk: &Talk, key: &str) -> Reply {
    reply(post(server, MACHINE, &talk.body()).header("idempotency-key", key)).await
}

#[tokio::test]
async fn an_idempotency_key_runs_a_request_once_and_stands_for_nothing_else() {
    let server = Server::start().await;
    let talk = Talk::new().with("hello");
    let first = keyed(&server, &talk, "a").await.succeeded();
    assert_eq!(keyed(&server, &talk, "a").await.succeeded().json["id"], first.json["id"]);
    assert_ne!(keyed(&server, &talk, "b").await.succeeded().json["id"], first.json["id"]);
    let other = keyed(&server, &Talk::new().with("bye"), "a").await;
    super::is_error(&other, 422, "invalid_request_error", Value::Null, Value::Null);
    assert_eq!(sessions(&server).await, 2);
}

#[tokio::test]
async fn a_follow_up_sent_twice_at_once_runs_once_and_a_first_message_twice() {
    let server = Server::start().await;
    let (talk, first) = say(&server, &Talk::new(), "one").await;
    let asked = talk.with("!wait 0.3\n!say done");
    let (a, b) = tokio::join!(ask(&server, &asked), ask(&server, &asked));
    assert_eq!(a.id(), b.id());
    assert_eq!(said(&server, &first).await.len(), 2);
    let begun = Talk::new().with("!wait 0.3\n!say done");
    let (a, b) = tokio::join!(ask(&server, &begun), ask(&server, &begun));
    assert_ne!(a.session(), b.session());
}

#[tokio::test]
async fn another_picture_under_the_same_words_is_no_retry() {
    let server = Server::start().await;
    let (talk, _) = say(&server, &Talk::new(), "one").await;
    let with = |bytes: &str| {
        talk.with(serde_json::json!([{"type": "text", "text": "!wait 0.3\n!say done"},
            {"type": "file", "file": {"filename": "a", "file_data": format!("data:text/plain;base64,{bytes}")}}]))
    };
    let (one, other) = (with("YQ=="), with("Yg=="));
    let (a, b) = tokio::join!(ask(&server, &one), ask(&server, &other));
    assert_ne!(a.id(), b.id());
}

#[tokio::test]
async fn a_retry_takes_a_stream_up_that_its_reader_left() {
    let server = Server::start().await;
    let talk = Talk::new().with("!stream 3 20\n!wait 2.5\n!say The end.");
    let mut left = Chunks::of(&server, MACHINE, talk.body()).await;
    let chunk = left.first_words().await;
    drop(left);
    let again = counted(&server, &talk, "1").await;
    assert_eq!(again.id(), chunk["id"]);
    assert!(again.text().ends_with("The end."), "{}", again.text());
}

#[tokio::test]
async fn a_retry_takes_up_what_a_restart_cut_off() {
    let server = Server::start().await;
    let talk = Talk::new().with("!wait 0.5\n!say done");
    let asked =
        tokio::time::timeout(std::time::Duration::from_millis(200), counted(&server, &talk, "0")).await;
    assert!(asked.is_err(), "it was cut off");
    let before = server.app.engine.sessions(None, 1).await.unwrap()[0].id.to_string();
    let server = Server::over(server.app.reopen().await).await;
    let again = counted(&server, &talk, "1").await;
    assert_eq!(again.session(), before);
    assert!(again.text().ends_with("done"), "{}", again.text());
    let (_, session) = say(&server, &talk.answered(again.text()), "and then?").await;
    assert_eq!(session, before);
}

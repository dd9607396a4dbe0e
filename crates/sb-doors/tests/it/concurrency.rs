//! Many requests at once: side by side across conversations, one turn at a time in each.

use sb_testkit::app::TestApp;
use serde_json::json;

use crate::server::{MACHINE, Server};

/// Holds: W-20.
#[tokio::test]
async fn one_conversation_waits_for_nobody_elses() {
    let server = Server::start().await;
    let mut slow = server.stream(MACHINE, json!({"text": "!stream 500 20", "conversation": "slow"})).await;
    slow.await_event("delta").await;
    let waits = json!({"text": "!tool write_file {}", "conversation": "waits"});
    assert_eq!(server.say(MACHINE, waits).await.succeeded().json["state"], "waiting");
    let (a, b) = tokio::join!(
        server.say(MACHINE, json!({"text": "hi", "conversation": "a"})),
        server.say(MACHINE, json!({"text": "hi", "conversation": "b"})),
    );
    assert_ne!(a.succeeded().json["session"], b.succeeded().json["session"]);
    server.say(MACHINE, json!({"text": "/stop", "conversation": "slow"})).await.succeeded();
    assert_eq!(slow.await_event("done").await["state"], "stopped");
}

#[tokio::test]
async fn a_conversation_runs_one_turn_at_a_time_in_order() {
    let server = Server::start().await;
    let mut first = server.stream(MACHINE, json!({"text": "!stream 5 20", "conversation": "ops"})).await;
    first.await_event("delta").await;
    let second = server.say(MACHINE, json!({"text": "!say second", "conversation": "ops"})).await.succeeded();
    let done = first.await_event("done").await;
    assert_eq!(done["session"], second.json["session"]);
    let path = format!("/v1/sessions/{}", done["session"].as_str().unwrap());
    let shown = server.get(MACHINE, &path).await.succeeded().json;
    let kinds: Vec<&str> =
        shown["transcript"].as_array().unwrap().iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["said", "answered", "ended", "said", "answered", "ended"]);
    assert_eq!(second.said(), "second");
}

/// Holds: C-54, C-56.
#[tokio::test]
async fn five_commands_are_answered_during_a_run_and_the_others_refused() {
    let server = Server::start().await;
    let mut run = server.stream(MACHINE, json!({"text": "!stream 1000 20", "conversation": "ops"})).await;
    run.await_event("delta").await;
    let say = |text: &str| server.say(MACHINE, json!({"text": text, "conversation": "ops"}));
    for text in [
        "/new", "/retry", "/undo", "/compact", "/title x", "/model", "/system", "/tools", "/whoami",
        "/allowed",
    ] {
        say(text).await.is_error(409, "busy");
    }
    for text in ["/status", "/help", "/usage", "/sessions"] {
        say(text).await.succeeded();
    }
    say("/stop").await.succeeded();
    run.await_event("done").await;
    say("/whoami").await.succeeded();
}

#[tokio::test]
async fn words_during_a_run_do_what_busy_says() {
    let server = Server::start().await;
    let mut run = server.stream(MACHINE, json!({"text": "!stream 1000 20", "conversation": "ops"})).await;
    run.await_event("delta").await;
    let refuse = json!({"text": "hi", "conversation": "ops", "busy": "refuse"});
    server.say(MACHINE, refuse).await.is_error(409, "busy");
    let interrupt = json!({"text": "!say instead", "conversation": "ops", "busy": "interrupt"});
    let instead = server.say(MACHINE, interrupt).await.succeeded();
    assert_eq!(instead.said(), "instead");
    assert_eq!(run.await_event("done").await["state"], "stopped");
}

#[tokio::test]
async fn steered_words_reach_the_run_and_are_answered_with_it() {
    let server = Server::start().await;
    let mut run = server.stream(MACHINE, json!({"text": "!stream 20 20", "conversation": "ops"})).await;
    run.await_event("delta").await;
    let steer = json!({"text": "!say and this", "conversation": "ops", "busy": "steer"});
    let steered = server.say(MACHINE, steer).await.succeeded();
    let done = run.await_event("done").await;
    assert!(done["said"].as_str().unwrap().ends_with("word20\n\nand this"), "{done}");
    assert!(steered.said().ends_with("and this"), "{}", steered.said());
}

#[tokio::test]
async fn a_stop_drops_what_waited_in_the_conversation() {
    let server = Server::start().await;
    let mut run = server.stream(MACHINE, json!({"text": "!stream 1000 20", "conversation": "ops"})).await;
    let session = run.await_event("session").await["session"].as_str().unwrap().to_owned();
    run.await_event("delta").await;
    let waits = server.post(MACHINE, json!({"text": "later", "conversation": "ops"}));
    let waits = tokio::spawn(crate::server::reply(waits));
    let unfinished = async || server.app.engine.store().counts().await.unwrap().unfinished;
    sb_testkit::until("two under way", async || (unfinished().await == 2).then_some(())).await;
    server.say(MACHINE, json!({"text": "/stop", "conversation": "ops"})).await.succeeded();
    run.await_event("done").await;
    assert_eq!(waits.await.unwrap().succeeded().json["state"], "dropped");
    server.until(&session, |s| s["state"] == "idle").await;
}

#[tokio::test]
async fn a_run_that_waits_for_a_person_takes_no_place() {
    let server = Server::over(TestApp::with_parallel(1).await).await;
    let waits = json!({"text": "!tool write_file {}", "conversation": "waits"});
    assert_eq!(server.say(MACHINE, waits).await.succeeded().json["state"], "waiting");
    server.say(MACHINE, json!({"text": "hi", "conversation": "other"})).await.succeeded();
}

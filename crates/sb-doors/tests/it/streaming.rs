//! Answers as they are written: which events, in which order, and what becomes of a run nobody reads.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::server::{Events, MACHINE, Server, reply};

const SCRIPT: &str = "!say One.\n!tool read_file {}\n!say Two.";

/// Holds: W-14, W-15, W-16, W-17, W-18.
#[tokio::test]
async fn a_stream_tells_the_run_in_order_and_ends_with_the_whole_answer() {
    let server = Server::start().await;
    let whole = server.say(MACHINE, json!({"text": SCRIPT, "conversation": "a"})).await.succeeded();
    let events = server.stream(MACHINE, json!({"text": SCRIPT, "conversation": "b"})).await.rest().await;
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.first(), Some(&"session"));
    assert_eq!(names.last(), Some(&"done"));
    assert_eq!(names.iter().filter(|n| ["session", "done", "error"].contains(n)).count(), 2);
    let done = events.last().unwrap().1.clone();
    assert_eq!(events[0].1, json!({"session": done["session"]}));
    let text: String = of(&events, "delta").iter().map(|d| d["text"].as_str().unwrap()).collect();
    assert_eq!(text, "One.\n\nTwo.");
    let states: Vec<_> = of(&events, "tool").iter().map(|t| t["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["calling", "running"]);
    assert_eq!(alike(done, "b"), alike(whole.json, "a"));
}

fn of<'a>(events: &'a [(String, Value)], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|(found, _)| found == name).map(|(_, data)| data).collect()
}

/// An answer without what two runs cannot share.
fn alike(mut answer: Value, conversation: &str) -> Value {
    assert_eq!(answer["conversation"], conversation);
    let session = answer["session"].as_str().unwrap().to_owned();
    answer["conversation"] = json!("");
    serde_json::from_str(&answer.to_string().replace(&session, "0000000000000000")).unwrap()
}

#[tokio::test]
async fn words_come_while_the_agent_writes() {
    let server = Server::start().await;
    let mut events = server.stream(MACHINE, json!({"text": "!stream 2 50\n!wait 20"})).await;
    events.await_event("session").await;
    let first = events.await_event("delta").await;
    assert!(first["text"].as_str().unwrap().starts_with("word1"));
    server.say(MACHINE, json!({"text": "/stop"})).await.succeeded();
    assert_eq!(events.await_event("done").await["state"], "stopped");
}

/// Holds: C-57.
#[tokio::test]
async fn a_stop_from_another_request_ends_a_stream_and_keeps_what_was_written() {
    let server = Server::start().await;
    let mut events = server.stream(MACHINE, json!({"text": "!stream 1000 20", "conversation": "ops"})).await;
    events.await_event("delta").await;
    let stopped = server.say(MACHINE, json!({"text": "/stop", "conversation": "ops"})).await.succeeded();
    assert_eq!(stopped.json["state"], "stopped");
    let done = events.await_event("done").await;
    assert_eq!(done["state"], "stopped");
    assert!(done["said"].as_str().unwrap().starts_with("word1"), "{done}");
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn a_refusal_before_the_run_is_a_plain_error_and_no_stream() {
    let server = Server::start().await;
    let (talks, _) = server.app.token("assistant", false).await;
    server.say(&talks, json!({"text": "/approve", "stream": true})).await.is_error(403, "may_not_decide");
    server.say(&talks, json!({"text": "/dance", "stream": true})).await.is_error(400, "bad_command");
    server.say(&talks, json!({"text": "", "stream": true})).await.is_error(400, "no_text");
}

#[tokio::test]
async fn a_command_streams_its_answer_too() {
    let server = Server::start().await;
    let events = server.stream(MACHINE, json!({"text": "/help"})).await.rest().await;
    assert_eq!(events.last().unwrap().0, "done");
    assert!(events.last().unwrap().1["said"].as_str().unwrap().contains("/stop"));
    assert_eq!(of(&events, "delta"), [&json!({"text": events.last().unwrap().1["said"]})]);
}

/// The words of a stream's deltas, and what its answer says.
fn told(events: &[(String, Value)]) -> (String, String) {
    let deltas = of(events, "delta").iter().map(|d| d["text"].as_str().unwrap()).collect();
    (deltas, events.last().unwrap().1["said"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn the_deltas_of_a_stream_are_all_that_is_said_however_it_ends() {
    let server = Server::start().await;
    for text in [
        "!say a\n!fail overloaded",
        "!fail auth",
        "!say One.\n!tool write_file {}\n!say Two.",
        "/approve",
        "!wait 0",
        "!tool read_file {}",
    ] {
        let (deltas, said) = told(&server.stream(MACHINE, json!({"text": text})).await.rest().await);
        assert!(!said.is_empty(), "{text}");
        assert_eq!(deltas, said, "{text}");
    }
    let mut events = server.stream(MACHINE, json!({"text": "!stream 1000 20", "conversation": "ops"})).await;
    let first = events.await_event("delta").await;
    server.say(MACHINE, json!({"text": "/stop", "conversation": "ops"})).await.succeeded();
    let (rest, said) = told(&events.rest().await);
    assert_eq!(first["text"].as_str().unwrap().to_owned() + &rest, said);
    assert!(said.ends_with("\n\nStopped."), "{said}");
}

fn step() -> impl Strategy<Value = String> {
    let words = "[a-zß⚠]{1,6}( [a-z]{1,6}){0,3} {0,2}";
    prop_oneof![
        4 => words.prop_map(|words| format!("!say {words}")),
        2 => (1..6_u32).prop_map(|words| format!("!stream {words} 0")),
        2 => Just("!tool read_file {}".to_owned()),
        1 => Just("!tool write_file {}".to_owned()),
        1 => Just("!wait 0".to_owned()),
        1 => Just("!fail".to_owned()),
    ]
}

fn message() -> impl Strategy<Value = String> {
    const COMMANDS: [&str; 7] = ["/help", "/status", "/usage", "/stop", "/new", "/retry", "/approve"];
    prop_oneof![
        4 => proptest::collection::vec(step(), 1..5).prop_map(|steps| steps.join("\n")),
        1 => proptest::sample::select(&COMMANDS[..]).prop_map(str::to_owned),
    ]
}

/// Says something as a stream, and insists that its words are all that is said.
async fn tells_all(server: &Server, conversation: &str, text: &str) {
    let body = json!({"text": text, "conversation": conversation, "stream": true});
    let response = server.post(MACHINE, body).send().await.unwrap();
    if !response.status().is_success() {
        return;
    }
    let events = Events::from(response).rest().await;
    // Refused so late that the stream had begun.
    if events.last().unwrap().0 == "error" {
        return;
    }
    let (deltas, said) = told(&events);
    let letters = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(letters(&deltas), letters(&said), "{text}");
}

#[test]
fn whatever_the_script_its_deltas_are_what_is_said() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = runtime.block_on(Server::start());
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) };
    let messages = proptest::collection::vec(message(), 1..4);
    proptest!(config, |(conversation in "[a-z]{16}", messages in messages)| {
        runtime.block_on(async {
            for text in messages {
                tells_all(&server, &conversation, &text).await;
            }
        });
    });
}

#[tokio::test]
async fn a_failed_turn_ends_its_stream_with_done_and_says_so() {
    let server = Server::start().await;
    let events = server.stream(MACHINE, json!({"text": "!say a\n!fail overloaded"})).await.rest().await;
    let (name, done) = events.last().unwrap();
    assert_eq!((name.as_str(), &done["state"]), ("done", &json!("failed")));
}

#[tokio::test]
async fn a_client_that_goes_away_does_not_stop_the_turn() {
    let server = Server::start().await;
    let mut events = server.stream(MACHINE, json!({"text": "!stream 20 10", "conversation": "ops"})).await;
    let session = events.await_event("session").await["session"].as_str().unwrap().to_owned();
    drop(events);
    let path = format!("/v1/sessions/{session}?stream=true");
    let again = Events::of(server.request(reqwest::Method::GET, &path).bearer_auth(MACHINE)).await;
    let events = again.rest().await;
    let (name, done) = events.last().unwrap();
    assert_eq!((name.as_str(), &done["state"]), ("done", &json!("done")));
    assert!(done["said"].as_str().unwrap().ends_with("word20"), "{done}");
    assert_eq!(done["conversation"], "ops");
    let shown = server.get(MACHINE, &format!("/v1/sessions/{session}")).await.succeeded();
    assert_eq!(shown.json["state"], "idle");
    assert!(shown.json["transcript"].to_string().contains("word20"));
}

#[tokio::test]
async fn a_client_that_cuts_an_unstreamed_request_does_not_stop_the_turn() {
    let server = Server::start().await;
    // A first turn gives the session by which the second is seen.
    let first = server.say(MACHINE, json!({"text": "hi", "conversation": "ops"})).await.succeeded();
    let session = first.json["session"].as_str().unwrap();
    let request = server.post(MACHINE, json!({"text": "!stream 10 20", "conversation": "ops"}));
    let sent = tokio::spawn(reply(request));
    server.until(session, |s| s["state"] == "running").await;
    sent.abort();
    let shown = server.until(session, |s| s["state"] == "idle").await;
    assert!(shown["transcript"].to_string().contains("word10"), "{shown}");
}

#[tokio::test]
async fn a_request_cut_off_while_its_message_is_taken_is_answered_all_the_same() {
    use futures_util::FutureExt;
    use sb_doors::model::{Busy, ConversationId, Inbound, Manner, Principal, Rights};
    let app = sb_testkit::app::TestApp::new().await;
    let profile = "assistant".into();
    let inbound = Inbound {
        conversation: ConversationId::new("http", &profile, "ops"),
        profile,
        session: None,
        key: None,
        from: Principal("http:machine".to_owned()),
        rights: Rights::ALL,
        text: "!say All the same.".to_owned(),
        files: Vec::new(),
        manner: Manner {
            busy: Busy::Queue,
            debounce_ms: 0,
            commands_wait: false,
            stop_words: false,
            names_writers: false,
            ask_expiry_ms: None,
        },
        origin: None,
    };
    // Begun, and dropped at its first pause.
    assert!(app.engine.submit(inbound).now_or_never().is_none());
    sb_testkit::until("an answered turn", async || {
        let sessions = app.engine.sessions(None, 1).await.unwrap();
        sessions.iter().any(|s| s.usage.turns == 1).then_some(())
    })
    .await;
}

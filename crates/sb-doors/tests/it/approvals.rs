//! Requests that wait for a person: asked, refused to those who may not, decided, and recorded.

use serde_json::json;

use crate::server::{MACHINE, Server};

const WRITES: &str = "!say I will write.\n!tool write_file {\"path\":\"a.txt\"}\n!say Written.";

/// Holds: W-11, W-12, W-29, W-30, W-31, W-32, C-46, C-47.
#[tokio::test]
async fn a_call_waits_is_refused_to_talkers_and_goes_on_for_deciders() {
    let server = Server::start().await;
    let (talks, _) = server.app.token("assistant", false).await;
    let (decides, id) = server.app.token("assistant", true).await;
    let asked = server.say(&talks, json!({"text": WRITES, "conversation": "ops"})).await.succeeded();
    assert_eq!(asked.json["state"], "waiting");
    let request = asked.json["request"].as_str().unwrap();
    assert_eq!(request.len(), 8);
    assert!(asked.said().starts_with("I will write.\n\nwaiting for your approval: write_file"));
    assert!(asked.said().contains(&format!("request {request}")), "{}", asked.said());
    let last = asked.lines().last().unwrap().to_string();
    assert!(last.contains(&format!("/approve {request}")) && last.contains("/decline"), "{last}");

    let approve = json!({"text": format!("/approve {request}"), "conversation": "ops"});
    let refused = server.say(&talks, approve.clone()).await;
    refused.is_error(403, "may_not_decide");
    assert!(refused.json["error"].as_str().unwrap().contains("not approve or decline"));

    let done = server.say(&decides, approve.clone()).await.succeeded();
    assert_eq!((done.said(), &done.json["state"]), ("Written.", &json!("done")));
    assert_eq!(done.json["session"], asked.json["session"]);
    let decided = format!("→ write_file {{\"path\":\"a.txt\"}} (approved by http:token {id})");
    assert_eq!(done.lines()[0], decided);
    assert_eq!(done.lines()[1], "← did write_file");

    server.say(&decides, approve).await.is_error(409, "not_waiting");
}

#[tokio::test]
async fn only_the_very_request_that_waits_can_be_decided() {
    let server = Server::start().await;
    let asked = server.say(MACHINE, json!({"text": WRITES})).await.succeeded();
    let wrong = server.say(MACHINE, json!({"text": "/approve deadbeef"})).await;
    wrong.is_error(409, "not_waiting");
    assert!(wrong.json["error"].as_str().unwrap().contains(asked.json["request"].as_str().unwrap()));
    let declined = server.say(MACHINE, json!({"text": "/decline too risky"})).await.succeeded();
    assert!(declined.lines()[0].ends_with("(declined by http:machine: too risky)"), "{:?}", declined.lines());
    assert_eq!(declined.json["state"], "done");
}

#[tokio::test]
async fn a_waiting_run_refuses_what_cannot_be_done_meanwhile() {
    let server = Server::start().await;
    server.say(MACHINE, json!({"text": WRITES})).await.succeeded();
    server.say(MACHINE, json!({"text": "/new"})).await.is_error(409, "waiting");
    server.say(MACHINE, json!({"text": "hi", "busy": "refuse"})).await.is_error(409, "waiting");
    // Words meanwhile are held, and the question is shown again.
    let held = server.say(MACHINE, json!({"text": "and now?"})).await.succeeded();
    assert_eq!(held.json["state"], "waiting");
    let stopped = server.say(MACHINE, json!({"text": "/stop"})).await.succeeded();
    assert_eq!(stopped.json["state"], "stopped");
}

/// Holds: W-17.
#[tokio::test]
async fn a_stream_ends_where_a_person_must_decide() {
    let server = Server::start().await;
    let events = server.stream(MACHINE, json!({"text": WRITES})).await.rest().await;
    let tools: Vec<_> = events.iter().filter(|(name, _)| name == "tool").map(|(_, data)| data).collect();
    assert_eq!(tools[0]["tool"], "write_file");
    assert_eq!(
        tools.iter().map(|t| t["state"].as_str().unwrap()).collect::<Vec<_>>(),
        ["calling", "waiting"]
    );
    let (name, done) = events.last().unwrap();
    assert_eq!((name.as_str(), &done["state"]), ("done", &json!("waiting")));
    assert!(done["request"].is_string());
}

#[tokio::test]
async fn a_parked_run_is_decided_after_a_restart() {
    let server = Server::start().await;
    let asked = server.say(MACHINE, json!({"text": WRITES, "conversation": "ops"})).await.succeeded();
    let server = Server::over(server.app.reopen().await).await;
    let approve = format!("/approve {}", asked.json["request"].as_str().unwrap());
    let done = server.say(MACHINE, json!({"text": approve, "conversation": "ops"})).await.succeeded();
    assert_eq!(done.said(), "Written.");
}

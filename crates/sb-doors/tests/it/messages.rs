//! Messages and answers: one conversation after another, commands, and how runs end.

use serde_json::json;

use crate::server::{MACHINE, Server};

/// Holds: W-01, W-09, W-10.
#[tokio::test]
async fn a_message_is_answered_with_the_run_in_order() {
    let server = Server::start().await;
    let text = "!say first\n!tool read_file {\"path\":\"a.txt\"}\n!say then";
    let reply = server.say(MACHINE, json!({"text": text, "conversation": "ops"})).await.succeeded();
    let session = reply.json["session"].as_str().unwrap();
    assert!(session.len() == 16 && session.bytes().all(|b| b.is_ascii_hexdigit()));
    assert_eq!(reply.json["conversation"], "ops");
    assert_eq!(reply.json["state"], "done");
    assert_eq!(reply.json["files"], json!([]));
    assert_eq!(reply.said(), "first\n\nthen");
    let closing = format!("session {session}: done");
    assert_eq!(
        reply.lines(),
        ["agent: first", "→ read_file {\"path\":\"a.txt\"}", "← did read_file", "agent: then", &closing]
    );
}

/// Holds: W-01.
#[tokio::test]
async fn a_body_is_json_whatever_its_content_type_says() {
    let server = Server::start().await;
    let request = server
        .post(MACHINE, json!({"text": "hello"}))
        .header("content-type", "application/x-www-form-urlencoded");
    let reply = crate::server::reply(request).await.succeeded();
    assert_eq!(reply.said(), "You said: hello");
}

#[tokio::test]
async fn a_conversation_goes_on_in_its_session() {
    let server = Server::start().await;
    let first = server.say(MACHINE, json!({"text": "one", "conversation": "ops"})).await.succeeded();
    let again = server.say(MACHINE, json!({"text": "two", "conversation": "ops"})).await.succeeded();
    let other = server.say(MACHINE, json!({"text": "three", "conversation": "lab"})).await.succeeded();
    assert_eq!(first.json["session"], again.json["session"]);
    assert_ne!(first.json["session"], other.json["session"]);
}

/// Holds: W-02.
#[tokio::test]
async fn a_conversation_left_out_is_the_tokens_own_default() {
    let server = Server::start().await;
    let (ann, _) = server.app.token("assistant", false).await;
    let (ben, _) = server.app.token("assistant", false).await;
    let first = server.say(&ann, json!({"text": "one"})).await.succeeded();
    let named = server.say(&ann, json!({"text": "two", "conversation": "default"})).await.succeeded();
    let null = server.say(&ann, json!({"text": "two", "conversation": null})).await.succeeded();
    let other = server.say(&ben, json!({"text": "three"})).await.succeeded();
    assert_eq!(first.json["conversation"], "default");
    assert_eq!(first.json["session"], named.json["session"]);
    assert_eq!(first.json["session"], null.json["session"]);
    assert_ne!(first.json["session"], other.json["session"]);
}

/// Holds: W-13, C-27.
#[tokio::test]
async fn a_command_is_answered_like_a_message_and_runs_nothing() {
    let server = Server::start().await;
    let said = server.say(MACHINE, json!({"text": "hello", "conversation": "ops"})).await.succeeded();
    let status = server.say(MACHINE, json!({"text": "/status", "conversation": "ops"})).await.succeeded();
    assert_eq!(status.said(), said.said());
    assert_eq!(status.json["lines"], json!([]));
    assert_eq!(status.json["session"], said.json["session"]);
    assert_eq!(status.json["state"], "done");
    let session = said.json["session"].as_str().unwrap();
    let shown = server.get(MACHINE, &format!("/v1/sessions/{session}")).await.succeeded();
    assert_eq!(shown.json["usage"]["turns"], 1);
}

#[tokio::test]
async fn a_command_before_any_turn_has_no_session() {
    let server = Server::start().await;
    let reply = server.say(MACHINE, json!({"text": "/help"})).await.succeeded();
    assert_eq!(reply.json["session"], json!(null));
    assert!(reply.said().contains("/approve"));
}

#[tokio::test]
async fn a_failed_turn_says_what_failed_and_what_to_do() {
    let server = Server::start().await;
    let reply = server.say(MACHINE, json!({"text": "!say so far\n!fail credit"})).await.succeeded();
    assert_eq!(reply.json["state"], "failed");
    assert!(reply.said().contains("account is empty") && reply.said().contains("/retry"), "{}", reply.said());
    assert!(reply.lines().last().unwrap().ends_with("failed: The provider's account is empty"));
}

#[tokio::test]
async fn a_stop_word_is_said_to_the_agent_like_any_other() {
    let server = Server::start().await;
    let reply = server.say(MACHINE, json!({"text": "stop"})).await.succeeded();
    assert_eq!(reply.said(), "You said: stop");
}

#[tokio::test]
async fn bad_commands_are_refused_with_how_to_write_them() {
    let server = Server::start().await;
    server.say(MACHINE, json!({"text": "/dance"})).await.is_error(400, "bad_command");
    server.say(MACHINE, json!({"text": "/approve what?"})).await.json["error"].as_str().unwrap();
    let unknown = server.say(MACHINE, json!({"text": "hi"})).await.succeeded();
    assert!(unknown.json["session"].is_string());
    server.say(MACHINE, json!({"text": "/resume abcdef01"})).await.is_error(404, "unknown");
}

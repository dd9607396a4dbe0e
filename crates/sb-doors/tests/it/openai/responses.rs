//! The newer API: the same talks in other words.

use serde_json::{Value, json};

use super::{Talk, ask, is_error, said};
use crate::server::{Events, MACHINE, Reply, Server, reply};

fn post(server: &Server, token: &str, mut body: Value) -> reqwest::RequestBuilder {
    body["model"] = json!("assistant");
    server.request(reqwest::Method::POST, "/v1/responses").bearer_auth(token).body(body.to_string())
}

async fn create(server: &Server, body: Value) -> Reply {
    reply(post(server, MACHINE, body)).await
}

fn text(answer: &Value) -> &str {
    answer["output"][0]["content"][0]["text"].as_str().unwrap()
}

fn session(answer: &Value) -> &str {
    answer["id"].as_str().unwrap().strip_prefix("resp_").unwrap().split('-').next().unwrap()
}

#[tokio::test]
async fn an_answer_is_given_whole_and_gone_on_from_by_its_id_or_by_what_was_said() {
    let server = Server::start().await;
    let first = create(&server, json!({"input": "one", "instructions": "Be brief."})).await.succeeded().json;
    assert_eq!((&first["object"], &first["status"]), (&json!("response"), &json!("completed")));
    assert_eq!(text(&first), "You said: one");
    let usage = &first["usage"];
    let sum = usage["input_tokens"].as_u64().unwrap() + usage["output_tokens"].as_u64().unwrap();
    assert_eq!(usage["total_tokens"].as_u64(), Some(sum));
    let second = json!({"input": [{"role": "user", "content": [{"type": "input_text", "text": "two"}]}],
        "previous_response_id": first["id"]});
    let second = create(&server, second).await.succeeded().json;
    assert_eq!(session(&second), session(&first));
    assert_eq!(second["previous_response_id"], first["id"]);
    let all = json!([
        {"role": "user", "content": "one"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text(&first)}]},
        {"type": "function_call", "name": "x", "arguments": "{}", "call_id": "1"},
        {"type": "message", "role": "user", "content": "two"},
        {"role": "assistant", "content": text(&second)},
        {"role": "user", "content": "three"},
    ]);
    let third = create(&server, json!({"input": all})).await.succeeded().json;
    assert_eq!(session(&third), session(&first));
    assert_eq!(said(&server, session(&first)).await, ["one", "two", "three"]);
    // An answer that is not the last one begins a branch.
    let branch = json!({"input": "two, put otherwise", "previous_response_id": first["id"]});
    let branch = create(&server, branch).await.succeeded().json;
    assert_ne!(session(&branch), session(&first));
    assert_eq!(said(&server, session(&branch)).await, ["one", "two, put otherwise"]);
    // Both APIs mean the same talks.
    let talk = Talk::new().with("one").answered("You said: one").with("two, put otherwise");
    let talk = talk.answered(text(&branch)).with("on");
    assert_eq!(ask(&server, &talk).await.session(), session(&branch));
}

#[tokio::test]
async fn a_stream_tells_the_items_life_in_numbered_events() {
    let server = Server::start().await;
    let body = json!({"input": "!say One.\n!tool read_file {}\n!say Two.", "stream": true});
    let events = Events::of(post(&server, MACHINE, body)).await.rest().await;
    let mut names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    for (at, (name, data)) in events.iter().enumerate() {
        assert_eq!((&data["type"], &data["sequence_number"]), (&json!(name), &json!(at)));
    }
    let deltas = events.iter().filter(|(name, _)| name == "response.output_text.delta");
    let words: String = deltas.map(|(_, data)| data["delta"].as_str().unwrap()).collect();
    assert_eq!(words, "One.\n\nTwo.");
    names.dedup();
    assert_eq!(
        names,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed"
        ]
    );
    let last = &events.last().unwrap().1["response"];
    assert_eq!((text(last), &last["status"]), ("One.\n\nTwo.", &json!("completed")));
    let failing = json!({"input": "!stream 2 1\n!fail credit", "stream": true});
    let events = Events::of(post(&server, MACHINE, failing)).await.rest().await;
    let [.., (failed, response), (error, data)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((failed.as_str(), error.as_str()), ("response.failed", "error"));
    assert_eq!(response["response"]["status"], "failed");
    assert!(data["message"].as_str().unwrap().contains("account is empty"));
}

#[tokio::test]
async fn an_answer_that_is_anothers_or_none_is_nothing_to_go_on_from() {
    let server = Server::start().await;
    let (ann, _) = server.app.token("assistant", false).await;
    let (ben, _) = server.app.token("assistant", false).await;
    let first = reply(post(&server, &ann, json!({"input": "one"}))).await.succeeded().json;
    let code = json!("previous_response_not_found");
    for (token, id) in [(&ben, first["id"].clone()), (&ann, json!("resp_x")), (&ann, json!("resp_0-99"))] {
        let found = reply(post(&server, token, json!({"input": "two", "previous_response_id": id}))).await;
        is_error(&found, 400, "invalid_request_error", code.clone(), json!("previous_response_id"));
    }
    for (body, param) in [
        (json!({}), "input"),
        (json!({"input": 1}), "input"),
        (json!({"input": []}), "messages"),
        (json!({"input": [1]}), "input[0]"),
        (json!({"input": [{"role": "robot", "content": "x"}]}), "input[0].role"),
        (json!({"input": "x", "instructions": 1}), "instructions"),
    ] {
        let found = create(&server, body).await;
        is_error(&found, 400, "invalid_request_error", json!(null), json!(param));
    }
}

#[tokio::test]
async fn a_body_of_the_newer_api_at_the_older_ones_address_is_answered_there() {
    let server = Server::start().await;
    let body = json!({"model": "assistant", "input": [{"role": "user", "content": "hello"}]});
    let found = reply(super::post(&server, MACHINE, &body)).await.succeeded();
    assert_eq!(super::Answered(found.json).text(), "You said: hello");
}

//! What no request may be, answered in OpenAI's shape; nothing is taken.

use serde_json::{Value, json};

use super::{Talk, is_error, post, sessions};
use crate::server::{MACHINE, Server, reply};

const INVALID: &str = "invalid_request_error";

#[tokio::test]
async fn shapes_that_are_none_are_told_by_their_field() {
    let server = Server::start().await;
    let messages = |messages: Value| json!({"model": "assistant", "messages": messages});
    let part = |part: Value| messages(json!([{"role": "user", "content": [part]}]));
    for (body, param) in [
        (json!({"messages": []}), "model"),
        (json!({"model": 1, "messages": []}), "model"),
        (json!({"model": "assistant"}), "messages"),
        (messages(json!([])), "messages"),
        (messages(json!("hello")), "messages"),
        (messages(json!([1])), "messages[0]"),
        (messages(json!([{"content": "x"}])), "messages[0]"),
        (messages(json!([{"role": "robot", "content": "x"}])), "messages[0].role"),
        (messages(json!([{"role": "user", "content": 1}])), "messages[0].content"),
        (messages(json!([{"role": "user"}])), "messages[0].content"),
        (messages(json!([{"role": "user", "content": ""}])), "messages"),
        (messages(json!([{"role": "system", "content": "x"}])), "messages"),
        (messages(json!([{"role": "assistant", "content": "x"}])), "messages"),
        (part(json!("x")), "messages[0].content"),
        (part(json!({"text": "x"})), "messages[0].content[0]"),
        (part(json!({"type": "text"})), "messages[0].content[0]"),
        (part(json!({"type": "image_url"})), "messages[0].content[0]"),
        (
            part(json!({"type": "image_url", "image_url": {"url": "data:image/png,x"}})),
            "messages[0].content[0]",
        ),
        (
            json!({"model": "assistant", "messages": [{"role": "user", "content": "x"}], "stream": "yes"}),
            "stream",
        ),
    ] {
        let found = reply(post(&server, MACHINE, &body)).await;
        is_error(&found, 400, INVALID, json!(null), json!(param));
    }
    for body in ["", "[]", "{", "\"x\"", "{\"model\": \"assistant\", \"messages\": [}"] {
        let request = server.request(reqwest::Method::POST, "/v1/chat/completions").bearer_auth(MACHINE);
        is_error(&reply(request.body(body)).await, 400, INVALID, json!(null), json!(null));
    }
    assert_eq!(sessions(&server).await, 0);
}

#[tokio::test]
async fn a_picture_that_is_none_and_bytes_that_are_none_are_refused() {
    let server = Server::start().await;
    let picture =
        |url: &str| Talk::new().with(json!([{"type": "image_url", "image_url": {"url": url}}])).body();
    for url in ["data:image/png;base64,aGVsbG8=", "data:image/png;base64,!!!", "data:text/plain;base64,?"] {
        let found = reply(post(&server, MACHINE, &picture(url))).await;
        is_error(&found, 400, INVALID, json!(null), json!(null));
    }
    assert_eq!(sessions(&server).await, 0);
}

#[tokio::test]
async fn too_much_is_told_as_such() {
    let server = Server::start().await;
    let many: Vec<Value> = (0..5000).map(|_| json!({"role": "user", "content": "x"})).collect();
    let found = reply(post(&server, MACHINE, &json!({"model": "assistant", "messages": many}))).await;
    is_error(&found, 400, INVALID, json!("array_above_max_length"), json!("messages"));
    let url = format!("data:image/png;base64,{}", "A".repeat(40_000_000));
    let body = Talk::new().with(json!([{"type": "image_url", "image_url": {"url": url}}])).body();
    let found = reply(post(&server, MACHINE, &body)).await;
    is_error(&found, 413, INVALID, json!(null), json!(null));
    assert_eq!(sessions(&server).await, 0);
}

#[tokio::test]
async fn who_may_not_and_what_is_not_there() {
    let server = Server::start().await;
    server.app.add_profile("other").await;
    let (own, _) = server.app.token("assistant", false).await;
    let mut body = Talk::new().with("hello").body();
    for model in ["other", "none", "other:task", ""] {
        body["model"] = json!(model);
        let found = reply(post(&server, &own, &body)).await;
        match model {
            "" => is_error(&found, 400, INVALID, json!(null), json!("model")),
            _ => is_error(&found, 404, INVALID, json!("model_not_found"), json!("model")),
        }
    }
    let request = server.request(reqwest::Method::POST, "/v1/chat/completions").body(body.to_string());
    let found = reply(request).await;
    is_error(&found, 401, "authentication_error", json!("invalid_api_key"), json!(null));
    assert_eq!(found.headers["www-authenticate"], "Bearer");
    for path in ["/v1/embeddings", "/v1/completions", "/v1/audio/speech", "/v1/images/generations"] {
        let found = reply(server.request(reqwest::Method::POST, path).bearer_auth(&own)).await;
        is_error(&found, 404, INVALID, json!(null), json!(null));
    }
    let found = reply(server.request(reqwest::Method::DELETE, "/v1/models").bearer_auth(&own)).await;
    is_error(&found, 405, INVALID, json!(null), json!(null));
    assert_eq!(sessions(&server).await, 0);
}

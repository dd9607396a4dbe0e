//! What is asked with JSON, and what is known before anything is asked.

use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use sb_channel::model::{Fault, FaultKind, Secret};
use sb_channel::standin::{Breakage, in_process};
use sb_channel::{Features, JsonApi, Settings};
use serde_json::{Value, json};

fn api(refusing: fn(&Value, Fault) -> Fault) -> JsonApi {
    let answers = |headers: HeaderMap, Json(with): Json<Value>| async move {
        let token = headers.get("authorization").and_then(|value| value.to_str().ok()).map(str::to_owned);
        Json(json!({"token": token, "with": with}))
    };
    let router = Router::new()
        .route("/answers", post(answers))
        .route("/nothing", get(|| async { StatusCode::NO_CONTENT }))
        .route("/busy", get(|| async { Breakage::RateLimit(3).plainly() }));
    let token = Secret::new("s3cret");
    let api = JsonApi::new(in_process(router), "http://platform.invalid".to_owned());
    api.with_secret("authorization", "Bearer ", &token).refusing(refusing)
}

#[tokio::test]
async fn a_document_is_sent_with_the_secret_and_its_answer_read() {
    let api = api(|_, by_status| by_status);
    let answer: Value = api.post("answers", json!([1])).await.expect("an answer");
    assert_eq!(answer, json!({"token": "Bearer s3cret", "with": [1]}));
    api.get::<()>("nothing").await.expect("no body is no value");
    let why = api.get::<String>("nothing").await.expect_err("no text");
    assert_eq!((why.kind, why.maybe_done), (FaultKind::Garbled, true));
}

#[tokio::test]
async fn a_refusal_means_what_its_body_says_and_else_what_its_status_says() {
    let why = api(|_, by_status| by_status).get::<Value>("busy").await.expect_err("busy");
    assert_eq!(why.kind, FaultKind::Passing { wait_ms: Some(3_000) });
    assert_eq!(why.of_chat().kind, FaultKind::ChatBusy { wait_ms: Some(3_000) });
    let told = api(|said, by_status| match said["error"].as_str() {
        Some("too_fast") => Fault { kind: FaultKind::ChatGone, ..by_status },
        _ => by_status,
    });
    assert_eq!(told.get::<Value>("busy").await.expect_err("busy").kind, FaultKind::ChatGone);
    let down = Fault::new(FaultKind::Passing { wait_ms: None }, "asking", "unreachable").of_chat();
    assert_eq!(down.kind, FaultKind::Passing { wait_ms: None }, "who is down is down for all chats");
}

#[test]
fn a_setting_that_is_needed_and_not_there_is_named() {
    let settings = Settings::new([("token".to_owned(), Secret::new("s3cret"))]);
    assert_eq!(settings.needed("token").expect("set").expose(), "s3cret");
    assert!(settings.needed("secret").expect_err("not set").detail.contains("`secret`"));
    assert!(!Features::PLAIN.edits && Features::PLAIN.files_in.is_none());
}

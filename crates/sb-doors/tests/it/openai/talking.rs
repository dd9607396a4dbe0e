//! Models, answers and their fields; what an app asks of the agent; approvals; pictures and files.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use sb_doors::engine::Agents;
use sb_doors::engine::harness::{Events, Harness, HarnessEvent, HarnessFeatures, Inputs, TurnSpec};
use sb_doors::model::{Profile, ProfileName, StopReason, TurnFault};
use sb_testkit::app::TestApp;
use serde_json::json;

use super::{Answered, Chunks, Talk, ask, is_error, post, said, say};
use crate::server::{MACHINE, Server, reply};

/// A picture of one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Holds: O-01, O-02, O-03, O-04.
#[tokio::test]
async fn models_are_the_profiles_a_token_reaches() {
    let server = Server::start().await;
    server.app.add_profile("other").await;
    let (own, _) = server.app.token("assistant", false).await;
    let list = server.get(&own, "/v1/models").await.succeeded().json;
    let model = |id: &str| json!({"id": id, "object": "model", "created": 0, "owned_by": "switchboard"});
    assert_eq!(list, json!({"object": "list", "data": [model("assistant"), model("assistant:task")]}));
    let all = server.get(MACHINE, "/models").await.succeeded().json;
    assert_eq!(all["data"].as_array().unwrap().len(), 4);
    assert_eq!(server.get(&own, "/v1/models/assistant").await.succeeded().json, model("assistant"));
    let (unreached, unknown) =
        (server.get(&own, "/v1/models/other").await, server.get(&own, "/v1/models/a/b").await);
    for found in [unreached, unknown] {
        is_error(&found, 404, "invalid_request_error", json!("model_not_found"), json!("model"));
    }
}

/// Holds: O-05, O-06, O-18.
#[tokio::test]
async fn an_answer_has_every_field_and_its_id_names_the_session() {
    let server = Server::start().await;
    let answer = ask(&server, &Talk::new().with("hello")).await;
    assert_eq!(answer.0["object"], "chat.completion");
    assert_eq!(answer.0["model"], "assistant");
    assert!(answer.0["created"].as_i64().unwrap() > 1_700_000_000);
    assert_eq!(
        answer.0["choices"],
        json!([{"index": 0, "message": {"role": "assistant", "content": "You said: hello", "refusal": null},
            "logprobs": null, "finish_reason": "stop"}])
    );
    let usage = &answer.0["usage"];
    let sum = usage["prompt_tokens"].as_u64().unwrap() + usage["completion_tokens"].as_u64().unwrap();
    assert_eq!(usage["total_tokens"].as_u64(), Some(sum));
    assert!(answer.id().starts_with("chatcmpl-"));
    assert_eq!(said(&server, &answer.session()).await, ["hello"]);
}

/// Holds: O-17.
#[tokio::test]
async fn what_the_app_asks_of_the_agent_is_the_chats_system_text_and_may_change() {
    let server = Server::start().await;
    let (talk, session) = say(&server, &Talk::new().system("Be brief."), "one").await;
    let asks = async || {
        let session = session.parse().unwrap();
        server.app.engine.session(session).await.unwrap().choices.system
    };
    assert_eq!(asks().await.as_deref(), Some("Be brief."));
    let mut changed = talk.clone();
    changed.0[0]["content"] = json!("Be long.\nIt is Tuesday.");
    let (changed, again) = say(&server, &changed, "two").await;
    assert_eq!(again, session);
    assert_eq!(asks().await.as_deref(), Some("Be long.\nIt is Tuesday."));
    let (_, without) = say(&server, &Talk(changed.0[1..].to_vec()), "three").await;
    assert_eq!(without, session);
    assert_eq!(asks().await.as_deref(), Some("Be long.\nIt is Tuesday."));
    assert_eq!(said(&server, &session).await, ["one", "two", "three"]);
}

/// Holds: O-09.
#[tokio::test]
async fn a_request_that_waits_is_said_and_decided_in_the_chat_by_a_token_made_for_it() {
    let server = Server::start().await;
    let (talks, _) = server.app.token("assistant", false).await;
    let (decides, _) = server.app.token("assistant", true).await;
    let begun = Talk::new().with("!tool write_file {\"path\":\"a\"}\n!say Written.");
    let waits = super::Answered(reply(post(&server, &talks, &begun.body())).await.succeeded().json);
    assert!(waits.text().contains("waiting for your approval: write_file"), "{}", waits.text());
    assert!(waits.text().contains("/approve ") && waits.text().contains("/decline "), "{}", waits.text());
    let talk = begun.answered(waits.text()).with("/approve");
    let refused = reply(post(&server, &talks, &talk.body())).await;
    is_error(&refused, 403, "permission_error", json!(null), json!(null));
    let decided = super::Answered(reply(post(&server, &decides, &talk.body())).await.succeeded().json);
    assert_eq!(decided.session(), waits.session());
    assert_eq!(decided.text(), "Written.");
    let bad = talk.answered(decided.text()).with("/approve");
    let nothing = super::Answered(reply(post(&server, &decides, &bad.body())).await.succeeded().json);
    assert_eq!(nothing.session(), waits.session());
}

/// Holds: O-13, O-15.
#[tokio::test]
async fn pictures_files_and_voices_of_the_last_message_are_taken() {
    let server = Server::start().await;
    let parts = json!([
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PIXEL}"), "detail": "auto"}},
        {"type": "file", "file": {"filename": "a.txt", "file_data":
            format!("data:text/plain;base64,{}", base64::engine::general_purpose::STANDARD.encode("words"))}},
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
    ]);
    let begun = Talk::new().with(parts);
    let first = ask(&server, &begun).await;
    let shown = server.get(MACHINE, &format!("/v1/sessions/{}", first.session())).await.json;
    let files = shown["transcript"][0]["files"].as_array().unwrap();
    let types: Vec<_> = files.iter().map(|f| f["media_type"].as_str().unwrap()).collect();
    assert_eq!(types, ["image/png", "text/plain", "audio/wav"]);
    assert_eq!(files[1]["name"], "a.txt");
    // An app may write the same picture otherwise the next time.
    let mut again = begun.clone();
    again.0[0]["content"][1]["image_url"]["url"] = json!("data:image/jpeg;base64,/9j/4AAQ");
    let (_, session) = say(&server, &again.answered(first.text()), "more").await;
    assert_eq!(session, first.session());
}

/// Holds: O-14.
#[tokio::test]
async fn a_picture_given_by_its_address_is_left_out_and_said_so_and_nothing_is_fetched() {
    let server = Server::start().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/a.png", listener.local_addr().unwrap());
    let parts = json!([{"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": url}}, {"type": "odd", "odd": 1}]);
    let answer = ask(&server, &Talk::new().with(parts)).await;
    assert!(answer.text().contains(&url) && answer.text().contains("not fetched"), "{}", answer.text());
    assert!(answer.text().contains("\"odd\""), "{}", answer.text());
    let told = said(&server, &answer.session()).await;
    assert!(told[0].contains(&url) && told[0].starts_with("look\n("), "{told:?}");
    tokio::select! {
        biased;
        _ = listener.accept() => panic!("it was fetched"),
        () = tokio::task::yield_now() => {}
    }
}

#[tokio::test]
async fn tools_of_an_app_are_left_alone() {
    let server = Server::start().await;
    let mut body = Talk::new().with("hello").body();
    body["tools"] = json!([{"type": "function", "function": {"name": "search_chats", "parameters": {}}}]);
    body["tool_choice"] = json!("required");
    body["temperature"] = json!("hot");
    body["n"] = json!(3);
    body["max_tokens"] = json!(1);
    body["anything"] = json!({"else": []});
    let answer = super::Answered(reply(post(&server, MACHINE, &body)).await.succeeded().json);
    assert_eq!(answer.text(), "You said: hello");
    assert_eq!(answer.0["choices"].as_array().unwrap().len(), 1);
}

/// Holds: O-16.
#[tokio::test]
async fn files_the_agent_shares_come_back_as_links_that_need_a_token_of_the_profile() {
    let server = Server::start().await;
    server.app.add_profile("other").await;
    let (own, _) = server.app.token("assistant", false).await;
    let (other, _) = server.app.token("other", false).await;
    let answer = ask(
        &server,
        &Talk::new().with("!tool share_file {\"name\":\"a.txt\",\"text\":\"All is well.\"}\n!say Here."),
    )
    .await;
    let (said, link) = answer.text().rsplit_once("](").expect("a link");
    assert!(said.starts_with("Here.") && said.ends_with("[a.txt"), "{}", answer.text());
    let path = link.trim_end_matches(')').strip_prefix(&format!("http://{}", server.address)).expect("here");
    let get = async |token: &str, path: &str| {
        server.request(reqwest::Method::GET, path).bearer_auth(token).send().await.unwrap()
    };
    let given = get(&own, path).await;
    assert_eq!(given.status(), 200);
    assert!(given.headers()["content-disposition"].to_str().unwrap().contains("a.txt"));
    assert_eq!(given.headers()["x-content-type-options"], "nosniff");
    let length = given.headers()["content-length"].to_str().unwrap().parse::<usize>().unwrap();
    let bytes = given.bytes().await.unwrap();
    assert_eq!((bytes.as_ref(), length), (b"All is well.".as_slice(), 12));
    assert_eq!(get(&own, &format!("{path}/content")).await.bytes().await.unwrap(), bytes);
    assert_eq!(get("nobody's", path).await.status(), 401);
    for (token, path) in [(&other, path), (&own, "/v1/files/file-0000000000000000-1"), (&own, "/v1/files/x")]
    {
        is_error(&server.get(token, path).await, 404, "invalid_request_error", json!(null), json!(null));
    }
    let wrong_place = format!("/v1/files/file-{}-1", answer.session());
    assert_eq!(get(&own, &wrong_place).await.status(), 404, "that entry is no file");
    let (_, session) = say(
        &server,
        &Talk::new()
            .with("!tool share_file {\"name\":\"a.txt\",\"text\":\"All is well.\"}\n!say Here.")
            .answered(answer.text()),
        "thanks",
    )
    .await;
    assert_eq!(session, answer.session());
}

/// The start of the link of a file that the agent shares, asked for with these headers.
async fn link(server: &Server, headers: &[(&'static str, &str)]) -> String {
    let talk = Talk::new().with("!tool share_file {\"name\":\"a.txt\",\"text\":\"x\"}\n!say Here.");
    let mut asked = post(server, MACHINE, &talk.body());
    for (name, value) in headers {
        asked = asked.header(*name, *value);
    }
    let answer = Answered(reply(asked).await.succeeded().json);
    let (_, link) = answer.text().rsplit_once("](").expect("a link");
    link.split_once("/v1/files/").expect("a file").0.to_owned()
}

#[tokio::test]
async fn a_link_leads_where_the_proxy_says_the_request_came_to() {
    let server = Server::behind_proxy().await;
    let here = format!("http://{}", server.address);
    assert_eq!(link(&server, &[]).await, here, "nobody else asks around the proxy");
    assert_eq!(link(&server, &[("Host", "ai.example.org")]).await, "https://ai.example.org");
    let told = [("X-Forwarded-Host", "ai.example.org:8443"), ("X-Forwarded-Proto", "https")];
    assert_eq!(link(&server, &told).await, "https://ai.example.org:8443");
    let plain = [("Host", "ai.example.org"), ("X-Forwarded-Proto", "http")];
    assert_eq!(link(&server, &plain).await, "http://ai.example.org");
    let nonsense = [("X-Forwarded-Host", "x) [y](z"), ("X-Forwarded-Proto", "javascript")];
    assert_eq!(link(&server, &nonsense).await, here, "what is no host is passed over");
    let direct = Server::start().await;
    let unasked = link(&direct, &[("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "x.example")]).await;
    assert_eq!(unasked, format!("http://{}", direct.address), "no proxy was stated");
}

/// Its turns end as those whose model declines.
struct Declining;

#[async_trait]
impl Harness for Declining {
    fn features(&self) -> HarnessFeatures {
        HarnessFeatures::default()
    }
    async fn turn(&self, _: TurnSpec, _: Inputs, events: Events) -> Result<StopReason, TurnFault> {
        let _ = events.send(HarnessEvent::Text("I will not".to_owned())).await;
        Ok(StopReason::Declined)
    }
}

#[async_trait]
impl Agents for Declining {
    fn harness(&self, _: &Profile) -> Arc<dyn Harness> {
        Arc::new(Declining)
    }
    fn tools(&self, _: &Profile) -> Vec<String> {
        Vec::new()
    }
    fn check(&self, _: &Profile) -> Result<(), String> {
        Ok(())
    }
    async fn changed(&self, _: &ProfileName) {}
}

#[tokio::test]
async fn an_answer_the_model_declined_says_so_as_its_reason_in_either_api() {
    let app = TestApp::with_agents(Arc::new(Declining), 4).await;
    app.add_profile("assistant").await;
    let server = Server::over(app).await;
    let answer = ask(&server, &Talk::new().with("Something dreadful")).await;
    assert_eq!(answer.0["choices"][0]["finish_reason"], "content_filter", "{}", answer.0);
    assert!(
        answer.text().starts_with("I will not") && answer.text().contains("declined"),
        "{}",
        answer.text()
    );
    let chunks = Chunks::of(&server, MACHINE, Talk::new().with("Again").body()).await.rest().await;
    assert_eq!(chunks.last().unwrap()["choices"][0]["finish_reason"], "content_filter");
    let newer = server.request(reqwest::Method::POST, "/v1/responses").bearer_auth(MACHINE);
    let newer = newer.body(json!({"model": "assistant", "input": "And again"}).to_string());
    let newer = reply(newer).await.succeeded().json;
    assert_eq!(newer["status"], "incomplete");
    assert_eq!(newer["incomplete_details"], json!({"reason": "content_filter"}));
}

#[tokio::test]
async fn a_budget_that_is_used_up_is_an_error_that_is_not_tried_again() {
    let server = Server::start().await;
    let (talk, _) = say(&server, &Talk::new(), "one").await;
    let mut profile = server.app.profile("assistant");
    profile.budgets.sender.tokens = Some(1);
    server.app.engine.put_profile(profile, None).await.unwrap();
    let mut last = None;
    for _ in 0..2 {
        last = Some(reply(post(&server, MACHINE, &talk.with("two").body())).await);
    }
    let refused = last.unwrap();
    is_error(&refused, 429, "insufficient_quota", json!("insufficient_quota"), json!(null));
    assert_eq!(refused.headers["x-should-retry"], "false");
}

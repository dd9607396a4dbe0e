//! The A2A door: cards, tasks, streams and approvals, asked as other agents ask, in both versions.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use futures_util::StreamExt;
use sb_doors::a2a::A2aOffer;
use sb_doors::engine::harness::net::{Away, Looking, Resolve};
use sb_doors::model::{Profile, Timestamp};
use sb_testkit::app::TestApp;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::server::{MACHINE, Server};

const WRITES: &str = "!say I will write.\n!tool write_file {\"path\":\"a.txt\"}\n!say Written.";

/// Every name means this machine.
pub struct Here;

impl Resolve for Here {
    fn addresses<'a>(&'a self, _: &'a str) -> Looking<'a> {
        Box::pin(async { Ok(vec!["127.0.0.1".parse().unwrap()]) })
    }
}

pub fn offer(push_private: bool) -> Arc<A2aOffer> {
    Arc::new(A2aOffer {
        profiles: vec!["assistant".into()],
        public_url: None,
        tls: false,
        version: "1.2.3",
        push_private,
        away: Away::new(Arc::new(Here)),
        begun: Timestamp(0),
    })
}

pub async fn server() -> Server {
    Server::offering(TestApp::new().await, offer(false)).await
}

/// One request and its whole answer.
pub async fn ask(server: &Server, token: &str, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": "r1", "method": method, "params": params});
    let request = server.request(reqwest::Method::POST, "/v1/profiles/assistant/a2a");
    let answer = request.bearer_auth(token).json(&body).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{method}");
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["id"], "r1");
    answer
}

/// The results of a stream.
async fn stream(server: &Server, method: &str, params: Value) -> Vec<Value> {
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let request = server.request(reqwest::Method::POST, "/v1/profiles/assistant/a2a");
    let answer = request.bearer_auth(MACHINE).json(&body).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let text = answer.text().await.unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|line| serde_json::from_str::<Value>(line).unwrap()["result"].clone()).collect()
}

pub fn new_message(text: &str) -> Value {
    json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]}})
}

pub fn in_context(text: &str, context: &Value) -> Value {
    let mut message = new_message(text);
    message["message"]["contextId"] = context.clone();
    message
}

fn old_message(text: &str) -> Value {
    json!({"message": {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": text}]}})
}

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_default()
}

/// Holds.
#[tokio::test]
async fn a_card_says_where_and_what_and_nothing_the_operator_told() {
    let app = TestApp::new().await;
    let stored = app.engine.profile(&"assistant".into()).await.unwrap();
    app.engine
        .put_profile(Profile { instructions: "The safe's code is 4711.".into(), ..stored }, None)
        .await
        .unwrap();
    let server = Server::offering(app, offer(false)).await;
    for path in [
        "/.well-known/agent-card.json",
        "/v1/profiles/assistant/agent-card.json",
        "/v1/profiles/assistant/.well-known/agent-card.json",
    ] {
        let answer = server.request(reqwest::Method::GET, path).send().await.unwrap();
        let tag = answer.headers()["etag"].clone();
        assert!(
            answer.headers().contains_key("last-modified") && answer.headers().contains_key("cache-control")
        );
        let text = answer.text().await.unwrap();
        assert!(!text.contains("4711"), "{text}");
        let card: Value = serde_json::from_str(&text).unwrap();
        let here = format!("http://{}/v1/profiles/assistant/a2a", server.address);
        assert_eq!((card["url"].as_str(), card["name"].as_str()), (Some(here.as_str()), Some("assistant")));
        let versions: Vec<&str> = card["supportedInterfaces"]
            .as_array()
            .unwrap()
            .iter()
            .map(|i| i["protocolVersion"].as_str().unwrap())
            .collect();
        assert_eq!(versions, ["1.0", "0.3"]);
        let again =
            server.request(reqwest::Method::GET, path).header("if-none-match", tag).send().await.unwrap();
        assert_eq!(again.status(), 304);
        let strict =
            server.request(reqwest::Method::GET, path).header("a2a-version", "1.0").send().await.unwrap();
        assert_eq!(strict.json::<Value>().await.unwrap().get("url"), None);
    }
    let other =
        server.request(reqwest::Method::GET, "/v1/profiles/nobody/agent-card.json").send().await.unwrap();
    assert_eq!(other.status(), 404);
    let told =
        A2aOffer { public_url: Some("https://sb.example".into()), ..Arc::into_inner(offer(false)).unwrap() };
    let server = Server::offering(TestApp::new().await, Arc::new(told)).await;
    let card = server.request(reqwest::Method::GET, "/.well-known/agent-card.json").send().await.unwrap();
    assert_eq!(card.json::<Value>().await.unwrap()["url"], "https://sb.example/v1/profiles/assistant/a2a");
    let extended = ask(&server, MACHINE, "GetExtendedAgentCard", json!({})).await;
    assert_eq!(extended["result"]["name"], "assistant");
}

/// Holds.
#[tokio::test]
async fn a_message_is_a_task_in_a_context_that_is_a_conversation_in_either_version() {
    let server = server().await;
    let (talks, _) = server.app.token("assistant", false).await;
    let first = ask(&server, &talks, "message/send", old_message("hello")).await["result"].clone();
    assert_eq!((&first["kind"], &first["status"]["state"]), (&json!("task"), &json!("completed")));
    assert_eq!(first["artifacts"][0]["parts"][0], json!({"kind": "text", "text": "You said: hello"}));
    let second = ask(&server, &talks, "SendMessage", in_context("more", &first["contextId"])).await;
    let second = second["result"]["task"].clone();
    assert_eq!(second["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(second["contextId"], first["contextId"]);
    assert_ne!(second["id"], first["id"]);
    let sessions = server.app.engine.sessions(None, 10).await.unwrap();
    assert_eq!(sessions.len(), 1, "both are of one session");
    let server = Server::offering(server.app.reopen().await, offer(false)).await;
    for (method, state) in [("tasks/get", "completed"), ("GetTask", "TASK_STATE_COMPLETED")] {
        let got = ask(&server, MACHINE, method, json!({"id": second["id"]})).await["result"].clone();
        assert_eq!(
            (got["status"]["state"].as_str(), &got["id"]),
            (Some(state), &second["id"]),
            "after a restart"
        );
    }
}

/// Holds.
#[tokio::test]
async fn a_task_that_waits_goes_on_by_an_approve_of_a_token_that_may() {
    let server = server().await;
    let (talks, _) = server.app.token("assistant", false).await;
    let (decides, _) = server.app.token("assistant", true).await;
    let asked = ask(&server, &talks, "SendMessage", new_message(WRITES)).await["result"]["task"].clone();
    assert_eq!(asked["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    let said = asked["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(said.starts_with("waiting for your approval: write_file"), "{said}");
    assert_eq!(asked["artifacts"][0]["parts"][0]["text"], "I will write.");

    let mut approve = in_context("/approve", &asked["contextId"]);
    approve["message"]["taskId"] = asked["id"].clone();
    let refused = ask(&server, &talks, "SendMessage", approve.clone()).await["result"]["task"].clone();
    assert_eq!((&refused["id"], &refused["status"]["state"]), (&asked["id"], &asked["status"]["state"]));
    let said = refused["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(said.contains("not approve or decline"), "{said}");

    let done = ask(&server, &decides, "SendMessage", approve.clone()).await["result"]["task"].clone();
    assert_eq!((&done["id"], done["status"]["state"].as_str()), (&asked["id"], Some("TASK_STATE_COMPLETED")));
    assert_eq!(done["artifacts"][0]["parts"][0]["text"], "I will write.\n\nWritten.");
    approve["message"]["messageId"] = "another".into();
    assert_eq!(code(&ask(&server, &decides, "SendMessage", approve).await), -32004, "it has ended");

    // Without the task's id it is a task of its own, and ends the one that waited.
    let mut writes = old_message(WRITES);
    writes["message"]["messageId"] = "a third".into();
    let asked = ask(&server, &talks, "message/send", writes).await["result"].clone();
    let done = ask(&server, &decides, "SendMessage", in_context("/approve", &asked["contextId"])).await;
    assert_eq!(done["result"]["task"]["artifacts"][0]["parts"][0]["text"], "Written.");
    let first = ask(&server, MACHINE, "tasks/get", json!({"id": asked["id"]})).await;
    assert_eq!(first["result"]["status"]["state"], "completed");
}

/// Holds: A-13.
#[tokio::test]
async fn what_another_agent_says_marks_the_session() {
    let server = server().await;
    ask(&server, MACHINE, "SendMessage", new_message("hello")).await;
    let session = server.app.engine.sessions(None, 1).await.unwrap()[0].id;
    assert!(server.app.engine.session(session).await.unwrap().session.tainted);
    let by_a_person = server.say(MACHINE, json!({"text": "hello"})).await.succeeded();
    let session = by_a_person.json["session"].as_str().unwrap().parse().unwrap();
    assert!(!server.app.engine.session(session).await.unwrap().session.tainted);
}

/// Holds.
#[tokio::test]
async fn a_stream_is_the_task_an_artifact_that_grows_and_a_last_state() {
    let server = server().await;
    let new = stream(&server, "SendStreamingMessage", new_message("!stream 5 5")).await;
    assert_eq!(new[0]["task"]["status"]["state"], "TASK_STATE_SUBMITTED");
    assert_eq!(new.last().unwrap()["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
    let pieces: Vec<&Value> =
        new.iter().filter(|e| e["artifactUpdate"].is_object()).map(|e| &e["artifactUpdate"]).collect();
    assert!(pieces.len() > 2, "{new:?}");
    let words: String = pieces.iter().map(|p| p["artifact"]["parts"][0]["text"].as_str().unwrap()).collect();
    let whole = ask(&server, MACHINE, "GetTask", json!({"id": new[0]["task"]["id"]})).await["result"].clone();
    assert_eq!(whole["artifacts"][0]["parts"][0]["text"], words);
    assert!(pieces.iter().enumerate().all(|(at, p)| p["append"] == (at > 0)));
    assert!(pieces.iter().all(|p| p["artifact"]["artifactId"] == pieces[0]["artifact"]["artifactId"]));
    assert_eq!(pieces.last().unwrap()["lastChunk"], true);
    let old = stream(&server, "message/stream", old_message("hello")).await;
    assert_eq!((&old[0]["kind"], old[0].get("final")), (&json!("task"), None));
    assert_eq!(old.last().unwrap()["final"], true);
    let asked = stream(&server, "message/stream", old_message(WRITES)).await;
    let last = asked.last().unwrap();
    assert_eq!((&last["status"]["state"], &last["final"]), (&json!("input-required"), &json!(true)));
}

/// Holds.
#[tokio::test]
async fn a_task_is_followed_from_where_it_is_with_its_pieces_by_as_many_as_like() {
    let server = server().await;
    let mut begun = new_message("!stream 60 10");
    begun["configuration"] = json!({"returnImmediately": true});
    let begun = ask(&server, MACHINE, "SendMessage", begun).await["result"]["task"].clone();
    let follow = || stream(&server, "SubscribeToTask", json!({"id": begun["id"]}));
    let (one, two) = tokio::join!(follow(), follow());
    for events in [one, two] {
        assert_eq!(events[0]["task"]["id"], begun["id"]);
        let with_it = events[0]["task"]["artifacts"][0]["parts"][0]["text"].as_str().unwrap_or_default();
        let pieces =
            events.iter().filter_map(|e| e["artifactUpdate"]["artifact"]["parts"][0]["text"].as_str());
        let words = with_it.to_owned() + &pieces.collect::<String>();
        assert!(words.starts_with("word1 word2 ") && words.trim_end().ends_with("word60"), "{words}");
        assert_eq!(events.last().unwrap()["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
    }
    let ended = ask(&server, MACHINE, "SubscribeToTask", json!({"id": begun["id"]})).await;
    assert_eq!(code(&ended), -32004);
    // The older version's refusal is the one event of its stream.
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/resubscribe", "params": {"id": "nothing"}});
    let request = server.request(reqwest::Method::POST, "/v1/profiles/assistant/a2a");
    let refused = request.bearer_auth(MACHINE).json(&body).send().await.unwrap();
    assert_eq!(refused.headers()["content-type"], "text/event-stream");
    assert!(refused.text().await.unwrap().contains("-32001"));
}

#[tokio::test]
async fn whoever_stops_reading_ends_nothing() {
    let server = server().await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": new_message("!stream 40 5")});
    let request = server.request(reqwest::Method::POST, "/v1/profiles/assistant/a2a");
    let answer = request.bearer_auth(MACHINE).json(&body).send().await.unwrap();
    let first = answer.bytes_stream().next().await.unwrap().unwrap();
    let line = String::from_utf8_lossy(&first).into_owned();
    let event: Value =
        serde_json::from_str(line.lines().next().unwrap().strip_prefix("data: ").unwrap()).unwrap();
    let id = event["result"]["task"]["id"].clone();
    loop {
        let task = ask(&server, MACHINE, "GetTask", json!({"id": id})).await["result"].clone();
        if task["status"]["state"] == "TASK_STATE_COMPLETED" {
            break assert!(task["artifacts"][0]["parts"][0]["text"].as_str().unwrap().contains("word40"));
        }
    }
}

#[tokio::test]
async fn a_message_sent_again_is_answered_from_its_task_and_not_done_again() {
    let server = server().await;
    let first = ask(&server, MACHINE, "SendMessage", new_message(WRITES)).await["result"]["task"].clone();
    let again = ask(&server, MACHINE, "SendMessage", new_message(WRITES)).await["result"]["task"].clone();
    assert_eq!(again, first, "the same task, and when it began to wait");
    let mut approve = new_message("/approve");
    approve["message"]["taskId"] = first["id"].clone();
    let done = ask(&server, MACHINE, "SendMessage", approve.clone()).await["result"]["task"].clone();
    assert_eq!(done["status"]["state"], "TASK_STATE_COMPLETED");
    let messages =
        async |app: &TestApp| app.engine.agents_messages(&"assistant".into(), None, 100).await.unwrap().len();
    let taken = messages(&server.app).await;
    // After a restart too; an answer to a task's question as well, though the task has ended since.
    let server = Server::offering(server.app.reopen().await, offer(false)).await;
    for message in [new_message(WRITES), approve] {
        let again = ask(&server, MACHINE, "SendMessage", message.clone()).await["result"]["task"].clone();
        assert_eq!((&again["id"], &again["artifacts"]), (&done["id"], &done["artifacts"]));
        let events = stream(&server, "SendStreamingMessage", message).await;
        assert_eq!(events[0]["task"]["id"], done["id"]);
        assert_eq!(events.last().unwrap()["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
    }
    assert_eq!(messages(&server.app).await, taken, "nothing was taken again");
    // Other words, another token or another context: another message.
    let (other, _) = server.app.token("assistant", false).await;
    let others = [
        ask(&server, MACHINE, "SendMessage", new_message("other words")).await,
        ask(&server, &other, "SendMessage", new_message(WRITES)).await,
        ask(&server, MACHINE, "SendMessage", in_context(WRITES, &json!("elsewhere"))).await,
    ];
    for answer in others {
        assert_ne!(answer["result"]["task"]["id"], first["id"], "{answer}");
    }
    assert_eq!(messages(&server.app).await, taken + 3);
}

/// Whoever does not read holds a piece or two and no more; the task ends without it, and others are served.
#[tokio::test]
async fn a_reader_that_stalls_holds_up_neither_the_task_nor_anybody_else() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let server = server().await;
    let text = "!stream 2000 0";
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": new_message(text)});
    let body = body.to_string();
    // One whose pieces are held by no socket, only by us.
    let other =
        Request::post("/v1/profiles/assistant/a2a").header("authorization", format!("Bearer {MACHINE}"));
    let mut other_body = body.clone();
    other_body = other_body.replace("\"m\"", "\"n\"");
    let held = other.header("content-type", "application/json").body(Body::from(other_body)).unwrap();
    let mut held = server.router.clone().oneshot(held).await.unwrap().into_body().into_data_stream();
    held.next().await.unwrap().unwrap();
    let head = format!(
        "POST /v1/profiles/assistant/a2a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {MACHINE}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stalls = socket.connect(server.address).await.unwrap();
    stalls.write_all(head.as_bytes()).await.unwrap();
    stalls.write_all(body.as_bytes()).await.unwrap();
    let mut begun = vec![0; 400];
    stalls.read_exact(&mut begun).await.unwrap();
    // From here on it reads nothing.
    let id = sb_testkit::until("both tasks", async || {
        let all = server.app.engine.agents_messages(&"assistant".into(), None, 2).await.unwrap();
        all.first().copied().filter(|_| all.len() == 2)
    })
    .await;
    let ids = [id.0 - 1, id.0].map(|id| format!("{id:016x}"));
    for id in ids {
        sb_testkit::until("its end", async || {
            let task = ask(&server, MACHINE, "GetTask", json!({"id": id})).await["result"].clone();
            (task["status"]["state"] == "TASK_STATE_COMPLETED").then_some(())
        })
        .await;
    }
    let other = ask(&server, MACHINE, "SendMessage", new_message("hello")).await;
    assert_eq!(other["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    let mut rest = Vec::new();
    stalls.read_to_end(&mut rest).await.unwrap();
    let rest = String::from_utf8_lossy(&rest);
    assert!(rest.contains("word2000") && rest.contains("TASK_STATE_COMPLETED"), "it is told the rest");
    let mut pieces = Vec::new();
    while let Some(piece) = held.next().await {
        pieces.push(piece.unwrap());
    }
    assert!(pieces.len() < 20, "{} pieces: what was not read is joined", pieces.len());
    let held = String::from_utf8(pieces.concat()).unwrap();
    assert!(held.contains("word2000") && held.contains("TASK_STATE_COMPLETED"));
}

#[tokio::test]
async fn a_task_is_cancelled_while_it_works_or_waits_and_never_after() {
    let server = server().await;
    for text in ["!wait 60", WRITES] {
        let mut begun = new_message(text);
        begun["configuration"] = json!({"returnImmediately": text != WRITES});
        let begun = ask(&server, MACHINE, "SendMessage", begun).await["result"]["task"].clone();
        let gone = ask(&server, MACHINE, "CancelTask", json!({"id": begun["id"]})).await;
        assert_eq!(gone["result"]["status"]["state"], "TASK_STATE_CANCELED", "{gone}");
        assert_eq!(code(&ask(&server, MACHINE, "tasks/cancel", json!({"id": begun["id"]})).await), -32002);
    }
}

#[tokio::test]
async fn tasks_are_listed_the_newest_first_a_page_at_a_time() {
    let server = server().await;
    let first = ask(&server, MACHINE, "SendMessage", new_message("one")).await["result"]["task"].clone();
    for text in ["two", "three"] {
        ask(&server, MACHINE, "SendMessage", in_context(text, &first["contextId"])).await;
    }
    ask(&server, MACHINE, "SendMessage", new_message(WRITES)).await;
    server.say(MACHINE, json!({"text": "not of an agent"})).await.succeeded();
    let list = async |params: Value| ask(&server, MACHINE, "ListTasks", params).await["result"].clone();
    let all = list(json!({})).await;
    assert_eq!(
        (&all["totalSize"], &all["pageSize"], &all["nextPageToken"]),
        (&json!(4), &json!(50), &json!(""))
    );
    assert!(all["tasks"].as_array().unwrap().iter().all(|t| t.get("artifacts").is_none()));
    let of_context = list(json!({"context_id": first["contextId"], "includeArtifacts": true})).await;
    assert_eq!(of_context["tasks"][2]["artifacts"][0]["parts"][0]["text"], "You said: one");
    assert_eq!(list(json!({"status": "TASK_STATE_INPUT_REQUIRED"})).await["totalSize"], 1);
    let page = list(json!({"pageSize": 3})).await;
    let next = list(json!({"pageSize": 3, "pageToken": page["nextPageToken"]})).await;
    assert_eq!((page["tasks"].as_array().unwrap().len(), next["tasks"].as_array().unwrap().len()), (3, 1));
    assert_eq!(code(&ask(&server, MACHINE, "ListTasks", json!({"pageSize": 0})).await), -32602);
}

/// Holds: A-30.
#[tokio::test]
async fn files_go_both_ways_and_an_address_is_never_asked() {
    let server = server().await;
    let mut message = new_message("!tool share_file {\"path\":\"out.txt\",\"text\":\"hello\"}");
    message["message"]["parts"].as_array_mut().unwrap().extend([
        json!({"raw": "aGVsbG8=", "filename": "../../in.txt", "mediaType": "text/plain"}),
        json!({"url": "http://169.254.169.254/latest"}),
    ]);
    let task = ask(&server, MACHINE, "SendMessage", message.clone()).await["result"]["task"].clone();
    let artifacts = task["artifacts"].as_array().unwrap();
    let given = artifacts.iter().find(|a| a["artifactId"] == "files").unwrap_or_else(|| panic!("{task}"));
    assert!(given["parts"][0]["raw"].is_string() && given["parts"][0]["filename"].is_string(), "{given}");
    let session = server.app.engine.sessions(None, 1).await.unwrap()[0].id;
    let log = server.app.engine.session(session).await.unwrap().log;
    let said = format!("{:?}", log[0].record);
    assert!(said.contains("\"in.txt\"") && !said.contains(".."), "{said}");
    message["message"]["parts"][1]["raw"] = json!("not base64!");
    assert_eq!(code(&ask(&server, MACHINE, "SendMessage", message).await), -32602);
}

#[tokio::test]
async fn what_is_wrong_is_told_as_the_protocol_tells_it() {
    let server = server().await;
    server.app.add_profile("other").await;
    let (other, _) = server.app.token("other", true).await;
    let mine = ask(&server, MACHINE, "SendMessage", new_message("hello")).await["result"]["task"].clone();
    let http = server.say(MACHINE, json!({"text": "hello"})).await.succeeded();
    drop(http);
    for (method, params, expected) in [
        ("dance", json!({}), -32601),
        ("GetTask", json!({}), -32602),
        ("GetTask", json!({"id": "nothing"}), -32001),
        ("GetTask", json!({"id": "0000000000000fff"}), -32001),
        ("GetTask", json!({"id": mine["id"], "historyLength": -1}), -32602),
        ("tasks/get", json!({"id": "nothing"}), -32001),
        ("SendMessage", json!({}), -32602),
        (
            "SendMessage",
            json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": " "}]}}),
            -32602,
        ),
        ("SendMessage", in_context("x", &json!("a b")), -32602),
        ("SendMessage", in_context("x", &json!("c".repeat(129))), -32602),
        ("CancelTask", json!({"id": "nothing"}), -32001),
        ("SubscribeToTask", json!({"id": "nothing"}), -32001),
    ] {
        let answer = ask(&server, MACHINE, method, params.clone()).await;
        assert_eq!(code(&answer), expected, "{method} {params}: {answer}");
    }
    let told = ask(&server, MACHINE, "GetTask", json!({"id": "nothing"})).await;
    assert_eq!(told["error"]["data"][0]["reason"], "TASK_NOT_FOUND");
    // A message of another door's is no task, whatever number is tried.
    for number in 1..10 {
        let id = format!("{number:016x}");
        let answer = ask(&server, MACHINE, "GetTask", json!({"id": id})).await;
        assert_eq!(code(&answer) == 0, id == mine["id"].as_str().unwrap(), "{answer}");
    }
    let path = "/v1/profiles/assistant/a2a/";
    let refused =
        server.request(reqwest::Method::POST, path).bearer_auth(&other).body("{}").send().await.unwrap();
    assert!(matches!(refused.status().as_u16(), 401 | 403), "{}", refused.status());
    let unknown = server.request(reqwest::Method::POST, path).body("{}").send().await.unwrap();
    assert_eq!((unknown.status().as_u16(), &unknown.headers()["www-authenticate"] == "Bearer"), (401, true));
    let mut long = new_message("");
    long["message"]["parts"][0]["text"] = json!("x".repeat(3_000_000));
    let answer = ask(&server, MACHINE, "SendMessage", long).await;
    assert!(answer["result"].is_object() || answer["error"].is_object());
}

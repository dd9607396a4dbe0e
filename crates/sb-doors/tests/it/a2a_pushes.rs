//! Webhooks of tasks: where they may lead, how many there are, and what is posted to them.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use sb_doors::a2a::run_pushes;
use sb_testkit::app::TestApp;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::a2a::{ask, new_message, offer, server};
use crate::server::{MACHINE, Server};

/// What a receiver was posted: headers and body.
type Posted = Arc<Mutex<Vec<(HeaderMap, Value)>>>;

/// A receiver that fails so many times first.
async fn receiver(failing: usize) -> (String, Posted) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let posted = Posted::default();
    let left = Arc::new(Mutex::new(failing));
    let take =
        async |State((posted, left)): State<(Posted, Arc<Mutex<usize>>)>, headers: HeaderMap, body: Bytes| {
            let mut left = left.lock().unwrap();
            if *left > 0 {
                *left -= 1;
                return StatusCode::INTERNAL_SERVER_ERROR;
            }
            posted.lock().unwrap().push((headers, serde_json::from_slice(&body).unwrap()));
            StatusCode::OK
        };
    let router = Router::new().route("/hook", post(take)).with_state((posted.clone(), left));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, posted)
}

async fn until(posted: &Posted, wanted: impl Fn(&[(HeaderMap, Value)]) -> bool) -> Vec<(HeaderMap, Value)> {
    sb_testkit::until("the pushes", async || Some(posted.lock().unwrap().clone()).filter(|now| wanted(now)))
        .await
}

fn with_hook(text: &str, hook: Value) -> Value {
    let mut message = new_message(text);
    message["configuration"] = json!({"taskPushNotificationConfig": hook});
    message
}

/// Holds.
#[tokio::test]
async fn webhooks_are_set_shown_listed_and_deleted_eight_at_most() {
    let server = server().await;
    let task =
        ask(&server, MACHINE, "SendMessage", new_message("hello")).await["result"]["task"]["id"].clone();
    let hook = json!({"url": "https://x.example/hook", "token": "t", "authentication": {"schemes": ["Bearer"], "credentials": "s3cret"}});
    let set = ask(
        &server,
        MACHINE,
        "tasks/pushNotificationConfig/set",
        json!({"taskId": task, "pushNotificationConfig": hook}),
    )
    .await;
    assert_eq!(set["result"]["pushNotificationConfig"]["id"], "default", "{set}");
    let got = ask(&server, MACHINE, "tasks/pushNotificationConfig/get", json!({"id": task})).await;
    assert_eq!(got["result"]["pushNotificationConfig"]["url"], "https://x.example/hook");
    assert!(!got.to_string().contains("s3cret"));
    for at in 1..8 {
        let new = json!({"taskId": task, "id": format!("h{at}"), "url": "https://x.example/hook"});
        assert!(ask(&server, MACHINE, "CreateTaskPushNotificationConfig", new).await["result"].is_object());
    }
    let ninth = json!({"taskId": task, "id": "h8", "url": "https://x.example/hook"});
    let refused = ask(&server, MACHINE, "CreateTaskPushNotificationConfig", ninth).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("at most 8"), "{refused}");
    let old = ask(&server, MACHINE, "tasks/pushNotificationConfig/list", json!({"id": task})).await;
    let new = ask(&server, MACHINE, "ListTaskPushNotificationConfigs", json!({"task_id": task})).await;
    assert_eq!(
        (old["result"].as_array().unwrap().len(), new["result"]["configs"].as_array().unwrap().len()),
        (8, 8)
    );
    for _ in 0..2 {
        let gone =
            ask(&server, MACHINE, "DeleteTaskPushNotificationConfig", json!({"taskId": task, "id": "h1"}))
                .await;
        assert_eq!(gone["result"], json!({}));
    }
    let gone =
        ask(&server, MACHINE, "GetTaskPushNotificationConfig", json!({"taskId": task, "id": "h1"})).await;
    assert_eq!(gone["error"]["code"], -32001);
}

#[tokio::test]
async fn a_ninth_webhook_is_refused_in_either_version_and_the_message_it_comes_with_is_not_taken() {
    let server = server().await;
    let writes = "!tool write_file {\"path\":\"a.txt\"}\n!say Written.";
    let task = ask(&server, MACHINE, "SendMessage", new_message(writes)).await["result"]["task"].clone();
    let hook = |id: &str| json!({"id": id, "url": "https://x.example/hook"});
    for at in 0..8 {
        let set = json!({"taskId": task["id"], "pushNotificationConfig": hook(&format!("h{at}"))});
        let set = ask(&server, MACHINE, "tasks/pushNotificationConfig/set", set).await;
        assert!(set["result"].is_object(), "{set}");
    }
    let old = json!({"taskId": task["id"], "pushNotificationConfig": hook("h8")});
    let old = ask(&server, MACHINE, "tasks/pushNotificationConfig/set", old).await;
    let new = json!({"taskId": task["id"], "id": "h8", "url": "https://x.example/hook"});
    let new = ask(&server, MACHINE, "CreateTaskPushNotificationConfig", new).await;
    assert_eq!((&old["error"]["code"], &new["error"]["code"]), (&json!(-32004), &json!(-32004)));
    assert_eq!(old["error"].get("data"), None);
    assert_eq!(new["error"]["data"][0]["reason"], "UNSUPPORTED_OPERATION");
    let mut decides = with_hook("/approve", hook("h8"));
    decides["message"]["taskId"] = task["id"].clone();
    let refused = ask(&server, MACHINE, "SendMessage", decides.clone()).await;
    assert_eq!(refused["error"]["code"], -32004, "{refused}");
    let stands = ask(&server, MACHINE, "GetTask", json!({"id": task["id"]})).await;
    assert_eq!(stands["result"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "nothing was decided");
    // One of the eight may be set anew.
    decides["configuration"]["taskPushNotificationConfig"] = hook("h7");
    let done = ask(&server, MACHINE, "SendMessage", decides).await;
    assert_eq!(done["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{done}");
}

/// Holds.
#[tokio::test]
async fn a_webhook_leads_to_no_place_of_ours_and_shows_who_we_are_by_bearer_only() {
    let server = server().await;
    let task =
        ask(&server, MACHINE, "SendMessage", new_message("hello")).await["result"]["task"]["id"].clone();
    for url in [
        "http://x.example/hook",
        "https://127.0.0.1/hook",
        "https://localhost/hook",
        "https://0x7f.1/hook",
        "https://2130706433/hook",
        "https://10.0.0.1/hook",
        "https://169.254.169.254/hook",
        "https://[::1]/hook",
        "https://[fe80::1]/hook",
        "https://[::ffff:127.0.0.1]/hook",
        "https://vault.internal/hook",
        "https://user:pw@x.example/hook",
        "https://x.example:22/hook",
        "ftp://x.example/hook",
        "nonsense",
    ] {
        let set =
            ask(&server, MACHINE, "CreateTaskPushNotificationConfig", json!({"taskId": task, "url": url}))
                .await;
        assert_eq!(set["error"]["code"], -32602, "{url}: {set}");
        let sent = ask(&server, MACHINE, "SendMessage", with_hook("hello", json!({"url": url}))).await;
        assert_eq!(sent["error"]["code"], -32602, "{url}: {sent}");
    }
    let basic = json!({"taskId": task, "url": "https://x.example", "authentication": {"scheme": "Basic", "credentials": "x"}});
    let set = ask(&server, MACHINE, "CreateTaskPushNotificationConfig", basic).await;
    assert!(set["error"]["message"].as_str().unwrap().contains("only Bearer"), "{set}");
}

#[tokio::test]
async fn a_name_that_leads_here_when_it_is_looked_up_is_not_posted_to() {
    // Every name of this resolver means this machine, as one that is turned round later would.
    let offer = offer(false);
    let server = Server::offering(TestApp::new().await, offer.clone()).await;
    let hook = json!({"url": "https://rebinds.example/hook"});
    let task = ask(&server, MACHINE, "SendMessage", with_hook("hello", hook)).await["result"]["task"].clone();
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
    let closing = CancellationToken::new();
    let pushing = tokio::spawn(run_pushes(server.app.engine.clone(), offer, closing.clone()));
    let id = i64::from_str_radix(task["id"].as_str().unwrap(), 16).unwrap();
    // It was tried, was refused, and waits for its next try.
    let hook = sb_testkit::until("a try", async || {
        let hooks = server.app.engine.task_hooks(sb_doors::model::MessageId(id)).await.unwrap();
        Some(hooks[0].0.clone()).filter(|hook| hook.tries > 0)
    })
    .await;
    assert_eq!((hook.told.as_str(), hook.tries), ("", 1), "nothing was told");
    closing.cancel();
    pushing.await.unwrap();
}

/// Holds.
#[tokio::test]
async fn each_change_of_state_is_posted_with_the_whole_task_and_a_failed_try_is_made_again() {
    let (url, posted) = receiver(1).await;
    let offer = offer(true);
    let server = Server::offering(TestApp::new().await, offer.clone()).await;
    let closing = CancellationToken::new();
    let pushing = tokio::spawn(run_pushes(server.app.engine.clone(), offer, closing.clone()));
    let hook = json!({"url": url, "token": "t0ken", "authentication": {"scheme": "Bearer", "credentials": "s3cret"}});
    let writes = "!tool write_file {\"path\":\"a.txt\"}\n!say Written.";
    let task = ask(&server, MACHINE, "SendMessage", with_hook(writes, hook)).await["result"]["task"].clone();
    let state =
        |posted: &(HeaderMap, Value)| posted.1["task"]["status"]["state"].as_str().unwrap().to_owned();
    let ends = |wanted: &'static str| {
        move |all: &[(HeaderMap, Value)]| all.last().is_some_and(|p| state(p) == wanted)
    };
    let all = until(&posted, ends("TASK_STATE_INPUT_REQUIRED")).await;
    let (headers, body) = all.last().unwrap();
    assert_eq!(
        (&headers["x-a2a-notification-token"], &headers["authorization"]),
        (&"t0ken".parse().unwrap(), &"Bearer s3cret".parse().unwrap())
    );
    assert_eq!(
        (&headers["content-type"], &body["task"]["id"]),
        (&"application/a2a+json".parse().unwrap(), &task["id"])
    );
    let approve = crate::a2a::in_context("/approve", &task["contextId"]);
    ask(&server, MACHINE, "SendMessage", approve).await;
    let all = until(&posted, ends("TASK_STATE_COMPLETED")).await;
    assert_eq!(all.last().unwrap().1["task"]["artifacts"][0]["parts"][0]["text"], "Written.");
    // It has nothing more to tell: it is gone, with its address.
    let id = i64::from_str_radix(task["id"].as_str().unwrap(), 16).unwrap();
    sb_testkit::until("the webhook to go", async || {
        let left = server.app.engine.task_hooks(sb_doors::model::MessageId(id)).await.unwrap();
        left.is_empty().then_some(())
    })
    .await;
    closing.cancel();
    pushing.await.unwrap();
}

/// Holds: A-29.
#[tokio::test]
async fn a_restart_forgets_no_webhook_and_tells_what_it_was_not_told() {
    let (url, posted) = receiver(0).await;
    let server = Server::offering(TestApp::new().await, offer(true)).await;
    let mut old = json!({"message": {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hello"}]}});
    old["configuration"] = json!({"pushNotificationConfig": {"url": url}});
    let task = ask(&server, MACHINE, "message/send", old).await["result"].clone();
    let app = server.app.reopen().await;
    let (offer, closing) = (offer(true), CancellationToken::new());
    let pushing = tokio::spawn(run_pushes(app.engine.clone(), offer, closing.clone()));
    let all = until(&posted, |all| !all.is_empty()).await;
    assert_eq!(
        (&all[0].1["kind"], &all[0].1["id"], &all[0].1["status"]["state"]),
        (&json!("task"), &task["id"], &json!("completed"))
    );
    closing.cancel();
    pushing.await.unwrap();
}

/// A receiver that takes what comes and never answers.
async fn mute() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((socket, _)) = listener.accept().await {
            held.push(socket);
        }
    });
    url
}

#[tokio::test]
async fn a_side_that_never_answers_holds_up_nobody_else() {
    let (url, posted) = receiver(0).await;
    let offer = offer(true);
    let server = Server::offering(TestApp::new().await, offer.clone()).await;
    let closing = CancellationToken::new();
    let pushing = tokio::spawn(run_pushes(server.app.engine.clone(), offer, closing.clone()));
    ask(&server, MACHINE, "SendMessage", with_hook("one", json!({"url": mute().await}))).await;
    let told = ask(&server, MACHINE, "SendMessage", with_hook("two", json!({"url": url}))).await;
    let all = until(&posted, |all| {
        all.last().is_some_and(|p| p.1["task"]["status"]["state"] == "TASK_STATE_COMPLETED")
    })
    .await;
    assert_eq!(all[0].1["task"]["id"], told["result"]["task"]["id"]);
    closing.cancel();
    pushing.await.unwrap();
}

//! Calls of platforms to `/hooks/{slug}`.

use reqwest::{Method, RequestBuilder};
use sb_channels::telegram::standin::SECRET;
use sb_doors::http::{LARGEST_CALL, bridge_router};
use sb_doors::local::wire::PutChannel;
use sb_doors::model::Secret;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::messenger::{app, channel, standin};
use crate::server::{Server, reply};

const HEADER: &str = "x-telegram-bot-api-secret-token";

async fn server() -> Server {
    let app = app(&standin(), Some("https://bot.example")).await;
    let put: PutChannel = serde_json::from_value(channel("tg", json!({"allow": ["42"]}))).unwrap();
    let secrets = put.secrets.into_iter().map(|(key, value)| (key, Secret::new(value))).collect();
    app.engine.put_channel(put.channel, secrets).await.unwrap();
    let server = Server::over(app).await;
    sb_testkit::until("a running channel", async || {
        let runs = server.app.engine.channel_status(&"tg".into()).account.is_some();
        (runs && call(&server, "/hooks/tg").send().await.unwrap().status() != 503).then_some(())
    })
    .await;
    server
}

fn call(server: &Server, path: &str) -> RequestBuilder {
    server.request(Method::POST, path)
}

fn update(text: &str) -> Value {
    let (chat, from) = (json!({"id": 42, "type": "private"}), json!({"id": 42, "first_name": "Ann"}));
    json!({"update_id": 7, "message": {"message_id": 1, "date": 1_700_000_000, "chat": chat, "from": from, "text": text}})
}

#[tokio::test]
async fn a_call_is_judged_by_the_adapter_alone_whatever_host_and_origin_it_names() {
    let server = server().await;
    // No token, another host, another origin: none of it is the platform's business.
    let known =
        call(&server, "/hooks/tg").header("host", "bot.example").header("origin", "https://evil.example");
    let taken = reply(known.header(HEADER, SECRET).body(update("hello").to_string())).await;
    assert_eq!(taken.status, 200, "{taken:?}");
    let session = sb_testkit::until("a session", async || {
        server.app.engine.sessions(None, 5).await.unwrap().into_iter().next()
    });
    assert_eq!(session.await.profile.as_str(), "assistant");
}

#[tokio::test]
async fn what_is_not_the_platforms_is_refused_and_locks_nobody_out() {
    let server = server().await;
    for _ in 0..30 {
        let wrong = call(&server, "/hooks/tg").header(HEADER, "guess").body(update("x").to_string());
        assert_eq!(reply(wrong).await.status, 401);
    }
    let right = call(&server, "/hooks/tg").header(HEADER, SECRET).body("no json");
    assert_eq!(reply(right).await.status, 400);
    let right = call(&server, "/hooks/tg").header(HEADER, SECRET).body(update("hello").to_string());
    assert_eq!(reply(right).await.status, 200);
    assert!(server.app.engine.health().awake <= 1);
}

#[tokio::test]
async fn whether_there_is_such_a_channel_is_nobodys_business() {
    let server = server().await;
    for path in ["/hooks/nobody", "/hooks/nobody/", "/hooks/nobody/a/b?c=d"] {
        assert_eq!(reply(call(&server, path)).await.status, 503, "{path}");
        assert_eq!(reply(server.request(Method::GET, path)).await.status, 503, "{path}");
    }
    reply(call(&server, "/hooks")).await.is_error(404, "not_found");
}

#[tokio::test]
async fn a_call_over_a_megabyte_is_refused_before_it_is_looked_at() {
    let server = server().await;
    let large = vec![b' '; LARGEST_CALL + 1];
    for path in ["/hooks/tg", "/hooks/nobody/x"] {
        let refused = reply(call(&server, path).header(HEADER, SECRET).body(large.clone())).await;
        refused.is_error(413, "too_large");
        assert!(refused.json["error"].as_str().unwrap().contains("1 MB"), "{refused:?}");
    }
    let most = vec![b' '; LARGEST_CALL];
    assert_eq!(reply(call(&server, "/hooks/tg").header(HEADER, SECRET).body(most)).await.status, 400);
}

#[tokio::test]
async fn a_bridge_on_its_own_listens_for_calls_and_for_nothing_else() {
    let server = server().await;
    let router = bridge_router(server.app.engine.clone(), server.closing.clone());
    let ask = async |path: &str| {
        let request = axum::extract::Request::get(path).body(axum::body::Body::empty()).unwrap();
        router.clone().oneshot(request).await.unwrap().status().as_u16()
    };
    assert_eq!((ask("/healthz").await, ask("/hooks/tg").await, ask("/hooks/other").await), (200, 401, 503));
    for path in ["/", "/metrics", "/openapi.json", "/v1/sessions/0123456789abcdef"] {
        assert_eq!(ask(path).await, 404, "{path}");
    }
}

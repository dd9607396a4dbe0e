//! The home's own socket: the same messages without a token, and the routes that run things.

use std::os::unix::fs::PermissionsExt;

use reqwest::{Client, Method, RequestBuilder};
use sb_doors::local::{self, LocalDoor, wire::ServerInfo};
use sb_testkit::app::TestApp;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::server::{Reply, reply};

pub struct Home {
    pub app: TestApp,
    http: Client,
    closing: CancellationToken,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Home {
    pub async fn open() -> Self {
        Self::over(TestApp::new().await).await
    }

    pub async fn over(app: TestApp) -> Self {
        let closing = CancellationToken::new();
        let listener = local::bind(app.home()).unwrap();
        let router = local::router(LocalDoor {
            engine: app.engine.clone(),
            user: "ada".to_owned(),
            server: ServerInfo {
                version: "0.1.0".to_owned(),
                pid: 1,
                home: app.home().display().to_string(),
                listen: None,
                channels: false,
                bridge: None,
            },
            closing: closing.clone(),
        });
        let http = client(&local::socket_path(app.home()));
        let serving = tokio::spawn(local::serve(listener, router, closing.clone()));
        Self { app, http, closing, serving }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("http://home{path}"))
    }
    pub async fn get(&self, path: &str) -> Reply {
        reply(self.request(Method::GET, path)).await
    }
    pub async fn send(&self, method: Method, path: &str, body: Value) -> Reply {
        reply(self.request(method, path).body(body.to_string())).await
    }
    async fn say(&self, body: Value) -> Reply {
        self.send(Method::POST, "/v1/profiles/assistant/messages", body).await
    }
}

#[allow(clippy::disallowed_methods, reason = "a test's own client")]
fn client(socket: &std::path::Path) -> Client {
    sb_doors::engine::harness::net::Http::new().unwrap();
    Client::builder().unix_socket(socket).tls_certs_only([]).no_proxy().build().unwrap()
}

#[tokio::test]
async fn the_socket_is_its_owners_alone_and_replaces_a_stale_one() {
    let home = Home::open().await;
    let path = local::socket_path(home.app.home());
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    home.closing.cancel();
    home.serving.await.unwrap().unwrap();
    local::bind(home.app.home()).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "mine").unwrap();
    assert!(local::bind(home.app.home()).unwrap_err().to_string().contains("is in the way"));
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
}

#[tokio::test]
async fn whoever_opens_the_socket_speaks_as_the_user_with_every_right() {
    let home = Home::open().await;
    let asked = home.say(json!({"text": "!tool write_file {}\n!say Done."})).await.succeeded();
    assert_eq!(asked.json["conversation"], "default");
    let done = home.say(json!({"text": "/approve"})).await.succeeded();
    assert!(done.lines()[0].ends_with("(approved by cli:ada)"), "{:?}", done.lines());
    let path = format!("/v1/sessions/{}", done.json["session"].as_str().unwrap());
    assert_eq!(home.get(&path).await.succeeded().json["transcript"][0]["who"], "cli:ada");
}

#[tokio::test]
async fn a_stop_word_stops_where_a_person_types() {
    let home = Home::open().await;
    let words = home.say(json!({"text": "stop"})).await.succeeded();
    assert_eq!(words.said(), "You said: stop");
    let typed = home.say(json!({"text": "Stop!", "terminal": true})).await.succeeded();
    assert_ne!(typed.said(), "You said: Stop!");
}

#[tokio::test]
async fn a_message_to_a_session_holds_only_while_it_is_current() {
    let home = Home::open().await;
    let first = home.say(json!({"text": "one"})).await.succeeded();
    let path = format!("/desk/sessions/{}/messages", first.json["session"].as_str().unwrap());
    let second = home.send(Method::POST, &path, json!({"text": "two"})).await.succeeded();
    assert_eq!(first.json["session"], second.json["session"]);
    let named = json!({"text": "x", "conversation": "y"});
    home.send(Method::POST, &path, named).await.is_error(400, "unknown_field");
    home.say(json!({"text": "/new"})).await.succeeded();
    home.say(json!({"text": "three"})).await.succeeded();
    home.send(Method::POST, &path, json!({"text": "four"})).await.is_error(409, "other_session");
}

#[tokio::test]
async fn profiles_are_listed_added_changed_and_removed() {
    let home = Home::open().await;
    let all = home.get("/desk/profiles").await.succeeded().json;
    assert_eq!((all.as_array().unwrap().len(), &all[0]["name"]), (1, &json!("assistant")));
    let mut profile = all[0].clone();
    profile["name"] = json!("payer");
    let put = json!({"profile": profile, "api_key": "k-123", "new": true});
    let added = home.send(Method::PUT, "/desk/profiles/payer", put.clone()).await.succeeded().json;
    assert_eq!(added["has_key"], true);
    assert!(!added.to_string().contains("k-123"));
    assert!(added["available_tools"].as_array().unwrap().contains(&json!("write_file")));
    home.send(Method::PUT, "/desk/profiles/payer", put.clone()).await.is_error(409, "profile_exists");
    home.send(Method::PUT, "/desk/profiles/other", put).await.is_error(400, "bad_field");
    let change = json!({"profile": profile});
    let changed = home.send(Method::PUT, "/desk/profiles/payer", change).await.succeeded();
    assert_eq!(changed.json["has_key"], true);
    assert_eq!(home.request(Method::DELETE, "/desk/profiles/payer").send().await.unwrap().status(), 204);
    home.get("/desk/profiles/payer").await.is_error(404, "unknown_profile");
    let odd = json!({"profile": {"name": "x"}});
    home.send(Method::PUT, "/desk/profiles/x", odd).await.is_error(400, "bad_field");
}

/// Holds: W-22.
#[tokio::test]
async fn a_token_is_shown_once_and_listed_without_its_secret() {
    let home = Home::open().await;
    let path = "/desk/profiles/assistant/tokens";
    let new = home.send(Method::POST, path, json!({"approve": true})).await.succeeded().json;
    let token = new["token"].as_str().unwrap();
    assert!(token.starts_with("sb_") && new["approve"] == true);
    let talks = reply(home.request(Method::POST, path)).await.succeeded().json;
    assert_eq!((&talks["approve"], &talks["instruct"]), (&json!(false), &json!(false)));
    assert_eq!(new["instruct"], true, "it comes with deciding");
    let all = home.get("/desk/tokens?profile=assistant").await.succeeded().json;
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert!(!all.to_string().contains(token));
    assert_eq!(all[0]["id"].as_str().unwrap().len(), 8);
    let gone = format!("{path}/{}", new["id"].as_str().unwrap());
    assert_eq!(home.request(Method::DELETE, &gone).send().await.unwrap().status(), 204);
    home.send(Method::DELETE, &gone, json!({})).await.is_error(404, "not_found");
    home.get("/desk/tokens?profile=nobody").await.is_error(404, "unknown_profile");
    home.get("/desk/tokens?odd=1").await.is_error(400, "bad_field");
}

#[tokio::test]
async fn sessions_are_listed_and_traced_with_every_entry() {
    let home = Home::open().await;
    let asked = home
        .say(json!({"text": "!tool write_file {\"path\":\"a\"}", "conversation": "ops"}))
        .await
        .succeeded();
    let listed = home.get("/desk/sessions?most=5").await.succeeded().json;
    assert_eq!(listed[0]["id"], asked.json["session"]);
    assert_eq!((&listed[0]["state"], &listed[0]["turns"]), (&json!("waiting"), &json!(0)));
    let trace =
        home.get(&format!("/desk/sessions/{}", listed[0]["id"].as_str().unwrap())).await.succeeded().json;
    assert_eq!(trace["waiting"]["call"]["input"], json!({"path": "a"}));
    assert_eq!(trace["waiting"]["request"], asked.json["request"]);
    assert_eq!(trace["entries"][0]["record"]["kind"], "said");
    home.get("/desk/sessions/nothing").await.is_error(404, "unknown_session");
}

#[tokio::test]
async fn a_backup_and_a_check_up_are_made_while_it_runs() {
    let home = Home::open().await;
    home.say(json!({"text": "hi"})).await.succeeded();
    let found = home.get("/desk/doctor").await.succeeded().json;
    assert_eq!(found["problems"], json!([]));
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("backup");
    let made = home.send(Method::POST, "/desk/backup", json!({"to": to})).await.succeeded();
    assert_eq!(made.json["to"], to.display().to_string());
    assert!(to.exists());
    home.send(Method::POST, "/desk/backup", json!({"to": to})).await.is_error(400, "bad_request");
    home.send(Method::POST, "/desk/backup", json!({"to": "here"})).await.is_error(400, "bad_field");
    let server = home.get("/desk/server").await.succeeded().json;
    assert_eq!((&server["pid"], &server["listen"]), (&json!(1), &json!(null)));
    home.get("/desk/nothing").await.is_error(404, "not_found");
}

//! Tokens: who is let in, how far, and to do what.

use reqwest::Method;
use sb_doors::http::{check_address, check_machine_token};
use sb_doors::model::{ProfileName, Rights, Secret};
use serde_json::json;

use crate::server::{MACHINE, Server, reply};

const MESSAGES: &str = "/v1/profiles/assistant/messages";

/// Holds: W-04.
#[tokio::test]
async fn without_a_token_nothing_is_reached() {
    let server = Server::start().await;
    for path in [MESSAGES, "/v1/profiles/nobody/messages"] {
        let answer = reply(server.request(Method::POST, path).body(r#"{"text":"hi"}"#)).await;
        answer.is_error(401, "no_token");
        assert_eq!(answer.headers["www-authenticate"], "Bearer");
    }
    for path in ["/v1/sessions/0123456789abcdef", "/metrics"] {
        reply(server.request(Method::GET, path)).await.is_error(401, "no_token");
    }
}

#[tokio::test]
async fn a_token_that_is_empty_cut_or_changed_is_refused() {
    let server = Server::start().await;
    let (token, _) = server.app.token("assistant", true).await;
    let flipped: String = token.chars().rev().collect();
    let long = "x".repeat(600);
    let longer = format!("{token}0");
    for wrong in
        [&token[..token.len() - 1], &longer, &flipped, "sb_", &MACHINE[..16], &MACHINE.to_uppercase(), &long]
    {
        server.say(wrong, json!({"text": "hi"})).await.is_error(401, "bad_token");
    }
    for header in ["Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "", &token] {
        let request = server.request(Method::POST, MESSAGES).header("authorization", header).body("{}");
        reply(request).await.is_error(401, "no_token");
    }
    // Twice is ambiguous, so it is none.
    let twice =
        server.post(&token, json!({"text": "hi"})).header("authorization", format!("Bearer {MACHINE}"));
    reply(twice).await.is_error(401, "no_token");
}

/// Holds: W-28.
#[tokio::test]
async fn a_token_reaches_its_own_profile_only() {
    let server = Server::start().await;
    server.app.add_profile("payer").await;
    let (lead, _) = server.app.token("assistant", true).await;
    for path in ["/v1/profiles/payer/messages", "/v1/profiles/nobody/messages", "/v1/profiles/A%2fB/messages"]
    {
        let request = server.request(Method::POST, path).bearer_auth(&lead).body(r#"{"text":"hi"}"#);
        let answer = reply(request).await;
        answer.is_error(401, "other_profile");
        assert!(answer.json["error"].as_str().unwrap().contains("does not reach this profile"));
    }
    server.say(&lead, json!({"text": "hi"})).await.succeeded();
}

/// Holds: W-06.
#[tokio::test]
async fn the_machines_token_reaches_every_profile_and_learns_which_exist() {
    let server = Server::start().await;
    server.app.add_profile("payer").await;
    let to = |profile: &str| {
        let path = format!("/v1/profiles/{profile}/messages");
        server.request(Method::POST, &path).bearer_auth(MACHINE).body(r#"{"text":"/whoami"}"#)
    };
    assert!(reply(to("payer")).await.succeeded().said().contains("http:machine"));
    reply(to("assistant")).await.succeeded();
    reply(to("nobody")).await.is_error(404, "unknown_profile");
}

/// Holds: W-26.
#[tokio::test]
async fn a_removed_token_opens_nothing_from_then_on() {
    let server = Server::start().await;
    let (token, id) = server.app.token("assistant", false).await;
    server.say(&token, json!({"text": "hi"})).await.succeeded();
    server.app.engine.remove_token(&ProfileName::from("assistant"), &id).await.unwrap();
    server.say(&token, json!({"text": "hi"})).await.is_error(401, "bad_token");
}

/// Holds: C-43, C-45, W-24.
#[tokio::test]
async fn only_a_deciding_token_may_decide_and_instruct() {
    let server = Server::start().await;
    let (talks, _) = server.app.token("assistant", false).await;
    let (decides, _) = server.app.token("assistant", true).await;
    for (text, code) in [
        ("/approve", "may_not_decide"),
        ("/decline no", "may_not_decide"),
        ("/model 1", "may_not_instruct"),
        ("/system be brief", "may_not_instruct"),
        ("/tools all", "may_not_instruct"),
    ] {
        server.say(&talks, json!({"text": text, "conversation": "ops"})).await.is_error(403, code);
        let status = server.say(&decides, json!({"text": text, "conversation": "ops"})).await.status;
        assert_ne!(status, 403, "{text}");
    }
}

/// Holds: C-64.
#[tokio::test]
async fn the_right_to_instruct_can_be_given_apart_from_deciding() {
    let server = Server::start().await;
    let rights = Rights { decide: false, instruct: true };
    let (record, secret) = server.app.engine.add_token(&"assistant".into(), rights).await.unwrap();
    assert!(record.instruct && !record.decide);
    let token = secret.expose();
    for text in ["/system be brief", "/model 1", "/tools all"] {
        server.say(token, json!({"text": text, "conversation": "ops"})).await.succeeded();
    }
    let asked = "!tool write_file {\"path\": \"a\"}";
    let waits = server.say(token, json!({"text": asked, "conversation": "ops"})).await.succeeded();
    assert_eq!(waits.json["state"], "waiting");
    for text in ["/approve", "/decline no"] {
        let refused = server.say(token, json!({"text": text, "conversation": "ops"})).await;
        refused.is_error(403, "may_not_decide");
    }
}

/// Holds: W-37.
#[tokio::test]
async fn a_named_conversation_is_the_profiles_whichever_of_its_tokens_is_used() {
    let server = Server::start().await;
    let (ann, _) = server.app.token("assistant", false).await;
    let (ben, _) = server.app.token("assistant", false).await;
    let first = server.say(&ann, json!({"text": "hi", "conversation": "ops"})).await.succeeded();
    let second = server.say(&ben, json!({"text": "hi", "conversation": "ops"})).await.succeeded();
    assert_eq!(first.json["session"], second.json["session"]);
}

#[tokio::test]
async fn a_pages_origin_must_be_the_servers_own() {
    let server = Server::start().await;
    let own = format!("http://{}", server.address);
    for (origin, status) in [(own.as_str(), 200), ("https://evil.example", 403), ("null", 403)] {
        let request = server.post(MACHINE, json!({"text": "hi"})).header("origin", origin);
        assert_eq!(reply(request).await.status, status, "{origin}");
    }
    let health = server.request(Method::GET, "/healthz").header("origin", "https://evil.example");
    reply(health).await.is_error(403, "cross_origin");
}

/// Holds: W-05.
#[test]
fn the_machines_token_has_sixteen_characters_or_more() {
    assert!(check_machine_token(&Secret::new("0123456789abcde")).is_err());
    assert!(check_machine_token(&Secret::new("0123456789abcdef")).is_ok());
    assert!(check_machine_token(&Secret::new("0123456789 abcdef")).is_err());
}

/// Holds: W-36, T-26.
#[test]
fn an_address_others_reach_needs_tls_or_a_stated_proxy() {
    for address in ["127.0.0.1:8790", "[::1]:8790", "[::ffff:127.0.0.1]:8790", "127.8.8.8:1"] {
        assert_eq!(check_address(address.parse().unwrap(), false), Ok(()), "{address}");
    }
    for address in ["0.0.0.0:8790", "[::]:8790", "192.168.1.2:80", "[::ffff:10.0.0.1]:80"] {
        let refused = check_address(address.parse().unwrap(), false).unwrap_err();
        assert!(refused.contains("--behind-proxy") && refused.contains("--tls-cert"), "{refused}");
        assert_eq!(check_address(address.parse().unwrap(), true), Ok(()));
    }
}

/// Holds: W-27.
#[tokio::test]
async fn profile_tokens_are_taken_without_a_machines_token_too() {
    let server = Server::with_machine_token(sb_testkit::app::TestApp::new().await, None).await;
    let (token, _) = server.app.token("assistant", false).await;
    server.say(&token, json!({"text": "hi"})).await.succeeded();
    server.say(MACHINE, json!({"text": "hi"})).await.is_error(401, "bad_token");
    server.get(&token, "/metrics").await.is_error(401, "bad_token");
}

#[tokio::test]
async fn on_this_machine_only_no_other_host_is_answered_for() {
    let server = Server::start().await;
    let as_host = |server: &Server, path: &str, host: &str| {
        server.request(Method::GET, path).bearer_auth(MACHINE).header("host", host)
    };
    for path in ["/healthz", "/metrics", "/v1/sessions/0123456789abcdef"] {
        // Its name leads here, so to a browser it is of the same origin.
        let rebound = as_host(&server, path, "evil.example").header("origin", "http://evil.example");
        reply(rebound).await.is_error(403, "wrong_host");
    }
    for host in ["localhost:8790", "127.0.0.1", "[::1]:8790"] {
        reply(as_host(&server, "/healthz", host)).await.succeeded();
    }
    let server = Server::behind_proxy().await;
    reply(as_host(&server, "/healthz", "agents.example")).await.succeeded();
}

#[test]
fn only_a_door_on_loopback_without_a_proxy_is_of_this_machine_only() {
    let case = |address: &str, proxy| sb_doors::http::is_only_loopback(address.parse().unwrap(), proxy);
    assert!(case("127.0.0.1:8790", false) && case("[::1]:8790", false));
    assert!(!case("127.0.0.1:8790", true) && !case("0.0.0.0:8790", false) && !case("192.0.2.1:1", false));
}

//! How a server ends, and that nothing is lost by it.

use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::time::{Instant, timeout};

use crate::world::World;

#[tokio::test]
async fn a_server_told_to_end_does_so_within_five_seconds_whatever_it_is_at() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let world = World::new();
        let mut server = world.up().await;
        // A long answer, followed by somebody who stays.
        let stream = start_long_answer(&server.url(), server.line("curl ")).await;
        let began = Instant::now();
        assert!(server.end(signal).await.success());
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        drop(stream);
        assert!(!world.home().join("socket").exists());
    }
}

#[tokio::test]
async fn what_was_taken_is_answered_after_the_server_was_killed() {
    let world = World::new();
    let mut server = world.up().await;
    let stream = start_long_answer(&server.url(), server.line("curl ")).await;
    server.end(Signal::SIGKILL).await;
    drop(stream);
    let mut server = world.up().await;
    let trace = until_idle(&world).await;
    let answers =
        trace["entries"].as_array().expect("entries").iter().filter(|e| e["record"]["kind"] == "ended");
    assert_eq!(answers.count(), 1, "{trace:#}");
    assert!(server.end(Signal::SIGTERM).await.success());
}

/// Asks for an answer that takes a while, and returns once it is being written.
async fn start_long_answer(url: &str, curl: &str) -> reqwest::Response {
    let token = curl.split("Bearer ").nth(1).and_then(|rest| rest.split('"').next()).expect("a token");
    let asked = crate::world::client()
        .post(format!("{url}/v1/profiles/assistant/messages"))
        .bearer_auth(token)
        .body(r#"{"text": "!stream 60 50", "stream": true}"#)
        .send();
    let mut response = asked.await.expect("an answer");
    let mut seen = String::new();
    while !seen.contains("event: delta") {
        let piece = response.chunk().await.expect("a stream").expect("more of it");
        seen.push_str(&String::from_utf8_lossy(&piece));
    }
    response
}

/// The only session's trace, once its turn is over.
async fn until_idle(world: &World) -> serde_json::Value {
    let waiting = async {
        loop {
            let sessions = world.json(&["session", "list", "--json"]).await;
            if let Some(session) = sessions[0]["id"].as_str() {
                let trace = world.json(&["trace", session, "--json"]).await;
                if trace["state"] == "idle" {
                    return trace;
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_secs(20), waiting).await.expect("it is answered")
}

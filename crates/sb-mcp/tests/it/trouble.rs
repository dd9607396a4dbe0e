//! Servers that do wrong: each harms its own calls only, and is told of in words.

use std::time::Duration;

use sb_harness::model::McpAt;
use sb_mcp::McpLimits;
use serde_json::json;

use crate::world::{World, assert_goes, faulty, server};

async fn refused(how: &'static str) -> String {
    let begin = Duration::from_secs(if how == "mute" || how == "garbage" { 1 } else { 30 });
    let limits = McpLimits { begin, ..McpLimits::default() };
    let world = World::within(|dir| faulty(how, dir), limits);
    let why = world.find().await.expect_err("no server");
    for pid in world.begun() {
        assert_goes(&pid).await;
    }
    why
}

#[tokio::test]
async fn a_server_that_cannot_be_begun_says_why() {
    let nowhere = McpAt::Command { command: "no-such-mcp-server".into(), args: vec![] };
    let why = World::of(|_| server(nowhere)).find().await.expect_err("not there");
    assert!(why.contains("There is no command no-such-mcp-server"), "{why}");
    let why = refused("mute").await;
    assert!(why.contains("did not answer within 1 second"), "{why}");
    let why = refused("garbage").await;
    assert!(why.contains("what is no MCP") && why.contains("Welcome to my server!"), "{why}");
    let why = refused("dies").await;
    assert!(why.contains("exit code 7") && why.contains("no such database"), "{why}");
}

#[tokio::test]
async fn a_greeting_before_the_protocol_is_borne() {
    let world = World::seen(|dir| faulty("banner", dir)).await;
    assert_eq!(world.call("f__say", json!({"text": "hi"})).await.expect("said").text, "hi");
}

#[tokio::test]
async fn one_that_dies_in_a_call_is_told_of_and_begun_again_with_the_next() {
    let world = World::seen(|dir| faulty("plain", dir)).await;
    let told = world.call("f__die", json!({})).await.expect_err("died");
    assert!(told.contains("in the middle of this call (with exit code 3)"), "{told}");
    assert!(!told.contains("oh no"), "what it printed is for the operator: {told}");
    assert_eq!(world.call("f__say", json!({"text": "back"})).await.expect("said").text, "back");
    assert_eq!(world.begun().len(), 3, "looked at, begun, begun again");
}

#[tokio::test]
async fn one_that_dies_again_and_again_is_waited_for_and_its_tools_stay_known() {
    let world = World::seen(|dir| faulty("plain", dir)).await;
    for _ in 0..4 {
        assert!(world.call("f__die", json!({})).await.is_err());
    }
    let told = world.call("f__say", json!({"text": "x"})).await.expect_err("waits");
    assert!(told.contains("was not made") && told.contains("begun again in"), "{told}");
    assert_eq!(world.names().await.len(), 15);
}

#[tokio::test]
async fn floods_and_garbage_in_a_call_end_the_server_and_nothing_else() {
    let world = World::seen(|dir| faulty("plain", dir)).await;
    let mut other = world.profile.mcp[0].clone();
    other.name = "g".into();
    let mut both = world;
    both.profile.mcp.push(other);
    for (tool, says) in [
        ("f__flood", "more than anybody had asked for"),
        ("f__long", "larger than 8 MB"),
        ("f__garbage", "no MCP"),
    ] {
        let (told, beside) =
            tokio::join!(both.call(tool, json!({})), both.call("g__say", json!({"text": "unharmed"})));
        assert_eq!(beside.expect("said").text, "unharmed");
        let told = told.expect_err("ended");
        assert!(told.contains(says), "{tool}: {told}");
        // Begun anew, so that the next is not kept waiting by the failures before.
        both.toolbox.forget(&"p".into()).await;
    }
}

#[tokio::test]
async fn a_call_has_a_time_limit_and_one_that_stays_silent_is_ended() {
    let mut world = World::seen(|dir| faulty("plain", dir)).await;
    world.profile.mcp[0].limit_s = 1;
    let told = world.call("f__hang", json!({})).await.expect_err("too long");
    assert!(told.contains("within 1 second"), "{told}");
    let first = world.begun()[1].clone();
    assert_goes(&first).await;
    assert_eq!(world.call("f__say", json!({"text": "again"})).await.expect("said").text, "again");
}

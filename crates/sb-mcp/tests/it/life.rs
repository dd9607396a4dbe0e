//! When servers begin and end, and what they know of us.

use std::time::Duration;

use sb_harness::model::{Call, ToolClass};
use sb_loop::Toolbox;
use sb_mcp::McpLimits;
use serde_json::json;

use crate::world::{World, assert_goes, faulty};

#[tokio::test]
async fn one_connection_serves_all_turns_until_the_profile_changes() {
    let world = World::seen(|dir| faulty("plain", dir)).await;
    for _ in 0..3 {
        assert_eq!(world.call("f__say", json!({"text": "x"})).await.expect("said").text, "x");
    }
    assert_eq!(world.begun().len(), 2, "once to look at it, once for the turns");
    world.toolbox.forget(&"p".into()).await;
    assert_goes(&world.begun()[1]).await;
}

#[tokio::test]
async fn an_idle_server_is_ended_and_its_tools_stay_known() {
    let limits = McpLimits { idle: Duration::from_millis(100), ..McpLimits::default() };
    let mut world = World::within(|dir| faulty("plain", dir), limits);
    world.accept().await;
    assert_eq!(world.names().await.len(), 15);
    assert_goes(&world.begun()[1]).await;
    assert_eq!(world.names().await.len(), 15);
    assert_eq!(world.begun().len(), 2, "what is known needs no server");
    assert_eq!(world.call("f__say", json!({"text": "x"})).await.expect("said").text, "x");
    assert_eq!(world.begun().len(), 3);
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_at_the_server() {
    let world = World::seen(|dir| faulty("plain", dir)).await;
    world.offer().await;
    let call = Call { id: "c".into(), tool: "f__hang".into(), input: json!({}), class: ToolClass::Read };
    let (toolbox, profile, blobs) = (world.toolbox.clone(), world.profile.clone(), world.blobs.clone());
    let calling = tokio::spawn(async move { drop(toolbox.run(&profile, &call, blobs).await) });
    // The server answers in order, so once it says this the call has reached it.
    assert_eq!(world.call("f__say", json!({"text": "x"})).await.expect("said").text, "x");
    calling.abort();
    let noted = world.noted("cancelled").await;
    assert!(noted.contains("notifications/cancelled") && noted.contains("requestId"), "{noted}");
}

#[tokio::test]
async fn dropping_the_toolbox_leaves_no_process_behind() {
    let world = World::seen(|dir| faulty("plain", dir)).await;
    world.offer().await;
    let pid = world.begun()[1].clone();
    assert!(std::path::Path::new(&format!("/proc/{pid}")).exists());
    let World { toolbox, folder: _folder, .. } = world;
    drop(toolbox);
    assert_goes(&pid).await;
}

#[tokio::test]
async fn a_server_knows_nothing_of_our_environment_but_what_it_is_given() {
    let world = World::seen(|dir| {
        let mut server = faulty("plain", dir);
        server.secrets = vec!["API_TOKEN".into()];
        server
    })
    .await;
    let known = world.done("f__env").await.text;
    let allowed = ["PATH", "HOME", "LANG", "TERM", "API_TOKEN", "PWD", "OLDPWD", "SHLVL", "_"];
    for pair in known.split(';').filter(|pair| !pair.is_empty()) {
        let name = pair.split('=').next().unwrap_or_default();
        assert!(allowed.contains(&name), "{pair}");
    }
    assert!(known.contains("API_TOKEN=API_TOKEN-API_TOKEN"), "{known}");
}

//! Agents of their own as processes of the real program.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::world::World;

/// An agent that heeds nothing, and starts something at once. It may be killed as soon as it runs at all: nothing of
/// it begins before whoever ends it knows of it.
const DEAF: &str = r#"#!/bin/sh
trap '' TERM HUP INT
sleep 600 </dev/null >/dev/null 2>&1 &
echo $! > child.new; mv child.new child
echo $$ > leader.new; mv leader.new leader
exec 0</dev/null
while :; do sleep 600; done
"#;

/// Whether a process is gone, or only waits to be reaped.
fn is_gone(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .map_or(true, |stat| stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')))
}

async fn read(file: &Path) -> String {
    let text = sb_testkit::until("its file", async || {
        std::fs::read_to_string(file).ok().filter(|text| text.ends_with('\n'))
    })
    .await;
    text.trim().to_owned()
}

#[tokio::test]
async fn an_agent_that_does_not_heed_its_closed_input_ends_with_a_server_that_is_killed() {
    let world = World::new();
    std::fs::create_dir_all(world.home()).unwrap();
    let (script, workspace) = (world.home().join("deaf"), world.home().with_file_name("ws"));
    std::fs::write(&script, DEAF).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut server = world.up().await;
    let harness = format!("acp:\"{}\"", script.display());
    let add = ["profile", "add", "deaf", "--harness", &harness, "--workspace", workspace.to_str().unwrap()];
    world.done(&add).await;
    let mut program = world.program();
    program.args(["talk", "deaf"]);
    let talking = tokio::spawn(crate::world::run(program, "hello\n"));
    let (leader, child) = (read(&workspace.join("leader")).await, read(&workspace.join("child")).await);
    assert!(!is_gone(&leader) && !is_gone(&child), "both run");
    server.end(nix::sys::signal::Signal::SIGKILL).await;
    sb_testkit::until("the end of both", async || (is_gone(&leader) && is_gone(&child)).then_some(())).await;
    talking.abort();
}

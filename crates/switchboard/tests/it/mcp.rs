//! MCP servers set up from the command line, and their tools in the hands of an agent.

use std::path::PathBuf;

use crate::world::{Ran, World, run};

/// A home with the profile `helper`, and where its faulty server keeps its notes.
async fn home() -> (World, String, String) {
    let world = World::new();
    let level = ["profile", "add", "helper", "--model", "scripted", "--autonomy", "L5"];
    world.done(&level).await;
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sb-testkit/mcp/faulty.sh");
    let notes = world.home().join("notes");
    std::fs::create_dir_all(&notes).expect("a folder");
    (world, script.display().to_string(), notes.display().to_string())
}

async fn add(world: &World, flags: &[&str], script: &str, how: &str, notes: &str) -> Ran {
    let mut program = world.program();
    program.env("API_TOKEN", "hunter2-hunter2").args(["profile", "mcp", "add", "helper", "f"]);
    program.args(flags).args(["--", "sh", script, how, notes]);
    run(program, "").await
}

async fn says(world: &World, words: &str) -> String {
    let said = world.typed(&["talk", "helper"], &format!("{words}\n")).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    said.out
}

#[tokio::test]
async fn a_server_is_added_shown_used_and_removed_without_a_running_server() {
    let (world, script, notes) = home().await;
    let added = add(&world, &["--env", "API_TOKEN", "--without", "large"], &script, "plain", &notes).await;
    assert_eq!(added.code, Some(0), "{added:?}");
    for row in
        ["faulty 1, protocol 2025-11-25, 15 tools", "f__say", "a read", "f__wipe", "always asks", "not given"]
    {
        assert!(added.out.contains(row), "{row}: {}", added.out);
    }
    let listed = world.done(&["profile", "mcp", "list", "helper"]).await;
    assert!(listed.contains("faulty.sh plain") && !listed.contains("hunter2"), "{listed}");
    let shown = world.done(&["profile", "show", "helper"]).await;
    assert!(shown.contains("f__say") && !shown.contains("f__large") && !shown.contains("hunter2"), "{shown}");
    let said = says(&world, "!tool f__say {\"text\": \"hello from afar\"}").await;
    assert!(said.contains("hello from afar"), "{said}");
    let known = says(&world, "!tool f__env {}").await;
    assert!(known.contains("API_TOKEN=hunter2-hunter2") && !known.contains("SWITCHBOARD"), "{known}");
    let asks = says(&world, "!tool f__wipe {}").await;
    assert!(asks.contains("a call that may destroy something at autonomy L5"), "{asks}");
    world.done(&["profile", "mcp", "remove", "helper", "f"]).await;
    assert!(!world.done(&["profile", "show", "helper"]).await.contains("f__say"));
    let gone = world.refused(&["profile", "mcp", "test", "helper", "f"], 1).await;
    assert!(gone.contains("has no MCP server \"f\""), "{gone}");
}

/// Holds: H-17.
#[tokio::test]
async fn after_a_tool_of_an_open_world_the_next_call_outside_asks_at_every_level() {
    let (world, script, notes) = home().await;
    let server = world.up().await;
    add(&world, &[], &script, "plain", &notes).await;
    let first = says(&world, "!tool f__fetch {}").await;
    assert!(first.contains("did fetch"), "{first}");
    let second = says(&world, "!tool f__fetch {}").await;
    assert!(second.contains("a call to the outside, after reading content from outside"), "{second}");
    drop(server);
}

#[tokio::test]
async fn what_changed_is_held_back_until_it_is_taken() {
    let (world, script, notes) = home().await;
    let server = world.up().await;
    add(&world, &[], &script, "plain", &notes).await;
    std::fs::write(PathBuf::from(&notes).join("words"), "Now it says something else").expect("written");
    let test = world.done(&["profile", "mcp", "test", "helper", "f"]).await;
    assert!(test.contains("changed") && test.contains("--accept"), "{test}");
    let taken = world.done(&["profile", "mcp", "test", "helper", "f", "--accept"]).await;
    assert!(!taken.contains("changed"), "{taken}");
    drop(server);
}

#[tokio::test]
async fn a_server_that_fails_is_told_of_and_nothing_is_kept() {
    let (world, script, notes) = home().await;
    let dies = add(&world, &[], &script, "dies", &notes).await;
    assert_eq!(dies.code, Some(1), "{dies:?}");
    assert!(dies.err.contains("exit code 7") && dies.err.contains("no such database"), "{dies:?}");
    for (words, code, says) in [
        (&["--", "no-such-mcp-server"][..], 1, "There is no command no-such-mcp-server"),
        (&["--url", "https://user:hunter2@example.org/"], 2, "--header"),
        (&["--env", "NOT_SET", "--", "sh"], 2, "NOT_SET is not set"),
        (&[], 2, "a command after --"),
    ] {
        let mut line = vec!["profile", "mcp", "add", "helper", "x"];
        line.extend(words);
        let why = world.refused(&line, code).await;
        assert!(why.contains(says) && !why.contains("hunter2"), "{words:?}: {why}");
    }
    let listed = world.done(&["profile", "mcp", "list", "helper"]).await;
    assert!(listed.contains("has no MCP server"), "{listed}");
}

#[tokio::test]
async fn a_server_that_ends_leaves_no_child_of_an_mcp_server_behind() {
    let (world, script, notes) = home().await;
    let mut server = world.up().await;
    add(&world, &[], &script, "plain", &notes).await;
    says(&world, "!tool f__say {\"text\": \"hi\"}").await;
    let begun = std::fs::read_to_string(PathBuf::from(&notes).join("begun")).expect("noted");
    let pid = begun.lines().last().expect("a process").to_owned();
    assert!(PathBuf::from(format!("/proc/{pid}")).exists(), "it is kept for the next turn");
    server.end(nix::sys::signal::Signal::SIGTERM).await;
    assert!(!PathBuf::from(format!("/proc/{pid}")).exists());
}

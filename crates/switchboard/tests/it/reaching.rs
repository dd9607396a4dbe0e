//! How a command finds its home: through whoever holds it, or by holding it.

use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::world::World;

#[tokio::test]
async fn a_command_reaches_the_home_through_another_one_that_holds_it() {
    let world = World::new();
    world.done(&["profile", "add", "p", "--model", "scripted"]).await;
    let mut talk = world.program();
    talk.arg("talk").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut talk = talk.spawn().expect("it starts");
    let mut input = talk.stdin.take().expect("an input");
    let mut output = BufReader::new(talk.stdout.take().expect("an output")).lines();
    input.write_all(b"Hello\n").await.expect("taken");
    assert_eq!(output.next_line().await.expect("text").as_deref(), Some("You said: \"Hello\""));
    let said = world.json(&["session", "list", "--json"]).await;
    assert_eq!(said[0]["profile"], "p");
    let found = world.json(&["doctor", "--json"]).await;
    assert!(found["server"]["pid"].is_u64() && found["server"]["listen"].is_null(), "{found}");
    drop(input);
    assert!(talk.wait().await.expect("it ends").success());
    assert!(!world.home().join("socket").exists());
}

#[tokio::test]
async fn a_home_that_is_held_and_does_not_answer_is_told_as_held() {
    let world = World::new();
    world.done(&["profile", "add", "p", "--model", "scripted"]).await;
    let lock = std::fs::File::options().write(true).open(world.home().join("lock")).expect("a lock");
    lock.try_lock().expect("free");
    let said = world.refused(&["profile", "list"], 1).await;
    assert!(said.contains("another switchboard holds this home"), "{said}");
    let doctor = world.run(&["doctor"]).await;
    assert_eq!(doctor.code, Some(1));
    assert!(doctor.out.contains("Problem: ") && doctor.out.contains("holds this home"), "{doctor:?}");
}

#[tokio::test]
async fn what_a_killed_server_left_behind_is_in_nobodys_way() {
    let world = World::new();
    let mut server = world.up().await;
    server.end(Signal::SIGKILL).await;
    assert!(world.home().join("socket").exists());
    let profiles = world.json(&["profile", "list", "--json"]).await;
    assert_eq!(profiles[0]["name"], "assistant");
    let mut server = world.up().await;
    let began = tokio::time::Instant::now();
    assert!(server.end(Signal::SIGTERM).await.success());
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn the_home_is_the_platforms_data_folder_if_none_is_named() {
    let world = World::new();
    let mut program = world.program();
    let data = world.home().with_file_name("data");
    program.env_remove("SWITCHBOARD_HOME").env("XDG_DATA_HOME", &data);
    program.args(["profile", "add", "p", "--model", "scripted"]);
    let ran = crate::world::run(program, "").await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    if cfg!(not(target_os = "macos")) {
        assert!(data.join("switchboard/switchboard.db").exists());
    }
    let elsewhere = world.home().with_file_name("elsewhere");
    let named = ["--home", elsewhere.to_str().expect("text"), "profile", "list", "--json"];
    assert_eq!(world.done(&named).await.trim(), "[]");
    assert!(elsewhere.join("switchboard.db").exists() && !world.home().exists());
}

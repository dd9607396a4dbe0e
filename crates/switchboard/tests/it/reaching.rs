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
    // Looking makes nothing; only what needs a home to put something into does.
    let said = world.refused(&named, 1).await;
    assert!(said.contains("There is no home at ") && said.contains("`switchboard up` makes one"), "{said}");
    assert!(!elsewhere.exists());
    world.refused(&["--home", "", "profile", "list"], 2).await;
    std::fs::create_dir(&elsewhere).expect("a folder");
    assert_eq!(world.done(&named).await.trim(), "[]");
    assert!(elsewhere.join("switchboard.db").exists() && !world.home().exists());
}

#[tokio::test]
async fn a_command_goes_on_by_itself_when_the_one_that_held_the_home_ends() {
    let world = World::new();
    world.done(&["profile", "add", "p", "--model", "scripted"]).await;
    let (mut first, mut second) =
        (Piped::open(&world, &[]), Piped::open(&world, &["--conversation", "second"]));
    assert_eq!(first.says("One").await, "You said: \"One\"");
    assert_eq!(second.says("Two").await, "You said: \"Two\"");
    // Between two messages.
    first.end().await;
    assert_eq!(second.says("Three").await, "You said: \"Three\"");
    // While one is answered.
    let mut third = Piped::open(&world, &["--conversation", "third"]);
    assert_eq!(third.says("Four").await, "You said: \"Four\"");
    third.types("!stream 30 50").await;
    loop {
        let sessions = world.json(&["session", "list", "--json"]).await;
        if sessions.as_array().is_some_and(|all| all.iter().any(|s| s["state"] == "running")) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    second.end().await;
    let answer = third.reads_until("word30").await;
    assert!(answer.contains("word1 word2"), "{answer}");
    third.end().await;
    assert!(!world.home().join("socket").exists());
}

#[tokio::test]
async fn a_home_with_a_long_path_is_reached_too() {
    let world = World::new();
    let long = world.home().join("long".repeat(30));
    let home = long.to_str().expect("text");
    let mut program = world.program();
    program.args(["--home", home, "up", "--listen", "127.0.0.1:0"]);
    let mut server = crate::world::Server::start(program, crate::world::UP).await;
    let found = world.json(&["--home", home, "doctor", "--json"]).await;
    assert!(found["server"]["listen"].is_string(), "{found}");
    let talked = world.typed(&["--home", home, "talk"], "Hi\n").await;
    assert_eq!((talked.code, talked.out.as_str()), (Some(0), "You said: \"Hi\"\n"), "{talked:?}");
    assert!(server.end(Signal::SIGTERM).await.success());
    assert!(!long.join("socket").exists());
    let alone = world.typed(&["--home", home, "talk"], "Alone\n").await;
    assert_eq!(alone.out, "You said: \"Alone\"\n", "{alone:?}");
}

#[tokio::test]
async fn commands_beside_one_another_all_succeed_without_a_server() {
    let world = World::new();
    world.done(&["profile", "add", "p", "--model", "scripted"]).await;
    for round in 1..=10 {
        let mut all = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let mut program = world.program();
            program.args(["profile", "token", "add", "p"]);
            all.spawn(crate::world::run(program, ""));
        }
        for ran in all.join_all().await {
            assert_eq!(ran.code, Some(0), "{ran:?}");
        }
        // Each was done, and done once.
        let tokens = world.json(&["profile", "token", "list", "p", "--json"]).await;
        assert_eq!(tokens.as_array().map(Vec::len), Some(8 * round));
    }
}

#[tokio::test]
async fn a_server_waits_for_a_short_command_and_names_a_long_one() {
    let world = World::new();
    world.done(&["profile", "add", "p", "--model", "scripted"]).await;
    let mut talk = Piped::open(&world, &[]);
    assert_eq!(talk.says("One").await, "You said: \"One\"");
    let said = world.refused(&["up", "--listen", "127.0.0.1:0"], 1).await;
    assert!(said.contains("A command holds this home") && said.contains("switchboard talk"), "{said}");
    let mut program = world.program();
    program.args(["up", "--listen", "127.0.0.1:0"]);
    let (mut server, ()) = tokio::join!(crate::world::Server::start(program, 3), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        talk.end().await;
    });
    assert!(server.end(Signal::SIGTERM).await.success());
}

/// A talk over a pipe that stays open.
struct Piped {
    child: tokio::process::Child,
    input: Option<tokio::process::ChildStdin>,
    output: tokio::io::Lines<BufReader<tokio::process::ChildStdout>>,
}

impl Piped {
    fn open(world: &World, args: &[&str]) -> Self {
        let mut talk = world.program();
        talk.arg("talk").args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = talk.spawn().expect("it starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("an output")).lines();
        Self { child, input, output }
    }

    async fn types(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(format!("{line}\n").as_bytes()).await.expect("taken");
    }

    /// Says a line, and gives the first line of what comes back.
    async fn says(&mut self, line: &str) -> String {
        self.types(line).await;
        let answer = tokio::time::timeout(Duration::from_secs(20), self.output.next_line());
        answer.await.expect("an answer").expect("text").expect("a line")
    }

    async fn reads_until(&mut self, word: &str) -> String {
        let mut read = String::new();
        while !read.contains(word) {
            let line = tokio::time::timeout(Duration::from_secs(20), self.output.next_line());
            read += &line.await.expect("an answer").expect("text").expect("a line");
        }
        read
    }

    async fn end(&mut self) {
        drop(self.input.take());
        let ended = tokio::time::timeout(Duration::from_secs(20), self.child.wait()).await.expect("it ends");
        assert!(ended.expect("it can be waited for").success());
    }
}

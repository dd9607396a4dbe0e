//! `talk`: over a pipe, and at a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nix::pty::openpty;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::Child;
use tokio::time::timeout;

use crate::world::World;

/// Holds: C-42.
#[tokio::test]
async fn a_pipe_gets_an_answer_for_every_line_and_blank_ones_are_nothing() {
    let world = World::new();
    let _server = world.up().await;
    let talked = world.typed(&["talk"], "One\n\n   \nTwo\n/help\n/approve\nLast without a line's end").await;
    // The one that was refused.
    assert_eq!(talked.code, Some(1), "{talked:?}");
    assert_eq!(talked.err, "switchboard: Nothing waits for an approval here.\n");
    let said: Vec<&str> = talked.out.lines().filter(|line| line.starts_with("You said")).collect();
    assert_eq!(said, ["You said: \"One\"", "You said: \"Two\"", "You said: \"Last without a line's end\""]);
    for command in [
        "/stop",
        "/approve",
        "/decline",
        "/allowed",
        "/new",
        "/status",
        "/retry",
        "/undo",
        "/compact",
        "/usage",
        "/sessions",
        "/resume",
        "/title",
        "/model",
        "/system",
        "/tools",
        "/whoami",
        "/help",
    ] {
        assert!(talked.out.contains(command), "{command} in {}", talked.out);
    }
    let sessions = world.json(&["session", "list", "--profile", "assistant", "--json"]).await;
    assert_eq!(sessions.as_array().map(Vec::len), Some(1), "{sessions}");
}

#[tokio::test]
async fn over_a_pipe_what_is_refused_or_fails_is_told_apart_by_the_exit_code() {
    let world = World::new();
    world.done(&["profile", "add", "p", "--model", "scripted"]).await;
    let named = ["talk", "--conversation", "a\nb"];
    let ran = world.typed(&named, "Hello\n").await;
    assert!(ran.code == Some(2) && ran.out.is_empty() && ran.err.contains("--conversation"), "{ran:?}");
    let ran = world.typed(&["talk"], "/approve\nAfter\n").await;
    assert_eq!(ran.err, "switchboard: Nothing waits for an approval here.\n");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), "You said: \"After\"\n"));
    world.done(&["profile", "set", "p", "--deadline", "1"]).await;
    let ran = world.typed(&["talk"], "!wait 5\nAfter\n").await;
    assert!(ran.code == Some(1) && ran.out.contains("You said: \"After\""), "{ran:?}");
}

#[tokio::test]
async fn two_interrupts_at_once_leave_also_where_the_first_has_stopped_the_turn() {
    let world = World::new();
    let _server = world.up().await;
    let mut talk = Terminal::open(&world, &["talk"]);
    talk.until("> ").await;
    talk.types("!stream 2000 20\r");
    talk.until("word").await;
    talk.interrupt();
    talk.until("> ").await;
    talk.types("\u{3}");
    assert!(talk.end().await.success());
}

#[tokio::test]
async fn whom_a_talk_is_with_is_the_only_one_or_the_usual_one_or_is_asked() {
    let world = World::new();
    let said = world.refused(&["talk"], 1).await;
    assert!(said.contains("switchboard up"), "{said}");
    world.done(&["profile", "add", "ada", "--model", "scripted"]).await;
    assert!(world.typed(&["talk"], "Hi\n").await.out.contains("You said"));
    world.done(&["profile", "add", "bob", "--model", "scripted"]).await;
    let said = world.refused(&["talk"], 1).await;
    assert!(said.contains("ada, bob"), "{said}");
    assert!(world.typed(&["talk", "bob", "--conversation", "x"], "Hi\n").await.out.contains("You said"));
    let said = world.refused(&["talk", "eve"], 1).await;
    assert!(said.contains("eve"), "{said}");
}

#[tokio::test]
async fn over_a_pipe_a_waiting_call_is_told_once_with_what_to_type() {
    let world = World::new();
    let _server = world.up().await;
    let call = "!tool write_file {\"path\": \"a.txt\", \"content\": \"b\"}\n";
    let talked = world.typed(&["talk"], call).await;
    assert_eq!(talked.out.lines().count(), 1, "{talked:?}");
    assert!(talked.out.starts_with("waiting for your approval: write_file {"), "{talked:?}");
    assert!(talked.out.contains("/approve") && talked.out.contains("switchboard continue "), "{talked:?}");
}

#[tokio::test]
async fn at_a_terminal_approvals_are_asked_in_place() {
    let world = World::new();
    let _server = world.up().await;
    let mut talk = Terminal::open(&world, &["talk"]);
    talk.until("> ").await;
    talk.types("!tool write_file {\"path\": \"a.txt\", \"content\": \"b\"}\r");
    let seen = talk.until("[a]lways: ").await;
    assert!(seen.contains("write_file {\"content\":\"b\",\"path\":\"a.txt\"}"), "{seen}");
    assert_eq!(seen.matches("a write at autonomy L3").count(), 1, "{seen}");
    assert!(!seen.contains("waiting for your approval") && !seen.contains("waits for you"), "{seen}");
    talk.types("perhaps\r");
    talk.until("[a]lways: ").await;
    assert!(!world.home().join("workspaces/assistant/a.txt").exists());
    talk.types("y\r");
    talk.until("Made a.txt (1 byte).").await;
    talk.until("> ").await;
    talk.types("!tool write_file {\"path\": \"c.txt\", \"content\": \"d\"}\r");
    talk.until("[a]lways: ").await;
    talk.types("n not this one\r");
    talk.until("not this one").await;
    talk.until("> ").await;
    talk.types("\u{4}");
    assert!(talk.end().await.success());
    assert!(world.home().join("workspaces/assistant/a.txt").exists());
    assert!(!world.home().join("workspaces/assistant/c.txt").exists());
    let history = std::fs::read_to_string(world.home().join("history")).expect("a history");
    assert!(history.contains("a.txt"), "{history}");
}

#[tokio::test]
async fn ctrl_c_stops_the_turn_and_a_second_one_leaves() {
    let world = World::new();
    let _server = world.up().await;
    let mut talk = Terminal::open(&world, &["talk"]);
    talk.until("> ").await;
    talk.types("!stream 2000 20\r");
    talk.until("word").await;
    talk.interrupt();
    talk.until("> ").await;
    let sessions = world.json(&["session", "list", "--json"]).await;
    assert_eq!(sessions[0]["state"], "idle", "{sessions}");
    talk.types("Still there?\r");
    talk.until("You said: \"Still there?\"").await;
    talk.until("> ").await;
    talk.types("\u{3}");
    talk.until("leaves").await;
    talk.until("> ").await;
    talk.types("\u{3}");
    assert!(talk.end().await.success());
}

#[tokio::test]
async fn a_question_that_was_left_waits_and_is_asked_again() {
    let world = World::new();
    let _server = world.up().await;
    let mut talk = Terminal::open(&world, &["talk"]);
    talk.until("> ").await;
    talk.types("!tool shell {\"command\": \"echo done\"}\r");
    talk.until("[a]lways: ").await;
    talk.types("\u{4}");
    talk.until("switchboard continue").await;
    assert!(talk.end().await.success());
    let mut talk = Terminal::open(&world, &["talk"]);
    talk.until("> ").await;
    talk.types("Are you there?\r");
    let seen = talk.until("[a]lways: ").await;
    assert!(seen.contains("shell {\"command\":\"echo done\"}"), "{seen}");
    talk.types("a\r");
    talk.until("done").await;
}

/// A talk at a terminal of its own.
struct Terminal {
    child: Child,
    keys: File,
    seen: Arc<Mutex<String>>,
    read: usize,
}

impl Terminal {
    fn open(world: &World, args: &[&str]) -> Self {
        let pair = openpty(None, None).expect("a terminal");
        let mut program = world.program();
        program.args(args);
        let end = || Stdio::from(pair.slave.try_clone().expect("another end"));
        program.stdin(end()).stdout(end()).stderr(end());
        let child = program.spawn().expect("it starts");
        let keys = File::from(pair.master.as_fd().try_clone_to_owned().expect("the keys"));
        let (seen, mut screen) = (Arc::new(Mutex::new(String::new())), File::from(pair.master));
        let into = seen.clone();
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(read @ 1..) = screen.read(&mut piece) {
                into.lock().expect("nobody panicked").push_str(&String::from_utf8_lossy(&piece[..read]));
            }
        });
        Self { child, keys, seen, read: 0 }
    }

    fn types(&mut self, text: &str) {
        self.keys.write_all(text.as_bytes()).expect("a terminal takes keys");
    }

    /// Ctrl-C while no line is being edited, as a terminal passes it on.
    fn interrupt(&self) {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok()).expect("it runs");
        kill(Pid::from_raw(id), Signal::SIGINT).expect("it can be told");
    }

    /// Reads on until this is on the screen; what was there since the last time.
    async fn until(&mut self, text: &str) -> String {
        let looking = async {
            loop {
                {
                    let seen = self.seen.lock().expect("nobody panicked");
                    if let Some(at) = seen[self.read..].find(text) {
                        let end = self.read + at + text.len();
                        return (seen[self.read..end].to_owned(), end);
                    }
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        match timeout(Duration::from_secs(20), looking).await {
            Ok((seen, end)) => {
                self.read = end;
                seen
            }
            Err(_) => {
                panic!("{text:?} never came: {:?}", &self.seen.lock().expect("nobody panicked")[self.read..])
            }
        }
    }

    async fn end(&mut self) -> ExitStatus {
        timeout(Duration::from_secs(10), self.child.wait())
            .await
            .expect("it ends")
            .expect("it can be waited for")
    }
}

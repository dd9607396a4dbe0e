//! A home of one test, the program run in it, and a server that ends with the test.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{ExitStatus, Output, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_switchboard");
/// Nothing here takes nearly as long; a test that hangs fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// One home.
pub struct World {
    folder: TempDir,
}

/// What a command printed, and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl World {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    /// With a space in it, as people have them.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("my home")
    }

    /// The program in this home, with an environment that says nothing else.
    #[expect(clippy::disallowed_methods, reason = "the program itself is what is tested")]
    pub fn program(&self) -> Command {
        let mut program = Command::new(PROGRAM);
        program.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("TERM", "xterm");
        program.env("HOME", self.folder.path()).env("SWITCHBOARD_HOME", self.home());
        program.current_dir(self.folder.path()).kill_on_drop(true);
        program
    }

    /// Runs a command to its end, with this input.
    pub async fn typed<A: AsRef<OsStr>>(&self, args: &[A], input: &str) -> Ran {
        let mut program = self.program();
        program.args(args);
        run(program, input).await
    }

    /// Runs a command to its end.
    pub async fn run<A: AsRef<OsStr>>(&self, args: &[A]) -> Ran {
        self.typed(args, "").await
    }

    /// Runs a command that must succeed, and gives what it printed.
    pub async fn done<A: AsRef<OsStr>>(&self, args: &[A]) -> String {
        let ran = self.run(args).await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.out
    }

    /// Runs a command that must fail with this exit code, and gives its one sentence.
    pub async fn refused<A: AsRef<OsStr>>(&self, args: &[A], code: i32) -> String {
        let ran = self.run(args).await;
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(!ran.err.contains("panicked") && !ran.err.contains("backtrace"), "{ran:?}");
        ran.err
    }

    /// What `--json` printed.
    pub async fn json<A: AsRef<OsStr>>(&self, args: &[A]) -> serde_json::Value {
        serde_json::from_str(&self.done(args).await).expect("JSON")
    }

    /// Runs words of a shell, as a person who pasted them.
    #[expect(clippy::disallowed_methods, reason = "a person's shell is what is tested")]
    pub async fn paste(&self, words: &str) -> Ran {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(words).env_remove("SWITCHBOARD_HOME").env_remove("SWITCHBOARD_TOKEN");
        shell.kill_on_drop(true);
        run(shell, "").await
    }

    /// Starts `up` on a free port.
    pub async fn up(&self) -> Server {
        let mut program = self.program();
        program.args(["up", "--listen", "127.0.0.1:0"]);
        Server::start(program, UP).await
    }
}

/// Runs a program to its end.
pub async fn run(mut program: Command, input: &str) -> Ran {
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program.spawn().expect("it starts");
    let mut to = child.stdin.take().expect("an input");
    let input = input.to_owned();
    let writing = tokio::spawn(async move {
        // It may have ended without reading.
        drop(to.write_all(input.as_bytes()).await);
    });
    let Output { status, stdout, stderr } =
        timeout(PATIENCE, child.wait_with_output()).await.expect("it ends").expect("it can be waited for");
    writing.await.expect("written");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ran { code: status.code(), out: text(stdout), err: text(stderr) }
}

/// How many lines `up` prints in a home of one profile and no channel.
pub const UP: usize = 7;

/// A running server.
pub struct Server {
    child: Child,
    /// Kept, so that it can go on printing.
    _out: Lines<BufReader<ChildStdout>>,
    pub lines: Vec<String>,
}

impl Server {
    /// Starts it, and waits until it has printed so many lines.
    pub async fn start(mut program: Command, lines: usize) -> Self {
        program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = program.spawn().expect("it starts");
        let mut out = BufReader::new(child.stdout.take().expect("an output")).lines();
        let mut seen = Vec::new();
        while seen.len() < lines {
            let line = timeout(PATIENCE, out.next_line()).await.expect("it says where it is").expect("text");
            seen.push(line.unwrap_or_else(|| panic!("it ended after {seen:?}")));
        }
        Self { child, _out: out, lines: seen }
    }

    /// The printed line that begins so.
    pub fn line(&self, begins: &str) -> &str {
        let found = self.lines.iter().find(|line| line.starts_with(begins));
        found.unwrap_or_else(|| panic!("no line begins with {begins:?}: {:?}", self.lines))
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        let words = self.lines[0].split_whitespace();
        words.into_iter().find(|w| w.starts_with("http://")).expect("an address").to_owned()
    }

    /// Of its process.
    pub fn id(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// How it ended by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        timeout(PATIENCE, self.child.wait()).await.expect("it ends").expect("it can be waited for")
    }

    /// Tells it to end, and gives how it did.
    pub async fn end(&mut self, signal: Signal) -> ExitStatus {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok()).expect("it runs");
        kill(Pid::from_raw(id), signal).expect("it can be told");
        self.ended().await
    }
}

/// Says something over HTTP: the status and the answer.
pub async fn say(url: &str, profile: &str, token: &str, body: &str) -> (u16, serde_json::Value) {
    let path = format!("{url}/v1/profiles/{profile}/messages");
    let sent = client().post(path).bearer_auth(token).body(body.to_owned()).send().await.expect("an answer");
    let status = sent.status().as_u16();
    (status, sent.json().await.expect("JSON"))
}

#[expect(clippy::disallowed_methods, reason = "a client from outside is what is tested")]
pub fn client() -> reqwest::Client {
    // Set up already, if another test was first.
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().expect("a client")
}

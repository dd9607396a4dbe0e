//! The program under measure: a home with a profile, `serve` over it, and its clean end.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use super::Plan;
use super::client::Connection;

pub(super) const TOKEN: &str = "bench-token-0123456789";
/// Where messages go.
pub(super) const MESSAGES: &str = "/v1/profiles/bench/messages";
/// The most a start may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A home with one profile, `bench`; removed when this is dropped.
pub(super) struct Home {
    folder: TempDir,
    binary: PathBuf,
}

impl Home {
    /// `model` is the profile's; `base` where its provider is, if it has one.
    pub fn make(plan: &Plan, model: &str, base: Option<&str>) -> Result<Self> {
        let home = Self { folder: tempfile::tempdir_in(&plan.folder)?, binary: plan.binary.clone() };
        let mut add = home.program();
        add.args(["profile", "add", "bench", "--model", model, "--autonomy", "L1"]);
        if let Some(base) = base {
            add.args(["--base-url", base]);
        }
        let output = add.output().context("the program does not start")?;
        ensure!(output.status.success(), "profile add: {}", String::from_utf8_lossy(&output.stderr));
        Ok(home)
    }

    /// Another profile, or a change to one: `profile ARGS…`.
    pub fn profile(&self, args: &[&str]) -> Result<()> {
        let output =
            self.program().arg("profile").args(args).output().context("the program does not start")?;
        ensure!(output.status.success(), "profile: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The program in this home, with nothing to do yet.
    pub fn program(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.env_clear().env("SWITCHBOARD_HOME", self.path()).env("SWITCHBOARD_TOKEN", TOKEN);
        command.env("OPENAI_API_KEY", "bench-key").stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Starts the server; returns once it is ready, with how long that took.
    pub fn start(&self, durability: &str) -> Result<(Server, Duration)> {
        self.start_with(&["--durability", durability])
    }

    /// As [`start`](Self::start), with these flags.
    pub fn start_with(&self, flags: &[&str]) -> Result<(Server, Duration)> {
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let mut command = self.program();
        command.args(["serve", "--listen", &address]).args(flags);
        command.stderr(std::fs::File::create(self.path().join("log"))?);
        let begin = Instant::now();
        let child = command.spawn().context("the program does not start")?;
        let server = Server { child, address };
        while begin.elapsed() < PATIENCE {
            if is_ready(&server.address) {
                return Ok((server, begin.elapsed()));
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        let log = std::fs::read_to_string(self.path().join("log")).unwrap_or_default();
        bail!("the program is not ready: {log}")
    }
}

/// Asks once; blocks.
fn is_ready(address: &str) -> bool {
    use std::io::{Read, Write};
    let ask = || -> std::io::Result<bool> {
        let mut stream = std::net::TcpStream::connect(address)?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer.starts_with("HTTP/1.1 200"))
    };
    ask().unwrap_or(false)
}

/// A running server; killed if it is dropped.
pub(super) struct Server {
    child: Child,
    pub address: String,
}

impl Server {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn token(&self) -> &'static str {
        TOKEN
    }

    pub async fn connect(&self) -> Result<Connection> {
        Connection::open(&self.address, TOKEN).await
    }

    /// Conversations that an actor is awake for.
    pub async fn awake(&self) -> Result<u32> {
        let reply = self.connect().await?.get("/metrics").await?;
        let text = String::from_utf8(reply.body)?;
        let line = text.lines().find_map(|l| l.strip_prefix("switchboard_conversations_awake "));
        Ok(line.context("a metric of those awake")?.trim().parse::<f64>()? as u32)
    }

    /// Ends it cleanly.
    pub fn stop(mut self) -> Result<()> {
        let told = Command::new("kill").args(["-TERM", &self.pid().to_string()]).status()?;
        ensure!(told.success(), "the server cannot be told to end");
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

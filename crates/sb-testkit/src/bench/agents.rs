//! What an agent's work costs here: each call of a tool, and an agent of its own behind us beside that agent alone.
//!
//! The agent is the scripted one that speaks the Agent Client Protocol, started by the program and, as the
//! floor, by this one: the same prompt, the same pipes, the same machine.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Plan;
use super::append::Disk;
use super::figures::{Spread, Table, cell, ms};
use super::machine::resident;
use super::server::{Home, MESSAGES, Server};

/// Calls of one turn.
const CALLS: usize = 40;
/// Sessions at once.
const SESSIONS: usize = 100;
const TO_AGENT: &str = "/v1/profiles/agent/messages";
const PROMPT: &str = "!say Good morning.";

pub(super) async fn measure(plan: &Plan) -> Result<String> {
    let rounds = if plan.quick { 10 } else { 60 };
    let home = Home::make(plan, "scripted", None)?;
    let workspace = home.path().join("workspaces/bench");
    std::fs::create_dir_all(&workspace)?;
    let folder = workspace.display().to_string();
    home.profile(&["set", "bench", "--autonomy", "L4", "--workspace", &folder])?;
    let agent = plan.own.with_file_name("acp_agent");
    let harness = format!("acp:{}", agent.display());
    home.profile(&["add", "agent", "--harness", &harness, "--harness-mode", "ask", "--workspace", &folder])?;
    let (server, _) = home.start("power")?;
    let calls = calls(&home, &server, rounds).await?;
    let agents = agents(&server, &agent, &workspace, rounds).await?;
    let memory = memory(&server).await?;
    server.stop()?;
    Ok(format!("{calls}{agents}{memory}"))
}

/// Turns with many calls and with none, in turns; the difference is the calls'.
async fn calls(home: &Home, server: &Server, rounds: usize) -> Result<String> {
    eprintln!("agents: {rounds} turns of {CALLS} calls");
    let script = |line: &str, times: usize| format!("{}!say Done.", format!("{line}\n").repeat(times));
    let kinds = [
        ("none (floor)", script("", 0)),
        ("`list_files`, which reads", script(r#"!tool list_files {"path":"."}"#, CALLS)),
        ("`write_file`, which acts", script(r#"!tool write_file {"path":"a.txt","content":"x"}"#, CALLS)),
    ];
    let mut connection = server.connect().await?;
    let mut disk = Disk::open(home.path())?;
    let mut times: Vec<Vec<Duration>> = kinds.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for (kind, (_, text)) in kinds.iter().enumerate() {
            let body = json!({"text": text, "conversation": format!("calls{kind}r{round}")});
            let reply = connection.post(MESSAGES, &body.to_string()).await?;
            times[kind].push(reply.done - reply.sent);
        }
        disk.try_once()?;
    }
    ensure!(home.path().join("workspaces/bench/a.txt").exists(), "the calls wrote nothing");
    let commit = disk.commit_ms();
    let mut table = Table::new(&["calls in one turn", "turn p50 ms", "a call, ms", "disk commits a call"]);
    let mut floor = None;
    for ((name, _), times) in kinds.iter().zip(times) {
        let turn = Spread::of(times).p50();
        let each = floor.map(|floor: f64| (turn - floor) / CALLS as f64);
        let (a_call, commits) = match each {
            None => (cell("–"), cell("–")),
            Some(each) => (format!("{each:.3}"), format!("{:.2}", each / commit)),
        };
        floor.get_or_insert(turn);
        table.row(&[cell(*name), ms(turn), a_call, commits]);
    }
    Ok(format!(
        "## Calls of tools\n\nThe built-in loop with the scripted model: {CALLS} calls, an answer of the model each, beside the same turn without any; {rounds} turns each, taking turns. A call that acts is on disk before it is done. The disk's own commit took {} ms.\n\n{}",
        ms(commit),
        table.text()
    ))
}

/// An agent of its own behind the program, beside the same agent asked directly.
async fn agents(server: &Server, program: &Path, workspace: &Path, rounds: usize) -> Result<String> {
    eprintln!("agents: {rounds} prompts to an agent of its own, and to it alone");
    let mut alone = Alone::start(program, workspace)?;
    let mut connection = server.connect().await?;
    let body = json!({"text": PROMPT, "conversation": "acp", "stream": true}).to_string();
    let (mut first, mut last) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    for round in 0..rounds + 5 {
        let (to_first, to_last) = alone.prompt(PROMPT)?;
        let (reply, seen) = connection.stream(TO_AGENT, &body, "event: delta").await?;
        if round >= 5 {
            first.0.push(to_first);
            last.0.push(to_last);
            first.1.push(seen - reply.sent);
            last.1.push(reply.done - reply.sent);
        }
    }
    let mut table = Table::new(&["from the prompt", "alone p50 ms", "through us p50", "p99", "added p50"]);
    for (name, (alone, through)) in [("to the first update", first), ("to the end of the reply", last)] {
        let (alone, through) = (Spread::of(alone), Spread::of(through));
        let added = through.p50() - alone.p50();
        table.row(&[cell(name), ms(alone.p50()), ms(through.p50()), ms(through.p99()), ms(added)]);
    }
    Ok(format!(
        "## An agent of its own\n\nThe scripted agent over the Agent Client Protocol, {rounds} prompts of one session, over HTTP as a stream; alone: over its pipes. A turn waits for the disk three times, twice before the agent is asked.\n\n{}",
        table.text()
    ))
}

/// Many sessions at work, a process each; of the program only.
async fn memory(server: &Server) -> Result<String> {
    eprintln!("agents: {SESSIONS} sessions at once");
    let before = resident(server.pid());
    let mut working = Vec::new();
    for n in 0..SESSIONS {
        let mut connection = server.connect().await?;
        let body = json!({"text": "!wait 20\n!say Done.", "conversation": format!("s{n}")}).to_string();
        working.push(tokio::spawn(async move { connection.post(TO_AGENT, &body).await.map(drop) }));
    }
    tokio::time::sleep(Duration::from_secs(15)).await;
    let during = resident(server.pid());
    for turn in working {
        turn.await??;
    }
    let mut table = Table::new(&["state", "resident MB", "of it anonymous MB", "anonymous KB a session"]);
    let each = (during.1 - before.1) * 1024.0 / SESSIONS as f64;
    let row = |(all, anonymous): (f64, f64)| (format!("{all:.1}"), format!("{anonymous:.1}"));
    let ((all, anonymous), (all_then, anonymous_then)) = (row(before), row(during));
    table.row(&[cell("before"), all, anonymous, cell("–")]);
    table.row(&[format!("{SESSIONS} at work"), all_then, anonymous_then, format!("{each:.0}")]);
    Ok(format!(
        "### Memory of many\n\nOf our own process; each session's agent is a process of its own.\n\n{}",
        table.text()
    ))
}

/// The agent by itself.
struct Alone {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: String,
    next: u64,
}

impl Alone {
    fn start(program: &Path, workspace: &Path) -> Result<Self> {
        let folder = workspace.join("alone");
        std::fs::create_dir_all(&folder)?;
        let mut command = Command::new(program);
        command.current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("{} does not start", program.display()))?;
        let to = child.stdin.take().context("its input")?;
        let from = BufReader::new(child.stdout.take().context("its output")?);
        let mut alone = Self { child, to, from, session: String::new(), next: 0 };
        alone.ask("initialize", &json!({"protocolVersion": 1}))?;
        alone.until_answered(&mut None)?;
        alone.ask("session/new", &json!({"cwd": folder, "mcpServers": []}))?;
        let opened = alone.until_answered(&mut None)?;
        alone.session = opened["result"]["sessionId"].as_str().context("a session")?.to_owned();
        Ok(alone)
    }

    /// How long until its first update, and until its answer.
    fn prompt(&mut self, text: &str) -> Result<(Duration, Duration)> {
        let params = json!({"sessionId": self.session, "prompt": [{"type": "text", "text": text}]});
        let (begun, mut first) = (Instant::now(), None);
        self.ask("session/prompt", &params)?;
        let answer = self.until_answered(&mut first)?;
        ensure!(answer["result"]["stopReason"] == "end_turn", "it answered {answer}");
        let last = begun.elapsed();
        Ok((first.context("an update")?.saturating_duration_since(begun), last))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<()> {
        self.next += 1;
        let call = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        writeln!(self.to, "{call}")?;
        Ok(self.to.flush()?)
    }

    fn until_answered(&mut self, first: &mut Option<Instant>) -> Result<Value> {
        loop {
            let mut line = String::new();
            ensure!(self.from.read_line(&mut line)? > 0, "the agent ended");
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == self.next && message.get("method").is_none() {
                return Ok(message);
            }
            first.get_or_insert_with(Instant::now);
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! Runs a program to its end, in a process group of its own, within limits.
//!
//! Invariant: nothing it started outlives the future that runs it. When the program ends, when its
//! time is up, and when the future is dropped, the whole group is killed and the program reaped; if we
//! are killed, by `watch`. Its
//! environment holds four harmless variables, so that no key of ours can be read by it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::Command;

use crate::hold::{self, BESIDE_INPUT, Hold};
use crate::watch;

/// What of our environment a program sees.
const KEPT: [&str; 4] = ["PATH", "HOME", "LANG", "TERM"];
/// How long the rest of the output may take after the program's end: what is in the pipe is read at
/// once, but a program that left its group could hold the pipe open for ever.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A program to run.
#[derive(Debug)]
pub struct Program {
    pub program: String,
    pub args: Vec<String>,
    pub dir: PathBuf,
    /// What it reads, from its beginning; nothing if there is none.
    pub input: Option<std::fs::File>,
    /// How long it may run.
    pub limit: Duration,
    /// How many bytes of output are kept, half from its beginning and half from its end.
    pub keep: usize,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// It was killed because its time was up.
    TimedOut,
}

/// What came of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub exit: Exit,
    /// Both outputs in the order written, as text; says where something was left out.
    pub output: String,
}

/// Runs `program`. Dropping the future kills its process group.
///
/// # Errors
/// If it cannot be started or waited for.
pub async fn run(mut program: Program) -> io::Result<Finished> {
    let input = program.input.take().map_or_else(|| std::fs::File::open("/dev/null"), Ok)?;
    let (reader, writer) = io::pipe()?;
    let mut output = pipe::Receiver::from_owned_fd(reader.into())?;
    watch::ready();
    let (held, hold) = io::pipe()?;
    let mut child = command(&program, held, input, writer)?.spawn()?;
    let group = Group::of(&child);
    // One that is gone by now tells so by its exit.
    let _ = Hold::new(hold).let_go();
    let mut kept = Kept::new(program.keep);
    let in_time = tokio::time::timeout(program.limit, async {
        loop {
            tokio::select! {
                status = child.wait() => return status,
                read = read_some(&mut output, &mut kept) => if !read? { return child.wait().await },
            }
        }
    });
    let ended = in_time.await;
    drop(group);
    let status = match ended {
        Ok(status) => Some(status?),
        Err(_) => {
            child.wait().await?;
            None
        }
    };
    let rest = async { while let Ok(true) = read_some(&mut output, &mut kept).await {} };
    let _ = tokio::time::timeout(LAST_WORDS, rest).await;
    Ok(Finished { exit: status.map_or(Exit::TimedOut, exit_of), output: kept.text() })
}

/// The command, both of whose outputs become the one pipe; it must be dropped for the pipe to end.
fn command(
    program: &Program,
    held: io::PipeReader,
    input: std::fs::File,
    output: io::PipeWriter,
) -> io::Result<Command> {
    let mut command = self::held(BESIDE_INPUT, &program.program, &program.args, &program.dir)?;
    command.stdin(held).stdout(output).stderr(input);
    Ok(command)
}

/// A command that begins once it is let go, in the way that `script` says.
///
/// # Errors
/// If there is no such program, or it may not be run.
pub(crate) fn held(script: &str, program: &str, args: &[String], dir: &Path) -> io::Result<Command> {
    hold::check(program, dir)?;
    let words: Vec<String> = ["-c", script, program].into_iter().map(str::to_owned).collect();
    Ok(confined("/bin/sh", &[&words, args].concat(), dir))
}

/// A command in a group of its own, with the harmless variables only.
#[expect(clippy::disallowed_methods, reason = "this room is the one that starts programs")]
fn confined(program: &str, args: &[String], dir: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir(dir)
        .env_clear()
        .envs(KEPT.iter().filter_map(|name| std::env::var_os(name).map(|value| (name, value))))
        .process_group(0)
        .kill_on_drop(true);
    command
}

pub(crate) fn exit_of(status: std::process::ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}

/// Reads what there is; false at the end.
async fn read_some(output: &mut pipe::Receiver, kept: &mut Kept) -> io::Result<bool> {
    let mut bytes = [0; 8192];
    let n = output.read(&mut bytes).await?;
    kept.push(&bytes[..n]);
    Ok(n > 0)
}

/// A process group that is killed when this is dropped, or when we ourselves are killed.
#[derive(Debug)]
pub(crate) struct Group(Option<Pid>);

impl Group {
    /// The group of a child that leads one. A child already reaped has none.
    pub(crate) fn of(child: &tokio::process::Child) -> Self {
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        if let Some(leader) = leader {
            watch::begins(leader);
        }
        Self(leader)
    }
}

impl Group {
    /// Kills it now, once.
    pub(crate) fn kill(&mut self) {
        if let Some(leader) = self.0.take() {
            // Fails only if the whole group is gone already.
            let _ = killpg(leader, Signal::SIGKILL);
            watch::ends(leader);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The beginning and the end of an output.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    half: usize,
    head: Vec<u8>,
    tail: std::collections::VecDeque<u8>,
    dropped: usize,
}

impl Kept {
    pub(crate) fn new(keep: usize) -> Self {
        Self { half: keep / 2, head: Vec::new(), tail: Default::default(), dropped: 0 }
    }
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..over);
        self.dropped += over;
    }
    pub(crate) fn text(self) -> String {
        let tail = Vec::from(self.tail);
        if self.dropped == 0 {
            return String::from_utf8_lossy(&[self.head, tail].concat()).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
        format!("{head}\n[… {} bytes left out …]\n{tail}", self.dropped)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn sh(script: &str) -> Program {
        Program {
            program: "sh".into(),
            args: vec!["-c".into(), script.into()],
            dir: std::env::temp_dir(),
            input: None,
            limit: Duration::from_secs(60),
            keep: 1000,
        }
    }

    /// Whether the process is gone or only waits to be reaped by whoever inherited it.
    fn is_gone(pid: &str) -> bool {
        match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
            Err(_) => true,
            Ok(stat) => stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')),
        }
    }

    /// Waits until the process is gone; a kill is carried out a moment after it is asked for.
    pub(crate) async fn assert_goes(pid: &str) {
        for _ in 0..1000 {
            if is_gone(pid) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("process {pid} lives on");
    }

    #[tokio::test]
    async fn both_outputs_and_the_exit_code_are_told() {
        let done = run(sh("echo out; echo err >&2; exit 3")).await.expect("runs");
        assert_eq!(done, Finished { exit: Exit::Code(3), output: "out\nerr\n".into() });
    }

    #[tokio::test]
    async fn what_is_left_in_the_background_dies_with_the_program() {
        let done = run(sh("sleep 600 & echo $!")).await.expect("runs");
        assert_eq!(done.exit, Exit::Code(0));
        assert_goes(done.output.trim()).await;
    }

    #[tokio::test]
    async fn when_its_time_is_up_the_whole_group_is_killed() {
        let limit = Duration::from_millis(300);
        let done = run(Program { limit, ..sh("sleep 600 & echo $!; wait") }).await.expect("runs");
        assert_eq!(done.exit, Exit::TimedOut);
        assert_goes(done.output.trim()).await;
    }

    #[tokio::test]
    async fn dropping_it_kills_the_whole_group() {
        let dir = tempfile::tempdir().expect("a folder");
        let script = "sleep 600 & echo $! > pid.new; mv pid.new pid; wait";
        let running = tokio::spawn(run(Program { dir: dir.path().into(), ..sh(script) }));
        let pid = loop {
            match std::fs::read_to_string(dir.path().join("pid")) {
                Ok(pid) => break pid,
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        };
        running.abort();
        assert!(running.await.is_err());
        assert_goes(pid.trim()).await;
    }

    #[tokio::test]
    async fn long_output_keeps_its_beginning_and_its_end() {
        let done = run(sh("seq 1 10000")).await.expect("runs");
        assert!(done.output.starts_with("1\n2\n") && done.output.ends_with("9999\n10000\n"));
        assert!(done.output.contains("bytes left out") && done.output.len() < 1100);
    }

    #[tokio::test]
    async fn only_harmless_variables_are_passed_on() {
        let done = run(sh("env")).await.expect("runs");
        for line in done.output.lines() {
            let name = line.split('=').next().unwrap_or_default();
            let made_by_the_shell = ["PWD", "OLDPWD", "SHLVL", "_"];
            assert!(KEPT.contains(&name) || made_by_the_shell.contains(&name), "{line}");
        }
    }
}

//! Talks with a program line by line, as long as both want, in a process group of its own.
//!
//! Invariant: nothing it started outlives the [`Talk`]: dropping it kills the whole group. Lines go through
//! bounded queues both ways, so a program that floods us is slowed, and one that does not read holds up
//! whoever writes to it and nobody else. What it says on its error output is a log; its end is kept.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use sb_model::Secret;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::child::{Exit, Group, Kept, confined, exit_of};

/// Longest line that is read; a program that sends more is no longer listened to.
const LONGEST_LINE: u64 = 32 * 1024 * 1024;
/// Lines that wait on either side; few, since each may be long.
const WAITING: usize = 8;
/// Bytes of its error output that are kept.
const LAST_WORDS: usize = 4 * 1024;

/// A program to talk with.
#[derive(Debug, Clone)]
pub struct Talker {
    pub program: String,
    pub args: Vec<String>,
    pub dir: PathBuf,
    /// Variables besides the few harmless ones of ours.
    pub env: Vec<(String, Secret)>,
}

/// A program that runs and is talked with.
pub struct Talk {
    child: tokio::process::Child,
    said: mpsc::Receiver<String>,
    say: Option<mpsc::Sender<String>>,
    errors: Arc<Mutex<Kept>>,
    // Before the tasks, so that their pipes end.
    _group: Group,
    _tasks: JoinSet<()>,
}

impl Talk {
    /// Starts the program.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(talker: &Talker) -> io::Result<Self> {
        let mut child = command(talker).spawn()?;
        let group = Group::of(&child);
        let (heard, said) = mpsc::channel(WAITING);
        let (say, to_say) = mpsc::channel(WAITING);
        let errors = Arc::new(Mutex::new(Kept::new(LAST_WORDS)));
        let mut tasks = JoinSet::new();
        if let (Some(input), Some(output), Some(log)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        {
            tasks.spawn(write(input, to_say));
            tasks.spawn(read(output, heard));
            tasks.spawn(listen(log, Arc::clone(&errors)));
        }
        Ok(Self { child, said, say: Some(say), errors, _group: group, _tasks: tasks })
    }

    /// The next line it says, without its end; none: it says no more. Cancel-safe.
    pub async fn next(&mut self) -> Option<String> {
        self.said.recv().await
    }

    /// Says a line to it. Waits where it does not read. Cancel-safe: then nothing of it is said.
    ///
    /// # Errors
    /// If it takes no more lines.
    pub async fn say(&self, line: String) -> io::Result<()> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.say.as_ref().ok_or_else(gone)?.send(line).await.map_err(|_| gone())
    }

    /// The end of what it said on its error output.
    pub fn last_words(&self) -> String {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).clone().text().trim().to_owned()
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<Exit> {
        self.child.try_wait().ok().flatten().map(exit_of)
    }
}

/// Whether a program of this name is where programs are looked for.
#[expect(clippy::disallowed_methods, reason = "this room is the one that starts programs")]
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn command(talker: &Talker) -> Command {
    let mut command = confined(&talker.program, &talker.args, &talker.dir);
    command
        .envs(talker.env.iter().map(|(name, value)| (name, value.expose())))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

async fn write(mut input: ChildStdin, mut lines: mpsc::Receiver<String>) {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        if input.write_all(line.as_bytes()).await.is_err() || input.flush().await.is_err() {
            return;
        }
    }
}

async fn read(output: ChildStdout, heard: mpsc::Sender<String>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let read = (&mut output).take(LONGEST_LINE).read_until(b'\n', &mut line).await;
        let whole = line.last() == Some(&b'\n');
        match read {
            Ok(0) | Err(_) => return,
            Ok(n) if !whole && n as u64 == LONGEST_LINE => {
                tracing::warn!("a program sent a line without end; it is not listened to any more");
                return;
            }
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        if heard.send(text.trim_end_matches(['\n', '\r']).to_owned()).await.is_err() {
            return;
        }
    }
}

async fn listen(mut log: ChildStderr, kept: Arc<Mutex<Kept>>) {
    let mut bytes = [0; 4096];
    while let Ok(n @ 1..) = log.read(&mut bytes).await {
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(&bytes[..n]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::tests::assert_goes;

    fn sh(script: &str) -> Talker {
        let args = vec!["-c".to_owned(), script.to_owned()];
        let env = vec![("OWN".to_owned(), Secret::new("value".to_owned()))];
        Talker { program: "sh".to_owned(), args, dir: std::env::temp_dir(), env }
    }

    #[tokio::test]
    async fn lines_go_both_ways_and_its_last_words_are_kept() {
        let script = r#"echo "$OWN"; while read -r line; do echo "heard $line"; done; echo bye >&2; exit 3"#;
        let mut talk = Talk::start(&sh(script)).expect("starts");
        assert_eq!(talk.next().await.as_deref(), Some("value"));
        talk.say("one".to_owned()).await.expect("listens");
        assert_eq!(talk.next().await.as_deref(), Some("heard one"));
        talk.say = None;
        assert_eq!(talk.next().await, None);
        while talk.ended().is_none() || talk.last_words().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!((talk.ended(), talk.last_words().as_str()), (Some(Exit::Code(3)), "bye"));
    }

    #[tokio::test]
    async fn dropping_it_kills_the_whole_group() {
        let mut talk = Talk::start(&sh("sleep 600 & echo $!; wait")).expect("starts");
        let pid = talk.next().await.expect("a line");
        drop(talk);
        assert_goes(&pid).await;
    }

    #[tokio::test]
    async fn a_flood_waits_and_a_line_of_megabytes_is_whole() {
        let mut talk = Talk::start(&sh("head -c 3000000 /dev/zero | tr '\\0' x; echo; yes")).expect("starts");
        assert_eq!(talk.next().await.map(|line| line.len()), Some(3_000_000));
        for _ in 0..1000 {
            assert_eq!(talk.next().await.as_deref(), Some("y"));
        }
    }
}

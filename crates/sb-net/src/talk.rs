//! Talks with a [`Companion`] line by line, so that neither side holds the other up for ever.
//!
//! Lines go through bounded queues both ways: a program that floods us is slowed, and one that does not read
//! holds up whoever writes to it and nobody else. What it says beside is a log; its end is kept.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::child::{Exit, Kept};
use crate::companion::{Companion, CompanionLines, Spoken, write_line};

/// Longest line that is read; a program that sends more is no longer listened to.
const LONGEST_LINE: usize = 32 * 1024 * 1024;
/// Lines that wait on either side; few, since each may be long.
const WAITING: usize = 8;
/// Bytes of what it says beside that are kept.
const LAST_WORDS: usize = 4 * 1024;

/// A program that runs and is talked with.
pub struct Talk {
    program: Companion,
    said: mpsc::Receiver<String>,
    say: Option<mpsc::Sender<String>>,
    errors: Arc<Mutex<Kept>>,
    _tasks: JoinSet<()>,
}

impl Talk {
    /// Starts the program.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(spoken: &Spoken) -> io::Result<Self> {
        let (program, input, output, beside) = Companion::start(spoken, LONGEST_LINE)?;
        let (heard, said) = mpsc::channel(WAITING);
        let (say, to_say) = mpsc::channel(WAITING);
        let errors = Arc::new(Mutex::new(Kept::new(LAST_WORDS)));
        let mut tasks = JoinSet::new();
        tasks.spawn(write(input, to_say));
        tasks.spawn(read(output, heard));
        tasks.spawn(listen(beside, Arc::clone(&errors)));
        Ok(Self { program, said, say: Some(say), errors, _tasks: tasks })
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

    /// How it ended, if it does within this time.
    pub async fn ended_within(&mut self, wait: Duration) -> Option<Exit> {
        self.program.ended_within(wait).await
    }
}

/// Whether a program of this name is where programs are looked for.
#[expect(clippy::disallowed_methods, reason = "this room is the one that starts programs")]
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

async fn write(mut input: ChildStdin, mut lines: mpsc::Receiver<String>) {
    while let Some(line) = lines.recv().await {
        if write_line(&mut input, line.into_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read(mut output: CompanionLines<ChildStdout>, heard: mpsc::Sender<String>) {
    loop {
        match output.next().await {
            Ok(Some(line)) => {
                let line = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
                if heard.send(line).await.is_err() {
                    return;
                }
            }
            Ok(None) => return,
            Err(why) => {
                tracing::warn!(error = %why, "a program is not listened to any more");
                return;
            }
        }
    }
}

async fn listen(mut beside: CompanionLines<ChildStderr>, kept: Arc<Mutex<Kept>>) {
    while let Ok(Some(mut line)) = beside.next_beginning().await {
        line.push(b'\n');
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(&line);
    }
}

#[cfg(test)]
mod tests {
    use sb_model::Secret;

    use super::*;
    use crate::child::tests::assert_goes;

    fn sh(script: &str) -> Spoken {
        let args = vec!["-c".to_owned(), script.to_owned()];
        let variables = vec![("OWN".to_owned(), Secret::new("value"))];
        Spoken { program: "sh".to_owned(), args, dir: std::env::temp_dir(), variables }
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
        assert_eq!(talk.ended_within(Duration::from_secs(60)).await, Some(Exit::Code(3)));
        while talk.last_words().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(talk.last_words(), "bye");
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

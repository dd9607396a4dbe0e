//! Programs that stay and are spoken to, line by line, over their input and output.
//!
//! As with those that run to their end, a companion has a process group of its own and an environment
//! that holds nothing of ours but what it is given. Invariant: when a [`Companion`] is dropped, its whole
//! group is killed. What it says is read in lines of a limited length, and no faster than it is wanted.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use sb_model::Secret;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use crate::child::{self, Exit, Group};
use crate::hold::{BY_INPUT, Hold};

/// A program to be started and spoken to.
#[derive(Debug, Clone)]
pub struct Spoken {
    pub program: String,
    pub args: Vec<String>,
    pub dir: PathBuf,
    /// Variables of its environment besides the harmless ones.
    pub variables: Vec<(String, Secret)>,
}

/// A program that runs. Dropping it kills its process group.
#[derive(Debug)]
pub struct Companion {
    child: Child,
    // After the child, so that the group is killed while its leader is not yet reaped.
    group: Group,
}

/// The lines of one of its outputs.
#[derive(Debug)]
pub struct CompanionLines<R> {
    from: BufReader<R>,
    most: usize,
}

impl Companion {
    /// Starts a program: itself, its input, the lines of its output (`most` bytes each), and those of what
    /// it says beside (the beginning of each).
    ///
    /// # Errors
    /// If it cannot be started, such as when there is no such program.
    #[allow(clippy::type_complexity, reason = "four ends of one program")]
    pub fn start(
        spoken: &Spoken,
        most: usize,
    ) -> io::Result<(Self, ChildStdin, CompanionLines<ChildStdout>, CompanionLines<ChildStderr>)> {
        let (held, hold) = io::pipe()?;
        let mut command = child::held(BY_INPUT, &spoken.program, &spoken.args, &spoken.dir)?;
        command
            .envs(spoken.variables.iter().map(|(name, value)| (name, value.expose())))
            .stdin(held)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        crate::watch::ready();
        let mut child = command.spawn()?;
        let group = Group::of(&child);
        let gone = || io::Error::other("it has no input or output");
        let input = OwnedFd::from(Hold::new(hold).let_go()?);
        let input = ChildStdin::from_std(std::process::ChildStdin::from(input))?;
        let output = child.stdout.take().ok_or_else(gone)?;
        let beside = child.stderr.take().ok_or_else(gone)?;
        let lines = CompanionLines { from: BufReader::new(output), most };
        let beside = CompanionLines { from: BufReader::new(beside), most: 2000 };
        Ok((Self { child, group }, input, lines, beside))
    }

    /// Waits so long for it to end by itself; none if it still runs.
    pub async fn ended_within(&mut self, wait: Duration) -> Option<Exit> {
        let ended = tokio::time::timeout(wait, self.child.wait()).await;
        ended.ok().and_then(Result::ok).map(child::exit_of)
    }

    /// Kills the whole group now.
    pub fn kill(&mut self) {
        self.group.kill();
    }
}

impl<R: AsyncRead + Unpin> CompanionLines<R> {
    /// The next line without its end; none when there is no more. Cancelling it may lose a line.
    ///
    /// # Errors
    /// If it cannot be read; `InvalidData` if it is longer than what is taken.
    pub async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let most = self.most as u64 + 1;
        let read = (&mut self.from).take(most).read_until(b'\n', &mut line).await?;
        if read == 0 {
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if read as u64 == most {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is too long"));
        }
        Ok(Some(line))
    }

    /// The beginning of the next line; what is longer is left out. Cancelling it may lose a line.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn next_beginning(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        loop {
            let piece = self.from.fill_buf().await?;
            if piece.is_empty() {
                return Ok((!line.is_empty()).then_some(line));
            }
            let end = piece.iter().position(|b| *b == b'\n');
            let (of_line, used) = end.map_or((piece.len(), piece.len()), |at| (at, at + 1));
            let room = self.most.saturating_sub(line.len());
            line.extend_from_slice(&piece[..of_line.min(room)]);
            self.from.consume(used);
            if end.is_some() {
                return Ok(Some(line));
            }
        }
    }
}

/// Writes a line and its end.
///
/// # Errors
/// If the program does not read any more.
pub async fn write_line(input: &mut ChildStdin, mut line: Vec<u8>) -> io::Result<()> {
    line.push(b'\n');
    input.write_all(&line).await?;
    input.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Spoken {
        Spoken {
            program: "sh".into(),
            args: vec!["-c".into(), script.into()],
            dir: std::env::temp_dir(),
            variables: vec![("GIVEN".into(), Secret::new("value"))],
        }
    }

    #[tokio::test]
    async fn it_is_spoken_to_in_lines_and_knows_only_what_it_is_given() {
        let started =
            Companion::start(&sh("read word; echo $word $GIVEN $CARGO_PKG_NAME; echo aside >&2"), 100);
        let (mut program, mut input, mut lines, mut beside) = started.expect("starts");
        write_line(&mut input, b"hello".to_vec()).await.expect("reads");
        assert_eq!(lines.next().await.expect("a line").as_deref(), Some(b"hello value".as_slice()));
        assert_eq!(beside.next_beginning().await.expect("a line").as_deref(), Some(b"aside".as_slice()));
        assert_eq!(lines.next().await.expect("its end"), None);
        assert_eq!(program.ended_within(Duration::from_secs(60)).await, Some(Exit::Code(0)));
    }

    #[tokio::test]
    async fn a_line_without_end_is_refused_and_beside_only_its_beginning_is_kept() {
        let started =
            Companion::start(&sh("head -c 5000 /dev/zero; head -c 5000 /dev/zero >&2; echo >&2"), 100);
        let (_program, _input, mut lines, mut beside) = started.expect("starts");
        assert_eq!(lines.next().await.expect_err("too long").kind(), io::ErrorKind::InvalidData);
        assert_eq!(beside.next_beginning().await.expect("a line").map(|line| line.len()), Some(2000));
    }

    #[tokio::test]
    async fn dropping_it_kills_what_it_started() {
        let (program, _input, mut lines, _) =
            Companion::start(&sh("sleep 600 & echo $!; wait"), 100).expect("starts");
        let pid = String::from_utf8(lines.next().await.expect("a line").expect("a number")).expect("text");
        drop(program);
        child::tests::assert_goes(&pid).await;
    }
}

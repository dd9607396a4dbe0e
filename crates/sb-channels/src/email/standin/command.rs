//! A line of a client's, with the bytes it sends along: bounded, and as words.

use std::io;

use sb_channel::net::Stream;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

const LONGEST_LINE: u64 = 64 * 1024;
const MOST_BYTES: usize = 40 * 1024 * 1024;

pub(super) type Wire = BufReader<Box<dyn Stream>>;

/// A word of a command, or bytes sent along with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// As it stands; a list with its brackets is one.
    Plain(String),
    Quoted(String),
    Bytes(Vec<u8>),
}

impl Word {
    pub fn text(&self) -> String {
        match self {
            Word::Plain(text) | Word::Quoted(text) => text.clone(),
            Word::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

/// A line without its end; none once the client is gone.
pub(super) async fn line(wire: &mut Wire) -> io::Result<Option<Vec<u8>>> {
    let mut raw = Vec::new();
    wire.take(LONGEST_LINE).read_until(b'\n', &mut raw).await?;
    if raw.is_empty() {
        return Ok(None);
    }
    if !raw.ends_with(b"\n") {
        return Err(io::Error::other("a line without an end"));
    }
    raw.pop();
    if raw.ends_with(b"\r") {
        raw.pop();
    }
    Ok(Some(raw))
}

pub(super) async fn say(wire: &mut Wire, text: &str) -> io::Result<()> {
    wire.write_all(text.as_bytes()).await?;
    wire.write_all(b"\r\n").await?;
    wire.flush().await
}

/// A command of IMAP's: its words, tag first.
pub(super) async fn command(wire: &mut Wire) -> io::Result<Option<Vec<Word>>> {
    let mut words = Vec::new();
    loop {
        let Some(raw) = line(wire).await? else { return Ok(None) };
        let text = String::from_utf8_lossy(&raw).into_owned();
        let (before, size) = literal(&text);
        words.extend(split(before));
        let Some((size, waits)) = size else { return Ok(Some(words)) };
        if size > MOST_BYTES {
            return Err(io::Error::other("too much at once"));
        }
        if waits {
            say(wire, "+ Ready").await?;
        }
        let mut bytes = vec![0; size];
        wire.read_exact(&mut bytes).await?;
        words.push(Word::Bytes(bytes));
    }
}

/// What stands before `{n}` at a line's end, how many bytes follow, and whether the client waits to send them.
fn literal(line: &str) -> (&str, Option<(usize, bool)>) {
    let size = || {
        let open = line.rfind('{')?;
        let inner = line.get(open + 1..)?.strip_suffix('}')?;
        let (number, waits) = inner.strip_suffix('+').map_or((inner, true), |number| (number, false));
        Some((open, (number.parse().ok()?, waits)))
    };
    size().map_or((line, None), |(open, size)| (line.get(..open).unwrap_or_default(), Some(size)))
}

fn split(text: &str) -> Vec<Word> {
    let (mut words, mut chars) = (Vec::new(), text.chars().peekable());
    while let Some(next) = chars.next() {
        match next {
            ' ' => {}
            '"' => {
                let mut word = String::new();
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => word.extend(chars.next()),
                        other => word.push(other),
                    }
                }
                words.push(Word::Quoted(word));
            }
            first => {
                let (mut word, mut depth) = (String::from(first), i32::from("([".contains(first)));
                while let Some(c) = chars.next_if(|c| depth > 0 || *c != ' ') {
                    depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
                    word.push(c);
                }
                words.push(Word::Plain(word));
            }
        }
    }
    words
}

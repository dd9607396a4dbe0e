//! What commands print: text, tables, JSON; and words quoted so that a shell takes them as they are.
//!
//! Everything goes out at once, since others wait for it, and a reader who went away is no failure of
//! the command's: see [`is_gone`].

use std::io::{self, ErrorKind, Write};

use anyhow::Result;
use sb_doors::terminal::plain;
use serde::Serialize;

/// Prints text as it is, with a line's end.
pub fn line(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Prints text that others wrote, made harmless for a terminal.
pub fn foreign(text: &str) -> Result<()> {
    line(&plain(text))
}

/// Prints a value as JSON.
pub fn json(value: &impl Serialize) -> Result<()> {
    line(&serde_json::to_string_pretty(value)?)
}

/// Prints rows in columns; the first row is the heading.
pub fn table(rows: &[Vec<String>]) -> Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|r| r.get(column)).map(|cell| plain(cell).chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{:width$}", plain(cell)));
        line(cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

/// Whether a command failed only because nobody reads what it prints.
pub fn is_gone(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>());
    io.is_some_and(|e| e.kind() == ErrorKind::BrokenPipe)
}

/// `text` as a sentence: with a capital and a full stop.
pub fn sentence(text: &str) -> String {
    let text = text.trim_end();
    let mut rest = text.chars();
    let first: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", rest.as_str())
}

/// `text` as one word for a POSIX shell.
pub fn quoted(text: &str) -> String {
    let safe = |b: u8| b.is_ascii_alphanumeric() || b"/._-+:@%,".contains(&b);
    if !text.is_empty() && text.bytes().all(safe) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_a_sentence_and_one_is_not_many() {
        assert_eq!(
            sentence("opening the home: it is held (process 7)"),
            "Opening the home: it is held (process 7)."
        );
        assert_eq!(sentence("Is it?"), "Is it?");
    }

    #[test]
    fn a_path_with_odd_characters_stays_one_word() {
        assert_eq!(quoted("/usr/bin/switchboard"), "/usr/bin/switchboard");
        assert_eq!(quoted("/my home/it's $x"), r"'/my home/it'\''s $x'");
        assert_eq!(quoted(""), "''");
    }
}

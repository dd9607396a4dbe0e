//! [`Screen`]: what a person sees of an answer, as it is written and once it is whole.
//!
//! Words appear as they come. At the end only what was not shown yet is added: a command's answer, the
//! words about a failure, the files. Every write is flushed, since people watch.

use crate::model::text::counted;
use std::io::{self, Write};

use super::plain;
use crate::local::client::{Answer, SharedFile};

/// Writes one conversation to a terminal or a pipe.
pub(crate) struct Screen<W> {
    out: W,
    /// The cursor stands at the beginning of a line.
    fresh: bool,
    /// The words shown of the answer that is being written.
    shown: String,
}

impl<W: Write> Screen<W> {
    pub fn new(out: W) -> Self {
        Self { out, fresh: true, shown: String::new() }
    }

    /// More words of the answer.
    pub fn delta(&mut self, text: &str) -> io::Result<()> {
        let text = plain(text);
        self.shown.push_str(&text);
        // A paragraph's distance, where a line of ours has just ended the one before.
        let text = if self.fresh { text.trim_start_matches('\n') } else { &text };
        self.write(text)
    }

    /// What a tool does now. That it waits is asked in place, after the answer's words.
    pub fn tool(&mut self, name: &str, state: &str) -> io::Result<()> {
        if state == "running" { self.line(&format!("· {name}")) } else { Ok(()) }
    }

    /// The answer is whole: whatever of it was not shown yet.
    pub fn finish(&mut self, answer: &Answer) -> io::Result<()> {
        let shown = std::mem::take(&mut self.shown);
        let said = plain(&answer.said);
        let rest = match said.split_once(shown.trim()) {
            Some((before, after)) if before.trim().is_empty() => after.trim(),
            _ => said.trim(),
        };
        if !rest.is_empty() {
            self.line(rest)?;
        }
        for file in &answer.files {
            self.line(&described(file))?;
        }
        self.end_line()
    }

    /// A line of our own.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        self.write(&plain(text))?;
        self.end_line()
    }

    fn end_line(&mut self) -> io::Result<()> {
        if self.fresh { Ok(()) } else { self.write("\n") }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        if let Some(last) = text.chars().next_back() {
            self.fresh = last == '\n';
            self.out.write_all(text.as_bytes())?;
            self.out.flush()?;
        }
        Ok(())
    }
}

fn described(file: &SharedFile) -> String {
    format!("[file {}, {}, {}]", file.name, file.media_type, counted(file.size, "byte"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(deltas: &[&str], said: &str) -> String {
        let mut out = Vec::new();
        let mut screen = Screen::new(&mut out);
        for delta in deltas {
            screen.delta(delta).expect("memory");
        }
        screen.finish(&Answer { said: said.to_owned(), ..Answer::default() }).expect("memory");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn what_was_streamed_is_not_said_twice() {
        assert_eq!(seen(&["Hel", "lo."], "Hello."), "Hello.\n");
        assert_eq!(seen(&["One.\n\n", "Two."], "One.\n\nTwo."), "One.\n\nTwo.\n");
    }

    #[test]
    fn what_was_not_streamed_follows_on_a_line_of_its_own() {
        assert_eq!(seen(&[], "Idle."), "Idle.\n");
        assert_eq!(seen(&["Half"], "Half\n\n⚠️ It failed."), "Half\n⚠️ It failed.\n");
        assert_eq!(seen(&["An attempt"], "Another answer."), "An attempt\nAnother answer.\n");
    }

    #[test]
    fn tools_and_files_stand_on_lines_of_their_own() {
        let mut out = Vec::new();
        let mut screen = Screen::new(&mut out);
        screen.delta("I look.").expect("memory");
        screen.tool("list_files", "calling").expect("memory");
        screen.tool("list_files", "running").expect("memory");
        let file = SharedFile { name: "a\u{1b}.txt".into(), media_type: "text/plain".into(), size: 3 };
        let answer = Answer { said: "I look.".into(), files: vec![file], ..Answer::default() };
        screen.finish(&answer).expect("memory");
        let seen = String::from_utf8(out).expect("text");
        assert_eq!(seen, "I look.\n· list_files\n[file a.txt, text/plain, 3 bytes]\n");
    }
}

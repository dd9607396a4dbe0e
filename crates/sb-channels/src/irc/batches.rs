//! Lines that belong together: the answer to one of ours, a page of history, a message of several lines.

use std::collections::BTreeMap;

use sb_channel::model::Timestamp;

use super::line::Line;
use super::parse::time;

/// Batches that may be open.
const MOST: usize = 64;
/// Bytes of one message of several lines.
const LONGEST: usize = 64 * 1024;

/// See the module.
#[derive(Default)]
pub struct Batches(BTreeMap<String, Batch>);

enum Batch {
    /// The answer to what has this label.
    Labeled(String),
    History { target: String, lines: usize, last: Option<Timestamp> },
    /// One message of several lines: how it began, and its words so far.
    Long(Box<Line>, String),
    Other,
}

/// What a batch was, once it is over.
pub enum Whole {
    Answer { label: String },
    /// `last` is when the newest of its lines was said.
    History { target: String, lines: usize, last: Option<Timestamp> },
    /// As if it had come as one line.
    Message(Line),
}

impl Batches {
    /// Takes a `BATCH` line.
    pub fn take(&mut self, line: &Line) -> Option<Whole> {
        if let Some(id) = line.param(0).strip_prefix('+') {
            if self.0.len() < MOST {
                self.0.insert(id.to_owned(), begun(line));
            }
            return None;
        }
        match self.0.remove(line.param(0).strip_prefix('-')?)? {
            Batch::Labeled(label) => Some(Whole::Answer { label }),
            Batch::History { target, lines, last } => Some(Whole::History { target, lines, last }),
            // Its name, time and writer stand at its beginning.
            Batch::Long(mut whole, words) => {
                whole.params = vec![whole.param(2).to_owned(), words];
                "PRIVMSG".clone_into(&mut whole.command);
                Some(Whole::Message(*whole))
            }
            Batch::Other => None,
        }
    }

    /// Whether the line is a piece of a longer message, and kept for it.
    pub fn keeps(&mut self, line: &Line) -> bool {
        let Some(Batch::Long(_, words)) = self.of(line) else { return false };
        if words.len() + line.words().len() < LONGEST {
            let joined = words.is_empty() || line.tags.contains_key("draft/multiline-concat");
            words.push_str(if joined { "" } else { "\n" });
            words.push_str(line.words());
        }
        true
    }

    /// Counts a line that is told on.
    pub fn count(&mut self, line: &Line) {
        if let Some(Batch::History { lines, last, .. }) = self.of(line) {
            *lines += 1;
            *last = (*last).max(line.tag("time").and_then(time));
        }
    }

    /// The label of what the line answers.
    pub fn label<'a>(&'a self, line: &'a Line) -> Option<&'a str> {
        match line.tag("batch").and_then(|id| self.0.get(id)) {
            Some(Batch::Labeled(label)) => Some(label),
            _ => line.tag("label"),
        }
    }

    fn of(&mut self, line: &Line) -> Option<&mut Batch> {
        self.0.get_mut(line.tag("batch")?)
    }
}

fn begun(line: &Line) -> Batch {
    match (line.param(1), line.tag("label")) {
        ("labeled-response", Some(label)) => Batch::Labeled(label.to_owned()),
        ("chathistory", _) => Batch::History { target: line.param(2).to_owned(), lines: 0, last: None },
        ("draft/multiline", _) => Batch::Long(Box::new(line.clone()), String::new()),
        _ => Batch::Other,
    }
}

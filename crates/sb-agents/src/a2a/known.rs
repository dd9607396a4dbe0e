//! What the log remembers of an agent's own ids: the context, and the task that is open in it.
//!
//! Both are the words of somebody outside, so they are bounded, and never more than words.

use sb_harness::model::text::one_line;
use sb_harness::model::{Entry, Record, TurnId};

/// Characters of an id that are kept; a longer one is not taken for an id.
const LONGEST: usize = 200;

/// Where a conversation stands on the other side.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Known {
    /// Empty: it gave none.
    pub context: String,
    /// The task that the next message goes to, or that this turn began.
    pub task: Option<String>,
}

impl Known {
    /// As it stands in the log, and people read it in a trace.
    pub fn written(&self) -> String {
        match &self.task {
            Some(task) => format!("{} (task {task})", self.context),
            None => self.context.clone(),
        }
    }

    fn read(text: &str) -> Self {
        match text.strip_suffix(')').and_then(|text| text.rsplit_once(" (task ")) {
            Some((context, task)) => Self { context: context.to_owned(), task: Some(task.to_owned()) },
            None => Self { context: text.to_owned(), task: None },
        }
    }
}

/// Whether an id of theirs can be kept and asked for again.
pub(super) fn is_id(text: &str) -> bool {
    !text.is_empty() && one_line(text, LONGEST) == text
}

/// What is known before a turn, unless something of it was undone since; and what this turn began before it
/// was cut off.
pub(super) fn known(log: &[Entry], turn: TurnId) -> (Option<Known>, Option<Known>) {
    let opened = |entry: &Entry| match &entry.record {
        Record::Opened { id } => Some(Known::read(id)),
        _ => None,
    };
    let last = |of: &mut dyn Iterator<Item = &Entry>| of.filter_map(opened).last();
    let before = last(&mut log.iter().filter(|e| e.turn != Some(turn)));
    let begun = last(&mut log.iter().filter(|e| e.turn == Some(turn))).filter(|known| known.task.is_some());
    let before = before.filter(|known| {
        let of_it = |entry: &&Entry| opened(entry).is_some_and(|other| other.context == known.context);
        let first = log.iter().find(of_it).map(|entry| entry.seq);
        !log.iter().any(|e| Some(e.seq) > first && matches!(e.record, Record::Undone { .. }))
    });
    (before, begun)
}

#[cfg(test)]
mod tests {
    use sb_harness::model::{Seq, Timestamp};

    use super::*;

    fn log(records: Vec<(u64, Record)>) -> Vec<Entry> {
        let entry =
            |(n, (turn, record))| Entry { seq: Seq(n), at: Timestamp(0), turn: Some(TurnId(turn)), record };
        (1..).zip(records).map(entry).collect()
    }
    fn opened(context: &str, task: Option<&str>) -> Record {
        let known = Known { context: context.into(), task: task.map(str::to_owned) };
        Record::Opened { id: known.written() }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for (context, task) in [("c", None), ("c d", Some("t")), ("", Some("t")), ("", None)] {
            let known = Known { context: context.into(), task: task.map(str::to_owned) };
            assert_eq!(Known::read(&known.written()), known);
        }
        assert!(is_id("a-b_c.1") && !is_id("") && !is_id("a\nb") && !is_id(&"x".repeat(201)));
    }

    #[test]
    fn the_newest_counts_and_what_was_undone_does_not() {
        let c = |context: &str, task: Option<&str>| {
            Some(Known { context: context.into(), task: task.map(str::to_owned) })
        };
        assert_eq!(known(&[], TurnId(1)), (None, None));
        let waits = log(vec![(1, opened("c", None)), (1, opened("c", Some("t")))]);
        assert_eq!(known(&waits, TurnId(2)), (c("c", Some("t")), None));
        assert_eq!(known(&waits, TurnId(1)), (None, c("c", Some("t"))), "this very turn began it");
        let undone = Record::Undone { turn: TurnId(1) };
        let log = log(vec![(1, opened("c", None)), (1, undone), (2, opened("c", Some("t2")))]);
        assert_eq!(known(&log, TurnId(3)), (None, None));
    }
}

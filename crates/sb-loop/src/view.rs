//! The machine: reads off the log what comes next.
//!
//! Pure, and the only place that decides it. The log alone counts, so a turn that was parked, cut off
//! by a crash or never interrupted continues alike. Invariant: a call that may have acted is never
//! handed out again.

use std::collections::HashSet;

use sb_harness::model::{Call, CallId, Entry, Record, Seq, Timestamp, TurnId};

/// What comes next in a turn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Ask the model.
    Ask,
    /// See to a call that has no result.
    Handle(Call),
    /// A call had begun when the turn was cut off: tell the model, never run it again.
    Lost(Call),
    /// The last answer stands.
    Done,
}

/// The log as the model is to see it: a summary first, if there is one, then what it does not cover.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub entries: Vec<Entry>,
    pub turn: TurnId,
}

impl View {
    /// The view a turn begins with, wherever in `log` its newest summary stands.
    pub fn new(log: &[Entry], turn: TurnId) -> Self {
        let mut view = Self { entries: log.to_vec(), turn };
        view.put_summary_first();
        view
    }

    /// Adds a record of this turn.
    pub fn add(&mut self, record: Record) {
        let seq = self.entries.iter().map(|e| e.seq).max().unwrap_or_default().next();
        let summary = matches!(record, Record::Summary { .. });
        self.entries.push(Entry { seq, at: Timestamp(0), turn: Some(self.turn), record });
        if summary {
            self.put_summary_first();
        }
    }

    fn put_summary_first(&mut self) {
        let newest = self.entries.iter().filter(|e| is_summary(e)).max_by_key(|e| e.seq).cloned();
        let Some(summary) = newest else { return };
        let Record::Summary { covers, .. } = summary.record else { return };
        self.entries.retain(|e| e.seq > covers && !is_summary(e));
        self.entries.insert(0, summary);
    }

    /// What comes next.
    pub fn next_step(&self) -> Step {
        let Some(at) = self.entries.iter().rposition(|e| e.turn == Some(self.turn) && is_answer(e)) else {
            return Step::Ask;
        };
        let Record::Answered { calls, .. } = &self.entries[at].record else { return Step::Ask };
        let after = || self.entries[at..].iter().map(|e| &e.record);
        let done: HashSet<&CallId> = after().filter_map(result_of).collect();
        if let Some(open) = calls.iter().find(|c| !done.contains(&c.id)) {
            let begun = after().any(|r| matches!(r, Record::Acting { call } if *call == open.id));
            return if begun { Step::Lost(open.clone()) } else { Step::Handle(open.clone()) };
        }
        let said_more = after().any(|r| matches!(r, Record::Said { .. }));
        if calls.is_empty() && !said_more { Step::Done } else { Step::Ask }
    }

    /// How many answers the turn has had.
    pub fn answers(&self) -> usize {
        self.entries.iter().filter(|e| e.turn == Some(self.turn) && is_answer(e)).count()
    }

    /// The records in order.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = &Record> {
        self.entries.iter().map(|e| &e.record)
    }

    /// Every call's id, so that a new one can differ.
    pub fn call_ids(&self) -> HashSet<&str> {
        let calls = self.records().filter_map(|r| match r {
            Record::Answered { calls, .. } => Some(calls),
            _ => None,
        });
        calls.flatten().map(|c| c.id.as_str()).collect()
    }

    /// The place up to which a summary may reach, and what it would cover: all before the last
    /// exchange that does not belong to `keep`'s turn if that is not an exchange itself. None if
    /// nothing but a summary stands there.
    pub fn coverable(&self) -> Option<(Seq, &[Entry])> {
        let spared = self.entries.iter().rev().find(|e| matches!(e.record, Record::Said { .. }))?.turn;
        let first = self.entries.iter().position(|e| e.turn == spared && !is_summary(e))?;
        let before = &self.entries[..first];
        let fresh = before.iter().any(|e| matches!(e.record, Record::Said { .. } | Record::Answered { .. }));
        // A summary's own place is no measure: it stands first but was written last.
        let covers = before.iter().filter(|e| !is_summary(e)).map(|e| e.seq).max()?;
        fresh.then_some((covers, before))
    }
}

fn is_answer(entry: &Entry) -> bool {
    matches!(entry.record, Record::Answered { .. })
}
fn is_summary(entry: &Entry) -> bool {
    matches!(entry.record, Record::Summary { .. })
}
fn result_of(record: &Record) -> Option<&CallId> {
    match record {
        Record::Result { call, .. } => Some(call),
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use sb_harness::model::{MessageId, Principal, ToolClass, Usage};

    use super::*;

    pub fn said(text: &str) -> Record {
        Record::Said {
            message: MessageId(1),
            from: Principal("t".into()),
            text: text.into(),
            files: vec![],
            steered: false,
        }
    }
    pub fn call(id: &str, tool: &str) -> Call {
        Call {
            id: id.into(),
            tool: tool.into(),
            input: serde_json::json!({"path": id}),
            class: ToolClass::Read,
        }
    }
    pub fn answered(text: &str, calls: &[Call]) -> Record {
        Record::Answered {
            text: text.into(),
            calls: calls.to_vec(),
            model: "scripted".into(),
            kept: None,
            usage: Usage::default(),
            cut: false,
        }
    }
    pub fn result(id: &str, text: &str) -> Record {
        Record::Result { call: id.into(), ok: true, text: text.into(), files: vec![], outside: false }
    }
    /// A view of records, each with the turn it belongs to; the last one's turn is the one at work.
    pub fn view(records: &[(u64, Record)]) -> View {
        let entries = records.iter().enumerate().map(|(i, (turn, record))| Entry {
            seq: Seq(i as i64 + 1),
            at: Timestamp(0),
            turn: Some(TurnId(*turn)),
            record: record.clone(),
        });
        View::new(&entries.collect::<Vec<_>>(), TurnId(records.last().map_or(0, |r| r.0)))
    }

    #[test]
    fn the_model_is_asked_first_and_again_after_all_results() {
        let two = [call("a", "x"), call("b", "x")];
        let mut view = view(&[(1, said("hi"))]);
        assert_eq!(view.next_step(), Step::Ask);
        view.add(answered("", &two));
        assert_eq!(view.next_step(), Step::Handle(two[0].clone()));
        view.add(result("a", ""));
        assert_eq!(view.next_step(), Step::Handle(two[1].clone()));
        view.add(result("b", ""));
        assert_eq!(view.next_step(), Step::Ask);
        view.add(answered("done", &[]));
        assert_eq!(view.next_step(), Step::Done);
        view.add(said("one more thing"));
        assert_eq!(view.next_step(), Step::Ask);
    }

    #[test]
    fn a_call_that_had_begun_is_never_handed_out_again() {
        let mut view = view(&[(1, said("hi")), (1, answered("", &[call("a", "shell")]))]);
        view.add(Record::Acting { call: "a".into() });
        assert_eq!(view.next_step(), Step::Lost(call("a", "shell")));
    }

    #[test]
    fn what_earlier_turns_left_open_stays_open() {
        let view = view(&[(1, said("hi")), (1, answered("", &[call("a", "shell")])), (2, said("again"))]);
        assert_eq!(view.next_step(), Step::Ask);
    }

    #[test]
    fn an_id_used_before_does_not_count_as_done() {
        let again = [call("a", "x")];
        let view = view(&[
            (1, said("hi")),
            (1, answered("", &again)),
            (1, result("a", "")),
            (1, answered("", &again)),
        ]);
        assert_eq!(view.next_step(), Step::Handle(again[0].clone()));
    }

    #[test]
    fn a_summary_stands_first_and_covers_what_it_says() {
        let summary = Record::Summary { text: "before".into(), covers: Seq(2) };
        let mut view = view(&[
            (1, said("a")),
            (1, answered("b", &[])),
            (2, said("c")),
            (2, answered("d", &[])),
            (3, summary.clone()),
        ]);
        assert_eq!(view.records().cloned().collect::<Vec<_>>(), [summary, said("c"), answered("d", &[])]);
        view.turn = TurnId(4);
        view.add(said("e"));
        let (covers, before) = view.coverable().expect("c and d");
        assert_eq!((covers, before.len()), (Seq(4), 3));
    }

    #[test]
    fn the_last_exchange_is_spared() {
        assert!(view(&[(1, said("a")), (1, answered("b", &[]))]).coverable().is_none());
        let two = view(&[(1, said("a")), (1, answered("b", &[])), (2, said("c")), (2, answered("d", &[]))]);
        assert_eq!(two.coverable().map(|(covers, _)| covers), Some(Seq(2)));
        let summed = view(&[(1, Record::Summary { text: "x".into(), covers: Seq(0) }), (2, said("c"))]);
        assert!(summed.coverable().is_none());
    }
}

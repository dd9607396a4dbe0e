//! The view: what the agent remembers after `/undo` and `/compact`.

use sb_core::model::*;
use sb_core::view;

fn said(seq: i64, turn: u64, text: &str) -> Entry {
    let record = Record::Said {
        message: MessageId(seq),
        from: Principal("x".into()),
        text: text.into(),
        files: Vec::new(),
        steered: false,
    };
    Entry { seq: Seq(seq), at: Timestamp(0), turn: Some(TurnId(turn)), record }
}

fn entry(seq: i64, record: Record) -> Entry {
    Entry { seq: Seq(seq), at: Timestamp(0), turn: None, record }
}

fn shown(log: Vec<Entry>) -> Vec<String> {
    let word = |e: Entry| match e.record {
        Record::Said { text, .. } | Record::Summary { text, .. } => text,
        // Kept as a mark, for agents that have a memory of their own.
        Record::Undone { .. } => "(undone)".to_owned(),
        other => format!("{other:?}"),
    };
    view(log).into_iter().map(word).collect()
}

/// Holds: C-29.
#[test]
fn what_was_undone_is_not_remembered_and_stays_in_the_log() {
    let log =
        vec![said(1, 1, "a"), said(2, 2, "b"), entry(3, Record::Undone { turn: TurnId(2) }), said(4, 3, "c")];
    assert_eq!(shown(log), ["a", "(undone)", "c"]);
}

/// Holds: C-30.
#[test]
fn a_summary_stands_for_the_beginning() {
    let summary = Record::Summary { text: "so far".into(), covers: Seq(2) };
    let log = vec![said(1, 1, "a"), said(2, 2, "b"), said(3, 3, "c"), entry(4, summary), said(5, 4, "d")];
    assert_eq!(shown(log), ["so far", "c", "d"]);
}

#[test]
fn a_summary_that_covers_something_undone_gives_way_to_an_older_one() {
    let older = Record::Summary { text: "older".into(), covers: Seq(1) };
    let newer = Record::Summary { text: "newer".into(), covers: Seq(3) };
    let log = vec![
        said(1, 1, "a"),
        entry(2, older),
        said(3, 2, "b"),
        said(4, 3, "c"),
        entry(5, newer),
        entry(6, Record::Undone { turn: TurnId(3) }),
        entry(7, Record::Undone { turn: TurnId(2) }),
        said(8, 4, "d"),
    ];
    assert_eq!(shown(log), ["older", "(undone)", "(undone)", "d"]);
}

//! [`view`]: the log as the agent is to remember it.
//!
//! The log itself is never changed. `/undo` adds a record that its turn is forgotten, `/compact` one
//! that all up to a place is remembered as some words; the view is what is left.

use std::collections::HashSet;

use sb_model::{Entry, Record, TurnId};

/// The newest summary that covers nothing undone, then all that follows and is not undone, and that something was.
pub fn view(log: Vec<Entry>) -> Vec<Entry> {
    let undone: HashSet<TurnId> = log
        .iter()
        .filter_map(|e| match e.record {
            Record::Undone { turn } => Some(turn),
            _ => None,
        })
        .collect();
    let is_undone = |e: &Entry| e.turn.is_some_and(|t| undone.contains(&t));
    let oldest_undone = log.iter().filter(|e| is_undone(e)).map(|e| e.seq).min();
    let summary = log.iter().rev().find_map(|e| match e.record {
        Record::Summary { covers, .. } if oldest_undone.is_none_or(|o| o > covers) => Some((e.seq, covers)),
        _ => None,
    });
    let keep = |e: &Entry| match (&e.record, summary) {
        (Record::Summary { .. }, Some((at, _))) => e.seq == at,
        (Record::Summary { .. }, None) => false,
        (_, Some((_, covers))) => e.seq > covers && !is_undone(e),
        (_, None) => !is_undone(e),
    };
    let mut kept: Vec<Entry> = log.into_iter().filter(keep).collect();
    // The summary stands for what came first, wherever it was written.
    kept.sort_by_key(|e| (!matches!(e.record, Record::Summary { .. }), e.seq));
    kept
}

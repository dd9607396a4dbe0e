//! What the engine counts, under fixed names and with few labels; never by conversation, person or text.

use std::time::Duration;

use sb_core::model::{Change, EndKind};

/// How the turn that these changes end has ended, if they end one.
pub(crate) fn turn_end(record: &[Change]) -> Option<&'static str> {
    let ended = record.iter().find_map(|change| match change {
        Change::TurnEnded { turn, .. } => Some(*turn),
        _ => None,
    })?;
    let how = record.iter().find_map(|change| match change {
        Change::Ended { ending, .. } if ending.turn == Some(ended) => Some(ending.kind),
        _ => None,
    });
    Some(match how {
        Some(EndKind::Replied) => "replied",
        Some(EndKind::Failed) => "failed",
        Some(EndKind::Stopped) => "stopped",
        Some(EndKind::Silent) => "silent",
        _ => "other",
    })
}

/// A commit was made.
pub(crate) fn committed(took: Duration, turn_end: Option<&'static str>) {
    metrics::histogram!("switchboard_commit_seconds").record(took);
    if let Some(how) = turn_end {
        metrics::counter!("switchboard_turns_ended_total", "how" => how).increment(1);
    }
}

/// A turn worked so long, until it ended or until a person must decide.
pub(crate) fn worked(time: Duration) {
    metrics::histogram!("switchboard_turn_seconds").record(time);
}

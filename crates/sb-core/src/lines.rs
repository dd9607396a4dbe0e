//! The run as lines that people and scripts read: calls, results, words, and how it ended.
//!
//! A view over the log, so it says the same whenever it is asked for.

use sb_model::text::clip;
use sb_model::{EndKind, Ending, Entry, Record};

/// Visible characters of a result that a line shows.
const RESULT_SHOWN: usize = 400;

/// The lines of one answer: `entries` is its stretch of the log.
pub fn lines(entries: &[Entry], ending: &Ending) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in entries {
        match &entry.record {
            Record::Answered { text, calls: made, .. } => {
                if !text.trim().is_empty() {
                    lines.push(format!("agent: {}", text.trim()));
                }
                for call in made {
                    lines.push(format!("→ {}", call.shown()));
                    lines.extend(call.lines().map(|(_, text)| clip(text.trim_end(), RESULT_SHOWN)));
                }
            }
            Record::Asked { .. } => lines.push("← waiting for a person's approval".to_owned()),
            Record::Decided { call, by, allowed, why, .. } => {
                let what = call.shown();
                match allowed {
                    true => lines.push(format!("→ {what} (approved by {})", by.0)),
                    false => lines.push(format!("→ {what} (declined by {}{})", by.0, because(why))),
                }
            }
            Record::Result { ok, text, .. } => {
                let mark = if *ok { "←" } else { "← failed:" };
                lines.push(format!("{mark} {}", clip(text.trim(), RESULT_SHOWN)));
            }
            Record::Shared { file } => {
                lines.push(format!("file: {} ({}, {} bytes)", file.name, file.media_type, file.size))
            }
            Record::Summary { .. } => lines.push("summary: the beginning is kept as a summary".to_owned()),
            Record::Restarted { .. } => {
                lines.push("restarted: the turn was cut off and taken up again".to_owned())
            }
            Record::Noted { text, .. } => lines.push(format!("note: {text}")),
            Record::Said { steered: true, from, text, .. } => {
                lines.push(format!("{} (meanwhile): {text}", from.0))
            }
            Record::Said { .. }
            | Record::Acting { .. }
            | Record::Undone { .. }
            | Record::Opened { .. }
            | Record::Ended { .. } => {}
        }
    }
    lines.extend(closing(ending));
    lines
}

fn because(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {why}") }
}

/// The last line: how the session stands, and what to type if it waits.
fn closing(ending: &Ending) -> Option<String> {
    let session = ending.session?;
    ending.turn?;
    let how = match ending.kind {
        EndKind::Replied => "done".to_owned(),
        EndKind::Silent => "done, nothing said".to_owned(),
        EndKind::Failed => format!("failed: {}", ending.fault.as_ref().map_or("", |f| f.detail.as_str())),
        EndKind::Stopped => "stopped".to_owned(),
        EndKind::Dropped => "dropped".to_owned(),
        EndKind::Refused => "refused".to_owned(),
        EndKind::Waiting => {
            let request = ending.waiting.map(|r| r.short()).unwrap_or_default();
            return Some(format!(
                "session {session}: waiting for you (request {request}). Answer with /approve {request} or /decline {request} <why>, \
                 or with `switchboard continue {session} --approve` or `--decline <why>`."
            ));
        }
    };
    Some(format!("session {session}: {how}"))
}

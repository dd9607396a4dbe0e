//! What a turn says back, put together from its log, and our own sentences about it.
//!
//! A reply is derived, never kept twice: the answers of a stretch of the log, each a paragraph, with
//! the notices that belong to it.

use sb_model::text::{add_paragraph, clip};
use sb_model::{Attachment, Call, Entry, Pending, Record, Seq, TurnFault, TurnFaultKind};

/// Visible characters of a change that an answer shows while it waits.
const CHANGE_SHOWN: usize = 4_000;

/// One part of a reply with its place in the log.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Words(Seq, String),
    File(Seq, Attachment),
}

/// First words of a reply that was cut off by a restart and is given in full now.
pub(crate) const RESTARTED: &str = "I was restarted while I worked on this, so I took it up again.";

/// The piece a record adds to the reply, if any. Everything that is not an answer adds nothing:
/// reasoning, tool input and results never reach a reply.
pub(crate) fn piece(seq: Seq, record: &Record) -> Option<Piece> {
    match record {
        Record::Answered { text, .. } if !text.trim().is_empty() => Some(Piece::Words(seq, text.clone())),
        Record::Noted { text, told: true, .. } => Some(Piece::Words(seq, text.clone())),
        Record::Restarted { .. } => Some(Piece::Words(seq, RESTARTED.to_owned())),
        Record::Shared { file } => Some(Piece::File(seq, file.clone())),
        _ => None,
    }
}

/// The pieces of a turn, from its entries.
pub(crate) fn pieces(entries: &[Entry]) -> Vec<Piece> {
    entries.iter().filter_map(|e| piece(e.seq, &e.record)).collect()
}

/// The words from `from` on, each answer a paragraph; that we were restarted is said once, and first.
pub(crate) fn words(pieces: &[Piece], from: Seq) -> String {
    let words = || {
        pieces.iter().filter_map(|p| match p {
            Piece::Words(seq, text) if *seq >= from => Some(text.as_str()),
            _ => None,
        })
    };
    let mut reply = String::new();
    if words().any(|w| w == RESTARTED) {
        reply.push_str(RESTARTED);
    }
    words().filter(|w| *w != RESTARTED).for_each(|w| add_paragraph(&mut reply, w));
    reply
}

/// As [`words`], without that we were restarted.
pub(crate) fn words_but_restarted(pieces: &[Piece], from: Seq) -> String {
    let mut reply = String::new();
    for piece in pieces {
        match piece {
            Piece::Words(seq, text) if *seq >= from && text != RESTARTED => add_paragraph(&mut reply, text),
            _ => {}
        }
    }
    reply
}

/// The files from `from` on, in order.
pub(crate) fn files(pieces: &[Piece], from: Seq) -> Vec<Attachment> {
    let file = |p: &Piece| match p {
        Piece::File(seq, file) if *seq >= from => Some(file.clone()),
        _ => None,
    };
    pieces.iter().filter_map(file).collect()
}

/// The words of a reply from `from` on, as its stretch of the log has them.
pub fn said_from(entries: &[Entry], from: Seq) -> String {
    words(&pieces(entries), from)
}

/// What a person reads while a request waits: the call, why it is asked, and its id.
pub fn waiting_line(pending: &Pending) -> String {
    let ways = match pending.ways.allow.as_slice() {
        [] => String::new(),
        [only] => format!("; allowed, it means: {only}"),
        _ => format!("; in one of these ways: {}", pending.ways.listed()),
    };
    format!(
        "waiting for your approval: {} ({}; request {}{ways})",
        pending.call.shown(),
        pending.reason,
        pending.request.short()
    )
}

/// The change or the plan that a call is about, as people read it beside [`waiting_line`].
pub fn change_block(call: &Call) -> Option<String> {
    let (name, text) = call.lines()?;
    Some(fenced(sort(name), text, CHANGE_SHOWN).0)
}

/// A call in blocks: its fields, and a change or a plan as it is; and whether it was cut.
pub(crate) fn call_block(call: &Call, most: usize) -> (String, bool) {
    let fields = call.fields();
    let json = serde_json::to_string_pretty(&fields).unwrap_or_default();
    let Some((name, text)) = call.lines() else { return fenced("json", &json, most) };
    let (change, cut) = fenced(sort(name), text, most);
    match fields.as_object().is_some_and(|fields| fields.is_empty()) {
        true => (change, cut),
        false => {
            let (fields, fields_cut) = fenced("json", &json, most);
            (format!("{fields}\n{change}"), cut || fields_cut)
        }
    }
}

fn sort(field: &str) -> &'static str {
    if field == "plan" { "" } else { "diff" }
}

/// A text as a block that nothing in it can end, and whether it was cut.
fn fenced(sort: &str, text: &str, most: usize) -> (String, bool) {
    let text = text.trim_end();
    let shown = clip(text, most);
    let longest = shown.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    (format!("{fence}{sort}\n{shown}\n{fence}"), shown != text)
}

/// What a person reads when a turn failed: what failed, and what to do.
pub fn failure_card(fault: &TurnFault) -> String {
    let advice = match fault.kind {
        TurnFaultKind::Overloaded => "Send /retry in a moment, or pick another model with /model.",
        TurnFaultKind::RateLimited => "Send /retry later, or pick another model with /model.",
        TurnFaultKind::Credit => "The operator must top up the provider's account; then send /retry.",
        TurnFaultKind::Auth => "The operator must set a valid key for this provider; then send /retry.",
        TurnFaultKind::Network => {
            "Send /retry in a moment; if it stays so, the operator should check the address."
        }
        TurnFaultKind::Refused => "Pick another model with /model, or ask the operator to check the profile.",
        TurnFaultKind::ContextFull => "Shorten it with /compact, or begin anew with /new.",
        TurnFaultKind::Budget => "Ask for less at once, or ask the operator to raise it; /usage shows it.",
        TurnFaultKind::Deadline => "Send /retry, or ask for less at once.",
        TurnFaultKind::Crashed => "Send /retry to try again.",
        TurnFaultKind::NodeOffline => {
            "Send /retry once that machine is back; if it stays so, the operator should check its address."
        }
        TurnFaultKind::Internal => "The server's log says more.",
    };
    let wait = match fault.wait_ms {
        Some(ms) => format!(" It asks to wait {} s.", ms.div_ceil(1000)),
        None => String::new(),
    };
    format!("⚠️ {}{wait} {advice}", sentence(&fault.detail))
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    match text.ends_with(['.', '!', '?']) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

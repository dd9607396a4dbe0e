//! What follows from a try to send: the one table that acts on what a messenger's failures mean.

use sb_model::{Fault, FaultKind, Timestamp};

/// Waits between the first tries, in milliseconds.
const QUICK: [i64; 2] = [500, 1_000];
/// After them it is tried again this often.
const SLOW_MS: i64 = 5_000;
/// Where our own credentials fail.
const NO_CREDENTIALS_MS: i64 = 60_000;

/// What happens when the same piece is sent twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Twice {
    /// The second is dropped, or the first can be found.
    Harmless,
    /// People see both.
    Seen,
}

/// One failed try.
#[derive(Debug, Clone, Copy)]
pub struct Try {
    /// Tries of this piece so far, this one included.
    pub tries: u32,
    /// It changed a message that is there, so repeating it is harmless.
    pub is_edit: bool,
    /// Its formatting was left out already.
    pub plain: bool,
    /// Its thread was left out already.
    pub threadless: bool,
    pub twice: Twice,
    /// An earlier try may have come through too.
    pub maybe_before: bool,
}

/// What to do next with the piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// The same again, not before then.
    Again { at: Timestamp },
    /// The same words without formatting, at once.
    Plain,
    /// What it should have changed is gone: as a message of its own, at once.
    Fresh,
    /// Its thread is gone: into the chat itself, at once.
    WithoutThread,
    /// It will never go.
    Refused,
    /// It was sent twice into silence: perhaps it is there. Not again by itself.
    Perhaps,
    /// The chat cannot be reached until it speaks again.
    Gone,
    /// The chat has this id now: again, at once.
    Moved { to: String },
    /// Its handle is used up: another way, or with the next message's.
    Expired,
}

/// What follows from this failure.
pub fn next(fault: &Fault, of: Try, now: Timestamp) -> Next {
    let unknown = fault.maybe_done && !of.is_edit && of.twice == Twice::Seen;
    match &fault.kind {
        FaultKind::Passing { .. } | FaultKind::ChatBusy { .. } | FaultKind::Garbled if unknown => {
            if of.maybe_before { Next::Perhaps } else { again(asked(&fault.kind), of.tries, now) }
        }
        FaultKind::Passing { wait_ms } | FaultKind::ChatBusy { wait_ms } => again(*wait_ms, of.tries, now),
        FaultKind::Auth => Next::Again { at: now.plus_ms(NO_CREDENTIALS_MS) },
        FaultKind::Format if !of.plain => Next::Plain,
        FaultKind::Lost if of.is_edit => Next::Fresh,
        FaultKind::Lost if !of.threadless => Next::WithoutThread,
        FaultKind::Moved { to } => Next::Moved { to: to.clone() },
        FaultKind::ChatGone => Next::Gone,
        FaultKind::Expired => Next::Expired,
        // A platform that changed nothing since has its way of saying so; what cannot be edited is said anew.
        FaultKind::Unsupported | FaultKind::Refused if of.is_edit => Next::Fresh,
        FaultKind::Refused
        | FaultKind::Format
        | FaultKind::Lost
        | FaultKind::Unsupported
        | FaultKind::Garbled => Next::Refused,
    }
}

/// Whether a failure says something about the whole account.
pub fn is_of_account(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::Passing { .. } | FaultKind::Auth)
}

fn again(asked: Option<u64>, tries: u32, now: Timestamp) -> Next {
    let usual = QUICK.get(tries.saturating_sub(1) as usize).copied().unwrap_or(SLOW_MS);
    let asked = asked.map_or(0, |ms| i64::try_from(ms).unwrap_or(i64::MAX));
    Next::Again { at: now.plus_ms(usual.max(asked)) }
}

/// How long the other side, or the adapter that may yet hear what came of it, asks to wait.
fn asked(kind: &FaultKind) -> Option<u64> {
    match kind {
        FaultKind::Passing { wait_ms } | FaultKind::ChatBusy { wait_ms } => *wait_ms,
        _ => None,
    }
}

//! What WhatsApp's refusals mean, by their codes: the same ones refuse a request and, later, tell that a
//! message came to nothing. A code that is not known keeps the kind its status has.

use sb_channel::model::{Fault, FaultKind};
use serde::Deserialize;
use serde_json::Value;

use super::wire::Refusal;

const SECOND: u64 = 1_000;
/// What one person gets too fast: about one message in six seconds is taken on average, after short bursts.
const PAIR_WAIT_MS: u64 = 6 * SECOND;
/// What a limit of calls or of messages asks for, where it does not say.
const LIMIT_WAIT_MS: u64 = 10 * SECOND;
/// What a limit for quality or for spam asks for.
const SPAM_WAIT_MS: u64 = 60 * 60 * SECOND;
/// How long the outcome of a send whose answer was lost is waited for: a status that carries its key proves that
/// it was taken.
const UNKNOWN_WAIT_MS: u64 = 60 * SECOND;
/// Where no reason is given.
const UNSAID: &str = "WhatsApp did not take it and does not say why";

/// A refusal's kind by its code; none if the code says nothing that is known.
pub(super) fn kind(code: i64) -> Option<FaultKind> {
    let passing = |ms| FaultKind::Passing { wait_ms: ms };
    Some(match code {
        1 | 2 | 131_000 | 131_016 | 131_057 => passing(None),
        4 | 80_007 | 130_429 => passing(Some(LIMIT_WAIT_MS)),
        131_048 | 131_064 => passing(Some(SPAM_WAIT_MS)),
        131_056 => FaultKind::ChatBusy { wait_ms: Some(PAIR_WAIT_MS) },
        0 | 3 | 10 | 190 | 200..=299 | 368 | 131_005 | 131_031 | 131_042 | 131_045 => FaultKind::Auth,
        131_026 => FaultKind::ChatGone,
        131_047 => FaultKind::Expired,
        100
        | 131_008
        | 131_009
        | 131_021
        | 131_030
        | 131_049..=131_053
        | 131_062
        | 137_000 => FaultKind::Refused,
        _ => return None,
    })
}

/// What the operator, or the person, can do about it.
fn advice(code: i64) -> Option<&'static str> {
    Some(match code {
        0 | 190 => "the access token is not taken; make one that does not expire for a system user and set `token` again",
        3 | 10 | 200..=299 | 131_005 => {
            "the token's user may not do this; give it whatsapp_business_messaging and whatsapp_business_management"
        }
        368 | 131_031 => "Meta has locked the account; see the business manager's account quality page",
        131_042 => "Meta wants a payment method on the account",
        131_045 => "the phone number is not registered with the Cloud API",
        131_026 => "WhatsApp cannot reach this person: no such account, or one that takes nothing from businesses",
        131_030 => "a test number writes only to numbers on its list of recipients",
        131_047 => "more than 24 hours have passed since this person last wrote, so nothing but a template is taken",
        131_049 | 131_050 => "this person gets no more of such messages",
        131_052 => "WhatsApp does not have this file any more",
        131_053 => "WhatsApp does not take this file",
        _ => return None,
    })
}

/// Sharpens the fault of a refused request by what its body says.
pub(super) fn meaning(body: &Value, mut fault: Fault) -> Fault {
    let refusal = body.get("error").and_then(|error| Refusal::deserialize(error).ok());
    let Some(refusal) = refusal else { return fault };
    let asked = match fault.kind {
        FaultKind::Passing { wait_ms } => wait_ms,
        _ => None,
    };
    if let Some(kind) = refusal.code.and_then(kind) {
        fault.kind = match kind {
            FaultKind::Passing { wait_ms } => FaultKind::Passing { wait_ms: asked.or(wait_ms) },
            FaultKind::ChatBusy { wait_ms } => FaultKind::ChatBusy { wait_ms: asked.or(wait_ms) },
            other => other,
        };
        // It was judged, and not acted on.
        fault.maybe_done = false;
    }
    fault.detail = said(&refusal);
    fault
}

/// The fault of a message that was taken and came to nothing.
pub(super) fn told_later(refusal: Option<&Refusal>) -> Fault {
    let kind = refusal.and_then(|refusal| kind(refusal.code?)).unwrap_or(FaultKind::Refused);
    let said = refusal.map_or_else(|| UNSAID.to_owned(), said);
    Fault::new(kind, "sending by WhatsApp", said)
}

/// A send whose outcome nobody knows is left alone for a while: it may be told.
pub(super) fn of_send(mut fault: Fault) -> Fault {
    if let FaultKind::Passing { wait_ms } = &mut fault.kind
        && fault.maybe_done
    {
        *wait_ms = (*wait_ms).max(Some(UNKNOWN_WAIT_MS));
    }
    fault
}

/// Something that is known before anything is sent.
pub(super) fn refused(detail: impl Into<String>) -> Fault {
    Fault::new(FaultKind::Refused, "asking WhatsApp", detail)
}

fn said(refusal: &Refusal) -> String {
    let own = refusal.code.and_then(advice).map(str::to_owned);
    let theirs = || refusal.error_data.details.clone().or(refusal.title.clone()).or(refusal.message.clone());
    let words = own.or_else(theirs).unwrap_or_else(|| UNSAID.to_owned());
    let code = refusal.code.map(|code| format!("code {code}"));
    let trace = refusal.fbtrace_id.as_ref().map(|id| format!("trace {id}"));
    let marks: Vec<String> = code.into_iter().chain(trace).collect();
    if marks.is_empty() { words } else { format!("{words} ({})", marks.join(", ")) }
}

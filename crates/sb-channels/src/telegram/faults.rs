//! What Telegram's refusals mean, by what they say.
//!
//! The status tells little here (400 is anything), so the description is looked at. Its words are not
//! promised to stay; what is unknown keeps the kind that its status has.

use sb_channel::model::{Fault, FaultKind};
use sb_channel::net::Reply;
use serde::Deserialize;

/// What a call was about: a chat that is busy says nothing about the rest of the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    Account,
    Chat,
}

/// The body of a refusal.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Refusal {
    description: String,
    parameters: Parameters,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Parameters {
    retry_after: Option<u64>,
    migrate_to_chat_id: Option<i64>,
}

/// What to do where the token is not taken.
pub(super) const GET_A_TOKEN: &str = "Telegram does not take this token; get the bot's token from @BotFather (/mybots, API Token) and set it again";
/// Another program reads the same bot's updates.
const ANOTHER_POLLS: &str =
    "another program, or another copy of this one, receives this bot's updates; only one can";
/// How long to leave the other one alone, in milliseconds.
const CONFLICT_WAIT_MS: u64 = 5_000;
/// Nobody is told to wait longer than a day, in seconds.
const LONGEST_WAIT_S: u64 = 24 * 60 * 60;

const CHAT_GONE: [&str; 11] = [
    "bot was blocked by the user",
    "user is deactivated",
    "bot was kicked from",
    "bot is not a member of",
    "chat was deleted",
    "bot can't initiate conversation",
    "bot can't send messages to bots",
    "chat not found",
    "peer_id_invalid",
    "chat is deactivated",
    "user not found",
];
const THREAD_GONE: [&str; 3] = ["message thread not found", "topic_closed", "topic_deleted"];
const MESSAGE_GONE: [&str; 5] = [
    "message to edit not found",
    "message can't be edited",
    "message to react not found",
    "message to be replied not found",
    "message_id_invalid",
];
const BAD_FORMAT: [&str; 5] = [
    "can't parse entities",
    "can't parse messageentity",
    "entity_bounds_invalid",
    "of a utf-16 symbol",
    "entity beginning at utf-16 offset",
];

/// The fault of an answer that is no success.
pub(super) fn of(reply: &Reply, about: About) -> Fault {
    let refusal: Refusal = serde_json::from_slice(&reply.body).unwrap_or_default();
    let mut fault = reply.fault();
    let said = refusal.description.to_lowercase();
    let says = |known: &[&str]| known.iter().any(|words| said.contains(words));
    if let Some(to) = refusal.parameters.migrate_to_chat_id {
        fault.kind = FaultKind::Moved { to: to.to_string() };
        return fault;
    }
    fault.kind = match reply.status {
        401 => {
            GET_A_TOKEN.clone_into(&mut fault.detail);
            FaultKind::Auth
        }
        // The address of a call holds method and token, so this is one of the two; `check` tells which.
        404 => FaultKind::Unsupported,
        409 => {
            ANOTHER_POLLS.clone_into(&mut fault.detail);
            FaultKind::Passing { wait_ms: Some(CONFLICT_WAIT_MS) }
        }
        429 => busy(about, refusal.parameters.retry_after),
        400 | 403 if says(&CHAT_GONE) => FaultKind::ChatGone,
        400 if says(&THREAD_GONE) || says(&MESSAGE_GONE) => FaultKind::Lost,
        400 if says(&BAD_FORMAT) => FaultKind::Format,
        // Muted, too long, too large, and whatever else: this very thing will never be taken.
        400 | 403 | 413 => FaultKind::Refused,
        _ => return fault,
    };
    fault
}

fn busy(about: About, seconds: Option<u64>) -> FaultKind {
    let wait_ms = seconds.map(|seconds| seconds.min(LONGEST_WAIT_S) * 1000);
    match about {
        About::Account => FaultKind::Passing { wait_ms },
        About::Chat => FaultKind::ChatBusy { wait_ms },
    }
}

/// Whether a refusal says one of these, in lower case.
pub(super) fn says(fault: &Fault, known: &[&str]) -> bool {
    let said = fault.detail.to_lowercase();
    known.iter().any(|words| said.contains(words))
}

/// Something of ours that cannot be sent as it is.
pub(super) fn refused(detail: &str) -> Fault {
    local(FaultKind::Refused, detail)
}

/// A fault that is known before anything is sent.
pub(super) fn local(kind: FaultKind, detail: &str) -> Fault {
    Fault::new(kind, "asking Telegram", detail)
}

//! What Discord's refusals mean, by their code.
//!
//! The status tells little (403 is anything), so the code in the body is looked at. What is unknown keeps the kind
//! that its status has, but for 403, which is never about our credentials here.

use sb_channel::model::{Fault, FaultKind};
use sb_channel::net::Reply;
use serde_json::Value;

use super::limits::milliseconds;

/// What a request was about: a chat that is busy or gone says nothing about the rest of the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    Account,
    Chat { thread: bool },
}

/// What to do where the token is not taken.
pub(super) const GET_A_TOKEN: &str = "Discord does not take this token; get a new one in the Developer Portal (your application, Bot, Reset Token) and set it again";
const TOO_BIG: &str = "Discord does not take a file this large here";

/// The fault of an answer that is no success.
pub(super) fn of(reply: &Reply, about: About) -> Fault {
    let said: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let mut fault = reply.fault();
    let code = said["code"].as_u64().unwrap_or_default();
    if code != 0 {
        fault.detail = format!("{} (code {code})", fault.detail);
    }
    if let (FaultKind::Passing { wait_ms }, Some(seconds)) = (&mut fault.kind, said["retry_after"].as_f64()) {
        *wait_ms = Some(milliseconds(seconds));
    }
    let thread = about == About::Chat { thread: true };
    fault.kind = match (reply.status, code) {
        (401, _) | (_, 50_014) => {
            GET_A_TOKEN.clone_into(&mut fault.detail);
            FaultKind::Auth
        }
        // Overloaded, too fast for a new server, slow mode, a write limit.
        (_, 130_000 | 40_062 | 20_016 | 20_028) => match fault.kind {
            FaultKind::Passing { wait_ms } => FaultKind::ChatBusy { wait_ms },
            _ => FaultKind::ChatBusy { wait_ms: None },
        },
        // Too old to be changed that often, whatever status it comes with.
        (_, 30_046) => FaultKind::Lost,
        (429, _) if about != About::Account && said["global"] == false => return fault.of_chat(),
        (429 | 500.., _) => return fault,
        // The thread is gone or locked: its channel is still there.
        (_, 10_003 | 160_005) if thread => FaultKind::Lost,
        (_, 10_003 | 10_004 | 10_013 | 40_007 | 40_058) => FaultKind::ChatGone,
        (_, 50_001 | 50_007 | 50_008 | 50_013 | 50_024 | 50_278 | 160_005) => FaultKind::ChatGone,
        // A message or a mark that is gone, or a message in a thread that rests until somebody writes there.
        (_, 10_008 | 10_014 | 50_083) => FaultKind::Lost,
        // An interaction that is too old, or was answered before.
        (_, 10_062 | 40_060) => FaultKind::Expired,
        (_, 40_005 | 50_045) | (413, _) => {
            TOO_BIG.clone_into(&mut fault.detail);
            FaultKind::Refused
        }
        (_, 50_035) => match said["errors"].get("content") {
            // Its words without marks are never longer than with them.
            Some(_) => FaultKind::Format,
            None => {
                fault.detail = format!("{}: {}", fault.detail, field(&said["errors"]));
                FaultKind::Refused
            }
        },
        (403..=405, _) => FaultKind::Refused,
        _ => return fault,
    };
    fault
}

/// The first field that a refused body is wrong in.
fn field(errors: &Value) -> String {
    let mut path = Vec::new();
    let mut at = errors;
    while let Some((name, below)) = at.as_object().and_then(|below| below.iter().next()) {
        if name == "_errors" {
            break;
        }
        path.push(name.as_str());
        at = below;
    }
    path.join(".")
}

/// Something of ours that cannot be sent as it is.
pub(super) fn refused(detail: &str) -> Fault {
    local(FaultKind::Refused, detail)
}

/// A fault that is known before anything is sent.
pub(super) fn local(kind: FaultKind, detail: &str) -> Fault {
    Fault::new(kind, "asking Discord", detail)
}

//! What both dialects' stream readers have in common.

use sb_harness::model::{Fault, FaultKind, Usage};
use sb_harness::net::redact;
use sb_wire::sse::Event;
use serde_json::Value;

use crate::answer::{Answer, Piece};

/// Reads one answer off a stream of events. Pure.
pub(crate) trait Reader: Send {
    /// Takes one event and gives what there is to show.
    ///
    /// # Errors
    /// If the provider says that it failed, or what it says cannot be read.
    fn take(&mut self, event: &Event) -> Result<Vec<Piece>, Fault>;
    /// A whole answer in one document, from servers that do not stream.
    fn take_whole(&mut self, document: &Value) -> Result<Vec<Piece>, Fault>;
    /// Whether the answer is known to be over.
    fn is_over(&self) -> bool;
    /// The answer, once the stream has ended.
    ///
    /// # Errors
    /// If the stream ended before the answer did.
    fn finish(&mut self) -> Result<Answer, Fault>;
    /// What was used so far, as far as it was told.
    fn usage(&self) -> Usage;
}

/// A failure told inside a stream: its type or code decides how it is treated, as a status would.
pub(crate) fn stream_fault(kind: &str, message: &str) -> Fault {
    let (kind_of, status) = match kind {
        "overloaded_error" => (FaultKind::Passing { wait_ms: None }, 529),
        "rate_limit_error" | "rate_limit_exceeded" | "429" => (FaultKind::Passing { wait_ms: None }, 429),
        "authentication_error" | "permission_error" | "invalid_api_key" | "401" | "403" => {
            (FaultKind::Auth, 401)
        }
        "billing_error" | "insufficient_quota" | "402" => (FaultKind::Refused, 402),
        "invalid_request_error" | "not_found_error" | "context_length_exceeded" | "400" => {
            (FaultKind::Refused, 400)
        }
        _ => (FaultKind::Passing { wait_ms: None }, 500),
    };
    let marked = if kind.is_empty() { message.to_owned() } else { format!("{message} ({kind})") };
    Fault {
        kind: kind_of,
        doing: "reading the answer".to_owned(),
        detail: format!("its answer failed: {}", redact(&marked, &[])),
        maybe_done: true,
        status: Some(status),
    }
}

/// An answer that cannot be read; `why` holds nothing of it that could be secret.
pub(crate) fn garbled(why: &str) -> Fault {
    Fault {
        kind: FaultKind::Garbled,
        doing: "reading the answer".to_owned(),
        detail: why.to_owned(),
        maybe_done: true,
        status: None,
    }
}

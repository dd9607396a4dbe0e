//! What to do about a failed attempt, and what a person is told failed.
//!
//! Pure: the kind of failure is read off the fault (status, and what providers write about full
//! contexts and empty accounts).

use sb_harness::model::{Fault, FaultKind, ModelRef, TurnFault, TurnFaultKind};

/// How often one model is asked again before the next one is.
pub(crate) const RETRIES: u32 = 2;
/// A wait longer than this is not sat out; the next model is asked, or the person told.
const LONGEST_WAIT_MS: u64 = 30_000;
/// The first wait, doubled each time.
const FIRST_WAIT_MS: u64 = 500;
/// Where doubling ends.
const DOUBLED_MOST_MS: u64 = 8_000;

/// What may be done about a failed attempt that showed nothing yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Ask the same model again after so many milliseconds, then the next one.
    Again { wait_ms: u64 },
    /// Ask the next model.
    Next,
    /// Shorten the conversation, then ask again.
    Shorten,
    /// Nothing.
    Tell,
}

/// What kind of failure this is for the person.
pub(crate) fn kind_of(fault: &Fault) -> TurnFaultKind {
    let said = fault.detail.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|w| said.contains(w));
    let no_money =
        has(&["insufficient_quota", "credit balance", "billing_error", "exceeded your current quota"]);
    match (&fault.kind, fault.status) {
        (FaultKind::Auth, _) => TurnFaultKind::Auth,
        (_, Some(402)) => TurnFaultKind::Credit,
        (_, Some(400 | 429)) if no_money => TurnFaultKind::Credit,
        (_, Some(413)) => TurnFaultKind::ContextFull,
        (FaultKind::Refused, Some(400)) if has(&CONTEXT_FULL) => TurnFaultKind::ContextFull,
        (_, Some(429)) => TurnFaultKind::RateLimited,
        (_, Some(408 | 409 | 500..)) => TurnFaultKind::Overloaded,
        (FaultKind::Refused, _) => TurnFaultKind::Refused,
        _ => TurnFaultKind::Network,
    }
}

/// How providers say that a conversation no longer fits.
const CONTEXT_FULL: [&str; 8] = [
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "exceed_context_size",
];

/// What to do after attempt number `tries` (0 is the first). `jitter` is any number; a wait longer than
/// `patience_ms` is not sat out.
pub(crate) fn remedy(fault: &Fault, tries: u32, jitter: u64, patience_ms: u64) -> Remedy {
    match (kind_of(fault), &fault.kind) {
        (TurnFaultKind::Auth | TurnFaultKind::Refused, _) => Remedy::Tell,
        (TurnFaultKind::ContextFull, _) => Remedy::Shorten,
        (TurnFaultKind::Credit, _) => Remedy::Next,
        (_, FaultKind::Passing { wait_ms: Some(wait) }) if *wait > patience_ms.min(LONGEST_WAIT_MS) => {
            Remedy::Next
        }
        (_, FaultKind::Passing { wait_ms }) if tries < RETRIES => {
            let doubled = (FIRST_WAIT_MS << tries).min(DOUBLED_MOST_MS);
            Remedy::Again { wait_ms: wait_ms.unwrap_or(doubled - jitter % (doubled / 4 + 1)) }
        }
        (_, FaultKind::Garbled) if tries < RETRIES => Remedy::Again { wait_ms: FIRST_WAIT_MS << tries },
        _ => Remedy::Next,
    }
}

/// What failed, in words for the person; what to do about it is the engine's to say, by the kind.
pub(crate) fn told(model: &ModelRef, fault: &Fault) -> TurnFault {
    let kind = kind_of(fault);
    let wait_ms = match fault.kind {
        FaultKind::Passing { wait_ms } => wait_ms,
        _ => None,
    };
    let what = match kind {
        TurnFaultKind::Overloaded => "is overloaded or failing",
        TurnFaultKind::RateLimited => "is asked too often",
        TurnFaultKind::Credit => "has no credit left",
        TurnFaultKind::Auth => "does not take our key",
        TurnFaultKind::Network => "could not be asked",
        TurnFaultKind::ContextFull => "cannot hold this conversation any more",
        _ => "refused the request",
    };
    TurnFault { kind, detail: format!("The model {model} {what} ({})", fault.detail), wait_ms }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(kind: FaultKind, status: Option<u16>, detail: &str) -> Fault {
        Fault { kind, doing: "asking x".into(), detail: detail.into(), maybe_done: false, status }
    }
    const PASSING: FaultKind = FaultKind::Passing { wait_ms: None };

    #[test]
    fn each_failure_has_its_kind() {
        let cases = [
            (PASSING, Some(529), "", TurnFaultKind::Overloaded),
            (FaultKind::Refused, Some(503), "told not to try again", TurnFaultKind::Overloaded),
            (PASSING, Some(429), "", TurnFaultKind::RateLimited),
            (PASSING, Some(429), "no (insufficient_quota)", TurnFaultKind::Credit),
            (FaultKind::Refused, Some(402), "", TurnFaultKind::Credit),
            (FaultKind::Auth, Some(401), "", TurnFaultKind::Auth),
            (PASSING, None, "broke off", TurnFaultKind::Network),
            (FaultKind::Garbled, None, "", TurnFaultKind::Network),
            (FaultKind::Refused, Some(404), "", TurnFaultKind::Refused),
            (FaultKind::Refused, Some(400), "prompt is too long: 9 > 8", TurnFaultKind::ContextFull),
            (FaultKind::Refused, Some(413), "", TurnFaultKind::ContextFull),
        ];
        for (kind, status, detail, expected) in cases {
            assert_eq!(kind_of(&fault(kind, status, detail)), expected, "{status:?} {detail}");
        }
    }

    #[test]
    fn waits_double_and_a_wait_asked_for_is_obeyed() {
        let busy = fault(PASSING, Some(529), "");
        assert_eq!(remedy(&busy, 0, 0, 60_000), Remedy::Again { wait_ms: 500 });
        assert_eq!(remedy(&busy, 1, 0, 60_000), Remedy::Again { wait_ms: 1000 });
        assert_eq!(remedy(&busy, 2, 0, 60_000), Remedy::Next);
        let asked = |ms| fault(FaultKind::Passing { wait_ms: Some(ms) }, Some(429), "");
        assert_eq!(remedy(&asked(7), 0, 99, 60_000), Remedy::Again { wait_ms: 7 });
        assert_eq!(remedy(&asked(3_600_000), 0, 0, 60_000), Remedy::Next);
        assert_eq!(super::remedy(&asked(6_000), 0, 0, 5_000), Remedy::Next, "longer than the turn has");
        for jitter in 0..1000 {
            let Remedy::Again { wait_ms } = remedy(&busy, 0, jitter, 60_000) else { panic!("tries again") };
            assert!((375..=500).contains(&wait_ms), "{wait_ms}");
        }
    }

    #[test]
    fn what_will_not_pass_is_told_at_once() {
        assert_eq!(remedy(&fault(FaultKind::Auth, Some(401), ""), 0, 0, 60_000), Remedy::Tell);
        assert_eq!(remedy(&fault(FaultKind::Refused, Some(404), ""), 0, 0, 60_000), Remedy::Tell);
        let said = told(
            &"openai:gpt-6".parse().expect("a model"),
            &fault(FaultKind::Auth, Some(401), "h answered 401"),
        );
        assert_eq!(said.detail, "The model openai:gpt-6 does not take our key (h answered 401)");
    }
}

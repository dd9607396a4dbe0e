//! What failed, told to the person: the agent's own words, and what is to be done.

use sb_harness::model::text::one_line;
use sb_harness::model::{Fault, FaultKind, TurnFault, TurnFaultKind};
use sb_wire::a2a::Code;
use sb_wire::jsonrpc::{Failure, INTERNAL};

/// Characters of the other side's words that are told.
const MOST_SAID: usize = 600;

/// Why something asked of an agent was not done.
#[derive(Debug, Clone)]
pub(super) enum Trouble {
    /// No answer, or one that cannot be read.
    Fault(Fault),
    /// It says no.
    Failed(Failure),
    /// We do not ask this at all; in words for the person.
    Unasked(String),
}

impl Trouble {
    /// It says that what was named is not there, or takes no more: nothing was done.
    pub fn is_gone(&self) -> bool {
        let Trouble::Failed(failure) = self else { return false };
        matches!(Code::of(failure.code), Some(Code::TaskNotFound | Code::UnsupportedOperation))
            || failure.code == sb_wire::jsonrpc::BAD_PARAMS
    }

    /// It certainly never arrived, and may the next time.
    pub fn never_arrived(&self) -> bool {
        let Trouble::Fault(fault) = self else { return false };
        let passes = matches!(fault.kind, FaultKind::Passing { wait_ms: None | Some(..=5_000) });
        passes && !fault.maybe_done && matches!(fault.status, None | Some(429 | 503))
    }

    /// For the person. `agent`: as it is called; `keyed`: it was shown a key.
    pub fn told(&self, agent: &str, keyed: bool) -> TurnFault {
        match self {
            Trouble::Unasked(why) => TurnFault::new(TurnFaultKind::Refused, why.clone()),
            Trouble::Failed(failure) => refused(agent, failure),
            Trouble::Fault(fault) => unanswered(agent, fault, keyed),
        }
    }
}

fn refused(agent: &str, failure: &Failure) -> TurnFault {
    let said = one_line(&failure.message, MOST_SAID);
    let (kind, what) = match Code::of(failure.code) {
        Some(Code::ContentTypeNotSupported) => (TurnFaultKind::Refused, "takes no such file"),
        Some(Code::ExtensionRequired) => {
            (TurnFaultKind::Refused, "wants an extension that is not spoken here")
        }
        Some(Code::VersionNotSupported) => {
            (TurnFaultKind::Refused, "speaks another version than its card says")
        }
        Some(Code::TaskNotFound) => (TurnFaultKind::Crashed, "no longer knows the task it was given"),
        Some(_) => (TurnFaultKind::Refused, "refused the message"),
        None if failure.code == INTERNAL => (TurnFaultKind::Crashed, "failed inside"),
        None => (TurnFaultKind::Refused, "refused the message"),
    };
    TurnFault::new(kind, format!("{agent} {what} ({said}, {})", failure.code))
}

fn unanswered(agent: &str, fault: &Fault, keyed: bool) -> TurnFault {
    let wait_ms = match fault.kind {
        FaultKind::Passing { wait_ms } => wait_ms,
        _ => None,
    };
    let (kind, what) = match (&fault.kind, fault.status) {
        (FaultKind::Auth, _) if keyed => (TurnFaultKind::Auth, "does not take our key"),
        (FaultKind::Auth, _) => (
            TurnFaultKind::Auth,
            "wants a key: give the profile one with `switchboard profile set --api-key-stdin`",
        ),
        (_, Some(429)) => (TurnFaultKind::RateLimited, "is asked too often"),
        (_, Some(300..=399)) => {
            (TurnFaultKind::Refused, "sends us elsewhere, which is not followed: name the address it is at")
        }
        (_, Some(408 | 409 | 500..)) => (TurnFaultKind::Overloaded, "is overloaded or failing"),
        (FaultKind::Refused, _) => (TurnFaultKind::Refused, "refused the request"),
        (FaultKind::Garbled, _) => (TurnFaultKind::Crashed, "answers what cannot be read"),
        _ => (TurnFaultKind::NodeOffline, "could not be asked"),
    };
    TurnFault { kind, detail: format!("{agent} {what} ({})", fault.detail), wait_ms }
}

/// Something it said that no agent says.
pub(super) fn garbled(why: &str) -> Trouble {
    Trouble::Fault(Fault {
        kind: FaultKind::Garbled,
        doing: "reading the answer".to_owned(),
        detail: why.to_owned(),
        maybe_done: true,
        status: None,
    })
}

/// The agent's words about how its task ended.
pub(super) fn ended(agent: &str, what: &str, said: &str, kind: TurnFaultKind) -> TurnFault {
    let said = one_line(said, MOST_SAID);
    TurnFault::new(
        kind,
        if said.is_empty() { format!("{agent} {what}") } else { format!("{agent} {what}: {said}") },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(kind: FaultKind, status: Option<u16>, maybe_done: bool) -> Trouble {
        Trouble::Fault(Fault { kind, doing: "d".into(), detail: "h said no".into(), maybe_done, status })
    }
    const PASSING: FaultKind = FaultKind::Passing { wait_ms: None };

    #[test]
    fn each_failure_has_its_kind_and_the_agents_own_words() {
        for (trouble, kind, part) in [
            (fault(FaultKind::Auth, Some(401), false), TurnFaultKind::Auth, "wants a key"),
            (fault(PASSING, Some(429), false), TurnFaultKind::RateLimited, "too often"),
            (fault(PASSING, Some(503), false), TurnFaultKind::Overloaded, "overloaded"),
            (fault(FaultKind::Refused, Some(307), false), TurnFaultKind::Refused, "elsewhere"),
            (fault(FaultKind::Refused, Some(404), false), TurnFaultKind::Refused, "h said no"),
            (fault(PASSING, None, true), TurnFaultKind::NodeOffline, "could not be asked"),
            (garbled("x"), TurnFaultKind::Crashed, "cannot be read"),
            (Trouble::Failed(Failure::new(-32603, "boom")), TurnFaultKind::Crashed, "boom"),
            (
                Trouble::Failed(Failure::new(-32005, "no pictures")),
                TurnFaultKind::Refused,
                "no such file (no pictures",
            ),
        ] {
            let told = trouble.told("peer", false);
            assert_eq!(told.kind, kind, "{told}");
            assert!(told.detail.contains(part), "{told}");
        }
        assert!(fault(FaultKind::Auth, Some(401), false).told("peer", true).detail.contains("our key"));
    }

    #[test]
    fn only_what_certainly_never_arrived_is_sent_again() {
        assert!(
            fault(PASSING, None, false).never_arrived() && fault(PASSING, Some(503), false).never_arrived()
        );
        assert!(
            !fault(PASSING, None, true).never_arrived() && !fault(PASSING, Some(500), false).never_arrived()
        );
        assert!(!fault(FaultKind::Refused, Some(404), false).never_arrived());
        assert!(Trouble::Failed(Failure::new(-32001, "")).is_gone());
        assert!(!Trouble::Failed(Failure::new(-32603, "")).is_gone() && !garbled("").is_gone());
    }
}

//! How an answer reads in an app: its words, what its reader must know besides, why it ends, its tokens.
//!
//! The same whether it is streamed, whole, or asked for again. A failed turn and a message that may not be
//! are errors; what a command says is an answer.

use sb_wire::openai::{FinishReason, Usage};

use super::error::{Fault, Result};
use super::shared::Links;
use crate::engine::Follow;
use crate::model::{EndKind, Ending, Entry, Record, Refusal, TurnFaultKind};

/// An answer.
pub(super) struct Told {
    pub text: String,
    pub finish: FinishReason,
    pub usage: Usage,
    pub ending: Ending,
}

/// Makes the answer of an ending.
pub(super) async fn told(
    follow: &Follow,
    ending: Ending,
    left_out: &[String],
    links: &Links,
) -> Result<Told> {
    let mut text = match ending.kind {
        EndKind::Failed => return Err(failed(&ending)),
        EndKind::Refused => refused(&ending)?,
        _ => ending.said.clone(),
    };
    if let Some(request) = ending.waiting.map(|r| r.short()) {
        add(&mut text, &format!("Answer with /approve {request}, or with /decline {request} and why not."));
    }
    for note in left_out {
        add(&mut text, &format!("({note})"));
    }
    let entries = match ending.turn {
        Some(_) => follow.stretch(&ending).await?,
        None => Vec::new(),
    };
    if let Some(session) = ending.session {
        links.lines(session, &entries).iter().for_each(|line| add(&mut text, line));
    }
    Ok(Told { text, finish: finish(&entries), usage: usage(&entries), ending })
}

fn add(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

/// The turn failed. What it wrote before stays in its session.
fn failed(ending: &Ending) -> Fault {
    let code = ending.fault.as_ref().and_then(|fault| match fault.kind {
        TurnFaultKind::Overloaded => Some("overloaded"),
        TurnFaultKind::RateLimited => Some("rate_limit_exceeded"),
        TurnFaultKind::Credit | TurnFaultKind::Budget => Some("insufficient_quota"),
        TurnFaultKind::ContextFull => Some("context_length_exceeded"),
        _ => None,
    });
    Fault::failed(ending.said.clone(), code)
}

/// What a command says that could not be done; an error where its sender may not.
fn refused(ending: &Ending) -> Result<String> {
    let said = ending.said.clone();
    match ending.refusal {
        Some(Refusal::MayNotDecide | Refusal::MayNotInstruct | Refusal::Suspended) => {
            Err(Fault::forbidden(said))
        }
        Some(Refusal::Budget) => Err(Fault::used_up(said)),
        Some(Refusal::Busy | Refusal::OtherSession) => Err(Fault::busy(said)),
        _ => Ok(said),
    }
}

fn finish(entries: &[Entry]) -> FinishReason {
    let last = entries.iter().rev().find_map(|entry| match &entry.record {
        Record::Answered { cut, .. } => Some(*cut),
        _ => None,
    });
    if entries.iter().any(|e| matches!(&e.record, Record::Ended { declined: true, .. })) {
        return FinishReason::ContentFilter;
    }
    let stopped = entries
        .iter()
        .any(|e| matches!(&e.record, Record::Ended { how: EndKind::Stopped | EndKind::Failed, .. }));
    match last {
        Some(true) if !stopped => FinishReason::Length,
        _ => FinishReason::Stop,
    }
}

/// All the tokens of the model's answers.
fn usage(entries: &[Entry]) -> Usage {
    let mut sum = crate::model::Usage::default();
    for entry in entries {
        if let Record::Answered { usage, .. } = &entry.record {
            sum += *usage;
        }
    }
    Usage::new(sum.input, sum.cached, sum.output)
}

//! What a stand-in does with one request: the script's steps from where the conversation stands.

use std::time::Duration;

use sb_harness::{FailKind, Script, Step};
use serde_json::Value;

/// What a request's conversation comes to, in neither dialect.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// The last message of the user that holds words.
    pub said: String,
    /// Calls made since.
    pub calls: usize,
    /// What came of them.
    pub results: Vec<String>,
    /// Pictures in the whole conversation.
    pub pictures: usize,
    /// Words in the whole conversation.
    pub words: u64,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    Say(String),
    Pause(Duration),
    Call { name: String, input: Value },
    Fail(FailKind),
}

/// An answer that begins and then fails.
pub(super) fn broken(kind: FailKind) -> Vec<Act> {
    vec![Act::Say("This is only the first half".to_owned()), Act::Fail(kind)]
}

/// What to do about a talk, in order. A call is last.
pub(super) fn plan(talk: &Talk) -> Vec<Act> {
    let Some(script) = Script::read(&talk.said) else {
        let seen =
            if talk.pictures > 0 { format!(" I see {} picture(s).", talk.pictures) } else { String::new() };
        return vec![Act::Say(format!("You said: \"{}\"{seen}", talk.said.trim()))];
    };
    let mut steps = script.steps.iter();
    for _ in 0..talk.calls {
        steps.find(|s| matches!(s, Step::Tool { .. }));
    }
    let mut acts = Vec::new();
    for step in steps {
        match step {
            Step::Say(text) => acts.push(Act::Say(line(&acts, text))),
            Step::Stream { words, ms } => stream(&mut acts, *words, *ms),
            Step::Wait { ms } => acts.push(Act::Pause(Duration::from_millis(*ms))),
            Step::Fail(kind) => acts.push(Act::Fail(*kind)),
            Step::Wrong { line, why } => acts.push(Act::Say(format!("{line}: {why}"))),
            Step::Ask { .. } => acts.push(Act::Say(Script::HELP.to_owned())),
            Step::Tool { name, input } => {
                acts.push(Act::Call { name: name.clone(), input: input.clone() });
                return acts;
            }
        }
    }
    let speaks = |s: &Step| matches!(s, Step::Say(_) | Step::Stream { .. });
    if talk.calls > 0 && !script.steps.iter().any(speaks) {
        acts.push(Act::Say(talk.results.join("\n\n")));
    }
    acts
}

fn stream(acts: &mut Vec<Act>, words: u32, ms: u64) {
    for n in 1..=words {
        if n > 1 && ms > 0 {
            acts.push(Act::Pause(Duration::from_millis(ms)));
        }
        let word = if n == 1 { line(acts, "word1") } else { format!(" word{n}") };
        acts.push(Act::Say(word));
    }
}

/// `text` as a line of its own.
fn line(acts: &[Act], text: &str) -> String {
    let begun = acts.iter().any(|a| matches!(a, Act::Say(_)));
    if begun { format!("\n{text}") } else { text.to_owned() }
}

/// The failure a script calls by this name.
pub(super) fn kind_of(name: &str) -> Option<FailKind> {
    match Script::read(&format!("!fail {name}"))?.steps.pop()? {
        Step::Fail(kind) => Some(kind),
        _ => None,
    }
}

pub(super) fn count(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

/// How many words a model of this name holds.
pub(super) fn holds(model: &str) -> u64 {
    model.strip_prefix("tiny-").and_then(|n| n.parse().ok()).unwrap_or(u64::MAX)
}

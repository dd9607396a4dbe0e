//! The scripted model: does what the last message's script says, through the same path as real ones.
//!
//! It has no state: where it stands in the script is how many calls it has made since the message, so
//! it goes on after an approval or a restart like a real model does.

use std::collections::VecDeque;
use std::time::Duration;

use sb_harness::model::text::one_line;
use sb_harness::model::{Fault, FaultKind, Record, Usage};
use sb_harness::{FailKind, Script, Step};
use tokio::time::sleep;

use crate::answer::{Answer, Piece, WantedCall};
use crate::view::View;

/// One thing left to do.
#[derive(Debug, Clone, PartialEq)]
enum Act {
    Say(String),
    Words { next: u32, most: u32, ms: u64 },
    Pause { ms: u64 },
    Fail(FailKind),
}

/// An answer of the scripted model, while it is given.
#[derive(Debug, Clone)]
pub(crate) struct Scripted {
    acts: VecDeque<Act>,
    call: Option<WantedCall>,
    read: u64,
    said: String,
}

/// How an attempt fails.
#[derive(Debug)]
pub(crate) enum Failure {
    Fault(Fault),
    /// The harness itself is to end.
    Crash,
}

impl Scripted {
    /// The answer to what the view holds.
    pub fn answering(view: &View) -> Self {
        let mut answer =
            Self { acts: VecDeque::new(), call: None, read: words_of(view), said: String::new() };
        let at = view.entries.iter().rposition(|e| matches!(e.record, Record::Said { .. }));
        let since: Vec<&Record> = view.entries[at.unwrap_or(0)..].iter().map(|e| &e.record).collect();
        let (text, files) = match since.first() {
            Some(Record::Said { text, files, .. }) => (text.as_str(), files.len()),
            _ => ("", 0),
        };
        match Script::read(text) {
            Some(script) => answer.plan(&script, &since, view.call_ids().len()),
            None if text.trim().is_empty() && files > 0 => answer.say(&format!("You sent {files} file(s).")),
            None => answer.say(&format!("You said: \"{}\"", text.trim())),
        }
        answer
    }

    /// A summary of `before`: its first words, always the same.
    pub fn summing_up(before: &str) -> Self {
        let first: Vec<&str> = before.split_whitespace().take(40).collect();
        let mut answer = Self { acts: VecDeque::new(), call: None, read: count(before), said: String::new() };
        answer.say(&format!("Talk that began: {}", one_line(&first.join(" "), 300)));
        answer
    }

    fn say(&mut self, text: &str) {
        self.acts.push_back(Act::Say(text.to_owned()));
    }

    /// The steps after the calls made so far, up to the next call.
    fn plan(&mut self, script: &Script, since: &[&Record], calls_of_session: usize) {
        let made: usize =
            since.iter().map(|r| if let Record::Answered { calls, .. } = r { calls.len() } else { 0 }).sum();
        let is_tool = |s: &Step| matches!(s, Step::Tool { .. });
        let mut steps = script.steps.iter();
        for _ in 0..made {
            steps.find(|s| is_tool(s));
        }
        for step in steps {
            match step {
                Step::Say(text) => self.say(text),
                Step::Stream { words, ms } => {
                    self.acts.push_back(Act::Words { next: 1, most: *words, ms: *ms })
                }
                Step::Wait { ms } => self.acts.push_back(Act::Pause { ms: *ms }),
                Step::Fail(kind) => self.acts.push_back(Act::Fail(*kind)),
                Step::Wrong { line, why } => {
                    self.say(&format!("I cannot read {line:?}: {why}. {}", Script::HELP))
                }
                Step::Ask { .. } => self.say(&format!("A model cannot ask with !ask. {}", Script::HELP)),
                Step::Tool { name, input } => {
                    let id = format!("call_{}", calls_of_session + 1);
                    self.call = Some(WantedCall { id, tool: name.clone(), input: input.to_string() });
                    return;
                }
            }
        }
        let speaks = |s: &Step| !matches!(s, Step::Tool { .. } | Step::Wait { .. } | Step::Fail(_));
        if made > 0 && !script.steps.iter().any(speaks) {
            let came_back = since
                .iter()
                .filter_map(|r| if let Record::Result { text, .. } = r { Some(text.trim()) } else { None });
            self.say(&came_back.collect::<Vec<_>>().join("\n\n"));
        }
    }

    /// The next piece; none at the end.
    pub async fn next(&mut self) -> Option<Result<Piece, Failure>> {
        loop {
            let piece = match self.acts.pop_front()? {
                Act::Say(text) => self.line(&text),
                Act::Pause { ms } => {
                    sleep(Duration::from_millis(ms)).await;
                    continue;
                }
                Act::Fail(FailKind::Crash) => return Some(Err(Failure::Crash)),
                Act::Fail(kind) => return Some(Err(Failure::Fault(fault(kind)))),
                Act::Words { next, most, .. } if next > most => continue,
                Act::Words { next, most, ms } => {
                    if next > 1 && ms > 0 {
                        sleep(Duration::from_millis(ms)).await;
                    }
                    self.acts.push_front(Act::Words { next: next + 1, most, ms });
                    if next == 1 { self.line("word1") } else { format!(" word{next}") }
                }
            };
            if !piece.is_empty() {
                self.said.push_str(&piece);
                return Some(Ok(Piece::Text(piece)));
            }
        }
    }

    /// `text` as a line of its own.
    fn line(&self, text: &str) -> String {
        if self.said.is_empty() { text.to_owned() } else { format!("\n{text}") }
    }

    /// The whole answer, once there is no next piece.
    pub fn finish(self) -> Answer {
        Answer {
            usage: self.usage(),
            text: self.said,
            calls: self.call.into_iter().collect(),
            ..Answer::default()
        }
    }

    /// Counted in words.
    pub fn usage(&self) -> Usage {
        Usage { calls: 1, input: self.read, output: count(&self.said), ..Usage::default() }
    }
}

/// The failure a script asks for, as if a provider had given it.
fn fault(kind: FailKind) -> Fault {
    let passing = FaultKind::Passing { wait_ms: None };
    let (kind, status, detail) = match kind {
        FailKind::RateLimit => (passing, Some(429), "asked too often, says the script"),
        FailKind::Credit => (FaultKind::Refused, Some(402), "the account is empty, says the script"),
        FailKind::Auth => (FaultKind::Auth, Some(401), "the key is not valid, says the script"),
        FailKind::Network => (passing, None, "the connection broke off, says the script"),
        FailKind::Refused => {
            (FaultKind::Refused, Some(400), "the request is not understood, says the script")
        }
        FailKind::ContextFull => (FaultKind::Refused, Some(400), "the prompt is too long, says the script"),
        FailKind::Overloaded | FailKind::Crash => (passing, Some(529), "overloaded, says the script"),
    };
    Fault {
        kind,
        doing: "obeying the script".to_owned(),
        detail: detail.to_owned(),
        maybe_done: false,
        status,
    }
}

fn count(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

/// All words a model would have to read.
fn words_of(view: &View) -> u64 {
    view.records()
        .map(|record| match record {
            Record::Said { text, .. }
            | Record::Answered { text, .. }
            | Record::Result { text, .. }
            | Record::Summary { text, .. } => count(text),
            _ => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::tests::{answered, call, result, said, view};

    async fn answer(view: &View) -> Answer {
        let mut scripted = Scripted::answering(view);
        while let Some(Ok(_)) = scripted.next().await {}
        scripted.finish()
    }

    #[tokio::test(start_paused = true)]
    async fn a_script_is_obeyed_from_call_to_call() {
        let script = "!say one\n!tool look {\"a\":1}\n!stream 3 500\n!tool rest {}\n!wait 2\n!say end";
        let mut view = view(&[(1, said(script))]);
        let first = answer(&view).await;
        assert_eq!(
            (first.text.as_str(), first.calls[0].id.as_str(), first.calls[0].tool.as_str()),
            ("one", "call_1", "look")
        );
        view.add(answered("one", &[call("call_1", "look")]));
        view.add(result("call_1", "seen"));
        let second = answer(&view).await;
        assert_eq!((second.text.as_str(), second.calls[0].id.as_str()), ("word1 word2 word3", "call_2"));
        view.add(answered(&second.text, &[call("call_2", "rest")]));
        view.add(result("call_2", ""));
        let last = answer(&view).await;
        assert_eq!((last.text.as_str(), last.calls.len(), last.usage.output), ("end", 0, 1));
    }

    #[tokio::test]
    async fn a_message_without_a_script_is_repeated() {
        assert_eq!(answer(&view(&[(1, said("Good morning"))])).await.text, "You said: \"Good morning\"");
    }

    #[tokio::test]
    async fn a_script_that_said_nothing_ends_with_what_came_back() {
        let view = view(&[
            (1, said("!tool a {}")),
            (1, answered("", &[call("call_1", "a")])),
            (1, result("call_1", "it worked\n")),
        ]);
        assert_eq!(answer(&view).await.text, "it worked");
    }

    #[tokio::test]
    async fn a_line_that_cannot_be_read_is_told_with_what_there_is() {
        let said = answer(&view(&[(1, said("!dance"))])).await.text;
        assert!(said.contains("!dance") && said.contains(Script::HELP), "{said}");
    }
}

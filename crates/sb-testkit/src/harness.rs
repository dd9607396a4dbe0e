//! [`ScriptedHarness`]: obeys the script in what it is told, and runs nothing.
//!
//! Its memory is the log it is given, so it parks, goes on after a decision and takes up a turn after a
//! restart by one path: it looks how many answers of its script the log holds, and does the next.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::time::Duration;

use async_trait::async_trait;
use sb_harness::model::{
    Attachment, Call, CallId, Entry, Record, Seq, StopReason, Task, ToolClass, ToolUpdate, TurnFault,
    TurnFaultKind, Usage,
};
use sb_harness::{
    Events, FailKind, Harness, HarnessEvent, HarnessFeatures, HarnessInput, Inputs, Script, Step, TurnSpec,
};
use serde_json::{Value, json};

/// A harness for tests: see the module. Two files of one script differ by nothing but their text.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScriptedHarness;

/// Tools it knows by class; any other one reads.
pub const TOOLS: &[(&str, ToolClass)] = &[
    ("read_file", ToolClass::Read),
    ("list_files", ToolClass::Read),
    ("write_file", ToolClass::Write),
    ("shell", ToolClass::Shell),
    ("share_file", ToolClass::Read),
    ("ask", ToolClass::Write),
];

#[async_trait]
impl Harness for ScriptedHarness {
    fn features(&self) -> HarnessFeatures {
        HarnessFeatures { steers: true, parks: true, rewinds: true, compacts: true, images: true }
    }

    async fn turn(&self, spec: TurnSpec, inputs: Inputs, events: Events) -> Result<StopReason, TurnFault> {
        let mut run = Run { spec, inputs, events, answers: Vec::new(), text: String::new() };
        match run.play().await {
            Ok(reason) => Ok(reason),
            Err(Halt::Stop) => {
                run.log_answer(None, true).await;
                Ok(StopReason::Stopped)
            }
            Err(Halt::Park) => Ok(StopReason::Parked),
            Err(Halt::Fault(fault)) => Err(fault),
        }
    }
}

/// One answer of the script: what it does, and the call it ends with.
#[derive(Debug, Clone, Default)]
struct Answer {
    steps: Vec<Step>,
    call: Option<(String, Value)>,
}

enum Halt {
    Stop,
    Park,
    Fault(TurnFault),
}

struct Run {
    spec: TurnSpec,
    inputs: Inputs,
    events: Events,
    answers: Vec<Answer>,
    /// Of the answer being written.
    text: String,
}

fn answers(text: &str) -> Vec<Answer> {
    let Some(script) = Script::read(text) else {
        let repeat = Step::Say(format!("You said: {}", text.trim()));
        return vec![Answer { steps: vec![repeat], call: None }];
    };
    let mut all = vec![Answer::default()];
    for step in script.steps {
        let last = all.last_mut().expect("there is one");
        match step {
            Step::Tool { name, input } => last.call = Some((name, input)),
            Step::Ask { text, options } => {
                last.call = Some(("ask".to_owned(), json!({"text": text, "options": options})));
            }
            step => last.steps.push(step),
        }
        if last.call.is_some() {
            all.push(Answer::default());
        }
    }
    if all.last().is_some_and(|a| a.steps.is_empty()) {
        all.pop();
    }
    all
}

impl Run {
    async fn play(&mut self) -> Result<StopReason, Halt> {
        if self.spec.task == Task::Compact {
            return Ok(self.compact().await);
        }
        let own: Vec<Entry> =
            self.spec.log.iter().filter(|e| e.turn == Some(self.spec.turn)).cloned().collect();
        for entry in &own {
            if let Record::Said { text, .. } = &entry.record {
                self.answers.extend(answers(text));
            }
        }
        let mut made = own.iter().filter_map(|e| match &e.record {
            Record::Answered { calls, cut: false, .. } => Some(calls.clone()),
            _ => None,
        });
        let mut done = made.by_ref().count();
        if let Some(open) = unfinished(&own) {
            self.call(open).await?;
        }
        while done < self.answers.len() {
            let answer = self.answers[done].clone();
            done += 1;
            self.answer(done, answer).await?;
        }
        self.sum_up().await;
        Ok(StopReason::Done)
    }

    async fn answer(&mut self, number: usize, answer: Answer) -> Result<(), Halt> {
        // As the built-in loop does: once words were shown, a failure makes them void for the profile's next model.
        let mut left = self.spec.profile.models.len();
        while let Err(halt) = self.steps(&answer.steps).await {
            left = left.saturating_sub(1);
            if !matches!(halt, Halt::Fault(_)) || self.text.is_empty() || left == 0 {
                return Err(halt);
            }
            self.text.clear();
            self.tell(HarnessEvent::Void).await;
        }
        let call = answer.call.map(|(tool, input)| Call {
            id: CallId(format!("call-{number}")),
            class: TOOLS.iter().find(|(name, _)| *name == tool).map_or(ToolClass::Read, |(_, class)| *class),
            tool,
            input,
        });
        self.log_answer(call.clone(), false).await;
        match call {
            Some(call) => self.call(call).await,
            None => Ok(()),
        }
    }

    async fn steps(&mut self, steps: &[Step]) -> Result<(), Halt> {
        for step in steps {
            self.step(step.clone()).await?;
        }
        Ok(())
    }

    async fn step(&mut self, step: Step) -> Result<(), Halt> {
        match step {
            Step::Say(text) => self.say(&text).await,
            Step::Stream { words, ms } => {
                for n in 1..=words {
                    let gap = if n == 1 { "" } else { " " };
                    self.say(&format!("{gap}word{n}")).await;
                    self.pause(ms).await?;
                }
            }
            Step::Wait { ms } => self.pause(ms).await?,
            Step::Fail(kind) => return Err(Halt::Fault(fault(kind))),
            Step::Wrong { line, why } => self.say(&format!("{line}: {why}. {}", Script::HELP)).await,
            Step::Tool { .. } | Step::Ask { .. } => {}
        }
        Ok(())
    }

    async fn say(&mut self, text: &str) {
        self.text.push_str(text);
        self.tell(HarnessEvent::Text(text.to_owned())).await;
    }

    /// Nothing happens for so long, but a stop is heard at once.
    async fn pause(&mut self, ms: u64) -> Result<(), Halt> {
        let over = tokio::time::sleep(Duration::from_millis(ms));
        tokio::pin!(over);
        loop {
            tokio::select! {
                () = &mut over => return Ok(()),
                input = self.inputs.recv() => self.heard(input).await?,
            }
        }
    }

    async fn heard(&mut self, input: Option<HarnessInput>) -> Result<(), Halt> {
        match input {
            Some(HarnessInput::Stop) | None => Err(Halt::Stop),
            Some(HarnessInput::Steer(message, record)) => {
                if let Record::Said { text, .. } = &record {
                    self.answers.extend(answers(text));
                }
                self.tell(HarnessEvent::Took(message)).await;
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }

    /// Asks to make a call, and says what came of it.
    async fn call(&mut self, call: Call) -> Result<(), Halt> {
        self.tell(HarnessEvent::Call(call.clone())).await;
        loop {
            let (ok, text) = match self.inputs.recv().await {
                Some(HarnessInput::Go(id)) if id == call.id => (true, self.run_tool(&call).await),
                Some(HarnessInput::No(id, why)) if id == call.id => (false, why),
                // Its result stands in the log already.
                Some(HarnessInput::Done(id, _)) if id == call.id => {
                    self.tool(&call, "done").await;
                    return Ok(());
                }
                Some(HarnessInput::Wait(id)) if id == call.id => return Err(Halt::Park),
                other => {
                    self.heard(other).await?;
                    continue;
                }
            };
            let result =
                Record::Result { call: call.id.clone(), ok, text, files: Vec::new(), outside: false };
            self.tell(HarnessEvent::Log(result)).await;
            self.tool(&call, "done").await;
            return Ok(());
        }
    }

    async fn run_tool(&mut self, call: &Call) -> String {
        self.tool(call, "running").await;
        if call.tool == "share_file" {
            let text = call.input["text"].as_str().unwrap_or_default();
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let (digest, size) = self.spec.blobs.keep(file.into()).await.unwrap();
            let name = call.input["name"].as_str().unwrap_or("shared.txt").to_owned();
            let file = Attachment { name, media_type: "text/plain".to_owned(), size, digest };
            self.tell(HarnessEvent::Log(Record::Shared { file })).await;
        }
        format!("did {}", call.tool)
    }

    async fn tool(&self, call: &Call, state: &'static str) {
        self.tell(HarnessEvent::Tool(ToolUpdate { call: call.id.clone(), tool: call.tool.clone(), state }))
            .await;
    }

    async fn log_answer(&mut self, call: Option<Call>, cut: bool) {
        let text = std::mem::take(&mut self.text);
        if cut && text.is_empty() {
            return;
        }
        let words = text.split_whitespace().count() as u64;
        let usage = Usage { calls: 1, input: 1, output: words, ..Usage::default() };
        self.tell(HarnessEvent::Usage(usage)).await;
        self.tell(HarnessEvent::Log(Record::Answered {
            text,
            calls: call.into_iter().collect(),
            model: "scripted".to_owned(),
            kept: None,
            usage,
            cut,
        }))
        .await;
        self.tell(HarnessEvent::Break).await;
    }

    /// A script that only called tools ends with what came back from the last.
    async fn sum_up(&mut self) {
        let said_nothing = self.answers.iter().all(|a| a.steps.is_empty());
        let last = self.answers.iter().rev().find_map(|a| a.call.as_ref().map(|(tool, _)| tool.clone()));
        if let (true, Some(tool)) = (said_nothing, last) {
            self.say(&format!("did {tool}")).await;
            self.log_answer(None, false).await;
        }
    }

    async fn compact(&mut self) -> StopReason {
        let before = self.spec.log.iter().filter(|e| e.turn != Some(self.spec.turn)).map(|e| e.seq).max();
        let covers = before.unwrap_or(Seq(0));
        let text = format!("A summary of {} entries.", self.spec.log.len());
        self.tell(HarnessEvent::Log(Record::Summary { text, covers })).await;
        StopReason::Done
    }

    async fn tell(&self, event: HarnessEvent) {
        // Nobody listens any more once the turn was dropped.
        let _ = self.events.send(event).await;
    }
}

/// The call of the last answer that nothing came of yet.
fn unfinished(own: &[Entry]) -> Option<Call> {
    let calls = own.iter().rev().find_map(|e| match &e.record {
        Record::Answered { calls, .. } => Some(calls),
        _ => None,
    })?;
    let call = calls.first()?;
    let came = own.iter().any(|e| matches!(&e.record, Record::Result { call: id, .. } if *id == call.id));
    (!came).then(|| call.clone())
}

fn fault(kind: FailKind) -> TurnFault {
    let (kind, detail) = match kind {
        FailKind::Overloaded => (TurnFaultKind::Overloaded, "The provider is overloaded"),
        FailKind::RateLimit => (TurnFaultKind::RateLimited, "The provider limits how often we may ask"),
        FailKind::Credit => (TurnFaultKind::Credit, "The provider's account is empty"),
        FailKind::Auth => (TurnFaultKind::Auth, "The provider does not take our key"),
        FailKind::Network => (TurnFaultKind::Network, "The provider cannot be reached"),
        FailKind::Refused => (TurnFaultKind::Refused, "The provider refused the request"),
        FailKind::ContextFull => (TurnFaultKind::ContextFull, "The conversation no longer fits the model"),
        FailKind::Crash => (TurnFaultKind::Crashed, "The agent's program crashed in this turn"),
    };
    TurnFault::new(kind, detail)
}

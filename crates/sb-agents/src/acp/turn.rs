//! One turn of an agent: its prompt, what it does meanwhile, the questions it puts, its end.
//!
//! It may put several questions at once; they are put before people one after the other, since a turn waits
//! for one decision at a time. Only ever "allow once" is answered: what is allowed for longer is our own to
//! remember. However the turn ends, every question it left open is withdrawn.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use sb_harness::model::{
    Call, CallId, DECLINED, Principal, Record, StopReason, TurnFault, TurnFaultKind, Usage,
};
use sb_harness::{Events, HarnessEvent, HarnessInput, Inputs, ToolUpdate, TurnSpec};
use sb_wire::jsonrpc::{BAD_PARAMS, Failure, INTERNAL, Message, NO_SUCH_METHOD};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::AcpContext;
use super::calls::{self, Calls, LeadsOut};
use super::files;
use super::opening::{Agent, Opened, known_session};
use super::places::within;
use super::presets::Launch;
use super::prompt::{self, Knows};

/// How long an agent may take to stop, before its process is ended.
const PATIENCE: Duration = Duration::from_secs(8);
/// Changes that were allowed and may still be asked of us to make.
const MOST_ALLOWED: usize = 20;
/// Prompts of one turn: a person's reason for declining is told in one of its own.
const MOST_PROMPTS: usize = 20;

/// A question of the agent's, and how it wants to be answered.
pub(super) struct Question {
    id: Value,
    call: Call,
    wants: Wants,
}

enum Wants {
    /// One of these options, by their ids.
    Permission { allow: String, reject: Option<String> },
    /// A file written.
    Write { path: String, content: String },
}

/// What is told when nobody hears us any more, or something failed.
pub(super) enum Exit {
    Unheard,
    Fault(TurnFault),
}

/// One run of a turn.
pub(super) struct Run {
    pub agent: Agent,
    pub spec: TurnSpec,
    pub workspace: PathBuf,
    inputs: Inputs,
    events: Events,
    pub calls: Calls,
    /// Words of the answer being written.
    pub words: String,
    /// The message of the agent's that they are of.
    pub of: Option<String>,
    /// Its newest plan.
    pub plan: Option<String>,
    waiting: VecDeque<Question>,
    asked: Option<Question>,
    /// A person was asked about it, so that what they said stands in the log.
    waits: bool,
    /// What a person said when they declined, with nothing said or done by the agent since.
    declined: Option<String>,
    /// Files people allowed to be written with these very words.
    allowed: Vec<(String, String)>,
    stopping: Option<Instant>,
}

/// Runs a turn; the agent is given back if it can have another.
pub(super) async fn run(
    context: &AcpContext,
    launch: Launch,
    running: Option<Agent>,
    spec: TurnSpec,
    mut inputs: Inputs,
    events: Events,
) -> (Result<StopReason, TurnFault>, Option<Agent>) {
    let known = known_session(&spec.log).map(str::to_owned);
    let running = running.filter(|agent| known.as_deref() == Some(agent.session.as_str()));
    let opened = match running {
        Some(agent) => Ok((agent, Opened::Known)),
        None => {
            let opening = Agent::open(launch, known.as_deref(), context.version);
            tokio::select! {
                opened = opening => opened,
                () = stopped(&mut inputs) => return (Ok(StopReason::Stopped), None),
            }
        }
    };
    let (agent, opened) = match opened {
        Ok(both) => both,
        Err(fault) => return (Err(fault), None),
    };
    let workspace = agent.launch.spoken.dir.clone();
    let mut run = Run {
        agent,
        spec,
        workspace,
        inputs,
        events,
        calls: Calls::default(),
        words: String::new(),
        of: None,
        plan: None,
        waiting: VecDeque::new(),
        asked: None,
        waits: false,
        declined: None,
        allowed: Vec::new(),
        stopping: None,
    };
    let ended = run.turn(opened).await;
    let settled = run.settle().await;
    match (ended, settled) {
        (Ok(how), Ok(())) => (Ok(how), Some(run.agent)),
        // It does not end when it is told to: its process is.
        (Err(Exit::Unheard), _) | (_, Err(_)) => (Ok(StopReason::Stopped), None),
        (Err(Exit::Fault(fault)), _) => (Err(fault), None),
    }
}

/// Waits until the turn is told to stop, or nobody is there to tell it anything.
async fn stopped(inputs: &mut Inputs) {
    while !matches!(inputs.recv().await, Some(HarnessInput::Stop) | None) {}
}

impl Run {
    async fn turn(&mut self, opened: Opened) -> Result<StopReason, Exit> {
        if opened != Opened::Known {
            self.log(Record::Opened { id: self.agent.session.clone() }).await?;
        }
        if opened == Opened::Lost {
            let text = format!(
                "{} could not take this conversation up again: it begins anew and was told what was said.",
                self.agent.launch.label
            );
            self.log(Record::Noted { text, by: self.by(), told: true }).await?;
        }
        let knows = if opened == Opened::Known { Knows::Before } else { Knows::Nothing };
        let untold = std::mem::take(&mut self.agent.untold);
        let mut blocks = prompt::prompt(&self.spec, knows, self.agent.images, untold).await;
        for _ in 0..MOST_PROMPTS {
            let how = self.prompt(blocks).await?;
            match self.declined.take() {
                // It ended on a refusal, whose reason the wire had no room for.
                Some(why) if how == StopReason::Done => blocks = vec![prompt::text(why)],
                Some(why) => {
                    self.agent.untold.push(why);
                    return Ok(how);
                }
                None => return Ok(how),
            }
        }
        Ok(StopReason::Limit)
    }

    /// One prompt, to its answer.
    async fn prompt(&mut self, blocks: Vec<Value>) -> Result<StopReason, Exit> {
        let params = json!({"sessionId": self.agent.session, "prompt": blocks});
        let asked = self.agent.link.ask("session/prompt", params).await;
        loop {
            let until = self.stopping;
            let patience = async {
                match until {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                input = self.inputs.recv() => self.told(input.ok_or(Exit::Unheard)?).await?,
                () = patience => return Err(Exit::Unheard),
                message = self.agent.link.next() => match message {
                    None => return Err(Exit::Fault(self.agent.died().await)),
                    Some(Message::Answer { id, result }) if id == asked => return self.answered(result).await,
                    Some(Message::Answer { .. }) => {}
                    Some(Message::Notification { method, params }) if method == "session/update" => {
                        self.update(&params["update"]).await?;
                    }
                    Some(Message::Notification { .. }) => {}
                    Some(Message::Request { id, method, params }) => self.requested(id, &method, &params).await?,
                },
            }
        }
    }

    async fn told(&mut self, input: HarnessInput) -> Result<(), Exit> {
        match input {
            HarnessInput::Stop => self.stop().await,
            HarnessInput::Wait(id) if self.is_asked(&id) => self.waits = true,
            HarnessInput::Go(id) if self.is_asked(&id) => self.go().await?,
            HarnessInput::No(id, why) if self.is_asked(&id) => self.no(why).await?,
            _ => {}
        }
        Ok(())
    }

    fn is_asked(&self, call: &CallId) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.call.id == *call)
    }

    /// It is told to end; what it left open is withdrawn, and it may say its last words.
    async fn stop(&mut self) {
        if self.stopping.is_some() {
            return;
        }
        self.stopping = Some(Instant::now() + PATIENCE);
        self.agent.link.tell("session/cancel", json!({"sessionId": self.agent.session})).await;
        // Of what a person was asked about, the log says already how it ended.
        let asked = self.asked.as_ref().filter(|_| self.waits).map(|asked| asked.call.id.0.clone());
        if let Some(known) = asked.and_then(|id| self.calls.get_mut(&id)) {
            known.settled = true;
        }
        for question in self.asked.take().into_iter().chain(std::mem::take(&mut self.waiting)) {
            self.withdraw(question).await;
        }
    }

    async fn withdraw(&self, question: Question) {
        let answer = match question.wants {
            Wants::Permission { .. } => Ok(json!({"outcome": {"outcome": "cancelled"}})),
            Wants::Write { .. } => Err(Failure::new(INTERNAL, "This was stopped.")),
        };
        self.agent.link.answer(question.id, answer).await;
    }

    async fn requested(&mut self, id: Value, method: &str, params: &Value) -> Result<(), Exit> {
        match method {
            "session/request_permission" => self.asks_permission(id, params).await,
            "fs/read_text_file" => {
                self.reads(id, params).await;
                Ok(())
            }
            "fs/write_text_file" => self.writes(id, params).await,
            _ => {
                self.agent.link.answer(id, Err(Failure::new(NO_SUCH_METHOD, "This is not offered."))).await;
                Ok(())
            }
        }
    }

    async fn asks_permission(&mut self, id: Value, params: &Value) -> Result<(), Exit> {
        let option = |kind: &str| {
            let mut all = params["options"].as_array().into_iter().flatten();
            all.find(|o| o["kind"] == kind).and_then(|o| o["optionId"].as_str()).map(str::to_owned)
        };
        let (allow, reject) = (option("allow_once"), option("reject_once"));
        let rejected = |reject: &Option<String>| match reject {
            Some(option) => json!({"outcome": {"outcome": "selected", "optionId": option}}),
            None => json!({"outcome": {"outcome": "cancelled"}}),
        };
        let Some((call_id, known)) = self.calls.update(&params["toolCall"]) else {
            self.agent.link.answer(id, Err(Failure::new(BAD_PARAMS, "The call has no id."))).await;
            return Ok(());
        };
        let (call, shown) = (known.as_call(&call_id, &self.workspace), known.shown());
        let why = match (call, allow) {
            _ if self.stopping.is_some() => String::new(),
            (Ok(call), Some(allow)) => {
                self.waiting.push_back(Question { id, call, wants: Wants::Permission { allow, reject } });
                return self.next_question().await;
            }
            (Err(LeadsOut(path)), _) => format!("{shown} was not allowed: {path} is outside the workspace."),
            (Ok(_), None) => format!("{shown} was not allowed: it could not be allowed for this once alone."),
        };
        self.agent.link.answer(id, Ok(rejected(&reject))).await;
        if !why.is_empty() {
            self.log(Record::Noted { text: why, by: self.by(), told: false }).await?;
        }
        Ok(())
    }

    /// Puts the next question before the gate, if none is there.
    async fn next_question(&mut self) -> Result<(), Exit> {
        if self.asked.is_some() {
            return Ok(());
        }
        let Some(question) = self.waiting.pop_front() else { return Ok(()) };
        let call = question.call.clone();
        self.log_call(&call).await?;
        self.asked = Some(question);
        self.waits = false;
        self.send(HarnessEvent::Call(call)).await
    }

    /// It may: once.
    async fn go(&mut self) -> Result<(), Exit> {
        let Some(question) = self.asked.take() else { return Ok(()) };
        match question.wants {
            Wants::Permission { allow, .. } => {
                if let (Some(path), Some(text)) =
                    (question.call.input["path"].as_str(), self.new_text(&question.call.id))
                {
                    self.allowed.push((path.to_owned(), text));
                    if self.allowed.len() > MOST_ALLOWED {
                        self.allowed.remove(0);
                    }
                }
                let outcome = json!({"outcome": {"outcome": "selected", "optionId": allow}});
                self.agent.link.answer(question.id, Ok(outcome)).await;
                self.tool_is(&question.call.id, "running").await?;
            }
            Wants::Write { path, content } => {
                let written = files::write(&self.workspace, &path, content).await;
                let (ok, text) = match &written {
                    Ok(()) => (true, format!("Wrote {path}.")),
                    Err(why) => (false, format!("{path}: {why}")),
                };
                let answer = written.map(|()| json!({})).map_err(|why| Failure::new(INTERNAL, why));
                self.agent.link.answer(question.id, answer).await;
                self.result(question.call.id, ok, text, false).await?;
            }
        }
        self.next_question().await
    }

    /// It may not.
    async fn no(&mut self, why: String) -> Result<(), Exit> {
        let Some(question) = self.asked.take() else { return Ok(()) };
        let outcome = match &question.wants {
            Wants::Permission { reject: Some(option), .. } => {
                Ok(json!({"outcome": {"outcome": "selected", "optionId": option}}))
            }
            Wants::Permission { reject: None, .. } => Ok(json!({"outcome": {"outcome": "cancelled"}})),
            Wants::Write { .. } => Err(Failure::new(INTERNAL, why.clone())),
        };
        self.agent.link.answer(question.id, outcome).await;
        if let Some(known) = self.calls.get_mut(&question.call.id.0) {
            known.settled = true;
        }
        // What a person said stands in the log already.
        if !self.waits {
            self.result(question.call.id, false, why.clone(), false).await?;
        }
        // That it was refused it knows; a reason it does not.
        self.declined = (why != DECLINED).then(|| format!("(About {}: {why})", question.call.tool));
        self.next_question().await
    }

    /// The words an agent wants a file to hold, where its question says so.
    fn new_text(&mut self, call: &CallId) -> Option<String> {
        self.calls.get_mut(&call.0)?.new_text()
    }

    async fn reads(&self, id: Value, params: &Value) {
        let path = params["path"].as_str().and_then(|path| within(&self.workspace, path));
        let answer = match path {
            None => Err(Failure::new(BAD_PARAMS, "This path is outside the workspace.")),
            Some(path) => {
                let (line, limit) = (params["line"].as_u64(), params["limit"].as_u64());
                let read = files::read(&self.workspace, &path, line, limit).await;
                read.map(|content| json!({"content": content})).map_err(|why| Failure::new(INTERNAL, why))
            }
        };
        self.agent.link.answer(id, answer).await;
    }

    /// Quirk: some agents ask us to write though it was not offered, after they asked for leave.
    async fn writes(&mut self, id: Value, params: &Value) -> Result<(), Exit> {
        let path = params["path"].as_str().and_then(|path| within(&self.workspace, path));
        let (Some(path), Some(content)) = (path, params["content"].as_str()) else {
            let why = "A path inside the workspace and a content are needed.";
            self.agent.link.answer(id, Err(Failure::new(BAD_PARAMS, why))).await;
            return Ok(());
        };
        let content = content.to_owned();
        let allowed = (path.clone(), content.clone());
        if let Some(at) = self.allowed.iter().position(|a| *a == allowed) {
            self.allowed.remove(at);
            let written = files::write(&self.workspace, &path, content).await;
            let answer = written.map(|()| json!({})).map_err(|why| Failure::new(INTERNAL, why));
            self.agent.link.answer(id, answer).await;
            return Ok(());
        }
        let call = calls::write(&format!("write {id}"), &path, &content);
        let question = Question { id, call, wants: Wants::Write { path, content } };
        if self.stopping.is_some() {
            self.withdraw(question).await;
            return Ok(());
        }
        self.waiting.push_back(question);
        self.next_question().await
    }

    /// The prompt's answer: the turn's end, as far as the agent is concerned.
    async fn answered(&mut self, result: Result<Value, Failure>) -> Result<StopReason, Exit> {
        let result = match result {
            Ok(result) => result,
            Err(_) if self.stopping.is_some() => return Ok(StopReason::Stopped),
            Err(failure) => {
                let detail = failure.data["details"].as_str().or(failure.data.as_str()).unwrap_or_default();
                let what = format!("{} failed: {} {detail}", self.agent.launch.label, failure.message);
                return Err(Exit::Fault(TurnFault::new(TurnFaultKind::Crashed, what.trim_end())));
            }
        };
        let usage = &result["usage"];
        let count = |name: &str| usage[name].as_u64().unwrap_or_default();
        let used = Usage {
            calls: 1,
            input: count("inputTokens") + count("cachedReadTokens") + count("cachedWriteTokens"),
            cached: count("cachedReadTokens"),
            output: count("outputTokens"),
            ..Usage::default()
        };
        self.send(HarnessEvent::Usage(used)).await?;
        if self.stopping.is_some() {
            return Ok(StopReason::Stopped);
        }
        Ok(match result["stopReason"].as_str() {
            Some("max_tokens" | "max_turn_requests") => StopReason::Limit,
            Some("refusal") => StopReason::Declined,
            _ => StopReason::Done,
        })
    }

    /// Whatever the turn left open is closed, and its last words are kept.
    async fn settle(&mut self) -> Result<(), Exit> {
        for question in self.asked.take().into_iter().chain(std::mem::take(&mut self.waiting)) {
            self.withdraw(question).await;
        }
        self.log_words(self.stopping.is_some()).await?;
        for id in self.calls.unsettled() {
            self.result(CallId(id), false, "It was not told how this ended.".to_owned(), false).await?;
        }
        if let Some(plan) = self.plan.take() {
            self.log(Record::Noted { text: format!("plan:\n{plan}"), by: self.by(), told: false }).await?;
        }
        Ok(())
    }

    /// Whoever spoke or acted, as the log names an agent.
    pub fn by(&self) -> Principal {
        Principal(format!("agent:{}", self.agent.launch.label))
    }

    /// The words so far become a whole answer.
    pub async fn log_words(&mut self, cut: bool) -> Result<(), Exit> {
        if self.words.trim().is_empty() {
            self.words.clear();
            return Ok(());
        }
        let text = std::mem::take(&mut self.words);
        self.send(HarnessEvent::Break).await?;
        self.log_answer(text, Vec::new(), cut).await
    }

    /// A call stands in the log before anything comes of it.
    pub async fn log_call(&mut self, call: &Call) -> Result<(), Exit> {
        self.log_words(false).await?;
        match self.calls.get_mut(&call.id.0) {
            Some(known) if known.logged => return Ok(()),
            Some(known) => known.logged = true,
            None => {}
        }
        self.log_answer(String::new(), vec![call.clone()], false).await
    }

    async fn log_answer(&mut self, text: String, calls: Vec<Call>, cut: bool) -> Result<(), Exit> {
        let (model, usage) = (self.spec.profile.harness.to_string(), Usage::default());
        self.log(Record::Answered { text, calls, model, kept: None, usage, cut }).await
    }

    pub async fn result(&mut self, call: CallId, ok: bool, text: String, outside: bool) -> Result<(), Exit> {
        if let Some(known) = self.calls.get_mut(&call.0) {
            known.settled = true;
        }
        self.tool_is(&call, "done").await?;
        self.log(Record::Result { call, ok, text, files: Vec::new(), outside }).await
    }

    pub async fn tool_is(&mut self, call: &CallId, state: &'static str) -> Result<(), Exit> {
        let tool = self.calls.get_mut(&call.0).map(|known| known.shown()).unwrap_or_default();
        self.send(HarnessEvent::Tool(ToolUpdate { call: call.clone(), tool, state })).await
    }

    /// It went on after whatever a person declined.
    pub fn goes_on(&mut self) {
        self.declined = None;
    }

    pub async fn log(&mut self, record: Record) -> Result<(), Exit> {
        self.send(HarnessEvent::Log(record)).await
    }

    pub async fn send(&mut self, event: HarnessEvent) -> Result<(), Exit> {
        self.events.send(event).await.map_err(|_| Exit::Unheard)
    }
}

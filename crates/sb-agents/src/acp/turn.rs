//! One turn of an agent: its prompt, what it does meanwhile, the questions it puts, its end.
//!
//! However the turn ends, every question it left open is withdrawn. What it asks is in `questions`, what it tells
//! in `updates`.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sb_harness::model::{Call, CallId, Principal, Record, StopReason, TurnFault, TurnFaultKind, Usage};
use sb_harness::{Events, HarnessEvent, HarnessInput, Inputs, Lender, ToolDef, ToolUpdate, TurnSpec};
use sb_wire::jsonrpc::{Failure, Message};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::AcpContext;
use super::calls::Calls;
use super::lent::Ran;
use super::opening::{Agent, Opened, Opening, known_session};
use super::presets::Launch;
use super::prompt::{self, Knows};
use super::questions::Question;
use crate::exit::{Exit, stopped};
use crate::lending::{Lending, Pass, Wanted};

/// How long an agent may take to stop, before its process is ended.
const PATIENCE: Duration = Duration::from_secs(8);
/// Prompts of one turn: a person's reason for declining is told in one of its own.
const MOST_PROMPTS: usize = 20;

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
    pub waiting: VecDeque<Question>,
    pub asked: Option<Question>,
    /// A person was asked about it, so that what they said stands in the log.
    pub waits: bool,
    /// What a person said when they declined, with nothing said or done by the agent since.
    pub declined: Option<String>,
    /// Files people allowed to be written with these very words.
    pub allowed: Vec<(String, String)>,
    pub stopping: Option<Instant>,
    /// The request by which its mode is being set back, and how often that was done.
    pub setting_back: Option<Value>,
    pub set_back: usize,
    pub lender: Arc<dyn Lender>,
    /// Tools of ours that it is lent, calls of them as they come, and how many came.
    pub lent: Vec<ToolDef>,
    wanted: mpsc::Receiver<Wanted>,
    pub lent_calls: usize,
    /// Those that run.
    pub running: JoinSet<Ran>,
}

/// Runs a turn; the agent is given back if it can have another.
pub(super) async fn run(
    context: &AcpContext,
    lending: &Lending,
    launch: Launch,
    running: Option<Agent>,
    spec: TurnSpec,
    mut inputs: Inputs,
    events: Events,
) -> (Result<StopReason, TurnFault>, Option<Agent>) {
    let known = known_session(&spec.log).map(str::to_owned);
    let running = running.filter(|agent| known.as_deref() == Some(agent.session.as_str()));
    let lent = context.lender.lends(&spec.profile, &spec.choices);
    let opened = match running {
        Some(mut agent) => {
            tokio::select! {
                set = agent.work_with(launch.model) => set.map(|()| (agent, Opened::Known)),
                () = stopped(&mut inputs) => return (Ok(StopReason::Stopped), None),
            }
        }
        None => {
            let opening = Opening { known, version: context.version };
            let pass = match lent.is_empty() {
                true => None,
                false => lent_by(lending, &lent).await,
            };
            tokio::select! {
                opened = Agent::open(launch, &opening, pass) => opened,
                () = stopped(&mut inputs) => return (Ok(StopReason::Stopped), None),
            }
        }
    };
    let (agent, opened) = match opened {
        Ok(both) => both,
        Err(fault) => return (Err(fault), None),
    };
    let workspace = agent.launch.spoken.dir.clone();
    let wanted = match &agent.pass {
        Some(pass) => {
            pass.lend(lent.clone());
            pass.begin()
        }
        None => mpsc::channel(1).1,
    };
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
        setting_back: None,
        set_back: 0,
        lender: context.lender.clone(),
        lent,
        wanted,
        lent_calls: 0,
        running: JoinSet::new(),
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

/// A pass to the tools it is lent; without one it works on without them.
async fn lent_by(lending: &Lending, lent: &[ToolDef]) -> Option<Pass> {
    match lending.pass().await {
        Ok(pass) => {
            pass.lend(lent.to_vec());
            Some(pass)
        }
        Err(why) => {
            tracing::warn!(error = %why, "tools cannot be lent to agents elsewhere: there is no port for them");
            None
        }
    }
}

impl Run {
    async fn turn(&mut self, opened: Opened) -> Result<StopReason, Exit> {
        if opened != Opened::Known {
            self.log(Record::Opened { id: self.agent.session.clone() }).await?;
        }
        if opened != Opened::Known && !self.lent.is_empty() && self.agent.pass.is_none() {
            let label = &self.agent.launch.label;
            let text = format!("{label} takes no tools over HTTP, so it works without those from here.");
            self.log(Record::Noted { text, by: self.by(), told: false }).await?;
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
                None if how == StopReason::Done && !self.agent.untold.is_empty() => {
                    blocks = std::mem::take(&mut self.agent.untold).into_iter().map(prompt::text).collect();
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
                Some(ran) = self.running.join_next() => match ran {
                    Ok(ran) => self.ran(ran).await?,
                    Err(why) => tracing::error!(error = %why, "a tool that an agent was lent failed; this is our mistake"),
                },
                Some(wanted) = self.wanted.recv() => self.wants(wanted).await?,
                message = self.agent.link.next() => match message {
                    None => return Err(Exit::Fault(self.agent.died().await)),
                    Some(Message::Answer { id, result }) if id == asked => return self.answered(result).await,
                    Some(Message::Answer { id, result }) => self.mode_set(&id, result.is_ok())?,
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
            HarnessInput::Go(id) if self.is_asked(&id) => self.go(0).await?,
            HarnessInput::GoBy(id, way) if self.is_asked(&id) => self.go(way).await?,
            HarnessInput::No(id, why) if self.is_asked(&id) => self.no(why).await?,
            HarnessInput::Done(id, record) if self.is_asked(&id) => self.performed(record).await?,
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
        // What was allowed and has begun comes to its end, unless it is all to stop.
        while self.stopping.is_none()
            && let Some(ran) = self.running.join_next().await
        {
            if let Ok(ran) = ran {
                self.ran(ran).await?;
            }
        }
        self.running.abort_all();
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
        self.spec.tainted |= outside;
        self.tool_is(&call, "done").await?;
        self.log(Record::Result { call, ok, text, files: Vec::new(), outside }).await
    }

    pub async fn tool_is(&mut self, call: &CallId, state: &'static str) -> Result<(), Exit> {
        let tool = self.calls.get_mut(&call.0).map(|known| known.shown()).unwrap_or_default();
        self.send(HarnessEvent::Tool(ToolUpdate { call: call.clone(), tool, state })).await
    }

    /// Something it must be told in words, since the wire has no room for it any more.
    pub fn untold(&mut self, words: String) {
        self.agent.untold.push(words);
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

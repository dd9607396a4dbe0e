//! The shell: performs the machine's steps, one after another, and logs what came of each.
//!
//! The only place that talks to the engine. Whatever it waits for, it waits for `Stop` as well; what is
//! under way then is dropped, which closes its connection or kills its programs.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;

use sb_harness::model::{Call, CallId, MessageId, Record, StopReason, Task, TurnFault};
use sb_harness::{Events, HarnessEvent, HarnessInput, Inputs, ToolUpdate, TurnSpec};

use crate::harness::{LoopContext, Quirks};
use crate::pictures::Album;
use crate::toolbox::Toolbox;
use crate::tools::{self, Bench, ToolDef};
use crate::view::{Step, View};

/// The most answers of models in one turn.
const MOST_ANSWERS: usize = 100;
/// Told to the model of a call that was cut off.
const PERHAPS_DONE: &str = "This was begun and cut off by an interruption, so it may have been done, wholly or in part. Look before doing it again.";

/// Why a turn ends early.
#[derive(Debug)]
pub(crate) enum Exit {
    /// Told to stop, or nobody listens any more.
    Stopped,
    Fault(TurnFault),
}

/// What the engine says of a call.
enum Leave {
    Go,
    No(String),
    Wait,
    Done(Record),
}

/// One run of a turn.
pub(crate) struct Run<'a> {
    pub context: &'a LoopContext,
    pub quirks: &'a Quirks,
    pub spec: &'a TurnSpec,
    pub view: View,
    pub album: Album,
    pub tools: Vec<ToolDef>,
    /// What the agent must know of tools from elsewhere.
    pub notes: Vec<String>,
    toolbox: Option<&'a Arc<dyn Toolbox>>,
    /// Whether the turn has shortened the conversation: it does so once at most.
    pub shortened: bool,
    /// The provider paused its answer and wants to be asked to go on.
    pub paused: bool,
    inputs: Inputs,
    events: Events,
    steers: VecDeque<(MessageId, Record)>,
}

impl<'a> Run<'a> {
    pub fn new(
        context: &'a LoopContext,
        quirks: &'a Quirks,
        toolbox: Option<&'a Arc<dyn Toolbox>>,
        spec: &'a TurnSpec,
        inputs: Inputs,
        events: Events,
    ) -> Self {
        Self {
            context,
            quirks,
            spec,
            view: View::new(&spec.log, spec.turn),
            album: Album::new(),
            tools: tools::offered(&spec.profile, &spec.choices),
            notes: Vec::new(),
            toolbox,
            shortened: false,
            paused: false,
            inputs,
            events,
            steers: VecDeque::new(),
        }
    }

    /// Runs the turn to its end.
    pub async fn run(mut self) -> Result<StopReason, TurnFault> {
        let ended = match self.spec.task {
            Task::Answer => self.answer().await,
            Task::Compact => self.shorten_when_asked().await.map(|()| StopReason::Done),
        };
        match ended {
            Ok(reason) => Ok(reason),
            Err(Exit::Stopped) => Ok(StopReason::Stopped),
            Err(Exit::Fault(fault)) => Err(fault),
        }
    }

    async fn answer(&mut self) -> Result<StopReason, Exit> {
        self.look_elsewhere().await?;
        loop {
            match self.view.next_step() {
                Step::Done if !self.paused => return Ok(StopReason::Done),
                Step::Ask | Step::Done if self.view.answers() >= MOST_ANSWERS => {
                    return Ok(StopReason::Limit);
                }
                Step::Ask | Step::Done => {
                    self.take_steers().await?;
                    if let Some(end) = self.ask_model().await? {
                        return Ok(end);
                    }
                }
                Step::Handle(call) => {
                    if !self.handle(&call).await? {
                        return Ok(StopReason::Parked);
                    }
                }
                Step::Lost(call) => self.fails(&call.id, PERHAPS_DONE).await?,
            }
        }
    }

    /// Adds the tools from elsewhere, as far as the chat wants them.
    async fn look_elsewhere(&mut self) -> Result<(), Exit> {
        let Some(toolbox) = self.toolbox else { return Ok(()) };
        let (profile, chosen) = (&self.spec.profile, self.spec.choices.tools.as_ref());
        if chosen.is_some_and(|names| !names.iter().any(|name| toolbox.has(profile, name))) {
            return Ok(());
        }
        let offer = self.unless_stopped(toolbox.offer(profile)).await?;
        let wanted = |tool: &ToolDef| {
            profile.tools.has(&tool.name) && chosen.is_none_or(|names| names.contains(&tool.name))
        };
        self.tools.extend(offer.tools.into_iter().filter(wanted));
        self.notes = offer.notes;
        Ok(())
    }

    /// Why a tool from elsewhere cannot be had in this turn, if it is that.
    fn why_absent(&self, call: &Call) -> Option<String> {
        let elsewhere = self.toolbox.is_some_and(|toolbox| toolbox.has(&self.spec.profile, &call.tool));
        let absent = elsewhere && !self.tools.iter().any(|tool| tool.name == call.tool);
        absent.then(|| format!("The tool {} cannot be had now. {}", call.tool, self.notes.join(" ")))
    }

    /// Gives the model what people said meanwhile.
    async fn take_steers(&mut self) -> Result<(), Exit> {
        while let Ok(input) = self.inputs.try_recv() {
            note(&mut self.steers, input)?;
        }
        while let Some((message, record)) = self.steers.pop_front() {
            self.send(HarnessEvent::Took(message)).await?;
            self.view.add(record);
        }
        Ok(())
    }

    /// Sees to one call. False if a person must decide it.
    async fn handle(&mut self, call: &Call) -> Result<bool, Exit> {
        if let Err(why) = tools::check(&self.tools, call) {
            let why = self.why_absent(call).unwrap_or(why);
            self.fails(&call.id, &why).await?;
            return Ok(true);
        }
        self.send(HarnessEvent::Call(call.clone())).await?;
        match self.leave(&call.id).await? {
            Leave::Wait => return Ok(false),
            Leave::Go => self.run_tool(call).await?,
            Leave::No(why) => self.fails(&call.id, &why).await?,
            Leave::Done(result) => {
                self.view.add(result);
                self.tool_is(call, "done").await?;
            }
        }
        Ok(true)
    }

    /// Waits for what the engine says of a call.
    async fn leave(&mut self, call: &CallId) -> Result<Leave, Exit> {
        loop {
            match self.inputs.recv().await {
                Some(HarnessInput::Go(id)) if id == *call => return Ok(Leave::Go),
                Some(HarnessInput::No(id, why)) if id == *call => return Ok(Leave::No(why)),
                Some(HarnessInput::Wait(id)) if id == *call => return Ok(Leave::Wait),
                Some(HarnessInput::Done(id, result)) if id == *call => return Ok(Leave::Done(result)),
                Some(other) => note(&mut self.steers, other)?,
                None => return Err(Exit::Stopped),
            }
        }
    }

    async fn run_tool(&mut self, call: &Call) -> Result<(), Exit> {
        self.tool_is(call, "running").await?;
        let bench = self.bench();
        let elsewhere = self.toolbox.filter(|toolbox| toolbox.has(&self.spec.profile, &call.tool));
        let outcome = match elsewhere {
            Some(toolbox) => {
                let run = toolbox.run(&self.spec.profile, call, self.spec.blobs.clone());
                self.unless_stopped(run).await
            }
            None => self.unless_stopped(tools::run(&bench, call)).await,
        };
        let stopped = outcome.is_err();
        match outcome.unwrap_or_else(|_| Err("Stopped by a person before it was done.".to_owned())) {
            Ok(done) => {
                let pictures = done.files.iter().filter(|_| done.shows_pictures);
                let given: Vec<_> = done.shared.iter().chain(pictures).cloned().collect();
                for file in given {
                    if self.has_shared(&file) {
                        continue;
                    }
                    self.log(Record::Shared { file: file.clone() }).await?;
                    self.send(HarnessEvent::File(file)).await?;
                }
                let text = tools::cut(done.text);
                let outside = done.outside;
                self.log(Record::Result {
                    call: call.id.clone(),
                    ok: !done.failed,
                    text,
                    files: done.files,
                    outside,
                })
                .await?;
            }
            Err(why) => self.fails(&call.id, &why).await?,
        }
        self.tool_is(call, "done").await?;
        if stopped { Err(Exit::Stopped) } else { Ok(()) }
    }

    /// What a tool works with now.
    fn bench(&self) -> Bench {
        let read_outside = self.view.records().any(crate::compact::holds_outside);
        Bench {
            profile: self.spec.profile.clone(),
            blobs: self.spec.blobs.clone(),
            memory: self.spec.memory.clone(),
            dice: self.context.dice.clone(),
            away: self.context.away.clone(),
            http: self.context.http.clone(),
            keys: self.context.keys.clone(),
            own: self.context.own.clone(),
            tainted: self.spec.tainted || read_outside,
        }
    }

    /// Whether the file was shared already by the call now run again after a crash.
    fn has_shared(&self, file: &sb_harness::model::Attachment) -> bool {
        let since = self.view.records().rev().take_while(|r| !matches!(r, Record::Answered { .. }));
        since.into_iter().any(|r| matches!(r, Record::Shared { file: shared } if shared == file))
    }

    async fn tool_is(&mut self, call: &Call, state: &'static str) -> Result<(), Exit> {
        self.send(HarnessEvent::Tool(ToolUpdate { call: call.id.clone(), tool: call.tool.clone(), state }))
            .await
    }

    async fn fails(&mut self, call: &CallId, why: &str) -> Result<(), Exit> {
        let (call, text) = (call.clone(), tools::cut(why.to_owned()));
        self.log(Record::Result { call, ok: false, text, files: Vec::new(), outside: false }).await
    }

    /// Logs a record, and adds it to our own view.
    pub async fn log(&mut self, record: Record) -> Result<(), Exit> {
        self.view.add(record.clone());
        self.send(HarnessEvent::Log(record)).await
    }

    /// Tells the engine.
    pub async fn send(&mut self, event: HarnessEvent) -> Result<(), Exit> {
        self.events.send(event).await.map_err(|_| Exit::Stopped)
    }

    /// Does `work` unless told to stop first: then it is dropped. Words said meanwhile are put by.
    pub async fn unless_stopped<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Exit> {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                input = self.inputs.recv() => match input {
                    Some(input) => note(&mut self.steers, input)?,
                    None => return Err(Exit::Stopped),
                },
                done = &mut work => return Ok(done),
            }
        }
    }
}

/// Puts steered words by. Answers to calls that nobody waits for are stale.
fn note(steers: &mut VecDeque<(MessageId, Record)>, input: HarnessInput) -> Result<(), Exit> {
    match input {
        HarnessInput::Stop => return Err(Exit::Stopped),
        HarnessInput::Steer(message, mut record) => {
            if let Record::Said { steered, .. } = &mut record {
                *steered = true;
            }
            steers.push_back((message, record));
        }
        stale => tracing::debug!(?stale, "an answer nobody waits for"),
    }
    Ok(())
}

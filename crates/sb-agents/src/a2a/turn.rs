//! One turn of an agent elsewhere: a message that is sent once, and the task it becomes, to its end.
//!
//! As soon as the task has an id, the log knows it, so that it is looked up and not begun again, whatever
//! breaks: the stream, the connection, or our own process. Where it waits for an answer, that is the next message.

use std::time::Duration;

use sb_harness::model::text::one_line;
use sb_harness::model::{StopReason, TurnFault};
use sb_harness::{Events, Inputs, TurnSpec};
use sb_wire::a2a::{Event, Message, Operation, Query, Send, State, Task};
use tokio::time::{Instant, sleep, timeout};

use super::A2aContext;
use super::known::{Known, known};
use super::peer::{Incoming, Peer};
use super::prompt;
use super::reply::Reply;
use super::trouble::{Trouble, garbled};
use crate::exit::{Exit, stopped};

/// A stream that is silent for so long is taken for broken, once its task is known.
const SILENCE: Duration = Duration::from_secs(120);
/// For what has one short answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long an agent may take to cancel.
const CANCEL: Duration = Duration::from_secs(5);
/// Look-ups that failed one after the other.
const MOST_FAILED: u32 = 6;
/// Streams of one task that are followed after its first broke off; then it is looked up.
const MOST_FOLLOWED: u32 = 5;
/// Between two looks at a task, at first and at most.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

pub(super) struct Run<'a> {
    context: &'a A2aContext,
    address: &'a str,
    pub spec: TurnSpec,
    pub events: Events,
    pub peer: Option<Peer>,
    /// What the log knows.
    pub known: Known,
    /// As it stands in the log.
    pub kept: Known,
    /// This turn's task.
    pub task: Option<String>,
    pub accepted: bool,
    pub reply: Reply,
    pub files: usize,
    pub steps: Vec<String>,
    /// Its last words of its own, where a task says nothing else.
    pub spoken: String,
    /// What is told after its words.
    pub remarks: Vec<String>,
    /// The stream broke off before, so that something of it may be missing.
    pub broke: bool,
    /// It answers a question of the task's, which a stream may begin by telling once more.
    goes_on: bool,
    /// Streams of it that were followed after the first.
    followed: u32,
}

/// Runs a turn.
pub(super) async fn run(
    context: &A2aContext,
    address: &str,
    spec: TurnSpec,
    mut inputs: Inputs,
    events: Events,
) -> Result<StopReason, TurnFault> {
    let mut run = Run {
        context,
        address,
        spec,
        events,
        peer: None,
        known: Known::default(),
        kept: Known::default(),
        task: None,
        accepted: false,
        reply: Reply::default(),
        files: 0,
        steps: Vec::new(),
        spoken: String::new(),
        remarks: Vec::new(),
        broke: false,
        goes_on: false,
        followed: 0,
    };
    let ended = tokio::select! {
        biased;
        () = stopped(&mut inputs) => {
            run.cancel().await;
            Ok(StopReason::Stopped)
        }
        ended = run.turn() => ended,
    };
    let cut = !matches!(ended, Ok(StopReason::Done));
    match (ended, run.settle(cut).await) {
        (Err(Exit::Unheard), _) | (_, Err(_)) => Ok(StopReason::Stopped),
        (Err(Exit::Fault(fault)), _) => Err(fault),
        (Ok(how), Ok(())) => Ok(how),
    }
}

impl Run<'_> {
    async fn turn(&mut self) -> Result<StopReason, Exit> {
        let peer = self.found().await.map_err(|trouble| {
            let keyed = self.context.keys.key(&self.spec.profile).is_some();
            Exit::Fault(trouble.told("The agent", keyed))
        })?;
        self.peer = Some(peer);
        let (before, begun) = known(&self.spec.log, self.spec.turn);
        let anew = before.is_none();
        self.known = before.unwrap_or_default();
        self.kept = self.known.clone();
        let incoming = match begun {
            // It was begun before we were cut off.
            Some(begun) => {
                (self.task, self.accepted, self.broke) = (begun.task.clone(), true, true);
                (self.kept, self.known) = (begun.clone(), begun);
                None
            }
            None => Some(self.send(anew).await?),
        };
        self.hear(incoming).await
    }

    pub fn peer(&self) -> Result<&Peer, Exit> {
        // It is found before anything else is done.
        self.peer.as_ref().ok_or(Exit::Unheard)
    }

    pub fn failed(&self, trouble: &Trouble) -> Exit {
        match &self.peer {
            Some(peer) => Exit::Fault(trouble.told(&peer.label, peer.keyed)),
            None => Exit::Fault(trouble.told("The agent", false)),
        }
    }

    async fn found(&self) -> Result<Peer, Trouble> {
        let mut tries = Tries(FIRST_WAIT);
        loop {
            match Peer::find(self.context, self.address, &self.spec.profile).await {
                Err(trouble) if tries.again(&trouble).await => {}
                done => return done,
            }
        }
    }

    /// Sends the turn's message, to the task that waits for it if one does.
    async fn send(&mut self, mut anew: bool) -> Result<Incoming, Exit> {
        if let Some(id) = self.known.task.clone() {
            match self.task_as_it_is(&id).await {
                Ok(task) if !task.status.state.is_terminal() => {
                    task.artifacts.iter().for_each(|artifact| self.reply.before(artifact));
                    self.goes_on = true;
                }
                Ok(_) => self.known.task = None,
                Err(trouble) if trouble.is_gone() => self.known.task = None,
                Err(trouble) => return Err(self.failed(&trouble)),
            }
        }
        loop {
            let (mut message, left_out) = prompt::message(&self.spec, &self.peer()?.card, anew).await;
            message.context = Some(self.known.context.clone()).filter(|context| !context.is_empty());
            message.task = self.known.task.clone();
            match self.sent(&message).await {
                Err(trouble) if trouble.is_gone() && message.task.is_some() => {
                    (self.known.task, self.goes_on) = (None, false);
                }
                Err(trouble) if trouble.is_gone() && message.context.is_some() => {
                    (self.known, anew) = (Known::default(), true);
                    let label = &self.peer()?.label;
                    let text = format!(
                        "{label} no longer knows this conversation: it begins anew and was told what was said."
                    );
                    self.note(text, true).await?;
                }
                Err(trouble) => return Err(self.failed(&trouble)),
                Ok(incoming) => {
                    for words in left_out {
                        self.note(words, true).await?;
                    }
                    return Ok(incoming);
                }
            }
        }
    }

    /// Sends a message, and again if it certainly never arrived; a refusal that comes as the whole answer is one.
    async fn sent(&self, message: &Message) -> Result<Incoming, Trouble> {
        let mut tries = Tries(FIRST_WAIT);
        loop {
            match self.sent_once(message).await {
                Err(trouble) if tries.again(&trouble).await => {}
                done => return done,
            }
        }
    }

    async fn sent_once(&self, message: &Message) -> Result<Incoming, Trouble> {
        let Some(peer) = &self.peer else { return Err(garbled("it was not found")) };
        let how = if peer.card.streaming { Operation::Stream } else { Operation::Send };
        let send =
            Send { message: message.clone(), accepts: Vec::new(), at_once: true, history: None, push: None };
        let patience = Duration::from_secs(u64::from(self.spec.profile.deadline_s)).max(PATIENCE);
        let mut incoming = peer.ask(how, send.write(peer.version()), patience).await?;
        incoming.look().await?;
        Ok(incoming)
    }

    /// Hears what comes, and looks the task up where it breaks off.
    async fn hear(&mut self, mut incoming: Option<Incoming>) -> Result<StopReason, Exit> {
        loop {
            let Some(stream) = &mut incoming else {
                match self.look_up().await? {
                    Looked::Ended(how) => return Ok(how),
                    Looked::Follows(stream) => incoming = Some(*stream),
                }
                continue;
            };
            let silence = if self.task.is_some() { SILENCE } else { Duration::from_secs(86_400) };
            match timeout(silence, stream.next()).await {
                Ok(Ok(Some(result))) => {
                    let Ok(event) = Event::read(&result) else { continue };
                    let first = std::mem::take(&mut self.goes_on);
                    if first && stream.streams() && event.state().is_some_and(State::is_interrupted) {
                        continue;
                    }
                    if let Some(how) = self.take(event, false).await? {
                        return Ok(how);
                    }
                }
                Ok(Err(trouble @ Trouble::Failed(_))) => return Err(self.failed(&trouble)),
                Ok(Err(trouble)) if self.task.is_none() => return Err(self.failed(&trouble)),
                Ok(Ok(None)) if self.task.is_none() => {
                    return Err(
                        self.failed(&garbled("it broke off before it said what becomes of the message"))
                    );
                }
                Ok(Ok(None) | Err(_)) | Err(_) => (incoming, self.broke) = (None, true),
            }
        }
    }

    /// The task as it stands, again and again, until it has ended or can be followed.
    async fn look_up(&mut self) -> Result<Looked, Exit> {
        let Some(id) = self.task.clone() else { return Err(self.failed(&garbled("it named no task"))) };
        let (mut wait, mut failed, mut follows) = (FIRST_WAIT, 0, self.peer()?.card.streaming);
        self.followed += 1;
        loop {
            match self.task_as_it_is(&id).await {
                Ok(task) => {
                    failed = 0;
                    if let State::Unknown(name) = &task.status.state {
                        let what =
                            format!("its task is in a state that is not known here: {}", one_line(name, 60));
                        return Err(self.failed(&garbled(&what)));
                    }
                    if let Some(how) = self.take(Event::Task(task), true).await? {
                        return Ok(Looked::Ended(how));
                    }
                }
                Err(trouble @ (Trouble::Failed(_) | Trouble::Unasked(_))) => {
                    return Err(self.failed(&trouble));
                }
                Err(trouble) => {
                    failed += 1;
                    if failed == MOST_FAILED {
                        return Err(self.failed(&trouble));
                    }
                }
            }
            if follows && failed == 0 && self.followed <= MOST_FOLLOWED {
                let params = Query::of(&id).write();
                match self.peer()?.ask(Operation::Follow, params, SILENCE).await {
                    Ok(mut stream) => match stream.look().await {
                        Ok(true) => return Ok(Looked::Follows(Box::new(stream))),
                        // It says no, or nothing at all: then it is looked at from time to time.
                        Ok(false) | Err(_) => follows = false,
                    },
                    Err(_) => follows = false,
                }
            }
            sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    pub async fn task_as_it_is(&self, id: &str) -> Result<Task, Trouble> {
        let Some(peer) = &self.peer else { return Err(garbled("it was not found")) };
        let task = peer.one(Operation::Get, Query::of(id).write(), PATIENCE).await?;
        Task::read(&task).map_err(|why| garbled(&format!("its task cannot be read: {why}")))
    }

    /// It is told to end its task, if it has one; it may take a moment and no longer.
    pub async fn cancel(&mut self) {
        let (Some(id), Some(peer)) = (self.task.clone(), &self.peer) else { return };
        let until = Instant::now() + CANCEL;
        let asked = peer.one(Operation::Cancel, Query::of(&id).write(), CANCEL);
        match tokio::time::timeout_at(until, asked).await {
            Ok(Ok(_)) => {}
            Ok(Err(why)) => tracing::debug!(?why, "an agent's task could not be cancelled"),
            Err(_) => tracing::debug!("an agent did not say whether its task is cancelled"),
        }
        self.known.task = None;
    }
}

/// What looking a task up came to.
enum Looked {
    Ended(StopReason),
    Follows(Box<Incoming>),
}

/// How long is waited before the same is asked again.
struct Tries(Duration);

impl Tries {
    /// Waits, if what failed certainly never arrived and may arrive now.
    async fn again(&mut self, trouble: &Trouble) -> bool {
        let again = trouble.never_arrived() && self.0 < FIRST_WAIT * 8;
        if again {
            sleep(self.0).await;
            self.0 *= 2;
        }
        again
    }
}

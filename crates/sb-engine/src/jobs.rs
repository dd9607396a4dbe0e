//! Jobs: an agent is asked by itself, at its times, and answers in a conversation that people have with it.
//!
//! A run is a message like any other, taken in with its due time as its key in the commit that says when
//! the next one is due. So a due time becomes one message whatever crashes; of those missed while nobody
//! looked one runs; and a run whose former one has no end yet is left out. That a run was delivered is read
//! from the outbox: the platform named the message.

mod when;

use std::time::Duration;

use sb_core::model::{
    Busy, Digest, EndKind, Inbound, Job, Key, Manner, Message, MessageId, Origin, Person, Principal,
    ProfileName, Rights, Schedule, SessionId, Timestamp,
};
use sb_store::{ConversationPlace, JobRunStood, PostState};

pub use when::JobTime;

use crate::Engine;
use crate::actors::Mail;
use crate::error::{EngineError, EngineErrorKind, Result};

/// How long a run's key is remembered; due times are never repeated, so this is only for what is at hand.
const KEY_KEPT: Duration = Duration::from_secs(7 * 86_400);
/// A run that is later than this says so to the agent.
const LATE: Duration = Duration::from_secs(15 * 60);
/// Conversations that are named where the one asked for is not there.
const NAMED: usize = 10;
/// Conversations of a profile among which a name is looked for, the last spoken in first.
const LOOKED_AT: usize = 1000;

/// A job to be made, as somebody typed it.
#[derive(Debug, Clone, PartialEq)]
pub struct JobWish {
    pub name: String,
    pub profile: ProfileName,
    /// A conversation's id, its name, or a session's id.
    pub conversation: String,
    pub prompt: String,
    pub time: JobTime,
    /// A time zone's name; none: this machine's.
    pub zone: Option<String>,
}

/// A job with what people want to know of it.
#[derive(Debug, Clone, PartialEq)]
pub struct JobView {
    pub job: Job,
    /// When it is due next, by the clocks of its zone.
    pub next: Option<String>,
    /// The newest first.
    pub runs: Vec<RunView>,
    /// What its operator should know, a sentence each.
    pub notes: Vec<String>,
}

/// A run, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunView {
    pub due: Timestamp,
    pub message: MessageId,
    pub state: RunState,
    /// What was said, or why nothing was.
    pub said: String,
}

/// How a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunState {
    /// It waits, works, or asks a person.
    Unfinished,
    /// Answered, where nobody is written to.
    Answered,
    /// Answered, and on its way.
    Sending,
    /// The platform took the answer, and calls its last message so.
    Delivered(String),
    /// Answered, and not sent; why.
    NotSent(String),
    Failed,
}

impl Engine {
    /// Makes a job. Everything that could be wrong with it is looked at now: its time, whether there is such a
    /// conversation of this profile, and whether it can be written to first.
    pub async fn add_job(&self, wish: JobWish) -> Result<JobView> {
        let now = self.inner().clock.now();
        if !Job::is_name(&wish.name) {
            return Err(bad(format!(
                "{:?} is not a job's name: use 1 to 64 of a-z, 0-9, - and _.",
                wish.name
            )));
        }
        let prompt = wish.prompt.trim();
        if prompt.is_empty() || prompt.len() > Job::LONGEST {
            return Err(bad(format!("A job's prompt has 1 to {} bytes.", Job::LONGEST)));
        }
        if !self.has_profile(&wish.profile) {
            return Err(EngineError::no_profile(&wish.profile));
        }
        let schedule = when::read(&wish.time, wish.zone.as_deref(), now).map_err(bad)?;
        let place = self.place_of(&wish.profile, &wish.conversation).await?;
        let reach = self.writes_first(&place).await.map_err(bad)?;
        let ask_expiry_ms = match place.origin.as_ref().map(|o| &o.address.channel) {
            Some(slug) => self.store().channel(slug).await?.and_then(|c| c.options.ask_expiry_s),
            None => None,
        };
        let job = Job {
            next: when::next(&schedule, now, now),
            name: wish.name,
            profile: wish.profile,
            to: place.address(),
            conversation: place.id,
            prompt: prompt.to_owned(),
            schedule,
            manner: manner(ask_expiry_ms.map(|s| s.saturating_mul(1000))),
            made: now,
        };
        self.store().add_job(job.clone()).await?;
        Ok(JobView { next: next_shown(&job), runs: Vec::new(), notes: reach, job })
    }

    /// All jobs, by name, each with its last run.
    pub async fn jobs(&self) -> Result<Vec<JobView>> {
        let mut views = Vec::new();
        for job in self.store().jobs().await? {
            views.push(self.job_view(job, 1).await?);
        }
        Ok(views)
    }

    /// One job, with its runs.
    pub async fn job(&self, name: &str) -> Result<JobView> {
        let job = self.store().job(name).await?.ok_or_else(|| no_job(name))?;
        self.job_view(job, Job::RUNS_KEPT).await
    }

    async fn job_view(&self, job: Job, runs: usize) -> Result<JobView> {
        let stood = self.store().job_runs(&job.name, runs).await?;
        let is_sent = job.to.is_some();
        let runs = stood.into_iter().map(|run| run_view(run, is_sent)).collect();
        Ok(JobView { next: next_shown(&job), runs, notes: Vec::new(), job })
    }

    /// Runs a job now, whenever it is due: the message to follow.
    pub async fn run_job(&self, name: &str) -> Result<MessageId> {
        let job = self.store().job(name).await?.ok_or_else(|| no_job(name))?;
        self.may_take(&job.profile)?;
        let now = self.inner().clock.now();
        let taken = self.store().run_job_now(name, inbound(&job, now, None), now).await?;
        let Some(message) = taken else {
            return Err(bad(format!(
                "The last run of {name} has no end yet, so it was not run again. `switchboard job show {name}` says how it stands."
            )));
        };
        let id = message.id;
        self.take_run(&job, message);
        Ok(id)
    }

    /// Removes a job. What it said stays said, and a run that is at work goes on.
    pub async fn remove_job(&self, name: &str) -> Result<()> {
        match self.store().remove_job(name).await? {
            true => Ok(()),
            false => Err(no_job(name)),
        }
    }

    /// A job that is this profile's, if there is one.
    pub(crate) async fn job_of(&self, profile: &ProfileName) -> Result<Option<String>> {
        let jobs = self.store().jobs().await?;
        Ok(jobs.into_iter().find(|job| job.profile == *profile).map(|job| job.name))
    }

    /// Takes in what is due by now. One that cannot be taken in does not hold up the others.
    pub(crate) async fn run_due_jobs(&self, now: Timestamp) -> Result<()> {
        for job in self.store().due_jobs(now).await? {
            let Some(due) = job.next else { continue };
            let next = when::next(&job.schedule, job.made, now.max(due));
            let late = now.ms_since(due) > LATE.as_millis() as i64;
            let message = inbound(&job, due, late.then(|| when::shown(due, &job.schedule)));
            match self.store().run_job(&job.name, due, next, message, now).await {
                Ok(Some(message)) => self.take_run(&job, message),
                Ok(None) => {
                    tracing::info!(job = %job.name, "a run was left out: the one before has no end yet");
                }
                Err(why) => tracing::warn!(job = %job.name, error = %why, "a job could not be run"),
            }
        }
        Ok(())
    }

    fn take_run(&self, job: &Job, message: Message) {
        metrics::counter!("switchboard_job_runs_total").increment(1);
        self.send(&job.conversation, Mail::Arrived(Box::new(message), None));
    }

    /// A conversation of this profile by its id, by its name alone, or by one of its sessions; who misspells one
    /// is told which there are.
    async fn place_of(&self, profile: &ProfileName, named: &str) -> Result<ConversationPlace> {
        let id = match named.parse::<SessionId>() {
            Ok(session) => self.store().session(session).await?.map(|(_, conversation, _)| conversation),
            Err(_) => None,
        };
        let id = id.unwrap_or_else(|| named.into());
        let found = self.store().conversation_place(&id).await?;
        if let Some(place) = found.filter(|place| place.profile == *profile) {
            return Ok(place);
        }
        let mut known = self.store().conversations_of(profile, LOOKED_AT).await?;
        let of_name = known.iter().filter(|place| place.id.name() == named).count();
        if of_name == 1 {
            known.retain(|place| place.id.name() == named);
            return known.pop().ok_or_else(|| bad("There is no such conversation."));
        }
        let names: Vec<&str> = known.iter().map(|place| place.id.as_str()).take(NAMED).collect();
        let said = match (names.is_empty(), of_name) {
            (true, _) => format!(
                "{profile} has no conversation yet, so a job cannot answer in one. Write to it first, where it is to answer."
            ),
            (_, 0) => format!("{profile} has no conversation {named:?}. It has: {}.", names.join(", ")),
            _ => {
                format!("{named:?} names several conversations of {profile}. They are: {}.", names.join(", "))
            }
        };
        Err(EngineError::new(EngineErrorKind::NotFound, said))
    }
}

/// The message that a run is.
fn inbound(job: &Job, due: Timestamp, late_since: Option<String>) -> Inbound {
    let key = format!("job:{}:{}:{}", job.name, job.made.0, due.0);
    let text = match late_since {
        Some(since) => {
            format!("{}\n\n(This was due {since}, when nobody was here to ask you.)", job.prompt)
        }
        None => job.prompt.clone(),
    };
    let person = Person { id: None, name: format!("job {}", job.name), bot: true };
    Inbound {
        conversation: job.conversation.clone(),
        profile: job.profile.clone(),
        session: None,
        key: Some(Key { body: Digest::of(key.as_bytes()), text: key, kept_ms: KEY_KEPT.as_millis() as i64 }),
        from: Principal(format!("job:{}", job.name)),
        rights: Rights::TALK,
        text,
        files: Vec::new(),
        manner: job.manner.clone(),
        origin: job.to.clone().map(|address| {
            Box::new(Origin {
                address,
                person,
                context: Vec::new(),
                files: Vec::new(),
                album: None,
                addressed: true,
            })
        }),
    }
}

fn manner(ask_expiry_ms: Option<u64>) -> Manner {
    Manner {
        busy: Busy::Queue,
        debounce_ms: 0,
        commands_wait: true,
        stop_words: false,
        names_writers: false,
        ask_expiry_ms,
    }
}

fn run_view(stood: JobRunStood, is_sent: bool) -> RunView {
    let JobRunStood { run, ending, post, sent } = stood;
    let said = ending.as_ref().map(|e| e.said.clone()).unwrap_or_default();
    let failed = ending.as_ref().is_some_and(|e| !matches!(e.kind, EndKind::Replied | EndKind::Silent));
    let state = match (ending, post, sent) {
        (None, _, _) => RunState::Unfinished,
        _ if failed => RunState::Failed,
        (_, Some((PostState::Refused | PostState::Dropped, why)), _) => {
            RunState::NotSent(why.unwrap_or_else(|| "it was given up".to_owned()))
        }
        (_, Some((PostState::Perhaps, _)), _) => {
            RunState::NotSent("perhaps sent: the platform's answer was lost".to_owned())
        }
        (_, Some((PostState::Open, _)), _) => RunState::Sending,
        (_, _, Some(message)) => RunState::Delivered(message),
        _ if is_sent => RunState::NotSent("there was nothing to send".to_owned()),
        _ => RunState::Answered,
    };
    RunView { due: run.due, message: run.message, state, said }
}

fn next_shown(job: &Job) -> Option<String> {
    job.next.map(|at| when::shown(at, &job.schedule))
}

/// When a job is due, as people read it.
pub fn schedule_shown(schedule: &Schedule) -> String {
    match schedule {
        Schedule::Cron { expression, zone } => format!("{expression} ({zone})"),
        Schedule::Every { seconds } => {
            let units = [(604_800, "w"), (86_400, "d"), (3_600, "h"), (60, "m")];
            let unit = units.iter().find(|(each, _)| seconds % each == 0).copied().unwrap_or((1, "s"));
            format!("every {}{}", seconds / unit.0, unit.1)
        }
        Schedule::Once { at, .. } => format!("once, {}", when::shown(*at, schedule)),
    }
}

fn no_job(name: &str) -> EngineError {
    EngineError::new(
        EngineErrorKind::NotFound,
        format!("There is no job {name}. `switchboard job list` shows those there are."),
    )
}

fn bad(said: impl Into<String>) -> EngineError {
    EngineError::new(EngineErrorKind::Bad, said)
}

//! [`Harness`] and its queues; the values that pass through them are the vocabulary's.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use sb_net::model::{
    Choices, Digest, Entry, HarnessEvent, HarnessInput, Memo, Profile, ProfileName, SessionId, StopReason,
    Task, TurnFault, TurnId,
};
use tokio::sync::mpsc;

/// What a harness can do; the engine asks for nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HarnessFeatures {
    /// Takes [`HarnessInput::Steer`] before its next step.
    pub steers: bool,
    /// Returns [`StopReason::Parked`] on [`HarnessInput::Wait`] and later goes on from the log. One that
    /// does not keeps its turn open until the decision comes.
    pub parks: bool,
    /// Its memory is the log it is given, so `/undo` and `/retry` need nothing more of it.
    pub rewinds: bool,
    /// Does [`Task::Compact`].
    pub compacts: bool,
    /// Can be shown pictures.
    pub images: bool,
}

/// Reads and keeps bytes by digest, for files of messages and files the agent shares.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// The bytes of a blob; `Err` says why not, free of paths. For pictures shown to a model (5 MB at most).
    async fn read(&self, digest: &Digest) -> std::io::Result<Bytes>;
    /// Copies a file into the store, streaming, and gives its digest and size.
    async fn keep(&self, file: tokio::fs::File) -> std::io::Result<(Digest, u64)>;
    /// Opens a blob for streaming out of it.
    async fn open(&self, digest: &Digest) -> std::io::Result<tokio::fs::File>;
}

/// What agents note for themselves, by profile. `Err` says why not, in words for the model.
#[async_trait]
pub trait Memory: Send + Sync {
    /// Notes some words; `outside`: in a session that has read content from outside.
    async fn remember(&self, profile: &ProfileName, words: &str, outside: bool) -> Result<Memo, String>;
    /// The notes that fit some words best, the best first.
    async fn recall(&self, profile: &ProfileName, words: &str, most: usize) -> Result<Vec<Memo>, String>;
}

/// Everything one run may know.
#[derive(Clone)]
pub struct TurnSpec {
    pub turn: TurnId,
    pub session: SessionId,
    pub task: Task,
    pub profile: Arc<Profile>,
    /// What the chat chose, already narrowed to what the profile gives.
    pub choices: Choices,
    /// The log's view: the newest summary, then everything after it that is not undone, this turn's
    /// records included. On a turn that goes on, it ends where the turn left off.
    pub log: Vec<Entry>,
    /// How often this turn was begun: 1, or more after a crash.
    pub starts: u32,
    pub blobs: Arc<dyn Blobs>,
    pub memory: Arc<dyn Memory>,
    /// The session has read content from outside since a person last decided, as of the turn's beginning.
    pub tainted: bool,
}

/// Where a turn receives what the engine tells it.
pub type Inputs = mpsc::UnboundedReceiver<HarnessInput>;
/// Where a turn tells the engine what it does; bounded, so an engine at work slows the turn down.
pub type Events = mpsc::Sender<HarnessEvent>;

/// The queues of one turn: what the engine keeps, and what the harness is given.
pub fn channel() -> ((mpsc::UnboundedSender<HarnessInput>, mpsc::Receiver<HarnessEvent>), (Inputs, Events)) {
    let (tell, inputs) = mpsc::unbounded_channel();
    let (events, hear) = mpsc::channel(64);
    ((tell, hear), (inputs, events))
}

/// What runs turns: the built-in loop, or an agent elsewhere.
#[async_trait]
pub trait Harness: Send + Sync {
    fn features(&self) -> HarnessFeatures;

    /// Runs one turn, or goes on with one. Returning is its only end; dropping the future must end
    /// everything it started (processes, connections). An error says what failed, in words for the
    /// person, without secrets. What was logged by events before stays.
    async fn turn(&self, spec: TurnSpec, inputs: Inputs, events: Events) -> Result<StopReason, TurnFault>;
}

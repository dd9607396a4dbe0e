//! Jobs: what an agent is asked to do by itself, when, and in which conversation its answer is said.

use serde::{Deserialize, Serialize};

use crate::{Address, ConversationId, Manner, MessageId, ProfileName, Timestamp};

/// When a job is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "when", rename_all = "snake_case")]
pub enum Schedule {
    /// At every time that a cron expression of five fields names, by the clocks of a time zone.
    Cron { expression: String, zone: String },
    /// Every so many seconds, counted from when it was made.
    Every { seconds: u32 },
    /// Once. The zone is how people are told of it.
    Once { at: Timestamp, zone: String },
}

/// One job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub name: String,
    pub profile: ProfileName,
    pub conversation: ConversationId,
    /// Where the conversation is on its messenger; none: nobody is written to, the answer is in the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Address>,
    /// What the agent is asked.
    pub prompt: String,
    pub schedule: Schedule,
    pub manner: Manner,
    pub made: Timestamp,
    /// When it is due next; none: it is over.
    #[serde(skip)]
    pub next: Option<Timestamp>,
}

impl Job {
    /// The longest prompt, in bytes.
    pub const LONGEST: usize = 64 * 1024;
    /// The most jobs of one home.
    pub const MOST: usize = 1000;
    /// The runs of one job that are remembered.
    pub const RUNS_KEPT: usize = 50;

    /// Whether a job may be called so: 1 to 64 of `a-z`, `0-9`, `-`, `_`.
    pub fn is_name(name: &str) -> bool {
        ProfileName(name.to_owned()).is_valid()
    }
}

/// One time that a job ran: the message it became.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobRun {
    pub due: Timestamp,
    pub message: MessageId,
}

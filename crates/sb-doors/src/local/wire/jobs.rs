//! The JSON of the `/desk` routes about jobs.

use serde::{Deserialize, Serialize};

/// When a job is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobTimeInfo {
    /// A cron expression of five fields.
    Cron(String),
    /// `90m`, `2h`, `1d`.
    Every(String),
    /// A time by the clocks of the zone, or with an offset.
    At(String),
}

/// A job to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddJob {
    pub name: String,
    pub profile: String,
    /// A conversation's id, its name, or a session's id.
    pub conversation: String,
    pub prompt: String,
    pub time: JobTimeInfo,
    /// A time zone's name; left out: the server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobInfo {
    pub name: String,
    pub profile: String,
    pub conversation: String,
    pub prompt: String,
    /// When it is due, as people read it.
    pub schedule: String,
    /// RFC 3339; none: never more.
    pub next: Option<String>,
    /// The same by the clocks of its zone.
    pub next_shown: Option<String>,
    /// The newest first; in a list the last one only.
    pub runs: Vec<RunInfo>,
    /// What to know of it, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A run of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    /// RFC 3339.
    pub due: String,
    /// `unfinished`, `answered`, `sending`, `delivered`, `not_sent`, `failed`.
    pub state: String,
    /// What the platform calls the last message of a reply that was delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_as: Option<String>,
    /// Why a reply was not sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    pub said: String,
}

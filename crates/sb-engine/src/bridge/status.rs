//! How a bridge is: its state with the reason, what was proven when, and its last lines.
//!
//! "Connected", "receiving" and "sending" are three facts, each with its own time, taken from what really
//! passed; a quiet chat is a healthy one.

use std::collections::VecDeque;
use std::sync::Mutex;

use sb_channel::Account;
use sb_core::model::text::one_line;
use sb_core::model::{Slug, Timestamp};

use super::locked;

/// Lines that are kept.
const LINES: usize = 50;
const LONGEST_LINE: usize = 400;

/// Where a bridge stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum BridgeState {
    /// Not enabled, or its server does not run.
    #[default]
    Off,
    Starting,
    Running,
    /// It could not start, or cannot go on; when it is tried again.
    Failed {
        why: String,
        again: Option<Timestamp>,
    },
}

/// One line of a bridge's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    pub at: Timestamp,
    pub said: String,
}

/// How a bridge is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BridgeStatus {
    pub state: BridgeState,
    pub account: Option<Account>,
    /// The platform last answered us.
    pub connected: Option<Timestamp>,
    /// Something last came from there.
    pub received: Option<Timestamp>,
    /// Something of ours was last taken there.
    pub sent: Option<Timestamp>,
    /// Nothing is sent until then, since too much failed.
    pub paused_until: Option<Timestamp>,
    /// Why receiving fails at the moment.
    pub trouble: Option<String>,
    pub lines: Vec<LogLine>,
}

/// A bridge's status as it is written; outlives the bridge's restarts.
pub(crate) struct Log {
    slug: Slug,
    now: Mutex<BridgeStatus>,
    lines: Mutex<VecDeque<LogLine>>,
}

impl Log {
    pub fn new(slug: Slug) -> Self {
        Self { slug, now: Mutex::default(), lines: Mutex::default() }
    }

    /// Adds a line, free of secrets and of what people wrote; to the program's log too.
    pub fn say(&self, at: Timestamp, said: &str) {
        let said = one_line(said, LONGEST_LINE);
        tracing::info!(channel = %self.slug, "{said}");
        let mut lines = locked(&self.lines);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(LogLine { at, said });
    }

    pub fn change(&self, change: impl FnOnce(&mut BridgeStatus)) {
        change(&mut locked(&self.now));
    }

    pub fn status(&self) -> BridgeStatus {
        let mut status = locked(&self.now).clone();
        status.lines = locked(&self.lines).iter().cloned().collect();
        status
    }
}

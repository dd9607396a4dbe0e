//! What the clock leapt over while timers stood still: the machine slept, or its clock was set forward.

use sb_core::model::Timestamp;
use tokio::time::Instant;

/// Clock and timers may differ by as much and it says nothing.
const SLACK_MS: i64 = 10_000;

/// Compares the clock with the timers.
pub(super) struct Leaps {
    clock: Timestamp,
    timers: Instant,
}

impl Leaps {
    pub fn new(now: Timestamp) -> Self {
        Self { clock: now, timers: Instant::now() }
    }

    /// How many milliseconds were leapt over since it was last asked.
    pub fn over(&mut self, now: Timestamp) -> i64 {
        let passed = i64::try_from(self.timers.elapsed().as_millis()).unwrap_or(i64::MAX);
        let leapt = now.ms_since(self.clock).saturating_sub(passed);
        *self = Self::new(now);
        if leapt > SLACK_MS { leapt } else { 0 }
    }
}

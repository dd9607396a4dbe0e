//! The breaker: a messenger that keeps failing is left alone for a while.
//!
//! After five failures in a row nothing is sent for a minute; then one try is let through. Fails it too,
//! the pause doubles, ten minutes at most. One success and all is forgotten.

use sb_model::Timestamp;

/// Failures in a row that open it.
const FAILURES: u32 = 5;
const FIRST_PAUSE_MS: i64 = 60_000;
const LONGEST_PAUSE_MS: i64 = 600_000;

/// One account's breaker.
#[derive(Debug, Clone, Default)]
pub struct Breaker {
    failures: u32,
    /// How often it opened in a row.
    opened: u32,
    until: Option<Timestamp>,
    /// The one try after a pause is under way.
    trying: bool,
}

impl Breaker {
    /// Whether something may be sent now; if not, when to ask again. A yes after a pause is one try: report it.
    pub fn ask(&mut self, now: Timestamp) -> Result<(), Timestamp> {
        match self.until {
            None => Ok(()),
            Some(until) if now < until => Err(until),
            Some(_) if self.trying => Err(now.plus_ms(1_000)),
            Some(_) => {
                self.trying = true;
                Ok(())
            }
        }
    }

    /// Something went through, or was refused for its own sake: the account works.
    pub fn worked(&mut self) {
        *self = Self::default();
    }

    /// Something failed in a way that says something about the whole account. True if it opened by this.
    pub fn failed(&mut self, now: Timestamp) -> bool {
        self.failures += 1;
        let opens = self.trying || (self.until.is_none() && self.failures >= FAILURES);
        if opens {
            let pause = FIRST_PAUSE_MS.saturating_mul(1 << self.opened.min(8)).min(LONGEST_PAUSE_MS);
            self.opened += 1;
            self.trying = false;
            self.until = Some(now.plus_ms(pause));
        }
        opens
    }

    /// The try that was let through never happened.
    pub fn untried(&mut self) {
        self.trying = false;
    }

    /// Until when nothing is sent, if it is open.
    pub fn open_until(&self) -> Option<Timestamp> {
        self.until
    }
}

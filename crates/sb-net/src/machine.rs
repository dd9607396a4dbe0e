//! The machine's own clock and its source of random bits.
//!
//! The clock never goes backwards within a process, whatever is done to the machine's: times order
//! what is stored, so a step back would reorder it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use sb_model::{Clock, Dice, Timestamp};

/// The latest time given out, shared by all clocks of the process.
static LATEST: AtomicI64 = AtomicI64::new(0);

/// The machine's clock, made monotone.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one clock")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
        Timestamp(LATEST.fetch_max(now, Ordering::Relaxed).max(now))
    }
}

/// The operating system's random bits.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDice;

impl Dice for SystemDice {
    /// # Panics
    /// If the operating system has no random bits to give: going on without would make secrets guessable.
    #[expect(clippy::disallowed_methods, reason = "these are the one dice")]
    fn fill(&self, bytes: &mut [u8]) {
        if let Err(why) = getrandom::fill(bytes) {
            panic!("the operating system gives no random bits: {why}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_goes_backwards() {
        let times: Vec<_> = (0..1000).map(|_| SystemClock.now()).collect();
        assert!(times.is_sorted());
        assert!(times[0].0 > 1_600_000_000_000);
    }

    #[test]
    fn two_rolls_differ() {
        assert_ne!(SystemDice.roll(), SystemDice.roll());
    }
}

//! The machine's own clock and its source of random bits.
//!
//! The clock never goes backwards within a process, whatever is done to the machine's, since times order
//! what is stored. Nor does it stand still, since things wait for it: where the machine's was set back, it
//! goes at half its pace until both agree.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sb_model::{Clock, Dice, Timestamp};

/// What the clocks of the process share.
static SHARED: Mutex<Option<Steady>> = Mutex::new(None);

/// The latest time given out, and when that was.
#[derive(Debug, Clone, Copy)]
struct Steady {
    shown: Duration,
    at: Instant,
}

impl Steady {
    /// What is shown when the machine's clock says `wall`, both counted from 1970.
    fn next(self, wall: Duration, at: Instant) -> Self {
        let least = self.shown + at.saturating_duration_since(self.at) / 2;
        Self { shown: wall.max(least), at }
    }
}

/// The machine's clock, made monotone.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one clock")]
    fn now(&self) -> Timestamp {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let (wall, at) = (SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(), Instant::now());
        let now = shared.map_or(Steady { shown: wall, at }, |last| last.next(wall, at));
        *shared = Some(now);
        Timestamp(i64::try_from(now.shown.as_millis()).unwrap_or(i64::MAX))
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
    #[expect(clippy::disallowed_methods, reason = "only differences of it are looked at")]
    fn where_the_machines_clock_is_set_back_time_goes_on_at_half_its_pace() {
        let (hour, begun) = (Duration::from_secs(3600), Instant::now());
        let noon = 12 * hour;
        let mut clock = Steady { shown: noon, at: begun };
        // Set forward by a day, and an hour later back.
        clock = clock.next(noon + 24 * hour, begun);
        assert_eq!(clock.shown, noon + 24 * hour);
        clock = clock.next(noon + hour, begun + hour);
        assert_eq!(clock.shown, noon + 24 * hour + hour / 2);
        clock = clock.next(noon + 11 * hour, begun + 11 * hour);
        assert_eq!(clock.shown, noon + 24 * hour + 11 * hour / 2);
        clock = clock.next(noon + 49 * hour, begun + 49 * hour);
        assert_eq!(clock.shown, noon + 49 * hour, "they agree again");
    }

    #[test]
    fn two_rolls_differ() {
        assert_ne!(SystemDice.roll(), SystemDice.roll());
    }
}

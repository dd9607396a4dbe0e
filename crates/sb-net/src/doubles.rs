//! A clock and dice for tests: both do exactly as told, so a failing run can be repeated.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use std::sync::{Mutex, PoisonError};

use sb_model::{Clock, Dice, Timestamp};
use tokio::time::Instant;

/// A clock that stands still until it is moved.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that shows `now`.
    pub fn at(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.0))
    }
    /// Moves it on.
    pub fn pass_ms(&self, ms: u32) {
        self.0.fetch_add(i64::from(ms), Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}

/// A clock that follows the runtime's timers, so that it stands still where they are paused. It goes on where it was
/// when it is given to another runtime.
#[derive(Debug)]
pub struct RuntimeClock(Mutex<(Timestamp, Option<Instant>)>);

impl RuntimeClock {
    /// A clock that shows `now` until it is begun.
    pub fn at(now: Timestamp) -> Self {
        Self(Mutex::new((now, None)))
    }
    /// From now on it follows the timers of the runtime that calls this.
    pub fn begin(&self) {
        self.set(|now| (now, Some(Instant::now())));
    }
    /// It is set forward, while the timers go on as they did.
    pub fn leap(&self, ms: i64) {
        self.set(|now| (now.plus_ms(ms), Some(Instant::now())));
    }
    /// It stands still; a second is gone when it is begun again.
    pub fn end(&self) {
        self.set(|now| (now.plus_ms(1_000), None));
    }
    fn set(&self, change: impl FnOnce(Timestamp) -> (Timestamp, Option<Instant>)) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = change(read(&state));
    }
}

fn read((base, since): &(Timestamp, Option<Instant>)) -> Timestamp {
    let passed = since.map_or(0, |at| i64::try_from(at.elapsed().as_millis()).unwrap_or(i64::MAX));
    base.plus_ms(passed)
}

impl Clock for RuntimeClock {
    fn now(&self) -> Timestamp {
        read(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Dice whose rolls follow from the seed alone. Never for secrets.
#[derive(Debug)]
pub struct FixedDice(AtomicU64);

impl FixedDice {
    /// Dice that roll the same for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
    fn next(&self) -> u64 {
        // SplitMix64: every seed gives a full period of well mixed values.
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut z = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Dice for FixedDice {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_rolls_the_same() {
        let (a, b) = (FixedDice::new(7), FixedDice::new(7));
        assert_eq!((a.roll(), a.roll()), (b.roll(), b.roll()));
        assert_ne!(a.roll(), FixedDice::new(8).roll());
    }
}

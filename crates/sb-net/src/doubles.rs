//! A clock and dice for tests: both do exactly as told, so a failing run can be repeated.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use sb_model::{Clock, Dice, Timestamp};

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

//! Time and chance, as traits: machines are handed a [`Timestamp`], shells hold a [`Clock`] and [`Dice`].

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970, UTC. The only time type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// This moment and `ms` milliseconds.
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }
    /// Milliseconds from `earlier` to this moment, never negative.
    pub fn ms_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0).max(0)
    }
}

/// Tells the time; never goes backwards within a process.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;
}

/// Gives random bits fit for secrets.
pub trait Dice: Send + Sync + 'static {
    fn fill(&self, bytes: &mut [u8]);
    /// 64 random bits, for ids.
    fn roll(&self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}

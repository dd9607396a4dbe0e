//! How fast lines may leave: a few at once, then one in so many milliseconds. Pure.
//!
//! Servers end a connection that writes faster. Answers to their own pings are not counted.

/// Lines that may leave at once.
const BURST: u64 = 4;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    every_ms: u64,
    /// When all that left will be forgotten.
    free_at: u64,
}

impl Pace {
    pub fn new(every_ms: u64) -> Self {
        Self { every_ms, free_at: 0 }
    }

    /// How long the next line has to wait.
    pub fn wait_ms(&self, now: u64) -> u64 {
        self.free_at.saturating_sub(now + (BURST - 1) * self.every_ms)
    }

    /// A line left.
    pub fn left(&mut self, now: u64) {
        self.free_at = self.free_at.max(now) + self.every_ms;
    }

    /// Whether a line that matters little may leave without holding others up.
    pub fn has_room(&self, now: u64) -> bool {
        self.free_at <= now + (BURST / 2) * self.every_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_lines_leave_at_once_and_then_one_at_a_time() {
        let mut pace = Pace::new(2_000);
        let mut now = 10_000;
        let mut left = Vec::new();
        for _ in 0..8 {
            now += pace.wait_ms(now);
            pace.left(now);
            left.push(now - 10_000);
        }
        assert_eq!(left, [0, 0, 0, 0, 2_000, 4_000, 6_000, 8_000]);
        assert!(!pace.has_room(now) && pace.has_room(now + 4_000));
        assert_eq!(pace.wait_ms(now + 60_000), 0);
    }
}

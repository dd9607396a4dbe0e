//! How much one person may write: so many messages in a time that begins with their first.
//!
//! One entry for whoever wrote of late, of the same size however much they write.

use std::collections::HashMap;

use sb_model::{Limit, Timestamp};

/// People whose count is kept; when there are more, all are counted anew.
const MOST_PEOPLE: usize = 10_000;

/// Counts messages, by who wrote them.
#[derive(Debug, Clone, Default)]
pub struct Quotas(HashMap<String, Used>);

#[derive(Debug, Clone)]
struct Used {
    until: Timestamp,
    messages: u32,
    album: Option<String>,
}

/// Whether a message is within what its writer may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quota {
    Within,
    /// No more is taken until then. `first`: they were not told yet.
    Over {
        until: Timestamp,
        first: bool,
    },
}

impl Quotas {
    /// Counts a message. The pieces of one album are one.
    pub fn count(&mut self, who: &str, album: Option<&str>, limit: Limit, now: Timestamp) -> Quota {
        let running = self.0.get_mut(who).filter(|used| now < used.until);
        let Some(used) = running else {
            self.make_room(now);
            let until = now.plus_ms(i64::from(limit.per_s) * 1000);
            let used = Used { until, messages: 1, album: album.map(str::to_owned) };
            self.0.insert(who.to_owned(), used);
            return Quota::Within;
        };
        let same = album.is_some() && used.album.as_deref() == album;
        let first = !same && used.messages == limit.messages;
        if !same {
            used.messages = used.messages.saturating_add(1);
            used.album = album.map(str::to_owned);
        }
        match used.messages > limit.messages {
            true => Quota::Over { until: used.until, first },
            false => Quota::Within,
        }
    }

    fn make_room(&mut self, now: Timestamp) {
        if self.0.len() < MOST_PEOPLE {
            return;
        }
        self.0.retain(|_, used| now < used.until);
        if self.0.len() >= MOST_PEOPLE {
            self.0.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_A_MINUTE: Limit = Limit { messages: 2, per_s: 60 };
    const NOON: Timestamp = Timestamp(1_000_000);

    #[test]
    fn what_is_too_much_is_told_once_and_forgotten_with_its_time() {
        let mut quotas = Quotas::default();
        let until = NOON.plus_ms(60_000);
        let mut at = |ms| quotas.count("ann", None, TWO_A_MINUTE, NOON.plus_ms(ms));
        assert_eq!((at(0), at(10)), (Quota::Within, Quota::Within));
        assert_eq!(at(20), Quota::Over { until, first: true });
        assert_eq!(at(59_999), Quota::Over { until, first: false });
        assert_eq!((at(60_000), at(60_001)), (Quota::Within, Quota::Within));
        assert_eq!(at(60_002), Quota::Over { until: NOON.plus_ms(120_000), first: true });
        assert_eq!(quotas.count("bo", None, TWO_A_MINUTE, NOON), Quota::Within, "each has their own");
    }

    #[test]
    fn an_album_is_one_message_and_never_cut() {
        let mut quotas = Quotas::default();
        let mut piece = |album| quotas.count("ann", Some(album), TWO_A_MINUTE, NOON);
        assert!((0..9).all(|_| piece("a") == Quota::Within));
        assert!((0..9).all(|_| piece("b") == Quota::Within));
        assert!(matches!(piece("c"), Quota::Over { first: true, .. }));
        assert!(matches!(piece("c"), Quota::Over { first: false, .. }));
    }

    #[test]
    fn the_counts_do_not_grow_without_bound() {
        let mut quotas = Quotas::default();
        for n in 0..2 * MOST_PEOPLE {
            let now = NOON.plus_ms(i64::try_from(n).unwrap());
            assert_eq!(quotas.count(&n.to_string(), None, TWO_A_MINUTE, now), Quota::Within);
        }
        assert!(quotas.0.len() <= MOST_PEOPLE, "{}", quotas.0.len());
    }
}

//! Processes that wait for the next turn of their sessions, each until it has waited long enough.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sb_harness::model::SessionId;
use tokio::time::Instant;

/// A process whose session is quiet for so long is ended.
const IDLE: Duration = Duration::from_secs(600);
/// So many wait; beyond, the one that has waited longest is ended.
const MOST_IDLE: usize = 32;

/// Processes between two turns. Dropping one ends it.
pub(crate) struct Keep<P>(Arc<Mutex<HashMap<SessionId, Idle<P>>>>);

struct Idle<P> {
    process: P,
    since: Instant,
}

impl<P> Default for Keep<P> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<P: Send + 'static> Keep<P> {
    /// The process of a session, for its next turn.
    pub fn take(&self, session: SessionId) -> Option<P> {
        locked(&self.0).remove(&session).map(|idle| idle.process)
    }

    /// Keeps a process for the session's next turn.
    pub fn put(&self, session: SessionId, process: P) {
        let mut idle = locked(&self.0);
        let since = Instant::now();
        idle.insert(session, Idle { process, since });
        if idle.len() > MOST_IDLE
            && let Some(longest) = idle.iter().min_by_key(|(_, i)| i.since).map(|(id, _)| *id)
        {
            idle.remove(&longest);
        }
        let all = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            tokio::time::sleep(IDLE).await;
            let Some(all) = all.upgrade() else { return };
            let mut idle = locked(&all);
            if idle.get(&session).is_some_and(|i| i.since == since) {
                idle.remove(&session);
            }
        });
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_that_is_not_wanted_for_ten_minutes_is_ended() {
        let keep = Keep::default();
        let (one, other) = (SessionId(1), SessionId(2));
        let (first, second) = (Arc::new(()), Arc::new(()));
        keep.put(one, Arc::clone(&first));
        tokio::time::sleep(IDLE / 2).await;
        keep.put(other, Arc::clone(&second));
        // Taken and put back, it has its whole time again.
        tokio::time::sleep(IDLE / 2 + Duration::from_millis(1)).await;
        assert!(keep.take(one).is_none() && Arc::strong_count(&first) == 1, "ended, not only unknown");
        let taken = keep.take(other).expect("still there");
        keep.put(other, taken);
        tokio::time::sleep(IDLE - Duration::from_secs(1)).await;
        assert_eq!(Arc::strong_count(&second), 2);
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(Arc::strong_count(&second), 1);
    }

    #[tokio::test]
    async fn the_one_that_has_waited_longest_goes_when_there_are_too_many() {
        let keep = Keep::default();
        for n in 0..=MOST_IDLE as u64 {
            keep.put(SessionId(n), n);
        }
        assert_eq!((keep.take(SessionId(0)), keep.take(SessionId(1))), (None, Some(1)));
    }
}

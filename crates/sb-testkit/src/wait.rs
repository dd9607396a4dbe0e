//! Waiting for what the program does by itself, in tests that run in real time.
//!
//! A count of looks is no patience: how long one takes depends on what else the machine does. So a test looks every
//! few milliseconds, and gives up only long after anything sound would have happened.

use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
const BETWEEN: Duration = Duration::from_millis(2);

/// Looks until there is something to see, and returns it.
///
/// Only for tests whose clock runs by itself: under tokio's paused clock the patience would be over at once.
///
/// # Panics
/// After a minute, with what was waited for.
pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(seen) = look().await {
                return seen;
            }
            tokio::time::sleep(BETWEEN).await;
        }
    };
    match tokio::time::timeout(PATIENCE, looking).await {
        Ok(seen) => seen,
        Err(_) => panic!("it never came: {what}"),
    }
}

//! What polls is a feed that acknowledges nothing before it is stored.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use sb_channel::model::{Fault, FaultKind};
use sb_channel::{Batch, Feed, Poll, Result};

/// Gives `a`, `b` … as cursors, and remembers what it was asked for.
#[derive(Clone, Default)]
struct Letters {
    asked: Arc<Mutex<Vec<Option<String>>>>,
    begun: Arc<Mutex<u32>>,
}

#[async_trait]
impl Poll for Letters {
    async fn begin(&self) -> Result<()> {
        let mut begun = self.begun.lock().expect("a lock");
        *begun += 1;
        match *begun {
            1 => Err(Fault::new(FaultKind::Passing { wait_ms: None }, "beginning", "not yet")),
            _ => Ok(()),
        }
    }
    async fn poll(&self, after: Option<&str>) -> Result<Batch> {
        self.asked.lock().expect("a lock").push(after.map(str::to_owned));
        let next = match after {
            None => "a",
            Some("a") => "b",
            Some(_) => "c",
        };
        Ok(Batch { events: Vec::new(), cursor: Some(next.to_owned()) })
    }
}

#[tokio::test]
async fn a_poll_asks_for_what_follows_the_last_stored_batch() {
    let letters = Letters::default();
    let mut updates = letters.open(None).await.expect("open");
    assert!(updates.next().await.is_err(), "it had not begun");
    for _ in 0..2 {
        assert_eq!(updates.next().await.expect("a batch").cursor.as_deref(), Some("a"));
    }
    updates.ack().await.expect("told");
    assert_eq!(updates.next().await.expect("a batch").cursor.as_deref(), Some("b"));
    // What is not stored is asked for again, by the next feed too.
    drop(updates);
    let mut again = letters.open(Some("c")).await.expect("open");
    assert_eq!(again.next().await.expect("a batch").cursor, None, "it is where it was");
    again.ack().await.expect("told");
    again.next().await.expect("a batch");
    let asked = letters.asked.lock().expect("a lock").clone();
    let asked: Vec<&str> = asked.iter().map(|after| after.as_deref().unwrap_or("-")).collect();
    assert_eq!(asked, ["-", "-", "a", "c", "c"]);
    assert_eq!(*letters.begun.lock().expect("a lock"), 3, "once for each feed, and again until it succeeds");
}

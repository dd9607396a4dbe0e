//! One feed of a bridge: opened after the stored cursor, read, stored, acknowledged; opened again when it
//! fails. The old one is dropped before a new one is opened, so there are never two.

use std::sync::Arc;
use std::time::Duration;

use sb_channel::{Feed, Inlet};
use sb_core::model::{Fault, FaultKind};

use super::{Bridge, intake};
use crate::Engine;

const FIRST_WAIT: Duration = Duration::from_secs(2);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Runs until the bridge closes.
pub(super) async fn run(engine: Engine, bridge: Arc<Bridge>, name: &'static str) {
    let closing = bridge.closing.clone();
    let mut wait = FIRST_WAIT;
    loop {
        let ended = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            ended = receive(&engine, &bridge, name, &mut wait) => ended,
        };
        let Err(why) = ended else { return };
        let asked = match why.kind {
            FaultKind::Passing { wait_ms: Some(ms) } | FaultKind::ChatBusy { wait_ms: Some(ms) } => {
                Duration::from_millis(ms)
            }
            _ => Duration::ZERO,
        };
        // A little chance, so that many that lost the same server do not all come back at once.
        let jitter = Duration::from_millis(engine.inner().dice.roll() % 500);
        let pause = wait.max(asked) + jitter;
        wait = (wait * 2).min(LONGEST_WAIT);
        let now = engine.inner().clock.now();
        bridge.log.say(now, &format!("receiving failed, again in {} s: {why}", pause.as_secs()));
        bridge.log.change(|s| s.trouble = Some(why.to_string()));
        tokio::select! {
            () = closing.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Ends with the first failure, or when there is no such feed.
async fn receive(
    engine: &Engine,
    bridge: &Arc<Bridge>,
    name: &'static str,
    wait: &mut Duration,
) -> Result<(), Fault> {
    let stored =
        engine.store().cursor(&bridge.config.slug, &bridge.feed_name(name)).await.map_err(of_store)?;
    let Inlet::Feeds(feeds) = bridge.channel.inlet() else { return Ok(()) };
    let Some((_, feed)) = feeds.into_iter().find(|(n, _)| *n == name) else { return Ok(()) };
    let feed: &dyn Feed = feed;
    let mut updates = feed.open(stored.as_deref()).await?;
    loop {
        let batch = updates.next().await?;
        *wait = FIRST_WAIT;
        let now = engine.inner().clock.now();
        let brought = !batch.events.is_empty();
        bridge.log.change(|s| {
            s.connected = Some(now);
            s.trouble = None;
            if brought {
                s.received = Some(now);
            }
        });
        if brought || batch.cursor.is_some() {
            // On a task of its own: closing must not cut it between the commit and what follows from it.
            let (engine, bridge) = (engine.clone(), Arc::clone(bridge));
            let taking = tokio::spawn(async move { intake::take(&engine, &bridge, name, batch).await });
            taking.await.unwrap_or_else(|why| Err(of_bug(&why.to_string())))?;
        }
        updates.ack().await?;
    }
}

pub(super) fn of_store(why: sb_store::StoreError) -> Fault {
    fault("the store", why.to_string())
}

fn of_bug(why: &str) -> Fault {
    fault("taking in", why.to_owned())
}

fn fault(doing: &str, detail: String) -> Fault {
    let kind = FaultKind::Passing { wait_ms: None };
    Fault { kind, doing: doing.to_owned(), detail, maybe_done: false, status: None }
}

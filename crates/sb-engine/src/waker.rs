//! One timer for all conversations that wanted to be woken and all jobs: a dormant one is a row, and costs nothing.

use std::time::Duration;

use sb_core::model::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::Engine;
use crate::actors::Mail;

/// A wish to be woken earlier than all others is seen after this long, at the latest.
const LOOK: Duration = Duration::from_secs(5);

/// Runs until `closing`.
pub(crate) async fn run(engine: Engine, closing: CancellationToken) {
    loop {
        tokio::select! {
            () = closing.cancelled() => return,
            () = tokio::time::sleep(LOOK) => {}
        }
        let now = engine.inner().clock.now();
        run_jobs(&engine, now).await;
        let due = match engine.store().next_wake().await {
            Ok(Some(at)) if at <= now => engine.store().due(now).await,
            Ok(_) => continue,
            Err(why) => Err(why),
        };
        match due {
            Ok(due) => due.iter().for_each(|conversation| engine.send(conversation, Mail::Wake)),
            Err(why) => tracing::warn!(error = %why, "nobody could be woken"),
        }
    }
}

async fn run_jobs(engine: &Engine, now: Timestamp) {
    let ran = match engine.store().next_job().await {
        Ok(Some(at)) if at <= now => engine.run_due_jobs(now).await,
        Ok(_) => Ok(()),
        Err(why) => Err(why.into()),
    };
    if let Err(why) = ran {
        tracing::warn!(error = %why, "no job could be run");
    }
}

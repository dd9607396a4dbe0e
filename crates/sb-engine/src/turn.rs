//! A turn at work: its harness's future on a task of its own, and the two queues to it.

use std::sync::Arc;

use sb_core::model::{HarnessEvent, HarnessInput, StopReason, TurnFault, TurnFaultKind, TurnId};
use sb_harness::{Harness, TurnSpec};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::meter;

/// What a turn at work brings next.
pub(crate) enum FromTurn {
    Event(HarnessEvent),
    Ended(Result<StopReason, TurnFault>),
}

/// A harness at work. Dropping it ends the harness and all it started.
pub(crate) struct AtWork {
    pub turn: TurnId,
    tell: mpsc::UnboundedSender<HarnessInput>,
    hear: mpsc::Receiver<HarnessEvent>,
    task: JoinHandle<Result<StopReason, TurnFault>>,
    began: Instant,
}

impl AtWork {
    pub fn start(harness: Arc<dyn Harness>, spec: TurnSpec) -> Self {
        let ((tell, hear), (inputs, events)) = sb_harness::channel();
        let turn = spec.turn;
        let task = tokio::spawn(async move { harness.turn(spec, inputs, events).await });
        Self { turn, tell, hear, task, began: Instant::now() }
    }

    pub fn tell(&self, input: HarnessInput) {
        // A harness that has just returned hears nothing more; its end is on its way.
        let _ = self.tell.send(input);
    }

    /// The next event, and after the last one how it ended. Cancel-safe.
    pub async fn next(&mut self) -> FromTurn {
        if let Some(event) = self.hear.recv().await {
            return FromTurn::Event(event);
        }
        FromTurn::Ended(match (&mut self.task).await {
            Ok(how) => how,
            Err(e) if e.is_panic() => {
                Err(TurnFault::new(TurnFaultKind::Crashed, "The agent's program crashed in this turn"))
            }
            Err(_) => Err(TurnFault::new(TurnFaultKind::Crashed, "The agent was ended in this turn")),
        })
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.task.abort();
        meter::worked(self.began.elapsed());
    }
}

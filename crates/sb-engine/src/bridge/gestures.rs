//! Gestures that need no answer: typing and marks. They go one after the other, beside what is sent, so
//! that a slow one holds up nothing; when too many wait the newest are left out.

use std::sync::Arc;
use std::time::Duration;

use sb_channel::{Gesture, Mark};
use sb_core::model::{Chat, FaultKind, MessageRef};
use tokio::sync::mpsc;

use super::Bridge;

/// Gestures that may wait.
const WAITING: usize = 64;
/// A gesture that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// A gesture on its way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sign {
    /// With the message that is worked on, where there is one.
    Typing(bool, Option<MessageRef>),
    Mark(MessageRef, Option<Mark>),
    Heard(String),
}

/// The way for the gestures of one chat; they end with it.
pub(crate) struct Gestures {
    to: mpsc::Sender<Sign>,
}

impl Gestures {
    pub fn begin(bridge: &Arc<Bridge>, chat: &Chat) -> Self {
        let (to, mut signs) = mpsc::channel(WAITING);
        let (bridge, chat) = (Arc::clone(bridge), chat.clone());
        let tasks = bridge.tasks.clone();
        tasks.spawn(async move {
            while let Some(sign) = signs.recv().await {
                if bridge.closing.is_cancelled() {
                    return;
                }
                make(&bridge, &chat, &sign).await;
            }
        });
        Self { to }
    }

    /// Makes it when those before are made; left out if too many wait.
    pub fn make(&self, sign: Sign) {
        // Nobody waits for a gesture, so one that finds no room is no loss.
        let _ = self.to.try_send(sign);
    }
}

async fn make(bridge: &Bridge, chat: &Chat, sign: &Sign) {
    let gesture = match sign {
        Sign::Typing(true, Some(message)) => {
            let shown = tokio::time::timeout(PATIENCE, bridge.channel.work_on(chat, message)).await;
            return told(bridge, shown.unwrap_or(Ok(())));
        }
        Sign::Typing(on, _) => Gesture::Typing(*on),
        Sign::Mark(message, mark) => Gesture::Mark(message, *mark),
        Sign::Heard(handle) => Gesture::Heard(handle),
    };
    let made = tokio::time::timeout(PATIENCE, bridge.channel.gesture(chat, gesture)).await;
    told(bridge, made.unwrap_or(Ok(())));
}

fn told(bridge: &Bridge, made: sb_channel::Result<()>) {
    if let Err(why) = made
        && !matches!(why.kind, FaultKind::ChatBusy { .. } | FaultKind::Passing { .. })
    {
        tracing::debug!(channel = %bridge.config.slug, error = %why, "a gesture was refused");
    }
}

//! A reply shown while it is written: by the platform's own stream, or by a message that is edited.
//!
//! Every part that is shown as a message has its row before the message is begun, so that the final post
//! finds it: whatever happens here, that puts the chat right. This only ever draws ahead.

use std::collections::HashMap;
use std::time::Duration;

use sb_channel::{Attempt, Live, Piece};
use sb_core::model::text::{Doc, Rendered, render};
use sb_core::model::{Fault, FaultKind, MessageRef, PostKey, Streaming, Timestamp};
use sb_core::{Pace, Presenter, Showing};
use sb_store::{PartState, Sending, StoredPart};

use super::lane::Lane;
use super::live::GrowingReply;

/// A showing that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(15);

/// A reply that grows in this chat.
pub(super) struct Growing {
    reply: GrowingReply,
    presenter: Presenter,
    /// Names the platform's own growing reply.
    stream: Option<u32>,
    /// Messages begun, by part.
    begun: HashMap<u32, MessageRef>,
    changed: bool,
    over: bool,
}

impl Growing {
    /// Begins to show a reply, if this chat shows any.
    pub async fn begin(lane: &Lane, reply: GrowingReply) -> Option<Self> {
        let options = &lane.bridge.config.options;
        if options.stream == Streaming::Off {
            return None;
        }
        let (pace, stream) = match lane.features.live {
            Live::Off => return None,
            Live::Edit { every, first, most } => {
                let pace = Pace { every_ms: ms(every), first, most, renew_ms: None, empty: false };
                (pace, None)
            }
            Live::Stream { every, renew, empty } => {
                let pace =
                    Pace { every_ms: ms(every), first: 1, most: None, renew_ms: Some(ms(renew)), empty };
                (pace, Some(stream_id(lane)))
            }
        };
        // What was shown before a restart: parts that are whole stay, the one that grew grows on.
        let shown = lane.engine.store().parts(&reply.key).await.unwrap_or_default();
        let whole = shown.iter().take_while(|p| p.state == PartState::Sent).count();
        if whole > 0 {
            // The words are written anew; only the final post can tell what of them is there already.
            return None;
        }
        let begun = shown.into_iter().filter_map(|p| Some((p.part, p.message?))).collect();
        let presenter = Presenter::new(pace, lane.features.text.fit, 0);
        Some(Self { reply, presenter, stream, begun, changed: true, over: false })
    }

    /// Whether it will be posted under this key.
    pub fn is_of(&self, key: &PostKey) -> bool {
        self.reply.key == *key
    }

    /// Waits until there is more to show. Cancel-safe.
    pub async fn changed(&mut self) {
        if self.changed || self.over {
            return std::future::pending().await;
        }
        match self.reply.growth.changed().await {
            Ok(()) => self.changed = true,
            Err(_) => self.over = true,
        }
    }
}

/// Shows what is due now. When it wants to be asked again.
pub(super) async fn show(lane: &mut Lane) -> Option<Timestamp> {
    let mut growing = lane.growing.take()?;
    if growing.reply.growth.has_changed().is_err() || growing.presenter.is_off() {
        // Written to its end, or given up: the post says the rest.
        return None;
    }
    let now = lane.now();
    let (words, tool) = {
        let growth = growing.reply.growth.borrow_and_update();
        let progress = lane.bridge.config.options.stream == Streaming::Progress;
        (growth.words(), growth.tool_line().filter(|_| progress))
    };
    if let Some(showing) = growing.presenter.next(now, &words, tool.as_deref()) {
        match put(lane, &mut growing, &showing).await {
            Ok(()) => growing.presenter.was_shown(lane.now(), &showing, &words),
            Err(why) => {
                tracing::debug!(channel = %lane.bridge.config.slug, error = %why, "a growing reply was not shown");
                growing.presenter.was_refused(lane.now(), &why.kind);
            }
        }
        // There may be another full part at once.
        growing.changed = true;
    } else if growing.presenter.wake_at(true, now).is_none_or(|at| at <= now) {
        growing.changed = false;
    }
    let at = growing.presenter.wake_at(growing.changed, lane.now());
    lane.growing = Some(growing);
    at
}

async fn put(lane: &Lane, growing: &mut Growing, showing: &Showing) -> Result<(), Fault> {
    let rendered = rendered(lane, &showing.text);
    let channel = &lane.bridge.channel;
    if let (Some(stream), false, Some(live)) = (growing.stream, showing.full, channel.live()) {
        let grown = live.grow(&lane.chat, stream, &rendered);
        return match tokio::time::timeout(PATIENCE, grown).await {
            Ok(shown) => shown,
            Err(_) => Err(slow()),
        };
    }
    let key = growing.reply.key.clone();
    if let Some(message) = growing.begun.get(&showing.part).cloned() {
        let piece = Piece::Text { words: &rendered, choices: &[], answers: None };
        channel.edit(&lane.chat, &message, piece).await?;
        if showing.full {
            note(lane, &key, row(lane, showing, PartState::Sent, Some(message), 0)).await?;
        }
        return Ok(());
    }
    note(lane, &key, row(lane, showing, PartState::Live, None, 1)).await?;
    let answers = growing.reply.to.message.as_ref().filter(|_| lane.answers_by_reply() && showing.part == 0);
    let piece = Piece::Text { words: &rendered, choices: &[], answers };
    let attempt = Attempt {
        key: format!("{key}:{}", showing.part),
        maybe_sent: false,
        handle: growing.reply.to.handle.clone(),
    };
    match channel.send(&lane.chat, piece, &attempt).await {
        Ok(message) => {
            let state = if showing.full { PartState::Sent } else { PartState::Live };
            note(lane, &key, row(lane, showing, state, Some(message.clone()), 0)).await?;
            growing.begun.insert(showing.part, message);
            if showing.full {
                // The next part is another growing reply there.
                growing.stream = growing.stream.map(|_| stream_id(lane));
            }
            Ok(())
        }
        Err(why) if why.maybe_done => {
            // It may be there: only the post may say it again.
            growing.presenter.end();
            Err(why)
        }
        Err(why) => {
            note(lane, &key, row(lane, showing, PartState::Live, None, 0)).await?;
            Err(why)
        }
    }
}

fn row(
    lane: &Lane,
    showing: &Showing,
    state: PartState,
    message: Option<MessageRef>,
    tries: u32,
) -> StoredPart {
    let (part, text) = (showing.part, showing.text.clone());
    StoredPart { part, text, state, message, tries, at: lane.now(), revised: 0 }
}

async fn note(lane: &Lane, key: &PostKey, part: StoredPart) -> Result<(), Fault> {
    let noted = lane.engine.store().note_sending(vec![Sending::Part { key: key.clone(), part }]).await;
    noted.map_err(super::feed::of_store)
}

/// Words in the form this chat takes.
pub(super) fn rendered(lane: &Lane, markdown: &str) -> Rendered {
    let fit = lane.features.text.fit;
    render(&Doc::parse(markdown), fit.dialect, fit.unit)
}

fn stream_id(lane: &Lane) -> u32 {
    // Never zero, and small enough for a platform that counts in signed numbers.
    u32::try_from(lane.engine.inner().dice.roll() % 0x7fff_fffe).unwrap_or_default() + 1
}

fn slow() -> Fault {
    Fault {
        kind: FaultKind::ChatBusy { wait_ms: None },
        doing: "showing a growing reply".to_owned(),
        detail: "it took too long".to_owned(),
        maybe_done: false,
        status: None,
    }
}

fn ms(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

//! A lane: the only writer in one chat. It sends what the outbox holds for it, in order; shows a reply
//! while it is written; shows that we are at work; and ends when it has nothing to do.
//!
//! Everything that must arrive is in the outbox before the lane is told of it, so a lane that is lost
//! loses nothing. What it shows meanwhile is for the moment, and is put right by what is sent.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use sb_channel::{Features, Mark, Report, Typing};
use sb_core::model::{Address, Chat, EndKind, MessageId, MessageRef, Timestamp};
use tokio::sync::mpsc;

use super::gestures::{Gestures, Sign};
use super::handles::Handles;
use super::live::GrowingReply;
use super::{Bridge, grow, reported, send};
use crate::Engine;

/// How long a lane with nothing to do stays.
const IDLE: Duration = Duration::from_secs(5);
/// Typing that nothing ends by itself ends after this long.
const LONGEST_TYPING_MS: i64 = 60 * 60 * 1000;
/// Messages whose typing is remembered.
const MOST_OPEN: usize = 1_000;

/// What a lane is told.
pub(crate) enum LaneMail {
    /// A message was taken and will be answered.
    Taken { message: MessageId, address: Address },
    /// A message has its ending, or waits for a person.
    Settled { message: MessageId, mark: Option<MessageRef>, how: EndKind },
    /// Something is in the outbox.
    Posted,
    /// A reply begins to be written.
    Growing(GrowingReply),
    /// A press was taken.
    Heard(String),
    /// Something that was sent met its fate.
    Reported(Report),
    /// Words of ours that are not kept.
    Notice(String),
    /// A pairing code; taken back if it cannot be shown.
    Code { said: String, code: String },
}

/// One lane.
pub(super) struct Lane {
    pub engine: Engine,
    pub bridge: Arc<Bridge>,
    pub chat: Chat,
    pub features: Features,
    /// Messages being answered: since when, and whether they wait for a person.
    open: HashMap<MessageId, Open>,
    gestures: Gestures,
    pub growing: Option<grow::Growing>,
    /// When the outbox is looked at; none: nothing is in it.
    due: Option<Timestamp>,
    typing_at: Option<Timestamp>,
    typing: bool,
    pub handles: Handles,
}

struct Open {
    /// As the platform calls the message.
    named: Option<MessageRef>,
    since: Timestamp,
    waits: bool,
}

/// Lives until it has nothing to do, or its bridge closes.
pub(super) async fn run(
    engine: Engine,
    bridge: Arc<Bridge>,
    chat: Chat,
    mut mails: mpsc::UnboundedReceiver<LaneMail>,
) {
    let features = bridge.channel.features(&chat);
    let gestures = Gestures::begin(&bridge, &chat);
    let closing = bridge.closing.clone();
    let mut lane = Lane {
        engine,
        bridge,
        chat,
        features,
        open: HashMap::new(),
        gestures,
        growing: None,
        due: None,
        typing_at: None,
        typing: false,
        handles: Handles::default(),
    };
    while !closing.is_cancelled() {
        let wake = lane.work().await;
        let now = lane.now();
        let pause = match wake {
            Some(at) => Duration::from_millis(at.ms_since(now).unsigned_abs()),
            None => IDLE,
        };
        let changed = async {
            match lane.growing.as_mut() {
                Some(growing) => growing.changed().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = closing.cancelled() => break,
            mail = mails.recv() => match mail {
                Some(mail) => lane.take(mail).await,
                None => break,
            },
            () = changed => {}
            () = tokio::time::sleep(pause) => {
                if wake.is_none() && lane.is_idle() && lane.bridge.lanes.may_end(&lane.chat, &mails) {
                    return;
                }
            }
        }
    }
    lane.bridge.lanes.forget(&lane.chat);
}

impl Lane {
    pub fn now(&self) -> Timestamp {
        self.engine.inner().clock.now()
    }

    /// Does what is due: what was posted first, then what grows, then typing. When it wants to go on.
    async fn work(&mut self) -> Option<Timestamp> {
        while self.due.is_some_and(|at| at <= self.now()) && !self.bridge.closing.is_cancelled() {
            self.due = send::send_posts(self).await;
        }
        // Nothing live is shown while something before it is unsent.
        let shown = match self.due {
            None => grow::show(self).await,
            Some(_) => None,
        };
        let typing = self.keep_typing();
        [self.due, shown, typing].into_iter().flatten().min()
    }

    async fn take(&mut self, mail: LaneMail) {
        match mail {
            LaneMail::Taken { message, address } => {
                if let Some(handle) = &address.handle {
                    self.handles.lend(handle);
                    // What was held for it goes first.
                    self.due = Some(self.now());
                }
                self.open(message, address.message.as_ref());
                let marks = self.bridge.config.options.reactions && self.features.marks.taken.is_some();
                if let Some(reference) = address.message.filter(|_| marks) {
                    self.gestures.make(Sign::Mark(reference, Some(Mark::Taken)));
                }
            }
            LaneMail::Settled { message, how: EndKind::Waiting, .. } => {
                if let Some(open) = self.open.get_mut(&message) {
                    open.waits = true;
                }
            }
            LaneMail::Settled { message, mark, how } => {
                self.open.remove(&message);
                // Its answer takes the mark off once it is out; what is dropped gets none.
                if how == EndKind::Dropped {
                    mark.into_iter().for_each(|m| self.mark(m, None));
                }
            }
            LaneMail::Posted => self.due = Some(self.now()),
            LaneMail::Growing(reply) => {
                for message in &reply.messages {
                    match self.open.get_mut(message) {
                        Some(open) => open.waits = false,
                        None => self.open(*message, reply.to.message.as_ref()),
                    }
                }
                self.growing = grow::Growing::begin(self, reply).await;
                // A new lane, or one whose chat was gone, has not seen what stands before this reply.
                self.due = Some(self.now());
            }
            LaneMail::Heard(handle) => self.gestures.make(Sign::Heard(handle)),
            LaneMail::Reported(report) => {
                if let Err(why) = reported::take(self, report).await {
                    tracing::warn!(channel = %self.bridge.config.slug, error = %why, "a report cannot be noted");
                }
                self.due = Some(self.now());
            }
            LaneMail::Notice(said) => {
                // Said for the moment: what it tells of is kept anyway.
                let _ = send::say(self, &said).await;
            }
            LaneMail::Code { said, code } => {
                if send::say(self, &said).await.is_err() {
                    // Never shown, so nobody could use it; the next message offers another.
                    let _ = self.engine.store().revoke_pairing(&code).await;
                }
            }
        }
    }

    fn open(&mut self, message: MessageId, named: Option<&MessageRef>) {
        if self.open.len() < MOST_OPEN {
            let named = named.cloned();
            self.open.insert(message, Open { named, since: self.now(), waits: false });
        }
    }

    /// Sets or takes off the mark of a person's message, where the platform has marks.
    pub fn mark(&mut self, message: MessageRef, mark: Option<Mark>) {
        let marks = self.features.marks;
        let known = match mark {
            Some(Mark::Failed) => marks.failed.is_some() || marks.taken.is_some(),
            _ => marks.taken.is_some(),
        };
        if known && self.bridge.config.options.reactions {
            let mark = mark.filter(|m| *m != Mark::Failed || marks.failed.is_some());
            self.gestures.make(Sign::Mark(message, mark));
        }
    }

    /// Shows that we are at work, while we are.
    fn keep_typing(&mut self) -> Option<Timestamp> {
        let now = self.now();
        let every = match self.features.typing {
            Typing::Off => return None,
            Typing::Renew { every } | Typing::OnOff { every } => every,
        };
        self.open.retain(|_, o| now.ms_since(o.since) < LONGEST_TYPING_MS);
        let at_work = self.open.values().any(|o| !o.waits);
        if !self.bridge.config.options.typing || !at_work {
            if std::mem::take(&mut self.typing) && matches!(self.features.typing, Typing::OnOff { .. }) {
                self.gestures.make(Sign::Typing(false, None));
            }
            self.typing_at = None;
            return None;
        }
        if self.typing_at.is_none_or(|at| at <= now) {
            self.typing = true;
            self.typing_at = Some(now.plus_ms(i64::try_from(every.as_millis()).unwrap_or(i64::MAX)));
            let newest = self.open.values().filter(|o| !o.waits).max_by_key(|o| o.since);
            self.gestures.make(Sign::Typing(true, newest.and_then(|o| o.named.clone())));
        }
        self.typing_at
    }

    fn is_idle(&self) -> bool {
        self.due.is_none() && self.growing.is_none() && self.open.values().all(|o| o.waits)
    }
}

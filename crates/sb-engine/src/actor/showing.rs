//! What those who follow a message are shown, and how one who begins to follow now is caught up.
//!
//! Showing comes after the commit and changes nothing: a follower that is lost is caught up from what is
//! stored.

use sb_core::Show;
use sb_core::model::text::add_paragraph;
use sb_core::model::{Ending, MessageId, Phase};
use tokio::sync::watch;

use super::{Actor, Loaded, Result};
use crate::live::Live;

impl Actor {
    pub(super) fn show(&mut self, now: &mut Loaded, show: Show) {
        self.show_chat(now, &show);
        if self.id.is_of_agents() {
            match &show {
                Show::Began(_, messages) => self.engine.inner().stirred.touch(messages.iter().copied()),
                Show::Ended(message, _) => self.engine.inner().stirred.touch([*message]),
                _ => {}
            }
        }
        match &show {
            Show::Began(session, messages) => {
                for id in messages {
                    if let Some(live) = self.lives.get(id) {
                        let so_far = now.conversation.so_far(*id);
                        live.send_modify(|l| l.began(*session, &so_far));
                    }
                }
            }
            Show::Ended(message, ending) => {
                if let Some(live) = self.lives.get(message) {
                    let stretch = || {
                        let (session, turn) = (ending.session?, ending.turn?);
                        now.kept.as_ref()?.stretch(session, turn, ending.from, ending.to)
                    };
                    live.send_modify(|l| {
                        l.stretch = stretch();
                        l.ending = Some(ending.clone());
                    });
                }
                // Whoever follows keeps what it was shown; a new follower reads the store, or asks again.
                self.lives.remove(message);
            }
            _ => {
                let turn = now.conversation.state().turn.as_ref();
                for (message, _) in turn.iter().flat_map(|t| &t.messages) {
                    if let Some(live) = self.lives.get(&message.id) {
                        live.send_modify(|l| l.show(&show));
                    }
                }
            }
        }
    }

    /// A message that woke us was read from the store and dealt with before its mail came, so what was
    /// shown of it had nobody to show it to.
    pub(super) async fn catch_up(&mut self, now: &Loaded, message: MessageId) -> Result<()> {
        let standing = self.standing(now, message).await?;
        let Some(live) = self.lives.get(&message) else { return Ok(()) };
        let state = now.conversation.state();
        let turn = state.turn.as_ref().filter(|t| t.messages.iter().any(|(m, _)| m.id == message));
        if let Some(ending) = standing {
            live.send_modify(|l| {
                l.session = ending.session;
                l.ending = Some(ending);
            });
            self.lives.remove(&message);
        } else if let Some(turn) = turn {
            if live.borrow().session.is_none() {
                let so_far = now.conversation.so_far(message);
                live.send_modify(|l| l.began(turn.session, &so_far));
            }
        } else if !state.waiting.iter().any(|m| m.id == message) {
            // It has its ending: whoever follows finds it in the store.
            self.lives.remove(&message);
        }
        Ok(())
    }

    /// How a message of a turn that waits for a person stands, with the words so far: they are in the
    /// log, since a parked turn keeps nothing in memory.
    pub(super) async fn standing(&self, now: &Loaded, message: MessageId) -> Result<Option<Ending>> {
        let Some(mut ending) = now.conversation.stands(message) else { return Ok(None) };
        if let (Some(session), true) = (ending.session, ending.from <= ending.to) {
            let mut log = self.engine.inner().store.log(session, ending.from, ending.to).await?;
            log.retain(|entry| entry.turn == ending.turn);
            let mut said = sb_core::said_from(&log, ending.from);
            if !ending.said.starts_with(&said) {
                add_paragraph(&mut said, &ending.said);
                ending.said = said;
            }
        }
        Ok(Some(ending))
    }

    /// A receiver for somebody who begins to follow now; `None` if the message is not ours any more.
    pub(super) async fn followed(
        &mut self,
        now: &Loaded,
        message: MessageId,
    ) -> Result<Option<watch::Receiver<Live>>> {
        let state = now.conversation.state();
        let turn = state.turn.as_ref().filter(|t| t.messages.iter().any(|(m, _)| m.id == message));
        if turn.is_none() && !state.waiting.iter().any(|m| m.id == message) {
            return Ok(None);
        }
        if let Some(ending) = self.standing(now, message).await? {
            let (shows, live) = watch::channel(Live::default());
            shows.send_modify(|l| {
                l.session = ending.session;
                l.ending = Some(ending);
            });
            return Ok(Some(live));
        }
        let shows = self.lives.entry(message).or_insert_with(|| watch::channel(Live::default()).0);
        if let Some(turn) = turn.filter(|t| t.phase != Phase::Parked)
            && shows.borrow().session.is_none()
        {
            let (so_far, writes) = (now.conversation.so_far(message), now.conversation.is_writing());
            shows.send_modify(|l| l.joined(turn.session, &so_far, writes));
        }
        Ok(Some(shows.subscribe()))
    }
}

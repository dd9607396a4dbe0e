//! The lanes of a bridge: one for each chat with something to do, and none for the rest.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use sb_core::model::Chat;
use tokio::sync::mpsc;

use super::lane::{self, LaneMail};
use super::{Bridge, locked};
use crate::Engine;

/// Mailboxes by chat.
#[derive(Default)]
pub(crate) struct Lanes(Mutex<HashMap<Chat, mpsc::UnboundedSender<LaneMail>>>);

impl Lanes {
    pub fn tell(&self, engine: &Engine, bridge: &Arc<Bridge>, chat: &Chat, mail: LaneMail) {
        let mut lanes = locked(&self.0);
        let mail = match lanes.get(chat) {
            Some(lane) => match lane.send(mail) {
                Ok(()) => return,
                Err(mpsc::error::SendError(mail)) => mail,
            },
            None => mail,
        };
        if bridge.closing.is_cancelled() {
            return;
        }
        let (lane, mails) = mpsc::unbounded_channel();
        // The receiver is in hand, so this cannot fail.
        let _ = lane.send(mail);
        lanes.insert(chat.clone(), lane);
        bridge.tasks.spawn(lane::run(engine.clone(), Arc::clone(bridge), chat.clone(), mails));
    }

    /// The lane has nothing to do: true, and it is forgotten, if no mail is left.
    pub fn may_end(&self, chat: &Chat, mails: &mpsc::UnboundedReceiver<LaneMail>) -> bool {
        let mut lanes = locked(&self.0);
        if !mails.is_empty() {
            return false;
        }
        lanes.remove(chat);
        true
    }

    /// The lane ends whatever is in its mailbox: what it was told of is stored.
    pub fn forget(&self, chat: &Chat) {
        locked(&self.0).remove(chat);
    }
}

//! Who is awake: the mailboxes of the conversations that have something to do.
//!
//! Mail for a conversation that sleeps wakes it. An actor leaves only while its mailbox is empty and
//! this map is locked, so no mail is ever lost between the two.

use std::collections::HashMap;
use std::sync::Mutex;

use sb_core::model::{ConversationId, Message, MessageId};
use tokio::sync::{mpsc, oneshot, watch};

use crate::Engine;
use crate::actor;
use crate::live::Live;

/// What an actor is told.
pub(crate) enum Mail {
    /// A message was taken; whoever sent it may follow by this.
    Arrived(Box<Message>, Option<watch::Sender<Live>>),
    /// Something is unfinished here: load and see.
    Wake,
    Granted,
    Prepared(MessageId, Vec<String>),
    /// Somebody wants to follow; `None` comes back if the message has its ending.
    Follow(MessageId, oneshot::Sender<Option<watch::Receiver<Live>>>),
}

/// The mailboxes.
#[derive(Default)]
pub(crate) struct Actors(Mutex<HashMap<ConversationId, mpsc::UnboundedSender<Mail>>>);

impl Actors {
    /// Delivers, waking the conversation if it sleeps.
    pub fn send(&self, engine: &Engine, to: &ConversationId, mail: Mail) {
        let mut awake = self.lock();
        let mail = match awake.get(to) {
            Some(mailbox) => match mailbox.send(mail) {
                Ok(()) => return,
                Err(mpsc::error::SendError(mail)) => mail,
            },
            None => mail,
        };
        if engine.is_closing() {
            return;
        }
        let (mailbox, mails) = mpsc::unbounded_channel();
        // The receiver is in hand, so this cannot fail.
        let _ = mailbox.send(mail);
        awake.insert(to.clone(), mailbox);
        tokio::spawn(actor::live(engine.clone(), to.clone(), mails));
    }

    /// The actor wants to sleep: true, and it is forgotten, if no mail is left.
    pub fn may_sleep(&self, who: &ConversationId, mails: &mpsc::UnboundedReceiver<Mail>) -> bool {
        let mut awake = self.lock();
        if !mails.is_empty() {
            return false;
        }
        awake.remove(who);
        true
    }

    pub fn awake(&self) -> usize {
        self.lock().len()
    }

    /// Closes all mailboxes, so that every actor ends.
    pub fn close(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ConversationId, mpsc::UnboundedSender<Mail>>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

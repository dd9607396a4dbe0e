//! Who is awake: the mailboxes of the conversations that have something to do.
//!
//! Mail for a conversation that sleeps wakes it. An actor leaves only while its mailbox is empty and
//! this map is locked, so no mail is ever lost between the two.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use sb_core::Prepared;
use sb_core::model::{ConversationId, Message, MessageId};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::task::TaskTracker;

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
    Prepared(MessageId, Prepared),
    /// Whoever wrote it changed it, or took it back.
    Edited(MessageId, String),
    Unsent(MessageId),
    /// The program ends.
    Close,
    /// Somebody wants to follow; `None` comes back if the message has its ending.
    Follow(MessageId, oneshot::Sender<Option<watch::Receiver<Live>>>),
}

/// The mailboxes, and the tasks behind them.
#[derive(Default)]
pub(crate) struct Actors {
    awake: Mutex<HashMap<ConversationId, mpsc::UnboundedSender<Mail>>>,
    tasks: TaskTracker,
}

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
        self.tasks.spawn(actor::live(engine.clone(), to.clone(), mails));
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

    /// Tells every actor that the program ends, and waits until they have; not longer than `patience`.
    pub async fn close(&self, patience: Duration) {
        for (_, mailbox) in self.lock().drain() {
            // One that has just left needs no telling.
            let _ = mailbox.send(Mail::Close);
        }
        self.tasks.close();
        if tokio::time::timeout(patience, self.tasks.wait()).await.is_err() {
            tracing::warn!(
                left = self.tasks.len(),
                "some conversations did not close in time; they are taken up again"
            );
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ConversationId, mpsc::UnboundedSender<Mail>>> {
        self.awake.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

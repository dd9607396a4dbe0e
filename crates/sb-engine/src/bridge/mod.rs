//! Bridges: configured messengers, running. Everything that thirty-five of them share is here.
//!
//! A bridge's feeds take in (`feed`, `intake`), its lanes put out (`lane`, one for each chat with
//! something to do: the only writer there). `supervise` starts them and starts them again. A bridge's
//! failure touches nothing but itself. What an adapter says of its platform are values; no line here
//! knows which messenger it is.

mod config;
mod desk;
mod feed;
mod fetch;
mod gestures;
mod grow;
mod handles;
mod hook;
mod intake;
mod lane;
mod live;
mod places;
mod plan;
mod reported;
mod send;
mod status;
mod supervise;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use sb_channel::{Account, Channel};
use sb_core::model::{Address, ChannelConfig, Chat, ConversationId, EndKind, MessageId, Slug};
use sb_core::{Breaker, Quotas};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use config::{BadConfig, check_config};
pub use desk::{ChannelView, Replayed};
pub(crate) use fetch::{Fetched, fetch_all};
pub(crate) use live::{GrowingReply, Growth};
pub(crate) use places::Lanes;
pub(crate) use status::Log;
pub use status::{BridgeState, BridgeStatus, LogLine};

use crate::Engine;
use lane::LaneMail;

/// One running messenger.
pub(crate) struct Bridge {
    pub config: ChannelConfig,
    pub channel: Arc<dyn Channel>,
    pub account: Account,
    pub log: Arc<Log>,
    breaker: Mutex<Breaker>,
    lanes: Lanes,
    /// Feeds end with it at once; lanes finish what they are sending.
    closing: CancellationToken,
    tasks: TaskTracker,
    /// Those let in by pairing, so that a message needs no look-up.
    guests: RwLock<HashSet<String>>,
    /// Ids under which moved chats were first known.
    known_as: Mutex<HashMap<String, String>>,
    /// Chats that moved while we run, and where to.
    moved: Mutex<HashMap<String, String>>,
    /// What each person wrote of late.
    quotas: Mutex<Quotas>,
}

/// All bridges of an engine.
#[derive(Default)]
pub(crate) struct Bridges {
    running: RwLock<HashMap<Slug, Arc<Bridge>>>,
    pub(crate) supervised: Mutex<HashMap<Slug, supervise::Supervised>>,
    logs: Mutex<HashMap<Slug, Arc<Log>>>,
    /// Conversations of which something is held until there is room.
    held: Mutex<HashSet<ConversationId>>,
}

impl Bridges {
    /// The running bridge of a channel, if it runs.
    pub fn get(&self, slug: &Slug) -> Option<Arc<Bridge>> {
        self.running.read().unwrap_or_else(PoisonError::into_inner).get(slug).cloned()
    }

    fn put(&self, bridge: Arc<Bridge>) {
        let slug = bridge.config.slug.clone();
        self.running.write().unwrap_or_else(PoisonError::into_inner).insert(slug, bridge);
    }

    /// It runs no more; one that has taken its place stays.
    fn remove(&self, bridge: &Arc<Bridge>) {
        let mut running = self.running.write().unwrap_or_else(PoisonError::into_inner);
        let slug = &bridge.config.slug;
        if running.get(slug).is_some_and(|known| Arc::ptr_eq(known, bridge)) {
            running.remove(slug);
        }
    }

    fn all(&self) -> Vec<Arc<Bridge>> {
        self.running.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// A channel's log; it outlives the channel's restarts.
    fn log(&self, slug: &Slug) -> Arc<Log> {
        let mut logs = locked(&self.logs);
        Arc::clone(logs.entry(slug.clone()).or_insert_with(|| Arc::new(Log::new(slug.clone()))))
    }

    pub fn holds(&self, conversation: ConversationId) {
        locked(&self.held).insert(conversation);
    }

    /// Whether something of the conversation is held; asked once, it is forgotten until it is held again.
    pub fn take_held(&self, conversation: &ConversationId) -> bool {
        locked(&self.held).remove(conversation)
    }
}

impl Bridge {
    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        locked(&self.breaker)
    }

    /// Tells the lane of a chat; it is begun if it is not there. Nothing is told once the bridge is closing.
    pub fn tell(self: &Arc<Self>, engine: &Engine, chat: &Chat, mail: LaneMail) {
        self.lanes.tell(engine, self, chat, mail);
    }

    /// What a feed's cursor is kept under: a cursor is one account's, and means nothing to another.
    fn feed_name(&self, feed: &str) -> String {
        format!("{feed}@{}", self.account.id)
    }

    /// The platform moved a chat: whoever writes to the old one is heard in the new one.
    fn chat_moved(&self, from: &str, to: &str) {
        locked(&self.known_as).clear();
        let mut moved = locked(&self.moved);
        // What is forgotten here the platform says again.
        if moved.len() >= intake::KNOWN_CHATS {
            moved.clear();
        }
        moved.insert(from.to_owned(), to.to_owned());
    }

    /// Where a chat is now.
    fn where_now(&self, chat: &Chat) -> Chat {
        let moved = locked(&self.moved);
        let mut id = &chat.id;
        // A chain of moves ends; were it a circle, this would too.
        for _ in 0..=moved.len() {
            match moved.get(id) {
                Some(next) => id = next,
                None => break,
            }
        }
        Chat { id: id.clone(), ..chat.clone() }
    }

    /// Wakes the lanes of all chats that something is unsent to.
    async fn sweep(self: &Arc<Self>, engine: &Engine) {
        if let Ok(places) = engine.store().places_to_send(&self.config.slug).await {
            places.into_iter().for_each(|(chat, _)| self.posted(engine, &chat));
        }
    }

    /// What is known of a chat is read anew at its next message: it may be gone, or back.
    fn forget_chat(&self, chat: &str) {
        locked(&self.known_as).remove(chat);
    }

    /// Something is in the outbox for this chat.
    pub fn posted(self: &Arc<Self>, engine: &Engine, chat: &Chat) {
        self.tell(engine, &self.where_now(chat), LaneMail::Posted);
    }

    /// A reply begins to be written.
    pub fn grows(self: &Arc<Self>, engine: &Engine, reply: GrowingReply) {
        let chat = reply.to.chat.clone();
        self.tell(engine, &chat, LaneMail::Growing(reply));
    }

    /// A message has its ending, or waits for a person.
    pub fn settled(self: &Arc<Self>, engine: &Engine, place: &Address, message: MessageId, how: EndKind) {
        let mark = place.message.clone();
        self.tell(engine, &place.chat, LaneMail::Settled { message, mark, how });
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

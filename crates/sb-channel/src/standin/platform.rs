//! [`Platform`]: what every platform that is imitated has, and what its addresses do with it.
//!
//! Time comes from an injected clock; only the wait of a poll is a timer of the runtime. Nothing is kept on
//! disk.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Json;
use axum::response::{IntoResponse, Response};
use sb_net::model::{Clock, MessageRef, Timestamp};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::state::{Calls, Message, State};
use super::{Breakage, Imitated, Page, Post, SeenFile, SeenMessage, lost_answer};

/// Files of ours that are kept.
const MOST_UPLOADS: usize = 200;

/// See the module. Clones are the same platform.
#[derive(Clone)]
pub struct Platform(Arc<Shared>);

struct Shared {
    imitated: Imitated,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// Tells whoever waits that something happened.
    changed: watch::Sender<u64>,
}

impl Platform {
    pub fn new(imitated: Imitated, clock: Arc<dyn Clock>) -> Self {
        let (changed, _) = watch::channel(0);
        Self(Arc::new(Shared { imitated, clock, state: Mutex::default(), changed }))
    }

    /// Answers one request: counts it and does `act`, whose error is how the platform refuses.
    pub async fn answer(&self, act: impl Future<Output = Result<Value, Breakage>>) -> Response {
        self.change(|state| state.requests += 1);
        match act.await {
            Ok(answer) => Json(answer).into_response(),
            Err(Breakage::LostAnswer) => lost_answer(),
            Err(how) => (self.imitated().refuse)(how),
        }
    }

    /// Puts a message of ours into a chat, where we are then not at work any more: its id.
    ///
    /// # Errors
    /// If there is no such chat, or what was planned goes wrong.
    pub fn post(&self, chat: &str, post: Post) -> Result<String, Breakage> {
        self.change(|state| {
            let lost = state.breaks(Calls::Posts)?;
            let id = state.next_message();
            let room = state.rooms.get_mut(chat).ok_or(Breakage::ChatGone)?;
            let repeated = room.messages.iter().find(|message| post.key.is_some() && message.key == post.key);
            if let Some(first) = repeated {
                return lost.map_or(Ok(first.seen.reference.0.clone()), Err);
            }
            room.typing_until = None;
            let (buttons, says) = post.buttons.into_iter().unzip();
            let seen = SeenMessage {
                buttons,
                files: post.files,
                answers: post.answers.map(MessageRef),
                thread: post.thread,
                ..SeenMessage::new(MessageRef(id.clone()), true, post.text)
            };
            room.put(Message { seen, from: None, says, key: post.key });
            lost.map_or(Ok(id), Err)
        })
    }

    /// Makes a message of ours say this instead; false if it is not there.
    ///
    /// # Errors
    /// If what was planned goes wrong.
    pub fn edit_post(&self, id: &str, text: &str, buttons: Vec<(String, String)>) -> Result<bool, Breakage> {
        self.change(|state| {
            let lost = state.breaks(Calls::Posts)?;
            let found = state.message(id).filter(|message| message.seen.ours).map(|message| {
                text.clone_into(&mut message.seen.text);
                (message.seen.buttons, message.says) = buttons.into_iter().unzip();
            });
            lost.map_or(Ok(found.is_some()), Err)
        })
    }

    /// Puts our mark on a message, or takes it off; false if it is not there.
    pub fn mark(&self, id: &str, mark: Option<&str>) -> bool {
        let mark = mark.map(str::to_owned);
        self.change(|state| state.message(id).map(|message| message.seen.mark = mark).is_some())
    }

    /// Marks a person's message as read, and those before it that have no mark: the chat they are in; none if it is
    /// not there.
    pub fn read_up_to(&self, id: &str, mark: &str) -> Option<String> {
        self.change(|state| {
            let is_it = |message: &Message| !message.seen.ours && message.seen.reference.0 == id;
            let room = state.rooms.values_mut().find(|room| room.messages.iter().any(is_it))?;
            let last = room.messages.iter().position(is_it)?;
            let unread = |message: &&mut Message| !message.seen.ours && message.seen.mark.is_none();
            for message in room.messages.iter_mut().take(last + 1).filter(unread) {
                message.seen.mark = Some(mark.to_owned());
            }
            Some(room.chat.id.clone())
        })
    }

    /// When a person was last heard in a chat.
    pub fn spoken(&self, chat: &str) -> Option<Timestamp> {
        self.look(|state| state.rooms.get(chat)?.spoken)
    }

    /// Shows for so long that we are at work in a chat.
    ///
    /// # Errors
    /// If there is no such chat.
    pub fn typing(&self, chat: &str, ms: i64) -> Result<(), Breakage> {
        let until = self.now().plus_ms(ms);
        self.change(|state| {
            state.rooms.get_mut(chat).ok_or(Breakage::ChatGone)?.typing_until = Some(until);
            Ok(())
        })
    }

    /// Keeps a file that we send, until a message names it.
    pub fn upload(&self, file: SeenFile) -> String {
        self.change(|state| {
            let id = state.next_id("f");
            state.uploads.push_back((id.clone(), file));
            if state.uploads.len() > MOST_UPLOADS {
                state.uploads.pop_front();
            }
            id
        })
    }
    /// A file that we sent.
    pub fn uploaded(&self, id: &str) -> Option<SeenFile> {
        self.look(|state| state.uploads.iter().find(|(known, _)| known == id).map(|(_, file)| file.clone()))
    }

    /// A file somebody sent, under the name it was told by.
    pub fn file(&self, name: &str) -> Option<SeenFile> {
        let (message, at) = name.rsplit_once('.')?;
        let at: usize = at.parse().ok()?;
        self.look(|state| state.find(message)?.seen.files.get(at).cloned())
    }

    /// Forgets the updates up to `after`, and waits until there are others or the time is up.
    ///
    /// # Errors
    /// If connections are dropped meanwhile, or what was planned goes wrong.
    pub async fn poll(&self, after: Option<u64>, wait: Duration) -> Result<Page, Breakage> {
        let until = Instant::now() + wait;
        let mut changed = self.0.changed.subscribe();
        let (lost, drops) = self.change(|state| {
            let lost = state.breaks(Calls::Polls)?;
            state.forget(after.unwrap_or(0));
            Ok((lost, state.drops))
        })?;
        loop {
            let page = self.look(|state| (state.drops == drops).then(|| state.page()));
            let page = page.ok_or(Breakage::LostAnswer)?;
            if !page.updates.is_empty() || Instant::now() >= until {
                return lost.map_or(Ok(page), Err);
            }
            tokio::select! {
                _ = changed.changed() => {}
                () = tokio::time::sleep_until(until) => {}
            }
        }
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.0.changed.subscribe()
    }
    pub(super) fn imitated(&self) -> &Imitated {
        &self.0.imitated
    }
    /// What time it is there.
    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }
    pub(super) fn look<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
    /// Changes it, and tells those who wait.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let done = change(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.0.changed.send_modify(|count| *count += 1);
        done
    }
}

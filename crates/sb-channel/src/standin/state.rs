//! What is there on an imitated platform now. Everything is bounded: old messages and updates fall out.

use std::collections::{BTreeMap, VecDeque};

use sb_net::Http;
use sb_net::model::{Chat, Person, Secret, Timestamp};
use serde_json::Value;

use super::{Breakage, MakeCall, Page, SeenFile, SeenMessage};

/// Messages kept in one chat, and updates that may wait.
const MOST_MESSAGES: usize = 2_000;
const MOST_UPDATES: usize = 10_000;
/// Updates that one poll brings.
const MOST_AT_ONCE: usize = 100;

#[derive(Default)]
pub(super) struct State {
    pub people: Vec<Person>,
    pub groups: u64,
    pub rooms: BTreeMap<String, Room>,
    /// Those that are not forgotten; the last one has the number `last_update`.
    pub updates: VecDeque<Value>,
    pub last_update: u64,
    /// What was told of each message, to tell it again.
    pub told: VecDeque<(String, Vec<Value>)>,
    /// Counts messages and presses.
    pub last_id: u64,
    /// What the ids of messages begin with, if not with `m`.
    pub message_ids: Option<&'static str>,
    pub planned: Vec<(Calls, Breakage)>,
    /// Files of ours, by their ids.
    pub uploads: VecDeque<(String, SeenFile)>,
    /// What is told beside the updates.
    pub asides: VecDeque<Value>,
    pub kept: BTreeMap<&'static str, Secret>,
    pub make_call: Option<MakeCall>,
    pub outside: Option<Http>,
    pub no_albums: bool,
    pub drops: u64,
    pub requests: u64,
}

/// Which requests a breakage is planned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Calls {
    /// Those that put or change something in a chat.
    Posts,
    /// Those that ask for updates.
    Polls,
}

/// A chat.
pub(super) struct Room {
    pub chat: Chat,
    pub messages: VecDeque<Message>,
    pub typing_until: Option<Timestamp>,
    /// When a person was last heard here.
    pub spoken: Option<Timestamp>,
}

/// A message of anybody's.
pub(super) struct Message {
    pub seen: SeenMessage,
    pub from: Option<Person>,
    /// What its buttons say, in the order of their labels.
    pub says: Vec<String>,
    pub key: Option<String>,
}

impl State {
    /// What is planned for such a request: the error it ends with once it was acted on, or at once.
    pub fn breaks(&mut self, calls: Calls) -> Result<Option<Breakage>, Breakage> {
        let at = self.planned.iter().position(|(of, _)| *of == calls);
        match at.map(|at| self.planned.remove(at).1) {
            None => Ok(None),
            Some(Breakage::LostAnswer) => Ok(Some(Breakage::LostAnswer)),
            Some(how) => Err(how),
        }
    }

    pub fn next_id(&mut self, begins: &str) -> String {
        self.last_id += 1;
        format!("{begins}{}", self.last_id)
    }

    pub fn next_message(&mut self) -> String {
        self.next_id(self.message_ids.unwrap_or("m"))
    }
    /// A person did something in a chat.
    pub fn speaks(&mut self, chat: &Chat, at: Timestamp) {
        if let Some(room) = self.rooms.get_mut(&chat.id) {
            room.spoken = Some(at);
        }
    }

    pub fn find(&self, id: &str) -> Option<&Message> {
        self.rooms.values().flat_map(|room| &room.messages).find(|message| message.seen.reference.0 == id)
    }
    pub fn message(&mut self, id: &str) -> Option<&mut Message> {
        let mut all = self.rooms.values_mut().flat_map(|room| &mut room.messages);
        all.find(|message| message.seen.reference.0 == id)
    }

    /// Lets updates wait for us.
    pub fn wait(&mut self, updates: Vec<Value>) {
        self.last_update += updates.len() as u64;
        self.updates.extend(updates);
        let old = self.updates.len().saturating_sub(MOST_UPDATES);
        self.updates.drain(..old);
    }
    /// The same, such that they can be told again under that message's id.
    pub fn wait_for(&mut self, id: &str, updates: Vec<Value>) {
        self.told.push_back((id.to_owned(), updates.clone()));
        if self.told.len() > MOST_UPDATES {
            self.told.pop_front();
        }
        self.wait(updates);
    }

    pub fn put_aside(&mut self, update: Value) {
        self.asides.push_back(update);
        if self.asides.len() > MOST_UPDATES {
            self.asides.pop_front();
        }
    }
    pub fn forgotten(&self) -> u64 {
        self.last_update - self.updates.len() as u64
    }
    pub fn forget(&mut self, after: u64) {
        let known = usize::try_from(after.saturating_sub(self.forgotten())).unwrap_or(usize::MAX);
        self.updates.drain(..known.min(self.updates.len()));
    }
    pub fn page(&self) -> Page {
        let updates: Vec<Value> = self.updates.iter().take(MOST_AT_ONCE).cloned().collect();
        Page { last: self.forgotten() + updates.len() as u64, updates }
    }
}

impl Room {
    pub fn put(&mut self, message: Message) {
        self.messages.push_back(message);
        if self.messages.len() > MOST_MESSAGES {
            self.messages.pop_front();
        }
    }
}

//! The state of the imitated platform: people, channels, messages, and what waits for the bot.
//!
//! Nothing here waits or speaks HTTP. Everything is bounded: what is old falls out.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use sb_channel::model::{Clock, Timestamp};
use sb_channel::standin::{Breakage, SeenFile};
use serde_json::Value;

use super::refusal::Refusal;
use super::sessions::Session;
use super::{BOT, Calls};
use crate::discord::snowflake;

/// Messages of one channel, files, interactions and requests that are kept.
const MOST_MESSAGES: usize = 2_000;
const MOST_FILES: usize = 200;
pub(super) const MOST_INTERACTIONS: usize = 1_000;
const MOST_ASKED: usize = 2_000;
/// The one server.
pub(super) const GUILD: u64 = 800_000_000_000_000_000;
/// The role that the bot has there by itself.
pub(super) const ROLE: u64 = 810_000_000_000_000_000;
/// Requests a second, of all sorts.
const GLOBAL: u32 = 50;

pub(super) struct Platform {
    pub clock: Arc<dyn Clock>,
    /// How the bot reaches us, as it last did.
    pub host: String,
    pub content_intent: bool,
    pub people: BTreeMap<u64, String>,
    pub rooms: BTreeMap<u64, Room>,
    pub sessions: Vec<Session>,
    pub connections: u64,
    pub starts_left: u64,
    /// When a session began last.
    pub began_at: Option<Timestamp>,
    pub begun: u64,
    pub resumed: u64,
    pub is_mute: bool,
    /// Between two heartbeats, in milliseconds.
    pub beat_ms: u64,
    pub reconnects: u64,
    /// Connections up to this one end with this code.
    pub close: Option<(u64, u16)>,
    pub drops: u64,
    pub planned: Vec<(Calls, Breakage)>,
    /// Refusals with a code that are still to come.
    pub refusals: Vec<(Calls, Refusal)>,
    /// Which links to files are good: older ones have run out.
    pub links: u64,
    pub requests: u64,
    pub asked: VecDeque<String>,
    pub commands: Vec<Value>,
    pub interactions: VecDeque<Interaction>,
    /// What lies at `/attachments/…`, by the id of the attachment.
    pub files: VecDeque<(u64, SeenFile)>,
    windows: BTreeMap<(&'static str, u64), (Timestamp, u32)>,
    last: u64,
}

/// What a room is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Direct(u64),
    Channel,
    Thread { of: u64, is_locked: bool },
}

pub(super) struct Room {
    pub id: u64,
    pub sort: Sort,
    pub name: String,
    pub messages: VecDeque<Message>,
    pub typing_until: Option<Timestamp>,
    /// The bot is not let in any more.
    pub is_gone: bool,
    pub is_archived: bool,
}

/// A message of anybody's.
#[derive(Debug, Clone, Default)]
pub(super) struct Message {
    pub id: u64,
    pub author: u64,
    pub text: String,
    pub flags: u64,
    pub components: Vec<Value>,
    /// By the id of the attachment.
    pub files: Vec<(u64, SeenFile)>,
    /// The bot's reactions.
    pub marks: Vec<String>,
    pub answers: Option<u64>,
    pub nonce: Option<String>,
    pub at: i64,
    pub edited_at: Option<i64>,
    pub edits: u32,
    /// Who is told of it with a sound: ids, and `everyone`.
    pub pings: Vec<String>,
    /// Seconds and waveform, if it is a voice message.
    pub voice: Option<(f64, String)>,
    /// It is somebody else's, passed on.
    pub forwarded: Option<String>,
}

/// Something that waits to be answered.
pub(super) struct Interaction {
    pub id: u64,
    pub token: String,
    pub at: Timestamp,
    pub room: u64,
    /// The message whose button was pressed.
    pub on: Option<u64>,
    /// The message that answered it.
    pub said: Option<u64>,
    /// The type of the answer.
    pub answered: Option<u64>,
}

impl Platform {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            host: "discord.invalid".to_owned(),
            content_intent: true,
            people: BTreeMap::new(),
            rooms: BTreeMap::new(),
            sessions: Vec::new(),
            connections: 0,
            starts_left: 1_000,
            began_at: None,
            begun: 0,
            resumed: 0,
            is_mute: false,
            beat_ms: 41_250,
            reconnects: 0,
            close: None,
            drops: 0,
            planned: Vec::new(),
            refusals: Vec::new(),
            links: 1,
            requests: 0,
            asked: VecDeque::new(),
            commands: Vec::new(),
            interactions: VecDeque::new(),
            files: VecDeque::new(),
            windows: BTreeMap::new(),
            last: 0,
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// An id of this moment that was not given out before.
    pub(super) fn next(&mut self) -> u64 {
        self.last = (self.last + 1).max(snowflake::at(self.now()));
        self.last
    }

    /// What is planned for such a request: the error it ends with once it was acted on, or at once.
    pub(super) fn breaks(&mut self, calls: Calls) -> Result<Option<Refusal>, Refusal> {
        if let Some(at) = self.refusals.iter().position(|(of, _)| *of == calls) {
            return Err(self.refusals.remove(at).1);
        }
        let at = self.planned.iter().position(|(of, _)| *of == calls);
        match at.map(|at| self.planned.remove(at).1) {
            None => Ok(None),
            Some(Breakage::LostAnswer) => Ok(Some(Refusal::of(Breakage::LostAnswer))),
            Some(how) => Err(Refusal::of(how)),
        }
    }

    pub(super) fn was_asked(&mut self, what: String) {
        self.requests += 1;
        self.asked.push_back(what);
        if self.asked.len() > MOST_ASKED {
            self.asked.pop_front();
        }
    }

    /// Counts a request in its bucket: what is left there, and for how many seconds the bucket stays as it is.
    pub(super) fn count(&mut self, bucket: &'static str, of: u64) -> Result<(u32, u32, f64), Refusal> {
        let (most, ms) = match bucket {
            "posts" | "edits" | "typing" => (5, 5_000),
            "reactions" => (1, 250),
            _ => (20, 1_000),
        };
        self.window(("global", 0), GLOBAL, 1_000).map_err(|seconds| Refusal::limited(seconds, true))?;
        let left = self.window((bucket, of), most, ms).map_err(|seconds| Refusal::limited(seconds, false))?;
        let since = self.windows.get(&(bucket, of)).map_or(0, |(since, _)| self.now().ms_since(*since));
        Ok((most, left, (ms - since).max(0) as f64 / 1000.0))
    }

    fn window(&mut self, key: (&'static str, u64), most: u32, ms: i64) -> Result<u32, f64> {
        let now = self.now();
        self.windows.retain(|_, (since, _)| now.ms_since(*since) < 5_000);
        let (since, count) = self.windows.entry(key).or_insert((now, 0));
        if now.ms_since(*since) >= ms {
            (*since, *count) = (now, 0);
        }
        if *count >= most {
            return Err((ms - now.ms_since(*since)) as f64 / 1000.0);
        }
        *count += 1;
        Ok(most - *count)
    }

    /// The channel that a request names.
    pub(super) fn reach(&mut self, id: u64) -> Result<&mut Room, Refusal> {
        let room = self.rooms.get_mut(&id).ok_or_else(Refusal::unknown_channel)?;
        match room.is_gone {
            true => Err(Refusal::new(403, 50_001, "Missing Access")),
            false => Ok(room),
        }
    }

    /// A new channel, thread or direct chat.
    pub(super) fn make(&mut self, id: u64, sort: Sort, name: &str) {
        let room = Room {
            id,
            sort,
            name: name.to_owned(),
            messages: VecDeque::new(),
            typing_until: None,
            is_gone: false,
            is_archived: false,
        };
        self.rooms.entry(id).or_insert(room);
    }

    /// Puts a message into a room; it has an id then.
    pub(super) fn put(&mut self, room: u64, mut message: Message) -> Message {
        message.id = self.next();
        message.at = self.now().0;
        for (id, file) in &message.files {
            self.files.push_back((*id, file.clone()));
        }
        let old = self.files.len().saturating_sub(MOST_FILES);
        self.files.drain(..old);
        if let Some(room) = self.rooms.get_mut(&room) {
            if message.author == BOT {
                room.typing_until = None;
                room.is_archived = false;
            }
            room.messages.push_back(message.clone());
            if room.messages.len() > MOST_MESSAGES {
                room.messages.pop_front();
            }
        }
        message
    }

    pub(super) fn named(&self, id: u64) -> String {
        if id == BOT { "Switchboard".to_owned() } else { self.people.get(&id).cloned().unwrap_or_default() }
    }
}

impl Room {
    pub(super) fn message(&mut self, id: u64) -> Option<&mut Message> {
        self.messages.iter_mut().find(|message| message.id == id)
    }
    pub(super) fn is_direct(&self) -> bool {
        matches!(self.sort, Sort::Direct(_))
    }
}

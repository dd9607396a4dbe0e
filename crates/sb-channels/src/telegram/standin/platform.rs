//! The state of the imitated platform: people, chats, messages, files, and what waits for the bot.
//!
//! Nothing here waits or speaks HTTP. Everything is bounded: old messages, updates and files fall out.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use axum::body::Bytes;
use sb_channel::model::{Clock, Secret, Timestamp};
use serde_json::{Value, json};

use super::faults::Planned;
use super::params::Refusal;

/// Messages kept in one chat, updates that may wait, bytes of files kept.
const MOST_MESSAGES: usize = 2_000;
const MOST_UPDATES: usize = 10_000;
const MOST_FILE_BYTES: usize = 192 * 1024 * 1024;
const MOST_QUERIES: usize = 1_000;
/// How long updates wait, drafts and typing are shown, in milliseconds.
const UPDATES_LIVE_MS: i64 = 24 * 60 * 60 * 1000;
const DRAFT_LIVES_MS: i64 = 30_000;
const TYPING_LIVES_MS: i64 = 5_000;

pub(super) struct Platform {
    pub clock: Arc<dyn Clock>,
    pub token: String,
    pub bot: Human,
    /// The bot gets everything said in groups: privacy mode is off.
    pub reads_all: bool,
    pub people: BTreeMap<i64, Human>,
    pub rooms: BTreeMap<i64, Room>,
    pub updates: VecDeque<Update>,
    pub allowed: Vec<String>,
    pub hook: Option<Hook>,
    /// Counts polls: an older one ends when a newer one begins.
    pub polls: u64,
    /// Counts how often all connections were dropped.
    pub drops: u64,
    pub files: VecDeque<Stored>,
    pub queries: VecDeque<(String, Timestamp)>,
    pub commands: Value,
    pub planned: Vec<Planned>,
    pub calls: BTreeMap<String, u64>,
    last: i64,
    last_update: i64,
}

/// A user: a person, or the bot.
#[derive(Debug, Clone, Default)]
pub(super) struct Human {
    pub id: i64,
    pub name: String,
    pub username: Option<String>,
    pub is_bot: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Private,
    Group,
    Supergroup,
}

/// A chat.
pub(super) struct Room {
    pub id: i64,
    pub sort: Sort,
    pub title: String,
    pub topics: BTreeMap<i64, Topic>,
    /// The bot cannot reach it, and is told so.
    pub gone: Option<&'static str>,
    pub muted: bool,
    pub moved_to: Option<i64>,
    pub messages: VecDeque<Message>,
    pub draft: Option<Draft>,
    pub typing: Option<Timestamp>,
    pub last_message: i64,
}

pub(super) struct Topic {
    pub name: String,
    pub closed: bool,
}

pub(super) struct Draft {
    pub id: i64,
    pub thread: Option<i64>,
    pub text: String,
    pub entities: Vec<Value>,
    pub can_stop: bool,
    pub at: Timestamp,
}

/// A message of anybody's.
#[derive(Debug, Clone, Default)]
pub(super) struct Message {
    pub id: i64,
    pub thread: Option<i64>,
    pub from: Human,
    pub at: i64,
    /// The text, or the caption of a file.
    pub text: String,
    pub entities: Vec<Value>,
    pub media: Option<Media>,
    pub album: Option<String>,
    pub keyboard: Option<Value>,
    pub answers: Option<i64>,
    pub mark: Option<String>,
    pub edits: u32,
    /// Fields told besides, such as `forward_origin`.
    pub besides: serde_json::Map<String, Value>,
}

/// A file of a message.
#[derive(Debug, Clone, Default)]
pub(super) struct Media {
    /// Its field in a message: `photo`, `document`, `voice` ….
    pub sort: String,
    pub file_id: String,
    pub name: String,
    pub media_type: String,
    pub size: usize,
    pub duration: Option<i64>,
}

/// A file that lies on the platform.
#[derive(Clone)]
pub(super) struct Stored {
    pub id: String,
    pub path: String,
    pub media_type: String,
    pub bytes: Bytes,
}

pub(super) struct Update {
    pub id: i64,
    pub at: Timestamp,
    pub body: Value,
}

#[derive(Clone)]
pub(super) struct Hook {
    pub url: String,
    pub secret: Option<Secret>,
    /// Tells this registration from another one.
    pub number: i64,
    pub last_error: Option<String>,
}

impl Platform {
    pub(super) fn new(clock: Arc<dyn Clock>, token: String) -> Self {
        let id = token.split(':').next().and_then(|id| id.parse().ok()).unwrap_or(1);
        let bot = Human { id, name: "Switchboard".into(), username: Some("sb_bot".into()), is_bot: true };
        Self {
            clock,
            token,
            bot,
            reads_all: true,
            people: BTreeMap::new(),
            rooms: BTreeMap::new(),
            updates: VecDeque::new(),
            allowed: Vec::new(),
            hook: None,
            polls: 0,
            drops: 0,
            files: VecDeque::new(),
            queries: VecDeque::new(),
            commands: json!([]),
            planned: Vec::new(),
            calls: BTreeMap::new(),
            last: 100,
            last_update: 700_000,
        }
    }

    /// A number that was not given out before.
    pub(super) fn next(&mut self) -> i64 {
        self.last += 1;
        self.last
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Lets an update wait for the bot, if it asked for such.
    pub(super) fn tell(&mut self, kind: &str, body: Value) {
        let by_request = ["chat_member", "message_reaction", "message_reaction_count"].contains(&kind);
        let wanted = match self.allowed.is_empty() {
            true => !by_request,
            false => self.allowed.iter().any(|allowed| allowed == kind),
        };
        if !wanted {
            return;
        }
        self.last_update += 1;
        let (id, at) = (self.last_update, self.now());
        self.updates.push_back(Update { id, at, body: json!({"update_id": id, kind: body}) });
        if self.updates.len() > MOST_UPDATES {
            self.updates.pop_front();
        }
    }

    /// Forgets what is older than a day.
    pub(super) fn age(&mut self) {
        let now = self.now();
        self.updates.retain(|update| now.ms_since(update.at) < UPDATES_LIVE_MS);
    }

    /// The chat that a call of the bot's names.
    pub(super) fn reach(&mut self, chat: Option<i64>) -> Result<&mut Room, Refusal> {
        let chat = chat.ok_or_else(|| Refusal::bad("chat not found"))?;
        let room = self.rooms.get_mut(&chat).ok_or_else(|| Refusal::bad("chat not found"))?;
        if let Some(to) = room.moved_to {
            let mut refusal = Refusal::bad("group chat was upgraded to a supergroup chat");
            refusal.migrate_to = Some(to);
            return Err(refusal);
        }
        match room.gone {
            Some(why) => Err(Refusal::new(403, format!("Forbidden: {why}"))),
            None => Ok(room),
        }
    }

    /// Puts a message into a chat; it has a number then.
    pub(super) fn put(&mut self, chat: i64, mut message: Message) -> Message {
        message.at = self.now().0 / 1000;
        let by_bot = message.from.id == self.bot.id;
        let Some(room) = self.rooms.get_mut(&chat) else { return message };
        room.last_message += 1;
        message.id = room.last_message;
        if by_bot {
            room.draft = None;
            room.typing = None;
        }
        room.messages.push_back(message.clone());
        if room.messages.len() > MOST_MESSAGES {
            room.messages.pop_front();
        }
        message
    }

    /// Keeps a file.
    pub(super) fn store(&mut self, sort: &str, name: &str, media_type: &str, bytes: Bytes) -> Media {
        let number = self.next();
        let ending = name.rsplit_once('.').map_or("bin", |(_, ending)| ending);
        let ending: String = ending.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
        let id = format!("AgACfile{number}");
        let path = format!("{sort}s/file_{number}.{ending}");
        let size = bytes.len();
        self.files.push_back(Stored { id: id.clone(), path, media_type: media_type.to_owned(), bytes });
        while self.files.iter().map(|file| file.bytes.len()).sum::<usize>() > MOST_FILE_BYTES {
            self.files.pop_front();
        }
        Media {
            sort: sort.to_owned(),
            file_id: id,
            name: name.to_owned(),
            media_type: media_type.to_owned(),
            size,
            duration: None,
        }
    }

    /// Notes a press that is to be answered.
    pub(super) fn ask(&mut self) -> String {
        let id = format!("{}{}", 4_200_000_000_i64, self.next());
        let now = self.now();
        self.queries.push_back((id.clone(), now));
        if self.queries.len() > MOST_QUERIES {
            self.queries.pop_front();
        }
        id
    }
}

impl Room {
    pub(super) fn new(id: i64, sort: Sort, title: &str) -> Self {
        Self {
            id,
            sort,
            title: title.to_owned(),
            topics: BTreeMap::new(),
            gone: None,
            muted: false,
            moved_to: None,
            messages: VecDeque::new(),
            draft: None,
            typing: None,
            last_message: 0,
        }
    }
    pub(super) fn message(&mut self, id: i64) -> Option<&mut Message> {
        self.messages.iter_mut().find(|message| message.id == id)
    }
    /// The growing reply, while it is shown.
    pub(super) fn shown_draft(&self, now: Timestamp) -> Option<&Draft> {
        self.draft.as_ref().filter(|draft| now.ms_since(draft.at) < DRAFT_LIVES_MS)
    }
    /// Whether it is shown that the bot is at work.
    pub(super) fn is_typing(&self, now: Timestamp) -> bool {
        self.typing.is_some_and(|since| now.ms_since(since) < TYPING_LIVES_MS)
    }
    /// The topic that a call names, if it may be written in.
    pub(super) fn thread(&self, thread: Option<i64>) -> Result<Option<i64>, Refusal> {
        let Some(id) = thread else { return Ok(None) };
        match self.topics.get(&id) {
            // Also for 1: the General topic is addressed by naming none.
            None => Err(Refusal::bad("message thread not found")),
            Some(topic) if topic.closed => Err(Refusal::bad("TOPIC_CLOSED")),
            Some(_) => Ok(thread),
        }
    }
}

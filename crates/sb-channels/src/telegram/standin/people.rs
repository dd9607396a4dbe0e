//! The people's side: what somebody with the app does, and what the bot is told of it.

use axum::body::Bytes;
use sb_channel::model::{Chat, ChatSort, MessageRef, Person};
use serde_json::{Map, Value, json};

use super::TelegramStandIn;
use super::platform::{Human, Media, Message, Platform, Room, Sort, Topic};

/// What somebody says, beyond words.
#[derive(Debug, Clone, Default)]
pub struct Saying {
    pub text: String,
    pub file: Option<SaidFile>,
    /// Messages of one album share this.
    pub album: Option<String>,
    pub answers: Option<MessageRef>,
    /// The stretch of the answered message that is quoted.
    pub quote: Option<String>,
    /// It is somebody else's words, passed on: whose.
    pub forwarded: Option<String>,
}

/// A file somebody sends.
#[derive(Debug, Clone)]
pub struct SaidFile {
    /// `photo`, `document`, `voice`, `audio`, `video`, `animation` ….
    pub sort: &'static str,
    pub name: String,
    pub media_type: String,
    pub bytes: Bytes,
    /// In seconds.
    pub duration: Option<i64>,
}

impl Saying {
    pub fn text(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}

/// The made-up user in whose name anonymous admins write.
const ANONYMOUS: i64 = 1_087_968_824;

impl TelegramStandIn {
    /// A new person.
    pub fn person(&self, name: &str) -> Person {
        let id = self.shared.with(|platform| {
            let id = 4_000 + platform.next();
            platform.people.insert(id, Human { id, name: name.to_owned(), ..Human::default() });
            id
        });
        Person { id: Some(id.to_string()), name: name.to_owned(), bot: false }
    }

    /// The private chat of a person and the bot.
    pub fn direct(&self, person: &Person) -> Chat {
        let chat = Chat::direct(person.id.clone().unwrap_or_default());
        self.shared.with(|platform| platform.meet(&chat, person));
        chat
    }

    /// A new group with the bot in it; `basic` ones can [migrate](Self::migrate).
    pub fn group(&self, title: &str, basic: bool) -> Chat {
        let id = self.shared.with(|platform| {
            let (id, sort) = match basic {
                true => (-4_000 - platform.next(), Sort::Group),
                false => (-1_000_000_004_000 - platform.next(), Sort::Supergroup),
            };
            platform.rooms.insert(id, Room::new(id, sort, title));
            id
        });
        Chat::group(id.to_string())
    }

    /// A new topic of a chat.
    pub fn topic(&self, chat: &Chat, name: &str) -> Chat {
        let thread = self.shared.with(|platform| {
            let room = platform.rooms.get_mut(&number(&chat.id))?;
            room.last_message += 1;
            let id = room.last_message.max(2);
            room.last_message = id;
            room.topics.insert(id, Topic { name: name.to_owned(), closed: false });
            Some(id.to_string())
        });
        Chat { thread, ..chat.clone() }
    }

    /// Closes or opens a topic.
    pub fn close_topic(&self, chat: &Chat, closed: bool) {
        self.shared.with(|platform| {
            let room = platform.rooms.get_mut(&number(&chat.id));
            let thread = chat.thread.as_deref().map(number).unwrap_or_default();
            if let Some(topic) = room.and_then(|room| room.topics.get_mut(&thread)) {
                topic.closed = closed;
            }
        });
    }

    /// Somebody writes: the key of the message.
    pub fn say(&self, chat: &Chat, person: &Person, text: &str) -> String {
        self.post(chat, person, Saying::text(text))
    }

    /// Somebody says something: the key of the message.
    pub fn post(&self, chat: &Chat, person: &Person, saying: Saying) -> String {
        self.shared.with(|platform| platform.said(chat, person, saying))
    }

    /// Somebody sends several files as one: the keys of the messages. The words are the first one's.
    pub fn album(&self, chat: &Chat, person: &Person, text: &str, files: Vec<SaidFile>) -> Vec<String> {
        self.shared.with(|platform| {
            let album = Some(platform.next().to_string());
            let said = files.into_iter().enumerate().map(|(at, file)| {
                let text = if at == 0 { text.to_owned() } else { String::new() };
                Saying { text, file: Some(file), album: album.clone(), ..Saying::default() }
            });
            said.collect::<Vec<_>>().into_iter().map(|saying| platform.said(chat, person, saying)).collect()
        })
    }

    /// Somebody changes their message.
    pub fn edit(&self, key: &str, text: &str) {
        self.shared.with(|platform| {
            let (chat, id) = split(key);
            let entities = platform.typed(text);
            let Some(message) = platform.rooms.get_mut(&chat).and_then(|room| room.message(id)) else {
                return;
            };
            (message.text, message.entities) = (text.to_owned(), entities);
            message.edits += 1;
            let message = message.clone();
            platform.tell_message("edited_message", chat, &message);
        });
    }

    /// Somebody presses the button that says so, on the newest message that has one: whether there is one.
    pub fn press(&self, chat: &Chat, person: &Person, label: &str) -> bool {
        self.shared.with(|platform| platform.pressed(number(&chat.id), person, label))
    }

    /// Somebody presses the stop button of a growing reply: whether there is one.
    pub fn stop_draft(&self, chat: &Chat) -> bool {
        self.shared.with(|platform| {
            let now = platform.now();
            let Some(room) = platform.rooms.get_mut(&number(&chat.id)) else { return false };
            let Some(draft) = room.shown_draft(now).filter(|draft| draft.can_stop) else { return false };
            let mut stop = json!({"chat": room.wire(), "draft_id": draft.id});
            if let Some(thread) = draft.thread {
                stop["message_thread_id"] = thread.into();
            }
            room.draft = None;
            platform.tell("stopped_message_generation", stop);
            true
        })
    }

    /// Somebody blocks the bot, or the group removes it.
    pub fn block(&self, chat: &Chat) {
        let why = match chat.sort {
            ChatSort::Direct => "bot was blocked by the user",
            ChatSort::Group => "bot was kicked from the supergroup chat",
        };
        self.standing(chat, Some(why), "member", "kicked");
    }

    /// The bot is let in again.
    pub fn unblock(&self, chat: &Chat) {
        self.standing(chat, None, "kicked", "member");
    }

    /// The bot is added to a group.
    pub fn add_to_group(&self, chat: &Chat) {
        self.standing(chat, None, "left", "member");
    }

    /// The bot may not write in a chat.
    pub fn mute(&self, chat: &Chat, muted: bool) {
        self.shared.with(|platform| {
            if let Some(room) = platform.rooms.get_mut(&number(&chat.id)) {
                room.muted = muted;
            }
        });
    }

    /// A basic group becomes a supergroup, under another id.
    pub fn migrate(&self, chat: &Chat) -> Chat {
        let (old, new) = (number(&chat.id), -1_000_000_000_000 + number(&chat.id));
        self.shared.with(|platform| {
            let Some(room) = platform.rooms.get_mut(&old) else { return };
            room.moved_to = Some(new);
            let title = room.title.clone();
            platform.rooms.insert(new, Room::new(new, Sort::Supergroup, &title));
            for (at, field, other) in [(old, "migrate_to_chat_id", new), (new, "migrate_from_chat_id", old)] {
                let besides = Map::from_iter([(field.to_owned(), other.into())]);
                let from = Human { id: 4_001, name: "Owner".into(), ..Human::default() };
                let message = platform.put(at, Message { from, besides, ..Message::default() });
                platform.tell_message("message", at, &message);
            }
        });
        Chat::group(new.to_string())
    }

    fn standing(&self, chat: &Chat, gone: Option<&'static str>, before: &str, after: &str) {
        self.shared.with(|platform| {
            let (bot, at) = (platform.bot.wire(), platform.now().0 / 1000);
            let Some(room) = platform.rooms.get_mut(&number(&chat.id)) else { return };
            room.gone = gone;
            let member = |status: &str| json!({"status": status, "user": bot, "until_date": 0});
            let from = json!({"id": room.id.max(1), "is_bot": false, "first_name": room.title});
            let change = json!({
                "chat": room.wire(),
                "from": from,
                "date": at,
                "old_chat_member": member(before),
                "new_chat_member": member(after),
            });
            platform.tell("my_chat_member", change);
        });
    }
}

impl Platform {
    /// Sees to it that such a chat and person exist.
    pub(super) fn meet(&mut self, chat: &Chat, person: &Person) {
        let (id, name) = (number(&chat.id), person.name.clone());
        if let Some(person) = person.id.as_deref().map(number) {
            let human = Human { id: person, name: name.clone(), ..Human::default() };
            self.people.entry(person).or_insert(human);
        }
        let sort = match (chat.sort, id) {
            (ChatSort::Direct, _) => Sort::Private,
            (ChatSort::Group, ..-1_000_000_000_000) => Sort::Supergroup,
            (ChatSort::Group, _) => Sort::Group,
        };
        let room = self
            .rooms
            .entry(id)
            .or_insert_with(|| Room::new(id, sort, if sort == Sort::Private { &name } else { "Group" }));
        if let Some(thread) = chat.thread.as_deref().map(number) {
            room.topics.entry(thread).or_insert_with(|| Topic { name: "Topic".into(), closed: false });
            room.last_message = room.last_message.max(thread);
        }
    }

    fn said(&mut self, chat: &Chat, person: &Person, saying: Saying) -> String {
        self.meet(chat, person);
        let id = number(&chat.id);
        let mut besides = Map::new();
        let from = match person.id.as_deref().map(number) {
            Some(person) => self.people.get(&person).cloned().unwrap_or_default(),
            None => {
                let group = self.rooms.get(&id).map(Room::wire).unwrap_or_default();
                besides.insert("sender_chat".to_owned(), group);
                Human {
                    id: ANONYMOUS,
                    name: "Group".into(),
                    username: Some("GroupAnonymousBot".into()),
                    is_bot: true,
                }
            }
        };
        if let Some(name) = &saying.forwarded {
            let origin =
                json!({"type": "hidden_user", "sender_user_name": name, "date": self.now().0 / 1000});
            besides.insert("forward_origin".to_owned(), origin);
        }
        if let Some(quote) = &saying.quote {
            besides.insert("quote".to_owned(), json!({"text": quote, "position": 0, "is_manual": true}));
        }
        let media = saying.file.map(|file| {
            let media = self.store(file.sort, &file.name, &file.media_type, file.bytes);
            Media { duration: file.duration, ..media }
        });
        let message = Message {
            thread: chat.thread.as_deref().map(number),
            from,
            entities: self.typed(&saying.text),
            text: saying.text,
            media,
            album: saying.album,
            answers: saying.answers.map(|at| split(&at.0).1),
            besides,
            ..Message::default()
        };
        let message = self.put(id, message);
        if self.is_told(id, &message) {
            self.tell_message("message", id, &message);
        }
        format!("{id}:{}", message.id)
    }

    pub(super) fn tell_message(&mut self, kind: &str, chat: i64, message: &Message) {
        let Some(room) = self.rooms.get(&chat) else { return };
        let body = self.wire(room, message);
        self.tell(kind, body);
    }

    /// Whether privacy mode lets the bot know of it.
    fn is_told(&self, chat: i64, message: &Message) -> bool {
        let Some(room) = self.rooms.get(&chat) else { return false };
        let answers_bot = message.answers.is_some_and(|id| {
            room.messages.iter().any(|other| other.id == id && other.from.id == self.bot.id)
        });
        let named = message
            .entities
            .iter()
            .any(|entity| ["mention", "bot_command"].iter().any(|s| entity["type"] == **s));
        self.reads_all || room.sort == Sort::Private || answers_bot || named
    }

    fn pressed(&mut self, chat: i64, person: &Person, label: &str) -> bool {
        let Some(room) = self.rooms.get(&chat) else { return false };
        let found = room.messages.iter().rev().find_map(|message| {
            let rows = message.keyboard.as_ref()?.get("inline_keyboard")?.as_array()?;
            let mut buttons = rows.iter().filter_map(Value::as_array).flatten();
            let button = buttons.find(|button| button["text"] == *label)?;
            Some((button.get("callback_data")?.clone(), self.wire(room, message)))
        });
        let Some((data, message)) = found else { return false };
        let presser = person.id.as_deref().map(number).unwrap_or_default();
        let from = self.people.get(&presser).map(Human::wire).unwrap_or_default();
        let id = self.ask();
        let press = json!({"id": id, "from": from, "message": message, "chat_instance": "77", "data": data});
        self.tell("callback_query", press);
        true
    }

    /// The mentions and commands in what somebody types.
    fn typed(&self, text: &str) -> Vec<Value> {
        let mut entities = Vec::new();
        let mut at = 0;
        for word in text.split_inclusive(char::is_whitespace) {
            let name = word.trim_end();
            let name = name.trim_end_matches([',', ':', '.', '!', '?']);
            let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "_@".contains(c));
            let sort = match name.split_at_checked(1) {
                Some(("@", rest)) if rest.len() >= 3 && plain(rest) => Some("mention"),
                Some(("/", rest)) if !rest.is_empty() && plain(rest) => Some("bot_command"),
                _ => None,
            };
            if let Some(sort) = sort {
                entities.push(json!({"type": sort, "offset": at, "length": name.encode_utf16().count()}));
            }
            at += word.encode_utf16().count();
        }
        entities
    }
}

/// An id of Telegram's; 0, which is nobody's, if it is none.
pub(super) fn number(id: &str) -> i64 {
    id.parse().unwrap_or_default()
}

pub(super) fn split(key: &str) -> (i64, i64) {
    key.split_once(':').map(|(chat, message)| (number(chat), number(message))).unwrap_or_default()
}

//! The people's side: what somebody with the app does, and what the bot is told of it.

use sb_channel::model::{Chat, ChatSort, Person};
use sb_channel::standin::SeenFile;
use serde_json::{Value, json};

use super::platform::{GUILD, Interaction, MOST_INTERACTIONS, Message, Platform, Sort};
use super::{BOT, DiscordStandIn};

/// A message's flag: it is a voice note.
const VOICE: u64 = 1 << 13;

impl DiscordStandIn {
    /// A new person, a member of the server.
    pub fn person(&self, name: &str) -> Person {
        let id = self.shared.with(|platform| {
            let id = platform.next();
            platform.people.insert(id, name.to_owned());
            id
        });
        Person { id: Some(id.to_string()), name: name.to_owned(), bot: false }
    }

    /// The direct chat of a person and the bot.
    pub fn direct(&self, person: &Person) -> Chat {
        let person = number(person.id.as_deref().unwrap_or_default());
        Chat::direct(self.shared.with(|platform| platform.direct(person)).to_string())
    }

    /// A new channel of the server.
    pub fn channel(&self, name: &str) -> Chat {
        let id = self.shared.with(|platform| {
            let id = platform.next();
            platform.make(id, Sort::Channel, name);
            platform.tell_room("CHANNEL_CREATE", id);
            id
        });
        Chat::group(id.to_string())
    }

    /// A new thread of a channel.
    pub fn thread(&self, of: &Chat, name: &str) -> Chat {
        let thread = self.shared.with(|platform| {
            let id = platform.next();
            platform.make(id, Sort::Thread { of: number(&of.id), is_locked: false }, name);
            platform.tell_room("THREAD_CREATE", id);
            id
        });
        Chat { thread: Some(thread.to_string()), ..Chat::group(of.id.clone()) }
    }

    /// Somebody locks a thread, or lets it rest.
    pub fn end_thread(&self, thread: &Chat, locked: bool) {
        self.shared.with(|platform| {
            let Some(room) = platform.rooms.get_mut(&room_of(thread)) else { return };
            room.is_archived = true;
            if let Sort::Thread { is_locked, .. } = &mut room.sort {
                *is_locked = locked;
            }
        });
    }

    /// The channel is taken from the bot, or given back.
    pub fn shut_out(&self, chat: &Chat, out: bool) {
        self.shared.with(|platform| {
            if let Some(room) = platform.rooms.get_mut(&room_of(chat)) {
                room.is_gone = out;
            }
        });
    }

    /// Somebody writes: the id of the message.
    pub fn say(&self, chat: &Chat, person: &Person, text: &str) -> String {
        self.post(chat, person, Message { text: text.to_owned(), ..Message::default() })
    }

    /// Somebody sends files: the id of the message.
    pub fn send_files(&self, chat: &Chat, person: &Person, text: &str, files: &[SeenFile]) -> String {
        let files = self.shared.with(|p| files.iter().map(|file| (p.next(), file.clone())).collect());
        self.post(chat, person, Message { text: text.to_owned(), files, ..Message::default() })
    }

    /// Somebody sends a voice note: the id of the message.
    pub fn send_voice(&self, chat: &Chat, person: &Person, file: &SeenFile, seconds: f64) -> String {
        let files = vec![(self.shared.with(Platform::next), file.clone())];
        let voice = Some((seconds, "AAAA".to_owned()));
        self.post(chat, person, Message { files, flags: VOICE, voice, ..Message::default() })
    }

    /// Somebody answers one of the messages there: the id of theirs.
    pub fn answer(&self, chat: &Chat, person: &Person, to: &str, text: &str) -> String {
        let answers = Some(number(to));
        self.post(chat, person, Message { text: text.to_owned(), answers, ..Message::default() })
    }

    /// Somebody passes on somebody's words: the id of the message.
    pub fn forward(&self, chat: &Chat, person: &Person, text: &str) -> String {
        self.post(chat, person, Message { forwarded: Some(text.to_owned()), ..Message::default() })
    }

    fn post(&self, chat: &Chat, person: &Person, message: Message) -> String {
        let author = number(person.id.as_deref().unwrap_or_default());
        self.shared.with(|platform| {
            let room = room_of(chat);
            let message = platform.put(room, Message { author, ..message });
            platform.tell_message("MESSAGE_CREATE", room, &message);
            message.id.to_string()
        })
    }

    /// The gateway tells of a message once more.
    pub fn say_again(&self, message: &str) -> bool {
        self.shared.with(|platform| {
            let known = platform.find(number(message)).map(|(room, message)| (room, message.clone()));
            known.map(|(room, message)| platform.tell_message("MESSAGE_CREATE", room, &message)).is_some()
        })
    }

    /// Somebody changes their message.
    pub fn edit(&self, message: &str, text: &str) -> bool {
        self.shared.with(|platform| {
            let now = platform.now().0;
            let Some((room, message)) = platform.find(number(message)) else { return false };
            (message.text, message.edited_at) = (text.to_owned(), Some(now));
            let message = message.clone();
            platform.tell_message("MESSAGE_UPDATE", room, &message);
            true
        })
    }

    /// Somebody takes their message back.
    pub fn delete(&self, message: &str) {
        self.shared.with(|platform| {
            let Some((room, _)) = platform.find(number(message)) else { return };
            platform.delete(room, number(message));
        });
    }

    /// Somebody presses the newest button of that label: whether there is one.
    pub fn press(&self, chat: &Chat, person: &Person, label: &str) -> bool {
        self.shared.with(|platform| {
            let room = room_of(chat);
            let Some(place) = platform.rooms.get(&room) else { return false };
            let found =
                place.messages.iter().rev().filter(|message| message.author == BOT).find_map(|message| {
                    let button = buttons(message).find(|button| button["label"] == label)?;
                    Some((message.clone(), button["custom_id"].clone()))
                });
            let Some((message, custom_id)) = found else { return false };
            let on = platform.rooms.get(&room).map(|room| platform.message(room, &message));
            let data = json!({"component_type": 2, "custom_id": custom_id, "id": 2});
            platform.interact(room, person, json!({"type": 3, "data": data, "message": on}));
            true
        })
    }

    /// Somebody chooses a command of the menu, with words or without.
    pub fn choose(&self, chat: &Chat, person: &Person, command: &str, words: Option<&str>) {
        self.shared.with(|platform| {
            let options = words.map(|words| json!({"name": "text", "type": 3, "value": words}));
            let options: Vec<Value> = options.into_iter().collect();
            let data = json!({"id": "1", "name": command, "type": 1, "options": options});
            platform.interact(room_of(chat), person, json!({"type": 2, "data": data}));
        });
    }

    /// The gateway tells of something, whatever it is.
    pub fn tell_raw(&self, kind: &'static str, data: &Value) {
        self.shared.with(|platform| platform.tell(kind, false, data, true));
    }
}

impl Platform {
    pub(super) fn direct(&mut self, person: u64) -> u64 {
        let known = self.rooms.values().find(|room| room.sort == Sort::Direct(person)).map(|room| room.id);
        known.unwrap_or_else(|| {
            let id = self.next();
            self.make(id, Sort::Direct(person), "");
            id
        })
    }

    pub(super) fn find(&mut self, id: u64) -> Option<(u64, &mut Message)> {
        self.rooms.values_mut().find_map(|room| Some((room.id, room.message(id)?)))
    }

    pub(super) fn delete(&mut self, room: u64, id: u64) {
        let Some(place) = self.rooms.get_mut(&room) else { return };
        let by_person = place.message(id).is_some_and(|message| message.author != BOT);
        place.messages.retain(|message| message.id != id);
        let direct = place.is_direct();
        let mut gone = json!({"id": id.to_string(), "channel_id": room.to_string()});
        if !direct {
            gone["guild_id"] = GUILD.to_string().into();
        }
        self.tell("MESSAGE_DELETE", direct, &gone, by_person);
    }

    /// Tells of a channel or a thread.
    pub(super) fn tell_room(&mut self, kind: &'static str, room: u64) {
        let Some(told) = self.rooms.get(&room).map(|room| self.channel(room)) else { return };
        self.tell(kind, false, &told, false);
    }

    /// Somebody pressed or chose something, which waits to be answered.
    fn interact(&mut self, room: u64, person: &Person, more: Value) {
        let (id, at) = (self.next(), self.now());
        let token = format!("interaction-{id}");
        let Some(place) = self.rooms.get(&room) else { return };
        let direct = place.is_direct();
        let mut told = self.interaction(place, number(person.id.as_deref().unwrap_or_default()), id, &token);
        for (field, value) in more.as_object().into_iter().flatten() {
            told[field] = value.clone();
        }
        let on = told["message"]["id"].as_str().map(number);
        self.interactions.push_back(Interaction { id, token, at, room, on, said: None, answered: None });
        if self.interactions.len() > MOST_INTERACTIONS {
            self.interactions.pop_front();
        }
        self.tell("INTERACTION_CREATE", direct, &told, true);
    }
}

/// The buttons of a message.
pub(super) fn buttons(message: &Message) -> impl Iterator<Item = &Value> {
    message.components.iter().filter_map(|row| row["components"].as_array()).flatten()
}

/// The room that a chat is: a thread is one itself.
pub(super) fn room_of(chat: &Chat) -> u64 {
    number(chat.thread.as_deref().filter(|_| chat.sort == ChatSort::Group).unwrap_or(&chat.id))
}

pub(super) fn number(id: &str) -> u64 {
    id.parse().unwrap_or_default()
}

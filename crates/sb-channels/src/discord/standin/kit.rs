//! The platform as the conformance suite knows every platform.

use axum::Router;
use sb_channel::model::{Chat, Person};
use sb_channel::standin::{Breakage, Seen, SeenMessage, StandIn};

use super::people::{buttons, room_of};
use super::platform::{Message, Room};
use super::{BOT, Calls, DiscordStandIn, TOKEN};
use crate::discord::parse::reference;

impl StandIn for DiscordStandIn {
    fn router(&self) -> Router {
        DiscordStandIn::router(self)
    }
    fn settings(&self) -> Vec<(String, String)> {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        vec![pair("token", TOKEN), pair("api_url", "http://discord.invalid")]
    }

    fn person(&self, name: &str) -> Person {
        DiscordStandIn::person(self, name)
    }
    fn direct(&self, person: &Person) -> Chat {
        DiscordStandIn::direct(self, person)
    }
    fn group(&self, title: &str) -> Option<Chat> {
        Some(self.channel(title))
    }

    fn is_heard(&self) -> bool {
        self.shared.look(|platform| !platform.sessions.is_empty())
    }
    fn say(&self, chat: &Chat, person: &Person, text: &str) -> String {
        DiscordStandIn::say(self, chat, person, text)
    }
    fn mention(&self, chat: &Chat, person: &Person, text: &str) -> String {
        DiscordStandIn::say(self, chat, person, &format!("<@{BOT}> {text}"))
    }
    fn say_again(&self, message: &str) -> bool {
        DiscordStandIn::say_again(self, message)
    }
    fn send_files(
        &self,
        chat: &Chat,
        person: &Person,
        text: &str,
        files: &[sb_channel::standin::SeenFile],
    ) -> bool {
        DiscordStandIn::send_files(self, chat, person, text, files);
        true
    }
    fn press(&self, chat: &Chat, person: &Person, label: &str) -> bool {
        DiscordStandIn::press(self, chat, person, label)
    }
    fn edit(&self, message: &str, text: &str) -> bool {
        DiscordStandIn::edit(self, message, text)
    }

    fn seen(&self, chat: &Chat) -> Seen {
        self.shared.look(|platform| {
            let Some(room) = platform.rooms.get(&room_of(chat)) else { return Seen::default() };
            let typing = room.typing_until.is_some_and(|until| until > platform.now());
            let messages = room.messages.iter().map(|message| shown(room, message, chat)).collect();
            Seen { messages, growing: None, typing }
        })
    }
    fn unacknowledged(&self) -> usize {
        self.shared.look(super::Platform::unacknowledged)
    }
    fn requests(&self) -> u64 {
        self.shared.look(|platform| platform.requests)
    }

    fn break_next(&self, how: Breakage, times: u32) {
        self.break_calls(Calls::Posts, how, times);
    }
    fn break_receiving(&self, how: Breakage, times: u32) {
        self.break_calls(Calls::Gateway, how, times);
    }
    fn mend(&self) {
        self.shared.with(|platform| platform.planned.clear());
    }
    fn drop_connections(&self) {
        self.shared.with(|platform| platform.drops += 1);
    }
}

fn shown(room: &Room, message: &Message, chat: &Chat) -> SeenMessage {
    let at = |id: u64| reference(&room.id.to_string(), &id.to_string());
    let labels = buttons(message).filter_map(|button| button["label"].as_str());
    SeenMessage {
        buttons: labels.map(str::to_owned).collect(),
        files: message.files.iter().map(|(_, file)| file.clone()).collect(),
        mark: message.marks.last().cloned(),
        answers: message.answers.map(at),
        thread: chat.thread.clone(),
        ..SeenMessage::new(at(message.id), message.author == BOT, plain(&message.text))
    }
}

/// Words as Discord shows them: a backslash before a sign is not seen.
fn plain(text: &str) -> String {
    let mut signs = text.chars().peekable();
    let mut shown = String::with_capacity(text.len());
    while let Some(sign) = signs.next() {
        let hides = sign == '\\' && signs.peek().is_some_and(char::is_ascii_punctuation);
        shown.extend(if hides { signs.next() } else { Some(sign) });
    }
    shown
}

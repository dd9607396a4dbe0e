//! The platform as the conformance suite knows every platform.

use axum::Router;
use sb_channel::model::{Chat, Person};
use sb_channel::standin::{Breakage, Seen, SeenFile, SeenMessage, StandIn};

use super::people::split;
use super::{Break, Calls, SaidFile, Saying, TelegramStandIn};

impl StandIn for TelegramStandIn {
    fn router(&self) -> Router {
        TelegramStandIn::router(self)
    }
    fn has_page(&self) -> bool {
        true
    }
    fn settings(&self) -> Vec<(String, String)> {
        TelegramStandIn::settings(self)
    }

    fn person(&self, name: &str) -> Person {
        TelegramStandIn::person(self, name)
    }
    fn direct(&self, person: &Person) -> Chat {
        TelegramStandIn::direct(self, person)
    }
    fn group(&self, title: &str) -> Option<Chat> {
        self.set_privacy(false);
        Some(TelegramStandIn::group(self, title, false))
    }

    fn say(&self, chat: &Chat, person: &Person, text: &str) -> String {
        TelegramStandIn::say(self, chat, person, text)
    }
    fn mention(&self, chat: &Chat, person: &Person, text: &str) -> String {
        let us = self.shared.look(|platform| platform.bot.username.clone().unwrap_or_default());
        TelegramStandIn::say(self, chat, person, &format!("@{us} {text}"))
    }
    fn say_again(&self, message: &str) -> bool {
        self.shared.with(|platform| {
            let (chat, id) = split(message);
            let known = platform.rooms.get_mut(&chat).and_then(|room| room.message(id)).cloned();
            known.map(|message| platform.tell_message("message", chat, &message)).is_some()
        })
    }
    fn send_files(&self, chat: &Chat, person: &Person, text: &str, files: &[SeenFile]) -> bool {
        let mut said: Vec<SaidFile> = files.iter().map(of_seen).collect();
        match said.len() {
            0 => return false,
            1 => {
                let file = said.pop();
                self.post(chat, person, Saying { text: text.to_owned(), file, ..Saying::default() });
            }
            _ => drop(self.album(chat, person, text, said)),
        }
        true
    }
    fn press(&self, chat: &Chat, person: &Person, label: &str) -> bool {
        TelegramStandIn::press(self, chat, person, label)
    }
    fn edit(&self, message: &str, text: &str) -> bool {
        TelegramStandIn::edit(self, message, text);
        true
    }

    fn seen(&self, chat: &Chat) -> Seen {
        let messages = TelegramStandIn::seen(self, chat).into_iter().map(shown).collect();
        Seen { messages, growing: self.draft(chat), typing: self.is_typing(chat) }
    }
    fn unacknowledged(&self) -> usize {
        self.waiting()
    }
    fn requests(&self) -> u64 {
        self.shared.look(|platform| platform.calls.values().sum())
    }

    fn break_next(&self, how: Breakage, times: u32) {
        TelegramStandIn::break_next(self, broken(how), Calls::Posts, times);
    }
    fn break_receiving(&self, how: Breakage, times: u32) {
        TelegramStandIn::break_next(self, broken(how), Calls::Polls, times);
    }
    fn mend(&self) {
        TelegramStandIn::mend(self);
    }
    fn drop_connections(&self) {
        TelegramStandIn::drop_connections(self);
    }
}

fn broken(how: Breakage) -> Break {
    match how {
        Breakage::Flaky => Break::Flaky,
        Breakage::RateLimit(seconds) => Break::RateLimit(seconds),
        Breakage::Revoked => Break::Revoked,
        Breakage::ChatGone => Break::ChatGone,
        Breakage::LostAnswer => Break::LostAnswer,
        Breakage::Format => Break::Format,
        Breakage::Refused => Break::Says("Bad Request: it is not taken"),
    }
}

fn of_seen(file: &SeenFile) -> SaidFile {
    let sort = if file.media_type.starts_with("image/") { "photo" } else { "document" };
    SaidFile {
        sort,
        name: file.name.clone(),
        media_type: file.media_type.clone(),
        bytes: file.bytes.clone(),
        duration: None,
    }
}

fn shown(message: super::SeenMessage) -> SeenMessage {
    let file = message.file.map(|f| SeenFile { name: f.name, media_type: f.media_type, bytes: f.bytes });
    SeenMessage {
        buttons: message.buttons.into_iter().map(|(label, _)| label).collect(),
        files: file.into_iter().collect(),
        mark: message.mark,
        answers: message.answers,
        thread: message.thread,
        ..SeenMessage::new(message.reference, message.ours, message.text)
    }
}

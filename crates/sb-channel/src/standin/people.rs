//! A [`Platform`] as its people and its operator know it.

use std::collections::VecDeque;

use axum::Router;
use sb_net::Http;
use sb_net::model::{Chat, MessageRef, Person};
use serde_json::Value;

use super::state::{Calls, Message, Room, State};
use super::{Breakage, Calling, Named, Platform, Seen, SeenFile, SeenMessage, StandIn, Told};

impl StandIn for Platform {
    fn router(&self) -> Router {
        (self.imitated().router)(self.clone())
    }
    fn settings(&self) -> Vec<(String, String)> {
        let own = self.imitated().settings.iter();
        let api = ("api_url", "http://platform.invalid");
        own.copied().chain([api]).map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    fn person(&self, name: &str) -> Person {
        self.change(|state| {
            let id = (self.imitated().ids)(Named::Person, state.people.len() as u64 + 1);
            let person = Person { id, name: name.to_owned(), bot: false };
            state.people.push(person.clone());
            person
        })
    }
    fn direct(&self, person: &Person) -> Chat {
        self.change(|state| {
            let at = state.people.iter().position(|known| known.id == person.id);
            let named = at.and_then(|at| (self.imitated().ids)(Named::Direct, at as u64 + 1));
            state.meet(&Chat::direct(named.or_else(|| person.id.clone()).unwrap_or_default()))
        })
    }
    fn group(&self, _: &str) -> Option<Chat> {
        self.change(|state| {
            let id = (self.imitated().ids)(Named::Group, state.groups + 1)?;
            state.groups += 1;
            Some(state.meet(&Chat::group(id)))
        })
    }

    fn say(&self, chat: &Chat, person: &Person, text: &str) -> String {
        self.said(chat, person, text, false, &[]).0
    }
    fn mention(&self, chat: &Chat, person: &Person, text: &str) -> String {
        self.said(chat, person, text, true, &[]).0
    }
    fn say_again(&self, message: &str) -> bool {
        self.change(|state| {
            let told = state.told.iter().find(|(id, updates)| id == message && !updates.is_empty());
            let known = told.map(|(_, updates)| updates.clone());
            known.map(|updates| state.wait(updates)).is_some()
        })
    }
    fn send_files(&self, chat: &Chat, person: &Person, text: &str, files: &[SeenFile]) -> bool {
        self.said(chat, person, text, false, files).1
    }
    fn press(&self, chat: &Chat, person: &Person, label: &str) -> bool {
        self.change(|state| {
            let Some(room) = state.rooms.get(&chat.id) else { return false };
            let shows = |message: &Message| {
                let at = message.seen.buttons.iter().position(|shown| shown == label)?;
                Some((message.seen.reference.0.clone(), message.says.get(at)?.clone()))
            };
            let Some((on, says)) = room.messages.iter().rev().find_map(shows) else { return false };
            let (chat, person) = (chat.clone(), person.clone());
            let (id, at) = (state.next_id("p"), self.now());
            state.speaks(&chat, at);
            let told = Told::Pressed { id, chat, person, on, says, at };
            self.tell(state, &told)
        })
    }
    fn edit(&self, message: &str, text: &str) -> bool {
        self.change(|state| {
            let known = state.rooms.values_mut().find_map(|room| {
                let found = room.messages.iter_mut().find(|known| known.seen.reference.0 == message)?;
                Some((room.chat.clone(), found.from.clone()?, &mut found.seen.text))
            });
            let Some((chat, person, said)) = known else { return false };
            let before = std::mem::replace(said, text.to_owned());
            let (id, text, at) = (message.to_owned(), text.to_owned(), self.now());
            let changed = self.tell(state, &Told::Edited { id, chat, person, text, at });
            if let Some(unchanged) = state.message(message).filter(|_| !changed) {
                unchanged.seen.text = before;
            }
            changed
        })
    }

    fn seen(&self, chat: &Chat) -> Seen {
        let now = self.now();
        self.look(|state| {
            let Some(room) = state.rooms.get(&chat.id) else { return Seen::default() };
            let here = |seen: &&SeenMessage| chat.thread.is_none() || seen.thread == chat.thread;
            let messages = room.messages.iter().map(|message| &message.seen).filter(here).cloned().collect();
            Seen { messages, growing: None, typing: room.typing_until.is_some_and(|until| until > now) }
        })
    }
    fn unacknowledged(&self) -> usize {
        self.look(|state| state.updates.len())
    }
    fn requests(&self) -> u64 {
        self.look(|state| state.requests)
    }

    fn break_next(&self, how: Breakage, times: u32) {
        self.change(|state| state.planned.extend((0..times).map(|_| (Calls::Posts, how))));
    }
    fn break_receiving(&self, how: Breakage, times: u32) {
        self.change(|state| state.planned.extend((0..times).map(|_| (Calls::Polls, how))));
    }
    fn mend(&self) {
        self.change(|state| state.planned.clear());
    }
    fn calling(&self, outside: Http) -> Option<Calling> {
        let make = self.look(|state| state.make_call)?;
        // From now on: what it is asked meanwhile may make it call.
        self.change(|state| state.outside = Some(outside.clone()));
        Some(Box::pin(self.clone().call_on(outside, make)))
    }
    fn has_albums(&self) -> bool {
        self.look(|state| !state.no_albums)
    }
    fn drop_connections(&self) {
        self.change(|state| state.drops += 1);
    }
}

impl Platform {
    /// What it is called, and whether the platform tells of it.
    fn said(
        &self,
        chat: &Chat,
        person: &Person,
        text: &str,
        mentions: bool,
        files: &[SeenFile],
    ) -> (String, bool) {
        self.change(|state| {
            let id = state.next_message();
            let at = self.now();
            let seen = SeenMessage {
                thread: chat.thread.clone(),
                files: files.to_vec(),
                ..SeenMessage::new(MessageRef(id.clone()), false, text)
            };
            let from = Some(person.clone());
            state.meet(chat);
            state.speaks(chat, at);
            if let Some(room) = state.rooms.get_mut(&chat.id) {
                room.put(Message { seen, from, says: Vec::new(), key: None });
            }
            let named = files.iter().enumerate().map(|(at, file)| (format!("{id}.{at}"), file.clone()));
            let told = Told::Said {
                id: id.clone(),
                chat: chat.clone(),
                person: person.clone(),
                text: text.to_owned(),
                mentions,
                files: named.collect(),
                at,
            };
            let updates = (self.imitated().tell)(&told);
            let is_told = !updates.is_empty();
            state.wait_for(&id, updates);
            (id, is_told)
        })
    }

    fn tell(&self, state: &mut State, told: &Told) -> bool {
        let updates: Vec<Value> = (self.imitated().tell)(told);
        let is_told = !updates.is_empty();
        state.wait(updates);
        is_told
    }
}

impl State {
    /// Sees to it that there is such a chat.
    fn meet(&mut self, chat: &Chat) -> Chat {
        let room =
            || Room { chat: chat.clone(), messages: VecDeque::new(), typing_until: None, spoken: None };
        self.rooms.entry(chat.id.clone()).or_insert_with(room);
        chat.clone()
    }
}

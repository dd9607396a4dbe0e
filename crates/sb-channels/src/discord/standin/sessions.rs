//! Sessions of the gateway: what the bot is told, numbered, and kept until it is too old to be told again.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::BOT;
use super::platform::{Message, Platform};

/// Events that one session can be told again, and sessions that are kept.
const MOST_EVENTS: usize = 10_000;
const MOST_SESSIONS: usize = 4;

const GUILDS: u64 = 1;
const GUILD_MESSAGES: u64 = 1 << 9;
const DIRECT_MESSAGES: u64 = 1 << 12;
pub(super) const CONTENT: u64 = 1 << 15;
/// Members, presences, content: they must be switched on in the portal; only the last one is imitated.
pub(super) const PRIVILEGED: u64 = 1 << 1 | 1 << 8 | CONTENT;

pub(super) struct Session {
    pub id: String,
    pub intents: u64,
    pub seq: u64,
    pub events: VecDeque<Told>,
    /// The last number that the bot has named.
    pub acked: u64,
    /// The connection that has it.
    pub connection: u64,
}

/// One event of a session.
#[derive(Clone)]
pub(super) struct Told {
    pub seq: u64,
    pub kind: &'static str,
    pub data: Value,
    /// A person did it.
    pub by_person: bool,
}

impl Told {
    pub(super) fn frame(&self) -> String {
        json!({"op": 0, "s": self.seq, "t": self.kind, "d": self.data}).to_string()
    }
}

impl Session {
    pub(super) fn tell(&mut self, kind: &'static str, data: Value, by_person: bool) {
        self.seq += 1;
        self.events.push_back(Told { seq: self.seq, kind, data, by_person });
        if self.events.len() > MOST_EVENTS {
            self.events.pop_front();
        }
    }
    /// Whether everything after `seq` can be told again.
    pub(super) fn holds(&self, seq: u64) -> bool {
        seq <= self.seq && self.events.front().is_none_or(|first| first.seq <= seq + 1)
    }
}

impl Platform {
    /// A session begins on a connection.
    pub(super) fn begin_session(&mut self, intents: u64, connection: u64) -> String {
        self.begun += 1;
        self.starts_left = self.starts_left.saturating_sub(1);
        self.began_at = Some(self.now());
        let id = format!("{:032x}", self.next());
        let url = format!("ws://{}/gw", self.host);
        let (user, application, guild) = (self.user(BOT), self.application(), self.guild());
        let ready = json!({
            "v": 10, "user": user, "guilds": [{"id": guild["id"], "unavailable": true}], "session_id": id,
            "resume_gateway_url": url, "session_type": "normal", "private_channels": [],
            "application": {"id": application["id"], "flags": application["flags"]},
        });
        let events = VecDeque::new();
        let mut session = Session { id: id.clone(), intents, seq: 0, events, acked: 0, connection };
        session.tell("READY", ready, false);
        if intents & GUILDS != 0 {
            session.tell("GUILD_CREATE", guild, false);
        }
        self.sessions.push(session);
        if self.sessions.len() > MOST_SESSIONS {
            self.sessions.remove(0);
        }
        id
    }

    /// Goes on with a session, if all that follows `seq` can be told again.
    pub(super) fn resume_session(&mut self, id: &str, seq: u64, connection: u64) -> bool {
        let Some(session) = self.sessions.iter_mut().find(|known| known.id == id && known.holds(seq)) else {
            return false;
        };
        session.connection = connection;
        session.acked = session.acked.max(seq);
        session.events.retain(|told| told.kind != "RESUMED");
        session.tell("RESUMED", json!({}), false);
        self.resumed += 1;
        true
    }

    pub(super) fn session(&mut self, id: &str) -> Option<&mut Session> {
        self.sessions.iter_mut().find(|session| session.id == id)
    }

    /// Tells of something that happened in a server, or in a direct chat.
    pub(super) fn tell(&mut self, kind: &'static str, direct: bool, data: &Value, by_person: bool) {
        let needed = match kind {
            "INTERACTION_CREATE" => 0,
            _ if direct => DIRECT_MESSAGES,
            _ if kind.starts_with("MESSAGE_") => GUILD_MESSAGES,
            _ => GUILDS,
        };
        for session in self.sessions.iter_mut().filter(|session| session.intents & needed == needed) {
            session.tell(kind, data.clone(), by_person);
        }
    }

    /// Tells of a message, to each session as much of it as it may know.
    pub(super) fn tell_message(&mut self, kind: &'static str, room: u64, message: &Message) {
        let Some(place) = self.rooms.get(&room) else { return };
        let (whole, direct) = (self.told(place, message), place.is_direct());
        let for_us = direct || message.author == BOT || self.mentioned(&message.text).contains(&BOT);
        let mut blank = whole.clone();
        for (field, nothing) in
            [("content", json!("")), ("attachments", json!([])), ("components", json!([]))]
        {
            blank[field] = nothing;
        }
        let needed = if direct { DIRECT_MESSAGES } else { GUILD_MESSAGES };
        for session in self.sessions.iter_mut().filter(|session| session.intents & needed != 0) {
            let may_read = for_us || session.intents & CONTENT != 0;
            session.tell(kind, if may_read { whole.clone() } else { blank.clone() }, message.author != BOT);
        }
    }

    /// What people did and the bot has not named yet, in the session it has or had last.
    pub(super) fn unacknowledged(&self) -> usize {
        let Some(session) = self.sessions.iter().max_by_key(|session| session.connection) else { return 0 };
        session.events.iter().filter(|told| told.by_person && told.seq > session.acked).count()
    }
}

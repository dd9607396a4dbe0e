//! What is there on an imitated network now. Everything is bounded: what is oldest falls out.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sb_channel::model::Timestamp;
use sb_channel::standin::Breakage;
use tokio::sync::mpsc;

use super::super::line::{Line, write};
use super::super::parse::written;
use super::NICK;

/// Lines that are kept.
const MOST_SAID: usize = 20_000;
/// Lines that may wait for a client that does not read.
pub(super) const MOST_WAITING: usize = 8_192;
/// How long each line counts, and how much of that may come at once.
const BURST_MS: i64 = 4_000;
const LINE_MS: i64 = 400;
/// Typing is shown for so long.
const TYPING_MS: i64 = 6_000;
/// A whole line without its tags.
pub(super) const LONGEST: usize = 512;

/// What goes to a client; none: the connection ends.
pub(super) type Out = mpsc::Sender<Option<String>>;

#[derive(Default)]
pub(super) struct State {
    pub users: BTreeMap<String, User>,
    pub channels: BTreeMap<String, Channel>,
    pub clients: BTreeMap<u64, Client>,
    pub said: VecDeque<Said>,
    /// How far somebody read in a place.
    pub read: BTreeMap<(String, String), Timestamp>,
    pub typing: BTreeMap<String, Timestamp>,
    pub posts: VecDeque<Breakage>,
    pub entries: VecDeque<Breakage>,
    pub requests: u64,
    pub last: Timestamp,
    pub ids: u64,
}

/// Somebody, connected or imagined.
pub(super) struct User {
    pub nick: String,
    pub account: Option<String>,
    pub client: Option<u64>,
    pub bot: bool,
}

pub(super) struct Channel {
    pub name: String,
    /// Folded nicks. Who was here is here again when they come back.
    pub members: BTreeSet<String>,
    pub topic: String,
}

/// A connection.
pub(super) struct Client {
    pub out: Out,
    pub nick: Option<String>,
    pub named: bool,
    pub registered: bool,
    /// Abilities are being agreed on, which holds the welcome back.
    pub agreeing: bool,
    pub caps: BTreeSet<String>,
    pub account: Option<String>,
    pub sasl: Option<String>,
    pub sasl_words: String,
    /// When all that came would have been read one by one.
    pub busy_until: Timestamp,
}

/// Something that was said.
#[derive(Clone)]
pub(super) struct Said {
    pub id: String,
    pub at: Timestamp,
    pub from: String,
    pub account: Option<String>,
    pub bot: bool,
    /// As its writer called the place.
    pub target: String,
    pub text: String,
    /// The writer's own tags.
    pub tags: Vec<(String, String)>,
}

pub(super) fn fold(name: &str) -> String {
    name.to_ascii_lowercase()
}

impl State {
    /// A name for what happens now, and a time that nothing else has.
    pub fn tick(&mut self, now: Timestamp) -> (String, Timestamp) {
        self.ids += 1;
        self.last = now.max(self.last.plus_ms(1));
        (format!("00A~{}~{}", self.last.0, self.ids), self.last)
    }

    /// A nick that is free, like this name.
    pub fn free_nick(&self, name: &str) -> String {
        let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
        let plain = plain.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
        let base = if plain.is_empty() { "somebody" } else { plain }.to_owned();
        let numbered = (2..).map(|n| format!("{base}{n}"));
        let mut all = std::iter::once(base.clone()).chain(numbered);
        all.find(|nick| !self.users.contains_key(&fold(nick))).unwrap_or(base)
    }

    pub fn user(&self, nick: &str) -> Option<&User> {
        self.users.get(&fold(nick))
    }

    /// `nick!user@host`.
    pub fn source(&self, nick: &str) -> String {
        format!("{nick}!~{}@host.irc.invalid", fold(nick).chars().take(9).collect::<String>())
    }

    /// Keeps what was said.
    pub fn keep(&mut self, said: Said) {
        if fold(&said.from) == NICK {
            self.typing.remove(&fold(&said.target));
        }
        self.said.push_back(said);
        if self.said.len() > MOST_SAID {
            self.said.pop_front();
        }
    }

    /// Notes that the bot is at work somewhere, or is not.
    pub fn note_typing(&mut self, target: &str, state: &str, now: Timestamp) {
        match state {
            "active" => drop(self.typing.insert(fold(target), now.plus_ms(TYPING_MS))),
            _ => drop(self.typing.remove(&fold(target))),
        }
    }

    /// Whom something said there reaches, its writer not.
    pub fn readers(&self, target: &str, from: &str) -> Vec<u64> {
        let nicks: Vec<String> = match self.channels.get(&fold(target)) {
            Some(channel) => channel.members.iter().cloned().collect(),
            None => vec![fold(target)],
        };
        let others = nicks.into_iter().filter(|nick| *nick != fold(from));
        others.filter_map(|nick| self.users.get(&nick)?.client).collect()
    }

    /// Tells everybody whom it reaches.
    pub fn deliver(&mut self, said: &Said) {
        for client in self.readers(&said.target, &said.from) {
            self.tell_said(client, said, &[]);
        }
    }

    /// Tells one client of something that was said, with what it can of the tags.
    pub fn tell_said(&mut self, to: u64, said: &Said, more: &[(&str, &str)]) {
        let lines: Vec<&str> = said.text.lines().collect();
        let can = self.clients.get(&to).is_some_and(|client| client.caps.contains("draft/multiline"));
        if lines.len() < 2 {
            let line = self.said_line(said, &said.text);
            return self.tell_tagged(to, said, more, &line);
        }
        if !can {
            // Each line by itself; only the first has a name.
            for (at, words) in lines.into_iter().enumerate() {
                let line = self.said_line(said, words);
                let (id, tags) = if at == 0 { (said.id.clone(), more) } else { (format!("{}-{at}", said.id), &[][..]) };
                self.tell_tagged(to, &Said { id, ..said.clone() }, tags, &line);
            }
            return;
        }
        self.ids += 1;
        let batch = format!("m{}", self.ids);
        let source = self.source(&said.from);
        self.tell_tagged(to, said, more, &format!(":{source} BATCH +{batch} draft/multiline {}", said.target));
        for words in lines {
            let head = write(&[("batch", &batch)], "", &[]);
            let line = self.said_line(said, words);
            self.tell(to, &format!("{head}{line}"));
        }
        self.tell(to, &format!("BATCH -{batch}"));
    }

    /// What does not fit is cut off without a word, as one of the real servers does.
    fn said_line(&self, said: &Said, words: &str) -> String {
        let source = self.source(&said.from);
        let mut line = format!(":{source} {}", write(&[], "PRIVMSG", &[&said.target, words]));
        let mut most = (LONGEST - 2).min(line.len());
        while !line.is_char_boundary(most) {
            most -= 1;
        }
        line.truncate(most);
        line
    }

    /// Tells one client a line that somebody caused.
    pub fn tell_tagged(&mut self, to: u64, said: &Said, more: &[(&str, &str)], line: &str) {
        let Some(client) = self.clients.get(&to) else { return };
        let can = |cap: &str| client.caps.contains(cap);
        let time = written(said.at);
        let mut tags: Vec<(&str, &str)> = more.to_vec();
        if can("server-time") {
            tags.push(("time", &time));
        }
        if can("message-tags") {
            tags.push(("msgid", &said.id));
            tags.extend(said.tags.iter().map(|(name, value)| (name.as_str(), value.as_str())));
            if said.bot {
                tags.push(("bot", ""));
            }
        }
        if let Some(account) = said.account.as_deref().filter(|_| can("account-tag")) {
            tags.push(("account", account));
        }
        let head = write(&tags, "", &[]);
        self.tell(to, &if tags.is_empty() { line.to_owned() } else { format!("{head}{line}") });
    }

    /// Tells one client a line.
    pub fn tell(&mut self, to: u64, line: &str) {
        let full = match self.clients.get(&to) {
            Some(client) => client.out.try_send(Some(line.to_owned())).is_err(),
            None => false,
        };
        if full {
            self.clients.remove(&to);
        }
    }

    /// Ends a connection, with last words if there are any.
    pub fn close(&mut self, id: u64, why: &str) {
        if let Some(client) = self.clients.get(&id) {
            if !why.is_empty() {
                let _ = client.out.try_send(Some(write(&[], "ERROR", &[why])));
            }
            let _ = client.out.try_send(None);
        }
    }

    /// Takes a line into account; false if that was one too many.
    pub fn bears(&mut self, id: u64, now: Timestamp) -> bool {
        self.requests += 1;
        let Some(client) = self.clients.get_mut(&id).filter(|client| client.registered) else { return true };
        client.busy_until = client.busy_until.max(now).plus_ms(LINE_MS);
        client.busy_until.ms_since(now) <= BURST_MS
    }

    /// The connection is gone.
    pub fn leave(&mut self, id: u64, why: &str) {
        let Some(client) = self.clients.remove(&id) else { return };
        let Some(nick) = client.nick.filter(|_| client.registered) else { return };
        let line = format!(":{} {}", self.source(&nick), write(&[], "QUIT", &[why]));
        let here = self.channels.values().filter(|channel| channel.members.contains(&fold(&nick)));
        let near: BTreeSet<String> = here.flat_map(|channel| channel.members.iter().cloned()).collect();
        let clients: Vec<u64> = near.iter().filter_map(|nick| self.users.get(nick)?.client).collect();
        clients.into_iter().for_each(|to| self.tell(to, &line));
        self.users.retain(|_, user| user.client != Some(id));
        // The bot's account stays where it was, as bouncers and some servers have it.
        if fold(&nick) != NICK {
            for channel in self.channels.values_mut() {
                channel.members.remove(&fold(&nick));
            }
        }
    }

    /// What was said where these two, or this channel, can read it; the oldest first.
    pub fn talk<'a>(&'a self, us: &'a str, target: &'a str) -> impl DoubleEndedIterator<Item = &'a Said> + 'a {
        let (us, there) = (fold(us), fold(target));
        let channel = self.channels.contains_key(&there);
        self.said.iter().filter(move |said| {
            let (from, to) = (fold(&said.from), fold(&said.target));
            if channel { to == there } else { (from == there && to == us) || (from == us && to == there) }
        })
    }

    /// A message's tags that other clients are shown.
    pub fn own_tags(line: &Line) -> Vec<(String, String)> {
        let own = line.tags.iter().filter(|(name, _)| name.starts_with('+'));
        own.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

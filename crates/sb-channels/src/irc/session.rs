//! What is known of the network while a connection stands: our names, what the server can, who is logged in.
//!
//! Everything follows from the lines that came, in their order, and is forgotten with the connection. A nick
//! is nobody's: who somebody is, only the account says that the server itself names.

use std::collections::{BTreeMap, BTreeSet};

use super::line::{Folding, Line};

/// Accounts whose nick is remembered.
const MOST_ACCOUNTS: usize = 5_000;
/// Host and user as long as they get, until ours were seen.
const LONGEST_HOST: usize = 1 + 10 + 1 + 63;
/// Whoever was heard under a nick is taken to be there still for so long.
const HEARD_MS: i64 = 60 * 1000;

/// See the module.
#[derive(Debug, Default)]
pub struct Session {
    /// What we are called now.
    pub nick: String,
    /// What we are to be called.
    pub wanted: String,
    /// The account we are logged in to.
    pub account: Option<String>,
    pub caps: BTreeSet<String>,
    pub folding: Folding,
    /// What channels begin with.
    pub chantypes: String,
    /// Marks of channel members, which may stand before a channel's name.
    pub prefixes: String,
    /// The mode that says of us that we are a program.
    pub bot_mode: Option<String>,
    /// Lines of history in one answer.
    pub page: usize,
    /// `nick!user@host`, as the server puts it before what we say.
    source: Option<String>,
    /// Where each account was heard last.
    nicks: BTreeMap<String, (String, i64)>,
}

impl Session {
    pub fn new(wanted: &str) -> Self {
        Self {
            nick: wanted.to_owned(),
            wanted: wanted.to_owned(),
            chantypes: "#&".to_owned(),
            prefixes: "~&@%+".to_owned(),
            page: 100,
            ..Self::default()
        }
    }

    pub fn can(&self, cap: &str) -> bool {
        self.caps.contains(cap)
    }
    /// The server proves by itself what became of a line.
    pub fn labels(&self) -> bool {
        ["labeled-response", "echo-message", "batch"].iter().all(|cap| self.can(cap))
    }
    /// The server keeps what was said, and can be asked for it.
    pub fn keeps_history(&self) -> bool {
        ["draft/chathistory", "batch", "server-time", "message-tags"].iter().all(|cap| self.can(cap))
    }

    pub fn fold(&self, name: &str) -> String {
        self.folding.fold(name)
    }
    pub fn is_us(&self, nick: &str) -> bool {
        self.fold(nick) == self.fold(&self.nick)
    }
    pub fn is_channel(&self, name: &str) -> bool {
        name.starts_with(|c| self.chantypes.contains(c))
    }
    /// A channel, or with a mark before its name, some of its members.
    pub fn is_place(&self, target: &str) -> bool {
        self.is_channel(target.trim_start_matches(|c| self.prefixes.contains(c) && !self.chantypes.contains(c)))
    }

    /// Bytes that one line to `target` may say, such that it still fits once our name stands before it.
    pub fn room(&self, target: &str) -> usize {
        let source = self.source.as_ref().map_or(self.nick.len() + LONGEST_HOST, String::len);
        512 - 2 - (1 + source + 1).min(300) - ("PRIVMSG  :".len() + target.len()).min(150)
    }

    /// The nick under which somebody with this account was heard a moment ago.
    pub fn nick_of(&self, account: &str, now_ms: i64) -> Option<String> {
        let (nick, at) = self.nicks.get(account)?;
        (now_ms - at < HEARD_MS).then(|| nick.clone())
    }
    /// The nick under which somebody with this account was heard ever.
    pub fn last_nick_of(&self, account: &str) -> Option<String> {
        self.nicks.get(account).map(|(nick, _)| nick.clone())
    }
    /// The server named this account for that nick.
    pub fn met(&mut self, account: &str, nick: &str, now_ms: i64) {
        if self.nicks.len() >= MOST_ACCOUNTS && !self.nicks.contains_key(account) {
            let oldest = self.nicks.iter().min_by_key(|(_, (_, at))| *at).map(|(account, _)| account.clone());
            oldest.map(|account| self.nicks.remove(&account));
        }
        self.nicks.insert(account.to_ascii_lowercase(), (nick.to_owned(), now_ms));
    }

    /// Learns from a line, before anything else is done with it.
    pub fn learn(&mut self, line: &Line, now_ms: i64) {
        let ours = !line.source.is_empty() && self.is_us(line.nick());
        if ours && line.source.contains('!') {
            self.source = Some(line.source.clone());
        }
        if let Some(account) = line.tag("account").filter(|_| !ours && line.tag("batch").is_none()) {
            self.met(account, line.nick(), now_ms);
        }
        match line.command.as_str() {
            "CAP" => self.agreed(line.param(1), line.words()),
            "001" => line.param(0).clone_into(&mut self.nick),
            "005" => line.params.iter().skip(1).for_each(|word| self.supports(word)),
            "396" => {
                let host = line.param(1).rsplit('@').next().unwrap_or_default();
                let before = self.source.as_ref().and_then(|source| source.rsplit_once('@'));
                self.source = before.map(|(before, _)| format!("{before}@{host}"));
            }
            "900" => self.account = Some(line.param(2).to_ascii_lowercase()),
            "901" => self.account = None,
            "NICK" if ours => {
                let rest = line.source.split_once('!').map(|(_, rest)| rest.to_owned());
                line.param(0).clone_into(&mut self.nick);
                self.source = rest.map(|rest| format!("{}!{rest}", self.nick));
            }
            "NICK" => {
                let (old, new) = (self.fold(line.nick()), line.param(0).to_owned());
                let folding = self.folding;
                let moved = self.nicks.values_mut().find(|(nick, _)| folding.fold(nick) == old);
                moved.into_iter().for_each(|(nick, _)| new.clone_into(nick));
            }
            "QUIT" => self.left(line.nick()),
            "ACCOUNT" if !ours => match line.param(0) {
                "*" | "" => self.left(line.nick()),
                account => self.met(account, line.nick(), now_ms),
            },
            "JOIN" if !ours && !matches!(line.param(1), "" | "*") => {
                self.met(line.param(1), line.nick(), now_ms);
            }
            _ => {}
        }
    }

    /// What the server grants or takes back of its abilities.
    fn agreed(&mut self, how: &str, names: &str) {
        for name in names.split_whitespace() {
            match (how, name.strip_prefix('-')) {
                ("ACK", None) => drop(self.caps.insert(name.to_owned())),
                ("ACK", Some(name)) => drop(self.caps.remove(name)),
                ("DEL", _) => drop(self.caps.remove(name)),
                _ => {}
            }
        }
    }

    fn left(&mut self, nick: &str) {
        let (gone, folding) = (self.fold(nick), self.folding);
        self.nicks.retain(|_, (nick, _)| folding.fold(nick) != gone);
    }

    fn supports(&mut self, word: &str) {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name {
            "CASEMAPPING" if value == "ascii" => self.folding = Folding::Ascii,
            "CHANTYPES" if !value.is_empty() => value.clone_into(&mut self.chantypes),
            "PREFIX" => {
                let marks = value.split_once(')').map_or("", |(_, marks)| marks);
                marks.clone_into(&mut self.prefixes);
            }
            "BOT" if value.len() == 1 => self.bot_mode = Some(value.to_owned()),
            // Quirk: nick_cut. A server may keep less of a nick than it is given.
            "NICKLEN" => {
                let most = value.parse().unwrap_or(usize::MAX);
                self.wanted = self.wanted.chars().take(most).collect();
            }
            "CHATHISTORY" => self.page = value.parse().map_or(100, |most: usize| most.clamp(1, 100)),
            _ => {}
        }
    }
}

//! A network imitated: one server with accounts, history and read marks, spoken to over a stream.
//!
//! Its people are imagined, and anybody can connect with a client of their own. The nick `robo` is the bot's:
//! what is planned to go wrong goes wrong for it alone. Time comes from an injected clock.

mod history;
mod server;
mod state;
mod welcome;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use sb_channel::model::{Chat, ChatSort, Clock, MessageRef, Person, Timestamp};
use sb_channel::net::{Answering, Http, Lost, Remote, Service, Stream};
use sb_channel::standin::{Breakage, Line as Port, Seen, SeenMessage, StandIn};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;

use self::state::{Channel, Client, MOST_WAITING, Said, State, User, fold};
use super::lines::Lines;

/// The bot's nick, account and password.
const NICK: &str = "robo";
const ACCOUNT: &str = "robo";
pub const PASSWORD: &str = "stand-in";
/// What the server calls itself.
const HOST: &str = "irc.invalid";
const BUFFER: usize = 64 * 1024;

/// See the module. Clones are the same network.
#[derive(Clone)]
pub struct IrcStandIn(Arc<Network>);

struct Network {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    connections: AtomicU64,
    /// It knows nothing that is newer than RFC 1459.
    bare: bool,
}

/// How the network is imitated.
pub fn open(clock: Arc<dyn Clock>, _: Option<Http>) -> Arc<dyn StandIn> {
    Arc::new(IrcStandIn::new(clock))
}

impl IrcStandIn {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self::of(clock, false)
    }
    /// A server without abilities, accounts and history.
    pub fn bare(clock: Arc<dyn Clock>) -> Self {
        Self::of(clock, true)
    }
    fn of(clock: Arc<dyn Clock>, bare: bool) -> Self {
        let (state, connections) = (Mutex::default(), AtomicU64::new(1));
        Self(Arc::new(Network { clock, state, connections, bare }))
    }

    fn now(&self) -> Timestamp {
        self.0.clock.now()
    }
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts the bot out of a channel.
    pub fn kick(&self, chat: &Chat, by: &Person) {
        self.change(|state| server::kick(state, &by.name, &chat.id, NICK, "out"));
    }
    /// Somebody is called otherwise from now on, and is logged in to this account, or to none.
    pub fn rename(&self, person: &Person, nick: &str, account: Option<&str>) {
        self.change(|state| {
            if let Some(user) = state.users.remove(&fold(&person.name)) {
                let account = account.map(str::to_owned);
                state.users.insert(fold(nick), User { nick: nick.to_owned(), account, ..user });
            }
        });
    }
    /// The bot is told a line as it is.
    pub fn send_raw(&self, line: &str) {
        self.change(|state| {
            if let Some(bot) = state.users.get(NICK).and_then(|user| user.client) {
                state.tell(bot, line);
            }
        });
    }

    /// Talks to one client until it or we end it.
    async fn talk(self, stream: Box<dyn Stream>) {
        let (input, mut output) = tokio::io::split(stream);
        let (out, mut outs) = mpsc::channel(MOST_WAITING);
        let id = self.0.connections.fetch_add(1, Ordering::Relaxed);
        let client = Client {
            out,
            nick: None,
            named: false,
            registered: false,
            agreeing: false,
            caps: Default::default(),
            account: None,
            sasl: None,
            sasl_words: String::new(),
            busy_until: Timestamp(0),
        };
        self.change(|state| state.clients.insert(id, client));
        let _leaves = Leaves(self.clone(), id);
        let mut lines = Lines::new(input);
        loop {
            tokio::select! {
                line = lines.next() => {
                    let Ok(Some(line)) = line else { return };
                    let now = self.now();
                    self.change(|state| server::hear(state, id, &line, now, self.0.bare));
                }
                out = outs.recv() => {
                    let Some(Some(line)) = out else { return };
                    if output.write_all(format!("{line}\r\n").as_bytes()).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    fn say_as(&self, chat: &Chat, person: &Person, text: &str) -> String {
        let now = self.now();
        self.change(|state| {
            let (id, at) = state.tick(now);
            let target = if chat.sort == ChatSort::Direct { NICK } else { &chat.id }.to_owned();
            let account = state.user(&person.name).and_then(|user| user.account.clone());
            let tags = Vec::new();
            let said = Said {
                id: id.clone(),
                at,
                from: person.name.clone(),
                account,
                bot: person.bot,
                target,
                text: text.to_owned(),
                tags,
            };
            state.keep(said.clone());
            state.deliver(&said);
            id
        })
    }
}

/// Takes the client out, however its connection ends.
struct Leaves(IrcStandIn, u64);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.change(|state| state.leave(self.1, "Connection closed"));
    }
}

impl Service for IrcStandIn {
    fn call(&self, _: axum::http::Request<reqwest::Body>) -> Answering {
        Box::pin(async { Err(Lost { arrived: false }) })
    }
    fn open(&self, _: &Remote) -> Option<Box<dyn Stream>> {
        let (theirs, ours) = tokio::io::duplex(BUFFER);
        tokio::spawn(self.clone().talk(Box::new(ours)));
        Some(Box::new(theirs))
    }
}

impl StandIn for IrcStandIn {
    fn router(&self) -> Router {
        Router::new()
    }
    fn http(&self) -> Http {
        Http::in_process(Arc::new(self.clone()))
    }
    fn lines(&self) -> Vec<Port> {
        let network = self.clone();
        vec![Port::new("server", "irc://", move |stream| Box::pin(network.clone().talk(stream)))]
    }
    fn settings(&self) -> Vec<(String, String)> {
        let mut settings = vec![("server", "irc://127.0.0.1:6667"), ("nick", NICK), ("pace_ms", "500")];
        settings.extend((!self.0.bare).then_some(("password", PASSWORD)));
        settings.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    fn person(&self, name: &str) -> Person {
        self.change(|state| {
            let nick = state.free_nick(name);
            let account = (!self.0.bare).then(|| fold(&nick));
            let user = User { nick: nick.clone(), account: account.clone(), client: None, bot: false };
            state.users.insert(fold(&nick), user);
            Person { id: account.map(|account| format!("account:{account}")), name: nick, bot: false }
        })
    }
    fn direct(&self, person: &Person) -> Chat {
        Chat::direct(person.id.clone().unwrap_or_else(|| fold(&person.name)))
    }
    fn group(&self, title: &str) -> Option<Chat> {
        self.change(|state| {
            let name = format!("#{}", fold(&state.free_nick(title)));
            let people = state.users.keys().cloned().chain([NICK.to_owned()]).collect();
            let channel = Channel { name: name.clone(), members: people, topic: title.to_owned() };
            state.channels.insert(name.clone(), channel);
            // The bot's account was put there, as services do.
            server::join(state, NICK, &name);
            Some(Chat::group(name))
        })
    }

    fn say(&self, chat: &Chat, person: &Person, text: &str) -> String {
        self.say_as(chat, person, text)
    }
    fn mention(&self, chat: &Chat, person: &Person, text: &str) -> String {
        self.say_as(chat, person, &format!("{NICK}: {text}"))
    }
    fn say_again(&self, message: &str) -> bool {
        self.change(|state| {
            let known = state.said.iter().find(|said| said.id == message).cloned();
            known.map(|said| state.deliver(&said)).is_some()
        })
    }

    fn seen(&self, chat: &Chat) -> Seen {
        let now = self.now();
        self.change(|state| {
            let there = match chat.id.strip_prefix("account:") {
                Some(account) => {
                    let named = |user: &&User| user.account.as_deref() == Some(account);
                    state.users.values().find(named).map(|user| user.nick.clone()).unwrap_or_default()
                }
                None => chat.id.clone(),
            };
            let messages = state.talk(NICK, &there).map(|said| {
                let reply = said.tags.iter().find(|(name, _)| name == "+draft/reply");
                SeenMessage {
                    answers: reply.map(|(_, id)| MessageRef(id.clone())),
                    ..SeenMessage::new(MessageRef(said.id.clone()), fold(&said.from) == NICK, said.text.clone())
                }
            });
            let typing = state.typing.get(&fold(&there)).is_some_and(|until| *until > now);
            Seen { messages: messages.collect(), growing: None, typing }
        })
    }
    fn unacknowledged(&self) -> usize {
        self.change(|state| {
            let to_us = |said: &&Said| {
                let target = fold(&said.target);
                let here = state.channels.get(&target).is_some_and(|channel| channel.members.contains(NICK));
                fold(&said.from) != NICK && (target == NICK || here)
            };
            let unread = |said: &&Said| {
                let there = if fold(&said.target) == NICK { fold(&said.from) } else { fold(&said.target) };
                state.read.get(&(NICK.to_owned(), there)).is_none_or(|read| *read < said.at)
            };
            state.said.iter().filter(to_us).filter(unread).count()
        })
    }
    fn requests(&self) -> u64 {
        self.change(|state| state.requests)
    }

    fn break_next(&self, how: Breakage, times: u32) {
        self.change(|state| state.posts.extend((0..times).map(|_| how)));
    }
    fn break_receiving(&self, how: Breakage, times: u32) {
        self.change(|state| state.entries.extend((0..times).map(|_| how)));
    }
    fn mend(&self) {
        self.change(|state| {
            state.posts.clear();
            state.entries.clear();
        });
    }
    fn drop_connections(&self) {
        self.change(|state| {
            let all: Vec<u64> = state.clients.keys().copied().collect();
            all.into_iter().for_each(|id| state.close(id, ""));
        });
    }
}

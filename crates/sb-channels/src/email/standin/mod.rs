//! Email, imitated: a provider with one mailbox of ours, its IMAP and SMTP servers, and people who write.
//!
//! It writes its verdict on top of what people send, as a provider does. Everything is bounded, and nothing
//! is kept on disk; time comes from the clock it is given.

mod command;
mod folder;
mod imap;
mod people;
mod smtp;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use sb_channel::model::{Chat, Clock, Person};
use sb_channel::net::{Answering, Http, Lost, Remote, Service, Stream};
use sb_channel::standin::{Breakage, Line, Seen, SeenFile, SeenMessage, StandIn};
use tokio::sync::watch;

use self::folder::Folder;

/// Our mailbox, and how we log in.
pub const ADDRESS: &str = "agent@standin.test";
pub const PASSWORD: &str = "stand-in_password";
/// What stands first in its verdicts.
pub const AUTHSERV: &str = "mx.standin.test";
/// Where people have their mailboxes.
const THEIRS: &str = "example.org";
const MOST_MESSAGES: usize = 2_000;

/// The platform, with nobody on it yet.
pub fn open(clock: Arc<dyn Clock>, _: Option<Http>) -> Arc<dyn StandIn> {
    Arc::new(Provider::new(clock))
}

/// See the module. Clones are the same provider.
#[derive(Clone)]
pub struct Provider(Arc<Shared>);

struct Shared {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// Tells open connections that something happened.
    changed: watch::Sender<u64>,
}

struct State {
    people: Vec<Person>,
    inbox: Folder,
    sent: Folder,
    /// What each person sees, by address.
    rooms: BTreeMap<String, VecDeque<SeenMessage>>,
    /// The mails people sent, by their ids.
    said: VecDeque<(String, Vec<u8>)>,
    last_id: u64,
    posts: VecDeque<Breakage>,
    logins: VecDeque<Breakage>,
    drops: u64,
    requests: u64,
    /// What is taken from us lies among the sent mail at once.
    files_sent: bool,
}

impl Provider {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let (changed, _) = watch::channel(0);
        let state = State {
            people: Vec::new(),
            inbox: Folder::new(1_700_000_001),
            sent: Folder::new(1_700_000_002),
            rooms: BTreeMap::new(),
            said: VecDeque::new(),
            last_id: 0,
            posts: VecDeque::new(),
            logins: VecDeque::new(),
            drops: 0,
            requests: 0,
            files_sent: false,
        };
        Self(Arc::new(Shared { clock, state: Mutex::new(state), changed }))
    }

    /// One that files what it takes from us by itself, as the largest do.
    pub fn filing(clock: Arc<dyn Clock>) -> Self {
        let provider = Self::new(clock);
        provider.change(|state| state.files_sent = true);
        provider
    }

    /// The mailbox is made anew, as after a restore: every UID means another mail, or none.
    pub fn make_anew(&self) {
        self.change(|state| state.inbox.make_anew());
        self.drop_connections();
    }

    /// Puts a mail into our mailbox as it stands.
    pub fn deliver(&self, raw: &[u8]) {
        let now = self.0.clock.now();
        self.change(|state| state.inbox.add(raw.to_vec(), now, &[]));
    }

    /// The flags on each mail in our mailbox.
    pub fn flags(&self) -> Vec<String> {
        self.look(|state| state.inbox.mails.iter().map(folder::Mail::flags).collect())
    }

    /// The mails we sent, as they are kept.
    pub fn sent(&self) -> Vec<Vec<u8>> {
        self.look(|state| state.sent.mails.iter().map(|mail| mail.raw.clone()).collect())
    }

    /// Our end of a connection to one of its servers, by the port.
    pub fn stream(&self, to: &Remote) -> Option<Box<dyn Stream>> {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        match to.port {
            143 => drop(tokio::spawn(self.talk_imap(Box::new(theirs)))),
            587 => drop(tokio::spawn(self.talk_smtp(Box::new(theirs)))),
            _ => return None,
        }
        Some(Box::new(ours))
    }

    fn look<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let done = change(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.0.changed.send_modify(|count| *count += 1);
        done
    }

    /// Until every open connection is to break.
    async fn dropped(&self, drops: u64) {
        let mut changed = self.0.changed.subscribe();
        while self.look(|state| state.drops == drops) {
            if changed.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    fn talk_imap(&self, stream: Box<dyn Stream>) -> impl Future<Output = ()> + Send + use<> {
        let (provider, drops) = (self.clone(), self.look(|state| state.drops));
        async move {
            tokio::select! {
                _ = imap::talk(&provider, stream) => {}
                () = provider.dropped(drops) => {}
            }
        }
    }
    fn talk_smtp(&self, stream: Box<dyn Stream>) -> impl Future<Output = ()> + Send + use<> {
        let (provider, drops) = (self.clone(), self.look(|state| state.drops));
        async move {
            tokio::select! {
                _ = smtp::talk(&provider, stream) => {}
                () = provider.dropped(drops) => {}
            }
        }
    }
}

/// Reached in process: by the port, since both servers have one name.
struct InProcess(Provider);

impl Service for InProcess {
    fn call(&self, _: axum::http::Request<reqwest::Body>) -> Answering {
        Box::pin(async { Err(Lost { arrived: false }) })
    }
    fn open(&self, to: &Remote) -> Option<Box<dyn Stream>> {
        self.0.stream(to)
    }
}

impl StandIn for Provider {
    fn router(&self) -> Router {
        Router::new()
    }
    fn http(&self) -> Http {
        Http::in_process(Arc::new(InProcess(self.clone())))
    }
    fn lines(&self) -> Vec<Line> {
        let (imap, smtp) = (self.clone(), self.clone());
        vec![
            Line::new("imap", "imap://", move |stream| Box::pin(imap.talk_imap(stream))),
            Line::new("smtp", "smtp://", move |stream| Box::pin(smtp.talk_smtp(stream))),
        ]
    }
    fn settings(&self) -> Vec<(String, String)> {
        let all = [
            ("address", ADDRESS),
            ("password", PASSWORD),
            ("authserv", AUTHSERV),
            ("imap", "imap://localhost"),
            ("smtp", "smtp://localhost"),
        ];
        let files_sent = self.look(|state| state.files_sent).then_some(("sent_copies", "provider"));
        all.into_iter().chain(files_sent).map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    fn person(&self, name: &str) -> Person {
        self.change(|state| {
            let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
            let base = plain.to_ascii_lowercase();
            let taken = |id: &str| state.people.iter().any(|person| person.id.as_deref() == Some(id));
            let mut id = format!("{base}@{THEIRS}");
            if base.is_empty() || taken(&id) {
                id = format!("{base}{}@{THEIRS}", state.people.len() + 1);
            }
            let person = Person { id: Some(id), name: name.to_owned(), bot: false };
            state.people.push(person.clone());
            person
        })
    }
    fn direct(&self, person: &Person) -> Chat {
        Chat::direct(person.id.clone().unwrap_or_default())
    }

    fn say(&self, chat: &Chat, person: &Person, text: &str) -> String {
        self.write(chat, person, text, &[])
    }
    fn say_again(&self, message: &str) -> bool {
        let raw = self.look(|state| state.said.iter().find(|(id, _)| id == message).map(|(_, raw)| raw.clone()));
        raw.is_some_and(|raw| {
            self.deliver(&raw);
            true
        })
    }
    fn send_files(&self, chat: &Chat, person: &Person, text: &str, files: &[SeenFile]) -> bool {
        self.write(chat, person, text, files);
        true
    }

    fn seen(&self, chat: &Chat) -> Seen {
        let messages = self.look(|state| state.rooms.get(&chat.id).cloned().unwrap_or_default());
        Seen { messages: messages.into(), growing: None, typing: false }
    }
    fn unacknowledged(&self) -> usize {
        self.look(|state| state.inbox.mails.iter().filter(|mail| !mail.flags.contains("\\Seen")).count())
    }
    fn requests(&self) -> u64 {
        self.look(|state| state.requests)
    }

    fn break_next(&self, how: Breakage, times: u32) {
        self.change(|state| state.posts.extend((0..times).map(|_| how)));
    }
    fn break_receiving(&self, how: Breakage, times: u32) {
        self.change(|state| state.logins.extend((0..times).map(|_| how)));
    }
    fn mend(&self) {
        self.change(|state| {
            state.posts.clear();
            state.logins.clear();
        });
    }
    fn drop_connections(&self) {
        self.change(|state| state.drops += 1);
    }
}

//! IRC, by the adapter and a server that says what the test says.

mod facts;
mod posts;
mod standin;
mod transcripts;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sb_channel::model::text::Rendered;
use sb_channel::model::{Chat, Fault, MessageRef, Secret, Timestamp};
use sb_channel::net::{Answering, FixedDice, Http, Lost, Remote, RuntimeClock, Service, Stream};
use sb_channel::{Attempt, Channel, ChannelContext, Event, Inlet, Piece, Result, Settings, State};
use sb_channels::irc::KIND;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines, ReadHalf, WriteHalf};
use tokio::sync::{mpsc, oneshot};

/// Simulated, so it passes at once where nothing happens.
const PATIENCE: Duration = Duration::from_secs(200);

struct NoState;

#[async_trait::async_trait]
impl State for NoState {
    async fn get(&self) -> Result<Option<String>> {
        Ok(None)
    }
    async fn set(&self, _: String) -> Result<()> {
        Ok(())
    }
}

/// Where connections come from, in the order in which they are opened.
#[derive(Clone, Default)]
struct Wires(Arc<Mutex<VecDeque<tokio::io::DuplexStream>>>);

impl Service for Wires {
    fn call(&self, _: axum::http::Request<reqwest::Body>) -> Answering {
        Box::pin(async { Err(Lost { arrived: false }) })
    }
    fn open(&self, _: &Remote) -> Option<Box<dyn Stream>> {
        Some(Box::new(self.0.lock().expect("whole").pop_front()?))
    }
}

/// The test's end of a connection.
pub struct Server {
    lines: Lines<BufReader<ReadHalf<tokio::io::DuplexStream>>>,
    output: WriteHalf<tokio::io::DuplexStream>,
}

impl Server {
    /// Says a line.
    pub async fn say(&mut self, line: &str) {
        // Whoever hung up hears no more.
        let _ = self.output.write_all(format!("{line}\r\n").as_bytes()).await;
    }
    /// What we are told next; none once the other end hung up, or says nothing for long.
    pub async fn told(&mut self) -> Option<String> {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await.ok()?;
        line.ok().flatten()
    }
    /// The next line must be this one.
    pub async fn expect(&mut self, line: &str) {
        assert_eq!(self.told().await.as_deref(), Some(line));
    }
    /// Lets a client in, on a server of IRCv3 with these abilities.
    pub async fn let_in(&mut self, abilities: &str) {
        self.expect("CAP LS 302").await;
        self.expect("NICK robo").await;
        self.expect("USER switchboard 0 * :Switchboard").await;
        self.say(&format!(":s CAP * LS :{abilities}")).await;
        self.expect(&format!("CAP REQ :{abilities}")).await;
        self.say(&format!(":s CAP * ACK :{abilities}")).await;
        self.expect("CAP END").await;
        self.say(":s 001 robo :Welcome").await;
        self.say(":s 422 robo :No message of the day").await;
    }
}

/// A bot, and what its feed brings.
pub struct Bot {
    pub channel: Arc<dyn Channel>,
    opened: Option<oneshot::Receiver<Result<()>>>,
    events: mpsc::UnboundedReceiver<Result<Event>>,
    feed: tokio::task::JoinHandle<()>,
}

impl Drop for Bot {
    fn drop(&mut self) {
        self.feed.abort();
    }
}

/// A bot with these settings beside its server and nick, and the servers it connects to, one after the other.
pub fn world<const N: usize>(settings: &[(&str, &str)]) -> (Bot, [Server; N]) {
    let wires = Wires::default();
    let servers = std::array::from_fn(|_| {
        let (theirs, ours) = tokio::io::duplex(64 * 1024);
        wires.0.lock().expect("whole").push_back(theirs);
        let (input, output) = tokio::io::split(ours);
        Server { lines: BufReader::new(input).lines(), output }
    });
    let clock = Arc::new(RuntimeClock::at(Timestamp(1_796_000_000_000)));
    clock.begin();
    let context = ChannelContext {
        http: Http::in_process(Arc::new(wires)),
        clock,
        dice: Arc::new(FixedDice::new(1)),
        state: Arc::new(NoState),
        by_webhook: false,
    };
    let mut all = vec![("server", "irc://127.0.0.1"), ("nick", "robo"), ("pace_ms", "100")];
    all.extend(settings);
    let all = all.into_iter().map(|(key, value)| (key.to_owned(), Secret::new(value.to_owned())));
    let channel = (KIND.open)(context, &Settings::new(all)).expect("a bot");
    (hearing(channel), servers)
}

/// Opens the feed, and reads it until it ends.
fn hearing(channel: Arc<dyn Channel>) -> Bot {
    let (told, events) = mpsc::unbounded_channel();
    let (open, opened) = oneshot::channel();
    let hears = Arc::clone(&channel);
    let feed = tokio::spawn(async move {
        let Inlet::Feeds(feeds) = hears.inlet() else { panic!("it has a feed") };
        let mut updates = match feeds[0].1.open(None).await {
            Ok(updates) => updates,
            Err(why) => return drop(open.send(Err(why))),
        };
        let _ = open.send(Ok(()));
        loop {
            match updates.next().await {
                Ok(batch) => batch.events.into_iter().for_each(|event| drop(told.send(Ok(event)))),
                Err(why) => return drop(told.send(Err(why))),
            }
            updates.ack().await.expect("taken");
        }
    });
    Bot { channel, opened: Some(opened), events, feed }
}

impl Bot {
    /// Waits until it is let in.
    pub async fn is_in(&mut self) -> Result<()> {
        match self.opened.take() {
            Some(opened) => opened.await.expect("the feed tells"),
            None => Ok(()),
        }
    }
    /// What happens next: an event, or the end.
    pub async fn next(&mut self) -> Option<Result<Event>> {
        tokio::time::timeout(PATIENCE, self.events.recv()).await.ok().flatten()
    }
    /// Begins to say something; the task ends with what came of it.
    pub fn post(&self, to: Chat, text: &str) -> tokio::task::JoinHandle<Result<MessageRef>> {
        let (channel, text) = (Arc::clone(&self.channel), text.to_owned());
        tokio::spawn(async move {
            let words = Rendered { text, spans: Vec::new() };
            let piece = Piece::Text { words: &words, choices: &[], answers: None };
            let attempt = Attempt { key: "k".to_owned(), maybe_sent: false, handle: None };
            channel.send(&to, piece, &attempt).await
        })
    }
}

/// A fault in a word or two; `?` if what it is about may have been done.
pub fn in_short(why: &Fault) -> String {
    format!("{:?}{}", why.kind, if why.maybe_done { "?" } else { "" })
}

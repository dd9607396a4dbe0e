//! What is heard, from coming in on.
//!
//! Where the server keeps what was said, what we missed is asked for first: in each channel once we are in
//! it, and from whoever wrote to us. The cursor is the server's time of the last message, and it moves on
//! only when all that was missed was told. What a bouncer tells again by itself is held against it too.
//! A server that marks what was read is told so once it is stored.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use async_trait::async_trait;
use sb_channel::model::Timestamp;
use sb_channel::{Batch, Feed, Result, Updates};

use super::Bot;
use super::line::write;
use super::link::{Link, Order};
use super::parse::{Heard, time, written};

/// Events in one batch.
const MOST_AT_ONCE: usize = 100;
/// People whose missed messages are asked for.
const MOST_PEOPLE: usize = 50;
/// Servers count by the millisecond, in which more than one thing may be said.
const OVERLAP_MS: i64 = 1;
const FIRST_LOOK_MS: i64 = 60_000;

/// The one feed.
pub(super) struct Hearing(pub Arc<Bot>);

#[async_trait]
impl Feed for Hearing {
    async fn open(&self, after: Option<&str>) -> Result<Box<dyn Updates>> {
        let bot = &self.0;
        let waiting = bot.waiting().take().filter(|link| link.live.is_open());
        let link = match waiting {
            Some(link) => link,
            None => bot.connect().await?,
        };
        let (keeps, tells_time) = link.live.look(|session| (session.keeps_history(), session.can("server-time")));
        let channels = link.live.look(|session| bot.channels(session));
        let now = bot.context.clock.now();
        // At the very first start there is no cursor: only what was said a moment ago was said to us.
        let since = after.and_then(time).unwrap_or_else(|| now.plus_ms(-FIRST_LOOK_MS));
        let mut heard = Listening {
            asking: BTreeMap::new(),
            to_ask: VecDeque::new(),
            latest: since,
            since,
            keeps,
            tells_time,
            fresh: true,
            people: 0,
            read: BTreeMap::new(),
            link,
        };
        if keeps {
            heard.begin_catching_up(now, channels.into_keys());
        }
        Ok(Box::new(heard))
    }
}

struct Listening {
    link: Link,
    /// Up to here everything was stored, and is not told again.
    since: Timestamp,
    latest: Timestamp,
    /// The server can be asked for what was said, and says when it was.
    keeps: bool,
    tells_time: bool,
    /// Nothing was told yet: that we are in is a sign of life.
    fresh: bool,
    /// Whose history is still to come, and from when on.
    asking: BTreeMap<String, Timestamp>,
    to_ask: VecDeque<String>,
    people: usize,
    /// What the last batch held, by where it was said.
    read: BTreeMap<String, Timestamp>,
}

impl Listening {
    fn begin_catching_up(&mut self, now: Timestamp, channels: impl Iterator<Item = String>) {
        let (from, to) = (written(self.since.plus_ms(-OVERLAP_MS)), written(now.plus_ms(86_400_000)));
        let (from, to) = (format!("timestamp={from}"), format!("timestamp={to}"));
        let most = MOST_PEOPLE.to_string();
        self.to_ask.push_back(write(&[], "CHATHISTORY", &["TARGETS", &from, &to, &most]));
        // Those of a channel come once we are in it.
        self.asking.extend(channels.map(|name| (name, self.since)));
    }

    fn ask(&mut self, target: &str, after: Timestamp) {
        let (fold, page) = self.link.live.look(|session| (session.fold(target), session.page));
        self.asking.insert(fold, after);
        let from = format!("timestamp={}", written(after.plus_ms(-OVERLAP_MS)));
        self.to_ask.push_back(write(&[], "CHATHISTORY", &["AFTER", target, &from, &page.to_string()]));
    }

    fn take(&mut self, heard: Heard, batch: &mut Batch) {
        match heard {
            Heard::Said { said, target, at, old } => {
                // A bouncer tells the last of what it has, stored or not.
                if old && at.is_some_and(|at| at.plus_ms(OVERLAP_MS) < self.since) {
                    return;
                }
                if let Some(at) = at {
                    self.latest = self.latest.max(at);
                    let read = self.read.entry(target).or_insert(at);
                    *read = at.max(*read);
                }
                batch.events.push((*said).into());
            }
            Heard::Channel { name, event, inside } => {
                if self.keeps && inside {
                    self.ask(&name, self.since);
                } else if !inside {
                    self.asking.remove(&name);
                }
                batch.events.push(*event);
            }
            Heard::PageEnd { target, lines, last } => {
                let (folded, page) = self.link.live.look(|session| (session.fold(&target), session.page));
                // A page that brings nothing newer would come again for ever.
                let from = self.asking.get(&folded).copied();
                match last.filter(|last| self.keeps && lines >= page && Some(*last) > from) {
                    Some(last) => self.ask(&target, last),
                    None => drop(self.asking.remove(&folded)),
                }
            }
            Heard::Wrote { nick } => {
                let channel = self.link.live.look(|session| session.is_channel(&nick));
                if self.keeps && !channel && self.people < MOST_PEOPLE {
                    self.people += 1;
                    self.ask(&nick, self.since);
                }
            }
            Heard::Asked { .. } | Heard::Invited { .. } => {}
        }
    }
}

#[async_trait]
impl Updates for Listening {
    async fn next(&mut self) -> Result<Batch> {
        while let Some(line) = self.to_ask.front() {
            let line = Order::Line(line.clone());
            self.link.live.orders.send(line).await.map_err(|_| self.link.why())?;
            self.to_ask.pop_front();
        }
        let mut batch = Batch::default();
        if !std::mem::take(&mut self.fresh) {
            let Some(first) = self.link.heard.recv().await else { return Err(self.link.why()) };
            self.read.clear();
            self.take(first, &mut batch);
            while batch.events.len() < MOST_AT_ONCE {
                let Ok(more) = self.link.heard.try_recv() else { break };
                self.take(more, &mut batch);
            }
        }
        batch.cursor = (self.tells_time && self.asking.is_empty()).then(|| written(self.latest));
        Ok(batch)
    }

    async fn ack(&mut self) -> Result<()> {
        let can = self.link.live.look(|session| session.can("draft/read-marker"));
        for (target, at) in std::mem::take(&mut self.read) {
            if can {
                let at = format!("timestamp={}", written(at));
                self.link.live.tell(Order::Line(write(&[], "MARKREAD", &[&target, &at])));
            }
        }
        Ok(())
    }
}

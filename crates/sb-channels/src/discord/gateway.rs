//! The gateway: one connection, its heartbeats, its sessions.
//!
//! An event stays in front until all it causes is done, so that nothing is lost when waiting is given up. Heartbeats
//! name the last event that is *stored*, and after a break the session is resumed behind it. When it cannot be resumed
//! a new one begins, and what was missed is fetched ([`missed`](super::missed)). The connection is dropped without a
//! good-bye, which would end the session.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sb_channel::model::{Fault, FaultKind, Secret};
use sb_channel::net::{Frame, Socket};
use sb_channel::{Batch, Event, Feed, Result, Updates};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until, timeout};

use super::missed::{Directs, Missed};
use super::parse::{self, text};
use super::session::{Cursor, OVER, Session, passing};
use super::{Bot, faults, snowflake};

const HELLO: Duration = Duration::from_secs(20);
/// Between two heartbeats that tell what is stored. Discord allows 120 frames a minute.
const BETWEEN_BEATS: Duration = Duration::from_secs(1);
/// How long to leave the history alone when it fails.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// The one feed of a bot.
pub(super) struct Gateway(pub Arc<Bot>);

#[async_trait]
impl Feed for Gateway {
    async fn open(&self, after: Option<&str>) -> Result<Box<dyn Updates>> {
        let stored: Cursor = after.and_then(|after| serde_json::from_str(after).ok()).unwrap_or_default();
        let (bot, directs) = (self.0.clone(), Directs::kept(self.0.context.state.as_ref()).await?);
        let told = stored.session.as_ref().map(|session| session.seq);
        Ok(Box::new(Listening {
            bot,
            at: stored,
            stored: told,
            given: None,
            line: None,
            event: None,
            missed: None,
            directs,
        }))
    }
}

/// An open feed.
struct Listening {
    bot: Arc<Bot>,
    /// What is done with.
    at: Cursor,
    /// The number of the last event that is stored, or that needs no storing.
    stored: Option<u64>,
    /// The batch that is not known to be stored: its last number, and the commands to answer then.
    given: Option<(Option<u64>, Vec<String>)>,
    line: Option<Line>,
    /// What came and is not done with.
    event: Option<Value>,
    missed: Option<Missed>,
    directs: Directs,
}

/// A connection.
struct Line {
    socket: Socket,
    every: Duration,
    beaten: Instant,
    beat_at: Instant,
    /// The last heartbeat was answered.
    answered: bool,
    /// Something was stored since.
    owes: bool,
}

impl Line {
    /// When the next heartbeat is to be sent: at its time, or soon where it has something to tell.
    fn beats_at(&self) -> Instant {
        match self.answered && self.owes {
            true => self.beat_at.min(self.beaten + BETWEEN_BEATS),
            false => self.beat_at,
        }
    }
}

#[async_trait]
impl Updates for Listening {
    async fn next(&mut self) -> Result<Batch> {
        loop {
            if let Some(event) = self.event.clone() {
                let batch = self.told(&event).await?;
                self.event = None;
                if let Some(batch) = batch {
                    return Ok(batch);
                }
            }
            let Some(line) = &mut self.line else {
                self.connect().await?;
                continue;
            };
            let beats_at = line.beats_at();
            let looks_at = self.missed.as_ref().map_or(beats_at, Missed::wake_at);
            tokio::select! {
                biased;
                () = sleep_until(beats_at) => self.beat().await?,
                frame = line.socket.next() => self.hear(frame?).await?,
                () = sleep_until(looks_at) => {
                    if let Some(batch) = self.look_back().await? {
                        return Ok(batch);
                    }
                }
            }
        }
    }

    async fn ack(&mut self) -> Result<()> {
        let Some((seq, commands)) = self.given.take() else { return Ok(()) };
        self.stored = seq.or(self.stored);
        if let Some(line) = &mut self.line {
            line.owes = true;
            if line.beats_at() <= Instant::now() {
                self.beat().await?;
            }
        }
        self.directs.keep(self.bot.context.state.as_ref()).await?;
        for command in commands {
            // Whoever chose it reads at once that it was taken; the answer comes into the channel.
            let taken = json!({"type": 4, "data": {"content": "Taken.", "flags": 64}});
            let _ = self.bot.api.answer(&command, taken).await;
        }
        Ok(())
    }
}

impl Listening {
    /// Connects: to go on with the session, if that may still be had, or to begin one.
    async fn connect(&mut self) -> Result<()> {
        let session = self.at.session.clone().filter(|session| self.bot.may_resume(session));
        let url = match &session {
            Some(session) => session.url.clone(),
            None => {
                // Numbers begin anew with a session.
                self.stored = None;
                self.bot.find_gateway().await?
            }
        };
        if !self.bot.api.may_listen_at(&url) {
            return Err(faults::refused("the gateway it names is no safe address"));
        }
        let address = format!("{}/?v=10&encoding=json", url.trim_end_matches('/'));
        let mut socket = self.bot.api.http.socket(&Secret::new(address)).await?;
        let no_hello = || passing("the gateway does not greet", None);
        let hello = match timeout(HELLO, socket.next()).await.map_err(|_| no_hello())?? {
            Frame::Text(hello) => serde_json::from_str::<Value>(&hello).unwrap_or_default(),
            Frame::Closed { code, why } => return Err(self.bot.closed(code, &why, self.at.session.as_ref())),
            Frame::Alive => Value::Null,
        };
        let every =
            hello["d"]["heartbeat_interval"].as_u64().filter(|_| hello["op"] == 10).ok_or_else(no_hello)?;
        let every = every.clamp(1_000, 300_000);
        socket.say(self.bot.introduction(session.as_ref()).to_string()).await?;
        let now = Instant::now();
        // The first heartbeat is somewhere within the first interval, so that not all come at once.
        let first = Duration::from_millis(self.bot.context.dice.roll() % every);
        let every = Duration::from_millis(every);
        self.line = Some(Line {
            socket,
            every,
            beaten: now - BETWEEN_BEATS,
            beat_at: now + first,
            answered: true,
            owes: false,
        });
        Ok(())
    }

    async fn beat(&mut self) -> Result<()> {
        let Some(line) = &mut self.line else { return Ok(()) };
        if !line.answered {
            return Err(passing("the gateway does not answer heartbeats any more", None));
        }
        (line.beaten, line.answered, line.owes) = (Instant::now(), false, false);
        line.beat_at = line.beaten + line.every;
        line.socket.say(json!({"op": 1, "d": self.stored}).to_string()).await
    }

    /// What a frame says. An event is put in front, for [`told`](Self::told).
    async fn hear(&mut self, frame: Frame) -> Result<()> {
        let frame = match frame {
            Frame::Alive => return Ok(()),
            Frame::Closed { code, why } => return Err(self.bot.closed(code, &why, self.at.session.as_ref())),
            Frame::Text(frame) => frame,
        };
        let Ok(told) = serde_json::from_str::<Value>(&frame) else {
            self.event = Some(json!({"t": "a frame that cannot be read", "d": frame}));
            return Ok(());
        };
        let answered = matches!(told["op"].as_u64(), Some(1 | 11));
        if let Some(line) = self.line.as_mut().filter(|_| answered) {
            line.answered = true;
        }
        match told["op"].as_u64() {
            Some(0) => self.event = Some(told),
            Some(1) => self.beat().await?,
            // It asks us to come again, and we do so at once.
            Some(7) => self.line = None,
            Some(9) if told["d"] == true => return Err(passing("the session was interrupted", None)),
            Some(9) => {
                self.bot.give_up(self.at.session.as_ref());
                let wait = 1_000 + self.bot.context.dice.roll() % 4_000;
                return Err(passing(OVER, Some(wait)));
            }
            _ => {}
        }
        Ok(())
    }

    /// Does all that an event causes. It may be done again, if waiting was given up.
    async fn told(&mut self, told: &Value) -> Result<Option<Batch>> {
        let (kind, data) = (text(told, "/t").unwrap_or_default(), &told["d"]);
        if kind == "READY" {
            self.begun(data)?;
        }
        if let Some(missed) = &mut self.missed {
            missed.note(kind, data);
        }
        let events = self.translate(kind, data).await?;
        if let (false, "MESSAGE_CREATE", Some(id)) = (events.is_empty(), kind, id(data)) {
            // The newest one, whatever our own clock said before.
            self.at.last = id;
        }
        let command = parse::to_answer(kind, data);
        if let (Some(session), Some(seq)) = (&mut self.at.session, told["s"].as_u64()) {
            session.seq = seq;
        }
        let begins = matches!(kind, "READY" | "RESUMED");
        if begins {
            self.bot.goes_on();
        }
        if begins || !events.is_empty() {
            return Ok(Some(self.give(events, command)));
        }
        // Nothing to store: it counts as stored.
        self.stored = told["s"].as_u64().or(self.stored);
        Ok(None)
    }

    /// A batch, and where to go on after it. Until all that was missed is here, that is where it was before.
    fn give(&mut self, events: Vec<Event>, command: Option<String>) -> Batch {
        let seq = self.at.session.as_ref().map(|session| session.seq);
        self.given = Some((seq, command.into_iter().collect()));
        let cursor = match &self.missed {
            Some(missed) => Cursor { session: None, last: missed.last },
            None => self.at.clone(),
        };
        Batch { events, cursor: serde_json::to_string(&cursor).ok() }
    }

    /// A session begins. After an older one, what came between is missed.
    fn begun(&mut self, ready: &Value) -> Result<()> {
        let (id, url) = (text(ready, "/session_id"), text(ready, "/resume_gateway_url"));
        let (Some(id), Some(url)) = (id, url.filter(|url| self.bot.api.may_listen_at(url))) else {
            return Err(passing("the gateway names no session, or no safe address to resume it at", None));
        };
        if let Some(us) = text(ready, "/user/id") {
            self.bot.places(|places| us.clone_into(&mut places.us));
        }
        self.at.session = Some(Session { id: id.to_owned(), url: url.to_owned(), seq: 1 });
        let now = self.bot.context.clock.now();
        match self.at.last {
            0 => self.at.last = snowflake::at(now),
            last => self.missed = Some(Missed::begin(last, now, &self.directs, ready)),
        }
        Ok(())
    }

    /// The events of what was told, once it is known where it was said.
    async fn translate(&mut self, kind: &str, data: &Value) -> Result<Vec<Event>> {
        self.bot.places(|places| places.note(kind, data));
        let events = self.bot.places(|places| parse::dispatch(kind, data, places));
        let [Event::Said(_)] = events.as_slice() else { return Ok(events) };
        let channel = text(data, "/channel_id").unwrap_or_default();
        match text(data, "/guild_id") {
            Some(guild) => self.bot.learn(guild, channel, data).await?,
            None => self.directs.note(channel),
        }
        Ok(self.bot.places(|places| parse::dispatch(kind, data, places)))
    }

    /// Fetches the next page of what was missed.
    async fn look_back(&mut self) -> Result<Option<Batch>> {
        let Some(missed) = &mut self.missed else { return Ok(None) };
        let Some((channel, after)) = missed.channels.front().cloned() else {
            return Ok(missed.is_done().then(|| {
                self.missed = None;
                self.give(Vec::new(), None)
            }));
        };
        let page = match self.bot.history(&channel, after).await {
            Err(Fault { kind: FaultKind::ChatBusy { wait_ms } | FaultKind::Passing { wait_ms }, .. }) => {
                missed.not_before = Instant::now() + wait_ms.map_or(LOOK_AGAIN, Duration::from_millis);
                return Ok(None);
            }
            page => page?,
        };
        let mut events = Vec::new();
        for message in &page {
            events.extend(self.translate("MESSAGE_CREATE", message).await?);
            self.at.last = self.at.last.max(id(message).unwrap_or_default());
        }
        if let Some(missed) = &mut self.missed {
            missed.got(&page);
        }
        Ok((!events.is_empty()).then(|| self.give(events, None)))
    }
}

/// The number of something.
fn id(of: &Value) -> Option<u64> {
    text(of, "/id")?.parse().ok()
}

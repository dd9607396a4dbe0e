//! The task that keeps one connection: it answers pings while the engine is busy, lets lines leave no faster than
//! the server takes them, and hands what it hears to whoever it is for.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sb_channel::Result;
use sb_channel::model::Fault;
use sb_channel::net::Stream;
use tokio::io::{AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::batches::{Batches, Whole};
use super::faults::{self, lost};
use super::line::{Line, write};
use super::lines::Lines;
use super::link::{Habits, MOST_ORDERS, Order};
use super::manners::Manners;
use super::pace::Pace;
use super::parse::{Around, Heard, hear};
use super::posts::{Part, Posts};
use super::register;
use super::session::Session;
use super::whois::WhoIs;

/// How long the server may take to answer anything.
pub const ANSWER: Duration = Duration::from_secs(30);
/// Nothing came for so long: we ask whether anybody is there.
const QUIET: Duration = Duration::from_secs(60);

/// See the module.
pub struct Keeper {
    output: WriteHalf<Box<dyn Stream>>,
    session: Arc<Mutex<Session>>,
    habits: Habits,
    hears: mpsc::Sender<Heard>,
    pace: Pace,
    begun: Instant,
    /// Lines that are to leave, in order.
    waiting: VecDeque<(String, Option<Part>)>,
    posts: Posts,
    whois: WhoIs,
    batches: Batches,
    manners: Manners,
    /// Lines that were told, to name what has no name.
    told: u64,
    last_heard: Instant,
    pinged: bool,
}

impl Keeper {
    pub fn new(
        output: WriteHalf<Box<dyn Stream>>,
        session: Arc<Mutex<Session>>,
        habits: Habits,
        hears: mpsc::Sender<Heard>,
    ) -> Self {
        let now = Instant::now();
        Self {
            output,
            session,
            pace: Pace::new(habits.pace_ms),
            posts: Posts::new(habits.nonce),
            habits,
            hears,
            begun: now,
            waiting: VecDeque::new(),
            whois: WhoIs::default(),
            batches: Batches::default(),
            manners: Manners::default(),
            told: 0,
            last_heard: now,
            pinged: false,
        }
    }

    /// Runs until the connection ends: why it did. Whoever waits for an answer then has one.
    pub async fn run(
        mut self,
        mut lines: Lines<ReadHalf<Box<dyn Stream>>>,
        mut orders: mpsc::Receiver<Order>,
    ) -> Fault {
        loop {
            let went = match self.let_leave().await {
                Ok(()) => self.step(&mut lines, &mut orders).await,
                broken => broken,
            };
            if let Err(why) = went {
                self.posts.end(&why);
                return why;
            }
        }
    }

    async fn step(
        &mut self,
        lines: &mut Lines<ReadHalf<Box<dyn Stream>>>,
        orders: &mut mpsc::Receiver<Order>,
    ) -> Result<()> {
        let wake = self.wake_at();
        // Two more may follow from one line.
        let (may_hear, may_order) = (self.hears.capacity() > 2, self.waiting.len() < MOST_ORDERS);
        tokio::select! {
            biased;
            line = lines.next(), if may_hear => match line {
                Ok(Some(line)) => self.hear(&line).await,
                Ok(None) => Err(lost("the server closed it")),
                Err(why) => Err(lost(&why.to_string())),
            },
            order = orders.recv(), if may_order => match order {
                Some(order) => { self.take(order); Ok(()) }
                None => Err(lost("nobody needs it")),
            },
            () = tokio::time::sleep_until(wake) => self.pass().await,
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn look<T>(&self, read: impl FnOnce(&mut Session) -> T) -> T {
        read(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn queue(&mut self, lines: impl IntoIterator<Item = String>) {
        self.waiting.extend(lines.into_iter().map(|line| (line, None)));
    }

    fn take(&mut self, order: Order) {
        match order {
            Order::Line(line) => self.queue([line]),
            Order::InPassing(line) => {
                if self.waiting.is_empty() && self.pace.has_room(self.now_ms()) {
                    self.queue([line]);
                }
            }
            Order::WhoIs { nick, done } => {
                self.queue([write(&[], "WHOIS", &[&nick])]);
                let nick = self.look(|session| session.fold(&nick));
                self.whois.ask(nick, done);
            }
            Order::Post { target, tags, lines, done } => {
                let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
                let lines = self.posts.begin(&session, &target, &tags, &lines, done);
                self.waiting.extend(lines.into_iter().map(|(line, part)| (line, Some(part))));
            }
        }
    }

    /// Writes what may be written now.
    async fn let_leave(&mut self) -> Result<()> {
        while let Some((_, part)) = self.waiting.front() {
            let wanted = part.is_none_or(|part| self.posts.wants(part));
            let now = self.now_ms();
            if wanted && self.pace.wait_ms(now) > 0 {
                break;
            }
            let Some((line, part)) = self.waiting.pop_front() else { break };
            if wanted {
                part.into_iter().for_each(|part| self.posts.leaves(part));
                self.pace.left(now);
                self.say(&line).await?;
            }
        }
        Ok(())
    }

    /// Writes a line now.
    async fn say(&mut self, line: &str) -> Result<()> {
        let bytes = format!("{line}\r\n");
        let output = &mut self.output;
        let written = tokio::time::timeout(ANSWER, async {
            output.write_all(bytes.as_bytes()).await?;
            output.flush().await
        });
        match written.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(why)) => Err(lost(&why.to_string())),
            Err(_) => Err(lost("the server reads nothing any more")),
        }
    }

    fn wake_at(&self) -> Instant {
        let alive = self.last_heard + if self.pinged { QUIET + ANSWER } else { QUIET };
        let pause = Duration::from_millis(self.pace.wait_ms(self.now_ms()).max(1));
        let leave = (!self.waiting.is_empty()).then(|| Instant::now() + pause);
        let due = [self.posts.due(), self.whois.due(), self.manners.due(), leave];
        due.into_iter().flatten().fold(alive, Instant::min)
    }

    /// Does what is due.
    async fn pass(&mut self) -> Result<()> {
        let now = Instant::now();
        if now >= self.last_heard + QUIET + ANSWER {
            return Err(lost("the server does not answer"));
        }
        if now >= self.last_heard + QUIET && !self.pinged {
            self.pinged = true;
            self.say("PING :alive").await?;
            self.want_our_nick();
        }
        self.posts.pass(now);
        self.whois.pass(now);
        let back = self.manners.pass(now);
        self.queue(back);
        Ok(())
    }

    /// Asks for the nick that is ours, as long as we have another.
    fn want_our_nick(&mut self) {
        let wanted = self.look(|session| (!session.is_us(&session.wanted)).then(|| session.wanted.clone()));
        self.queue(wanted.map(|nick| format!("NICK {nick}")));
    }

    async fn hear(&mut self, text: &str) -> Result<()> {
        (self.last_heard, self.pinged) = (Instant::now(), false);
        let Some(line) = Line::parse(text) else { return Ok(()) };
        let now = self.habits.clock.now();
        self.look(|session| session.learn(&line, now.0));
        match line.command.as_str() {
            "PING" => return self.say(&write(&[], "PONG", &[line.words()])).await,
            "ERROR" => return Err(faults::of_ending(line.words())),
            "BATCH" => return self.batch(&line),
            // Services say that they did what we asked: our nick may be free now.
            "NOTICE" if line.nick().eq_ignore_ascii_case("NickServ") => self.want_our_nick(),
            "CAP" if line.param(1) == "NEW" => {
                let ask = self.look(|session| register::ask_for_more(line.words(), session));
                self.queue(ask);
            }
            _ => {}
        }
        if self.batches.keeps(&line) {
            return Ok(());
        }
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        self.whois.judge(&line, &mut session, now.0);
        let known = self.posts.judge(&line, self.batches.label(&line), &session);
        // That a channel of ours is closed to us is news of its own.
        let news = known && self.habits.channels.contains_key(&session.fold(line.param(1)));
        drop(session);
        if known && !news {
            return Ok(());
        }
        self.tell(&line)
    }

    fn batch(&mut self, line: &Line) -> Result<()> {
        match self.batches.take(line) {
            Some(Whole::Answer { label }) => self.posts.answered(&label),
            Some(Whole::History { target, lines, last }) => {
                return self.hand_over(Heard::PageEnd { target, lines, last });
            }
            Some(Whole::Message(line)) => return self.tell(&line),
            None => {}
        }
        Ok(())
    }

    /// Tells the feed, and does what needs no feed.
    fn tell(&mut self, line: &Line) -> Result<()> {
        self.batches.count(line);
        self.told += 1;
        let name = format!("n-{:016x}-{}", self.habits.nonce, self.told);
        let commands = self.habits.commands.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let around = Around { commands: &commands, fresh: &name };
        let Some(heard) = self.look(|session| hear(line, session, &around)) else { return Ok(()) };
        match &heard {
            Heard::Asked { nick, what } => {
                if self.pace.has_room(self.now_ms()) {
                    let answer = self.manners.answer(nick, what);
                    self.queue(answer);
                }
                return Ok(());
            }
            Heard::Invited { channel } => {
                let folded = self.look(|session| session.fold(channel));
                let join = self.habits.channels.get(&folded).cloned();
                self.queue(join);
                return Ok(());
            }
            Heard::Channel { name, inside: false, .. } if line.command == "KICK" => {
                if let Some(join) = self.habits.channels.get(name) {
                    self.manners.put_out(name, join);
                }
            }
            _ => {}
        }
        self.hand_over(heard)
    }

    fn hand_over(&self, heard: Heard) -> Result<()> {
        // There is room: nothing is read while there is not.
        self.hears.try_send(heard).map_err(|_| lost("more came at once than can be taken"))
    }
}

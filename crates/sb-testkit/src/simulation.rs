//! The simulation: a whole engine with one messenger, in simulated time, where everything goes wrong that
//! a seed decides: kills at any moment, a platform that fails, limits, loses answers, repeats itself and
//! drops connections. Afterwards the promises are checked, from what people see.
//!
//! People say things that name themselves (`M7.`), so that what each chat shows can be held against what
//! was said there: nothing lost, nothing said twice but where nobody could know, nothing in another chat,
//! and everything in its order.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a simulation fails by panicking")]

use std::time::Duration;

use sb_channel::standin::{Breakage, Seen};
use sb_engine::model::{Busy, Chat, EndKind, Person, Streaming};
use sb_engine::store::{PostState, StoredPost};

use crate::messenger::{Life, Messenger, Subject};

/// Small, fast, seeded chance.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }
    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

/// What happened in a run, to show that it tried something.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tried {
    pub messages: u64,
    pub kills: u64,
    pub faults: u64,
    pub decisions: u64,
}

/// Something somebody said that is to be answered.
struct Said {
    marker: String,
    chat: usize,
    key: String,
}

struct World {
    chance: Chance,
    people: Vec<(Person, Chat)>,
    said: Vec<Said>,
    tried: Tried,
    /// Answers may have been lost, or we were killed: then one repeat is nobody's fault.
    uncertain: bool,
    gentle: bool,
    unformatted: bool,
}

/// Lives through one seed and checks the promises.
///
/// # Panics
/// If one does not hold; the message names the seed.
pub fn run(subject: &Subject, seed: u64) -> Tried {
    let mut chance = Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..8 {
        chance.next();
    }
    let busy = chance.pick(&[Busy::Queue, Busy::Collect]);
    let debounce = chance.pick(&[0, 0, 500]);
    let stream = chance.pick(&[Streaming::Progress, Streaming::Partial, Streaming::Off]);
    let mut messenger = Messenger::with(subject, |options| {
        options.allow = vec!["*".to_owned()];
        options.busy = busy;
        options.debounce_ms = debounce;
        options.stream = stream;
    })
    .seeded(seed);
    messenger.parallel = usize::try_from(chance.pick(&[1, 2, 16])).unwrap();
    let mut people = vec![(messenger.ann.clone(), messenger.chat.clone())];
    for n in 1..=chance.below(3) {
        let person = messenger.standin.person(&format!("Person {n}"));
        let chat = messenger.standin.direct(&person);
        people.push((person, chat));
    }
    let ids = people.iter().filter_map(|(person, _)| person.id.clone());
    messenger.config.options.approvers = ids.collect();
    let gentle = chance.one_in(4);
    let mut world = World {
        chance,
        people,
        said: Vec::new(),
        tried: Tried::default(),
        uncertain: false,
        gentle,
        unformatted: false,
    };
    // A gentle one lives once, and has nothing to excuse a repeat.
    for _ in 0..if gentle { 0 } else { 1 + world.chance.below(5) } {
        messenger.live(async |life| world.live(life).await);
        world.tried.kills += 1;
        world.uncertain = true;
    }
    messenger.live(async |life| {
        world.live(life).await;
        life.standin.mend();
        world.settle(life, seed).await;
        let outbox = life.engine.outbox(None, true).await.unwrap();
        let mut failed = Vec::new();
        let account = life.engine.channel_status(&crate::messenger::SLUG.into()).account;
        let account = account.map(|a| a.id).unwrap_or_default();
        for said in &world.said {
            let key = format!("{}@{account}:{}", crate::messenger::SLUG, said.key);
            let stored =
                life.engine.store().message_by_key(&key, sb_engine::model::Timestamp(0)).await.unwrap();
            let Some(stored) = stored else { continue };
            let ending =
                stored.ending.unwrap_or_else(|| panic!("seed {seed}: {} has no ending", said.marker));
            // After three crashes in one turn it is given up, and says so.
            if ending.kind == EndKind::Failed {
                failed.push(said.marker.clone());
            }
        }
        world.check(life, seed, &outbox, &failed);
    });
    world.tried
}

impl World {
    /// Things happen for a while; then this life ends where it stands.
    async fn live(&mut self, life: &Life) {
        for _ in 0..2 + self.chance.below(12) {
            match self.chance.below(10) {
                0..=4 => self.say(life),
                5 => self.repeat(life),
                6 if !self.gentle => self.break_something(life),
                7 => life.standin.drop_connections(),
                8 => self.decide(life),
                _ => {}
            }
            let pause = match self.chance.below(4) {
                0 => 0,
                1 => self.chance.below(100),
                2 => self.chance.below(2_000),
                _ => self.chance.below(20_000),
            };
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }

    fn say(&mut self, life: &Life) {
        let marker = format!("M{}.", self.said.len() + 1);
        let before = match self.chance.below(6) {
            0 => format!("!stream {} {}\n", 1 + self.chance.below(120), self.chance.below(120)),
            1 => format!("!wait {}\n", self.chance.below(5)),
            2 => format!("!stream {} 0\n", 800 + self.chance.below(1_200)),
            3 => "!tool read_file {\"path\": \"a.txt\"}\n".to_owned(),
            4 if self.chance.one_in(3) => {
                "!tool write_file {\"path\": \"a.txt\", \"text\": \"x\"}\n".to_owned()
            }
            _ => String::new(),
        };
        let chat = usize::try_from(self.chance.below(self.people.len() as u64)).unwrap();
        let (person, place) = &self.people[chat];
        let key = life.standin.say(place, person, &format!("{before}!say . {marker}"));
        self.said.push(Said { marker, chat, key });
        self.tried.messages += 1;
    }

    /// The platform tells of something again.
    fn repeat(&mut self, life: &Life) {
        if !self.said.is_empty() {
            let at = usize::try_from(self.chance.below(self.said.len() as u64)).unwrap();
            life.standin.say_again(&self.said[at].key);
        }
    }

    fn break_something(&mut self, life: &Life) {
        self.tried.faults += 1;
        let times = u32::try_from(1 + self.chance.below(7)).unwrap();
        match self.chance.below(6) {
            0 => life.standin.break_next(Breakage::Flaky, times),
            1 => life.standin.break_next(Breakage::RateLimit(1 + times), 1),
            2 => {
                self.uncertain = true;
                life.standin.break_next(Breakage::LostAnswer, 1 + times % 2);
            }
            // Twice in a row would be a platform that takes no words at all.
            3 if !std::mem::replace(&mut self.unformatted, true) => {
                life.standin.break_next(Breakage::Format, 1)
            }
            4 => life.standin.break_receiving(Breakage::Flaky, times),
            _ => life.standin.break_receiving(Breakage::LostAnswer, 1),
        }
    }

    /// Somebody answers a question, if one stands in their chat.
    fn decide(&mut self, life: &Life) {
        for (person, chat) in &self.people {
            let label = self.chance.pick(&["Allow once", "Decline"]);
            if life.standin.press(chat, person, label) {
                self.tried.decisions += 1;
                return;
            }
        }
    }

    /// Everything goes well from now on, and whoever is asked answers.
    async fn settle(&mut self, life: &Life, seed: u64) {
        for look in 1..=2_000 {
            // In the order in which a message goes, so that none slips by between two looks.
            let coming = life.standin.unacknowledged();
            let unfinished = life.engine.unfinished().await.unwrap();
            let unsent = life.engine.store().count_unsent().await.unwrap();
            if coming == 0 && unfinished == 0 && unsent == 0 {
                return;
            }
            for (person, chat) in &self.people {
                // A card whose answer was lost stands twice, and one of them asks for ever: whoever sees that types.
                if look % 20 == 0 {
                    life.standin.say(chat, person, "/approve");
                } else if unsent > 0 {
                    // A platform takes but so many messages; whoever presses on meanwhile is answered ever later.
                } else if !life.standin.press(chat, person, "Allow once") {
                    let asked =
                        life.standin.seen(chat).texts().last().is_some_and(|t| t.contains("1. Allow once"));
                    if asked {
                        life.standin.say(chat, person, "1");
                    }
                }
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        let unsent: Vec<_> = life.engine.outbox(None, false).await.unwrap();
        let shown: Vec<_> = self.people.iter().map(|(_, chat)| life.standin.seen(chat)).collect();
        panic!(
            "seed {seed}: it never comes to rest. Unfinished: {:?}; not acknowledged: {}; unsent: {unsent:#?}; shown: {shown:#?}; the channel: {:#?}",
            life.engine.store().unfinished().await,
            life.standin.unacknowledged(),
            life.engine.channel_status(&crate::messenger::SLUG.into()),
        );
    }

    fn check(&self, life: &Life, seed: u64, outbox: &[StoredPost], failed: &[String]) {
        let shown: Vec<Seen> = self.people.iter().map(|(_, chat)| life.standin.seen(chat)).collect();
        for n in 0..shown.len() {
            self.check_chat(n, &shown, seed, outbox, failed);
        }
    }

    fn check_chat(&self, n: usize, all: &[Seen], seed: u64, outbox: &[StoredPost], failed: &[String]) {
        let texts = all[n].texts();
        let here: Vec<&Said> = self.said.iter().filter(|s| s.chat == n).collect();
        let most = if self.uncertain { 2 } else { 1 };
        let mut order = Vec::new();
        for said in &here {
            let words = |t: &&&str| t.split_whitespace().any(|w| w == said.marker);
            let count = texts.iter().filter(words).count();
            if count == 0 && failed.contains(&said.marker) {
                continue;
            }
            let posts = || outbox.iter().filter(|p| p.post.text.contains(&said.marker)).collect::<Vec<_>>();
            // Refused even without its formatting: then that is listed, and no fault of ours.
            if count == 0 && posts().iter().any(|p| p.state == PostState::Refused) {
                continue;
            }
            assert!(
                count > 0,
                "seed {seed}: {} was lost. Its posts: {:#?}. Its chat shows {texts:#?}",
                said.marker,
                posts()
            );
            assert!(
                count <= most,
                "seed {seed}: {} was said {count} times: {texts:#?}. Its posts: {:#?}",
                said.marker,
                posts()
            );
            order.push(texts.iter().position(|t| words(&t)));
            let strange =
                all.iter().enumerate().any(|(m, other)| m != n && other.texts().iter().any(|t| words(&t)));
            assert!(!strange, "seed {seed}: {} is shown in another chat", said.marker);
        }
        assert!(order.is_sorted(), "seed {seed}: the order is not kept: {order:?} of {texts:#?}");
        let told = texts.iter().filter(|t| t.contains("I was restarted")).count() as u64;
        assert!(
            told <= 2 * self.tried.kills,
            "seed {seed}: told {told} times of {} restarts",
            self.tried.kills
        );
    }
}

//! [`Messenger`]: a whole engine with one messenger, whose platform is a stand-in, in simulated time.
//!
//! It lives several lives over the same home: each is a runtime of its own, and at its end everything in
//! it is dropped where it stands, as a kill would. The platform outlives them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use sb_channel::AnyKind;
use sb_channel::standin::{Seen, StandIn};
use sb_engine::model::{ChannelConfig, ChannelOptions, Chat, Clock, Person, Secret, Slug, Timestamp};
use sb_engine::{Engine, Parts};
use sb_harness::net::{FixedDice, Http, RuntimeClock};
use sb_store::{Durability, Store};
use tempfile::TempDir;

pub use sb_engine::{BridgeState, Replayed};

use crate::app::{ScriptedAgents, profile_in};
use crate::hooked::Hooked;

/// The slug of the one channel.
pub const SLUG: &str = "chat";
/// Simulated time that something may take to be seen.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// A kind with its stand-in.
#[derive(Clone)]
pub struct Subject {
    pub kind: Arc<dyn AnyKind>,
    pub standin: fn(Arc<dyn Clock>) -> Arc<dyn StandIn>,
}

/// See the module.
pub struct Messenger {
    kind: Arc<dyn AnyKind>,
    pub standin: Arc<dyn StandIn>,
    pub clock: Arc<RuntimeClock>,
    home: TempDir,
    pub config: ChannelConfig,
    /// Somebody who was let in and may decide.
    pub ann: Person,
    /// Her chat with us.
    pub chat: Chat,
    seed: u64,
    lives: u64,
    pub parallel: usize,
}

/// One life of it.
pub struct Life {
    pub engine: Engine,
    pub standin: Arc<dyn StandIn>,
    pub ann: Person,
    pub chat: Chat,
}

impl Messenger {
    /// A new home and a new platform, with one person let in.
    pub fn new(subject: &Subject) -> Self {
        Self::with(subject, |_| ())
    }

    /// As [`new`](Self::new), with other options.
    pub fn with(subject: &Subject, change: impl FnOnce(&mut ChannelOptions)) -> Self {
        let clock = Arc::new(RuntimeClock::at(Timestamp(1_790_000_000_000)));
        let standin = (subject.standin)(clock.clone());
        let ann = standin.person("Ann");
        let chat = standin.direct(&ann);
        let mut options = ChannelOptions {
            allow: ann.id.clone().into_iter().collect(),
            approvers: ann.id.clone().into_iter().collect(),
            debounce_ms: 0,
            ..ChannelOptions::default()
        };
        change(&mut options);
        let config = ChannelConfig {
            slug: Slug::from(SLUG),
            kind: subject.kind.manifest().id.to_owned(),
            profile: "assistant".into(),
            enabled: true,
            settings: std::collections::BTreeMap::new(),
            options,
        };
        let home = TempDir::new().unwrap();
        let kind = subject.kind.clone();
        Self { kind, standin, clock, home, config, ann, chat, seed: 1, lives: 0, parallel: 16 }
    }

    /// All chance follows from this.
    pub fn seeded(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Lives once more over the same home, does `what`, and is killed where it stands.
    pub fn live<T>(&mut self, what: impl AsyncFnOnce(&Life) -> T) -> T {
        self.lives += 1;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let done = runtime.block_on(async {
            self.clock.begin();
            let life = self.begin().await;
            let done = what(&life).await;
            self.clock.end();
            done
        });
        // Everything is dropped where it stands; only what the disk is at is finished.
        drop(runtime);
        done
    }

    async fn begin(&self) -> Life {
        let hooked = Hooked::default();
        let calling = self.standin.calling(Http::in_process(Arc::new(hooked.clone())));
        let store = Store::open(self.home.path(), Durability::Process).await.unwrap();
        let engine = Engine::open(Parts {
            store,
            agents: Arc::new(ScriptedAgents),
            clock: self.clock.clone(),
            dice: Arc::new(FixedDice::new(self.seed.wrapping_mul(1_000) + self.lives)),
            parallel: self.parallel,
            kinds: vec![self.kind.clone()],
            http: self.standin.http(),
            public_url: calling.is_some().then(|| "https://here.invalid".to_owned()),
        })
        .await
        .unwrap();
        hooked.serve(engine.clone());
        if let Some(calling) = calling {
            tokio::spawn(calling);
        }
        if self.lives == 1 {
            let workspace = self.home.path().join("workspace");
            engine.put_profile(profile_in("assistant", &workspace), None).await.unwrap();
            let (mut config, mut secrets) = (self.config.clone(), Vec::new());
            let manifest = self.kind.manifest();
            for (key, value) in self.standin.settings() {
                match manifest.fields.iter().any(|f| f.key == key && f.secret) {
                    true => secrets.push((key, Secret::new(value))),
                    false => drop(config.settings.insert(key, value)),
                }
            }
            engine.put_channel(config, secrets).await.unwrap();
        }
        engine.take_up().await.unwrap();
        engine.start_channels().await.unwrap();
        let begun = tokio::time::Instant::now();
        while self.lives == 1 && !self.standin.is_heard() {
            assert!(begun.elapsed() < PATIENCE, "nobody ever listens");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Life { engine, standin: self.standin.clone(), ann: self.ann.clone(), chat: self.chat.clone() }
    }
}

impl Life {
    /// Ann writes in her chat.
    pub fn say(&self, text: &str) -> String {
        self.standin.say(&self.chat, &self.ann, text)
    }

    /// What Ann sees in her chat.
    pub fn seen(&self) -> Seen {
        self.standin.seen(&self.chat)
    }

    /// Waits until Ann sees it; panics with what she sees if that takes too long.
    pub async fn until(&self, what: &str, check: impl Fn(&Seen) -> bool) -> Seen {
        self.until_in(&self.chat, what, check).await
    }

    /// As [`until`](Self::until), in some chat.
    pub async fn until_in(&self, chat: &Chat, what: &str, check: impl Fn(&Seen) -> bool) -> Seen {
        let begun = tokio::time::Instant::now();
        loop {
            let seen = self.standin.seen(chat);
            if check(&seen) {
                return seen;
            }
            let status = self.engine.channel_status(&Slug::from(SLUG));
            assert!(
                begun.elapsed() < PATIENCE,
                "never seen: {what}. What is seen: {seen:#?}\nthe channel: {status:#?}"
            );
            // What is not seen soon is looked for less often: looking is what takes real time.
            let late = begun.elapsed() > Duration::from_secs(20);
            tokio::time::sleep(Duration::from_millis(if late { 1_000 } else { 50 })).await;
        }
    }

    /// Waits until one of our messages in Ann's chat holds these words.
    pub async fn until_said(&self, words: &str) -> Seen {
        self.until(words, |seen| seen.count(words) > 0).await
    }

    /// Lets time pass.
    pub async fn pass(&self, ms: u64) {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }

    /// Waits until nothing is under way: nothing unfinished, nothing unsent.
    pub async fn rest(&self) {
        let begun = tokio::time::Instant::now();
        while self.engine.unfinished().await.unwrap() > 0
            || self.engine.store().count_unsent().await.unwrap() > 0
        {
            assert!(begun.elapsed() < PATIENCE, "it never comes to rest: {:#?}", self.seen());
            self.pass(50).await;
        }
    }
}

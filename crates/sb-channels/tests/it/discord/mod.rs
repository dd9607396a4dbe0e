//! Discord, by the adapter and the imitated platform, in process.

mod facts;
mod faults;
mod fixtures;
mod gateway;
mod sending;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use sb_channel::model::{Chat, Choice, MessageRef, Person, Timestamp};
use sb_channel::net::{FixedDice, ManualClock};
use sb_channel::standin::StandIn;
use sb_channel::{
    Attempt, Batch, Channel, ChannelContext, Event, Incoming, Inlet, OutFile, Piece, Result, State, Updates,
};
use sb_channels::discord::{KIND, standin::DiscordStandIn};

pub use crate::telegram::{choice, file, settings, words};

/// A bot, the platform it is on, and somebody there.
pub struct World {
    pub clock: Arc<ManualClock>,
    pub platform: DiscordStandIn,
    pub bot: Arc<dyn Channel>,
    pub ann: Person,
    /// Her chat with us, and a channel of the server.
    pub chat: Chat,
    pub lab: Chat,
}

#[derive(Default)]
struct Kept(Mutex<Option<String>>);

#[async_trait]
impl State for Kept {
    async fn get(&self) -> Result<Option<String>> {
        Ok(self.0.lock().expect("the state").clone())
    }
    async fn set(&self, words: String) -> Result<()> {
        *self.0.lock().expect("the state") = Some(words);
        Ok(())
    }
}

pub fn world() -> World {
    let clock = Arc::new(ManualClock::at(Timestamp(1_796_000_000_000)));
    let platform = DiscordStandIn::new(clock.clone());
    let bot = opened(&platform, clock.clone());
    let ann = platform.person("Ann");
    let (chat, lab) = (platform.direct(&ann), platform.channel("lab"));
    World { clock, platform, bot, ann, chat, lab }
}

pub fn opened(platform: &DiscordStandIn, clock: Arc<ManualClock>) -> Arc<dyn Channel> {
    let context = ChannelContext {
        http: platform.http(),
        clock,
        dice: Arc::new(FixedDice::new(1)),
        state: Arc::new(Kept::default()),
        by_webhook: false,
    };
    (KIND.open)(context, &settings(StandIn::settings(platform))).expect("a bot")
}

pub fn attempt(key: &str) -> Attempt {
    Attempt { key: key.to_owned(), maybe_sent: false, handle: None }
}

impl World {
    pub async fn send_as(&self, key: &str, to: &Chat, text: &str, choices: &[Choice]) -> Result<MessageRef> {
        let words = words(text);
        self.bot.send(to, Piece::Text { words: &words, choices, answers: None }, &attempt(key)).await
    }
    pub async fn send(&self, to: &Chat, text: &str) -> Result<MessageRef> {
        self.send_as(text, to, text, &[]).await
    }
    pub async fn send_files(&self, to: &Chat, files: &[OutFile], text: &str) -> Result<MessageRef> {
        let words = words(text);
        self.bot
            .send(to, Piece::Files { files, caption: Some(&words), answers: None }, &attempt(&files[0].name))
            .await
    }
    /// The feed, once a session has begun or was resumed.
    pub async fn listening(&self, after: Option<&str>) -> Box<dyn Updates> {
        self.bot.check().await.expect("who we are");
        let mut updates = self.updates(after).await;
        let begun = updates.next().await.expect("a session");
        assert_eq!(begun.events, []);
        updates.ack().await.expect("noted");
        updates
    }
    pub async fn updates(&self, after: Option<&str>) -> Box<dyn Updates> {
        let Inlet::Feeds(feeds) = self.bot.inlet() else { panic!("it listens") };
        assert_eq!(feeds.len(), 1);
        feeds[0].1.open(after).await.expect("open")
    }
}

/// The next batch that tells of something, stored.
pub async fn next(updates: &mut Box<dyn Updates>) -> Batch {
    loop {
        let batch = updates.next().await.expect("a batch");
        updates.ack().await.expect("noted");
        if !batch.events.is_empty() {
            return batch;
        }
    }
}

/// The one message of a batch.
pub fn said(batch: &Batch) -> &Incoming {
    match batch.events.as_slice() {
        [Event::Said(said)] => said,
        other => panic!("no single message: {other:#?}"),
    }
}

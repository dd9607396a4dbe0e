//! Telegram, by the adapter and the imitated platform, in process.

mod facts;
mod faults;
mod fixtures;
mod receiving;
mod rules;
mod sending;
mod sockets;
mod webhook;

use std::sync::Arc;

use async_trait::async_trait;
use sb_channel::model::text::Rendered;
use sb_channel::model::{Chat, Choice, MessageRef, Secret, Timestamp, Tone};
use sb_channel::net::{FixedDice, Http, ManualClock};
use sb_channel::{Attempt, Channel, ChannelContext, Inlet, OutFile, Piece, Result, Settings, State, Updates};
use sb_channels::telegram::{KIND, standin, standin::TelegramStandIn};

/// A bot and the platform it is on.
pub struct World {
    pub clock: Arc<ManualClock>,
    pub platform: TelegramStandIn,
    pub bot: Arc<dyn Channel>,
}

struct NoState;

#[async_trait]
impl State for NoState {
    async fn get(&self) -> Result<Option<String>> {
        Ok(None)
    }
    async fn set(&self, _: String) -> Result<()> {
        Ok(())
    }
}

pub fn context(http: Http, by_webhook: bool) -> ChannelContext {
    let clock = Arc::new(ManualClock::at(Timestamp(1_796_000_000_000)));
    ChannelContext { http, clock, dice: Arc::new(FixedDice::new(1)), state: Arc::new(NoState), by_webhook }
}

pub fn settings(pairs: Vec<(String, String)>) -> Settings {
    Settings::new(pairs.into_iter().map(|(key, value)| (key, Secret::new(value))))
}

pub fn world() -> World {
    opened(false)
}

pub fn opened(by_webhook: bool) -> World {
    let clock = Arc::new(ManualClock::at(Timestamp(1_796_000_000_000)));
    let platform = TelegramStandIn::new(clock.clone(), standin::TOKEN);
    let bot = (KIND.open)(context(platform.http(), by_webhook), &settings(platform.settings()));
    World { clock, platform, bot: bot.expect("a bot") }
}

pub fn words(text: &str) -> Rendered {
    Rendered { text: text.to_owned(), spans: Vec::new() }
}

pub fn attempt() -> Attempt {
    Attempt { key: "k".to_owned(), maybe_sent: false, handle: None }
}

pub fn choice(label: &str, says: &str, tone: Tone) -> Choice {
    Choice { label: label.to_owned(), says: says.to_owned(), tone }
}

impl World {
    pub async fn send(&self, to: &Chat, text: &str) -> Result<MessageRef> {
        let words = words(text);
        self.bot.send(to, Piece::Text { words: &words, choices: &[], answers: None }, &attempt()).await
    }
    pub async fn send_files(
        &self,
        to: &Chat,
        files: &[OutFile],
        caption: Option<&Rendered>,
    ) -> Result<MessageRef> {
        self.bot.send(to, Piece::Files { files, caption, answers: None }, &attempt()).await
    }
    pub async fn updates(&self, after: Option<&str>) -> Box<dyn Updates> {
        let Inlet::Feeds(feeds) = self.bot.inlet() else { panic!("it polls") };
        assert_eq!(feeds.len(), 1);
        feeds[0].1.open(after).await.expect("open")
    }
}

/// A file on its way out, with these bytes.
pub fn file(name: &str, media_type: &str, bytes: &[u8]) -> OutFile {
    struct Here(Vec<u8>);
    #[async_trait]
    impl sb_channel::Opens for Here {
        async fn open(&self) -> std::io::Result<tokio::fs::File> {
            use std::io::{Seek, Write};
            let mut file = tempfile::tempfile()?;
            file.write_all(&self.0)?;
            file.rewind()?;
            Ok(tokio::fs::File::from_std(file))
        }
    }
    OutFile {
        name: name.to_owned(),
        media_type: media_type.to_owned(),
        size: bytes.len() as u64,
        content: Arc::new(Here(bytes.to_vec())),
    }
}

/// The beginning of a PNG so wide and so high, which is all that is looked at.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes
}

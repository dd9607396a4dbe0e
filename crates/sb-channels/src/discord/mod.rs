//! Discord, by its gateway and its HTTP API.
//!
//! Translates and nothing else: [`parse`] reads what the gateway tells, [`gateway`] keeps the connection, [`outgoing`]
//! writes messages, [`faults`] sorts refusals, [`limits`] keeps to the limits. Invariant: the token and the tokens of
//! interactions reach no log, no error and no disk.

mod api;
mod facts;
mod faults;
mod gateway;
mod limits;
mod missed;
mod outgoing;
mod parse;
mod places;
mod session;
mod snowflake;
#[cfg(feature = "standins")]
pub mod standin;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use sb_channel::model::{Chat, FaultKind, FileRef, MessageRef};
use sb_channel::net::{Content, Method};
use sb_channel::{
    Account, Attempt, Channel, ChannelContext, Command, Event, Features, Gesture, Inlet, Kind, Mark, Piece,
    Result, Settings,
};
use serde_json::json;
use tokio::io::AsyncWrite;

use self::api::Api;
use self::faults::{About, refused};
use self::parse::{all, text};
use self::places::Places;

/// This kind of messenger.
pub const KIND: Kind = Kind { manifest: facts::manifest, open };

/// Where Discord is, unless the settings say otherwise.
const ROOT: &str = "https://discord.com";
/// Says of an application that it may read everybody's words in servers.
const READS_ALL: u64 = (1 << 18) | (1 << 19);
/// How long a mark waits for its turn at most: Discord takes one at a time.
const MARKS_WAIT_MS: u64 = 2_000;

/// What adapter and feed share.
struct Bot {
    api: Api,
    context: ChannelContext,
    places: Mutex<Places>,
    application: Mutex<Option<String>>,
    /// Whether to ask for everybody's words in servers: the portal must allow it.
    reads_all: AtomicBool,
    /// The session that was resumed last, and how often that came to nothing.
    tries: Mutex<(String, u32)>,
}

/// One bot.
struct Discord {
    bot: Arc<Bot>,
    gateway: gateway::Gateway,
}

fn open(context: ChannelContext, settings: &Settings) -> Result<Arc<dyn Channel>> {
    let no_token =
        "set `token` to the bot's token from the Developer Portal (your application, Bot, Reset Token)";
    let token = settings.get("token").ok_or_else(|| refused(no_token))?;
    if !token.expose().bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) {
        return Err(refused(&format!("this is no token of a bot: {no_token}, without `Bot` before it")));
    }
    let root = settings.api_url(ROOT);
    if !(root.starts_with("https://") || root.starts_with("http://")) || root.contains("/api") {
        return Err(refused(
            "`api_url` must begin with https:// or http:// and ends before /api, as https://discord.com",
        ));
    }
    let bot = Arc::new(Bot {
        api: Api::new(context.http.clone(), root, token.clone(), context.clock.clone()),
        context,
        places: Mutex::default(),
        application: Mutex::default(),
        reads_all: AtomicBool::new(true),
        tries: Mutex::default(),
    });
    Ok(Arc::new(Discord { gateway: gateway::Gateway(bot.clone()), bot }))
}

impl Bot {
    fn places<T>(&self, with: impl FnOnce(&mut Places) -> T) -> T {
        with(&mut self.places.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn mark(&self, at: &MessageRef, mark: Option<Mark>) -> Result<()> {
        match mark {
            Some(Mark::Taken) => self.react(at, Method::Put, facts::TAKEN).await,
            Some(Mark::Failed) => {
                self.react(at, Method::Delete, facts::TAKEN).await.or_else(is_lost)?;
                self.react(at, Method::Put, facts::FAILED).await
            }
            None => match self.react(at, Method::Delete, facts::TAKEN).await {
                Err(why) if why.kind == FaultKind::Lost => {
                    self.react(at, Method::Delete, facts::FAILED).await
                }
                taken_off => taken_off,
            },
        }
    }

    /// Puts one mark or takes it off, in its turn: those of a channel go one after the other, four a second.
    async fn react(&self, at: &MessageRef, how: Method, emoji: &str) -> Result<()> {
        let (channel, message) = outgoing::split(at)?;
        let emoji: String = emoji.bytes().map(|b| format!("%{b:02X}")).collect();
        let path = format!("channels/{channel}/messages/{message}/reactions/{emoji}/@me");
        let ask = || self.api.ask(how, &path, About::Chat { thread: false }, Content::Nothing);
        match ask().await {
            Err(sb_channel::model::Fault { kind: FaultKind::ChatBusy { wait_ms: Some(ms) }, .. })
                if ms <= MARKS_WAIT_MS =>
            {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                ask().await.map(drop)
            }
            asked => asked.map(drop),
        }
    }
}

#[async_trait]
impl Channel for Discord {
    async fn check(&self) -> Result<Account> {
        let user = self.bot.api.get("users/@me", About::Account).await?;
        let application = self.bot.api.get("applications/@me", About::Account).await?;
        let id = text(&user, "/id").unwrap_or_default();
        self.bot.places(|places| id.clone_into(&mut places.us));
        *self.bot.application.lock().unwrap_or_else(PoisonError::into_inner) =
            text(&application, "/id").map(str::to_owned);
        let reads_all = application["flags"].as_u64().unwrap_or_default() & READS_ALL != 0;
        self.bot.reads_all.store(reads_all, Ordering::Relaxed);
        let name = text(&user, "/global_name").or(text(&user, "/username")).unwrap_or(id);
        let mut account = Account::new(id, name);
        account.link = Some(format!("https://discord.com/users/{id}"));
        account.notes.extend((!reads_all).then(|| format!("{}.", session::SWITCH_ON)));
        Ok(account)
    }

    fn features(&self, _: &Chat) -> Features {
        facts::FEATURES
    }

    fn inlet(&self) -> Inlet<'_> {
        Inlet::Feeds(vec![("gateway", &self.gateway)])
    }

    async fn send(&self, to: &Chat, piece: Piece<'_>, attempt: &Attempt) -> Result<MessageRef> {
        let channel = outgoing::channel(to)?;
        let with = match piece {
            Piece::Text { words, choices, answers } => {
                let fields = outgoing::anew(outgoing::words(&words.text, choices), channel, answers, attempt);
                Content::Json(fields.to_string().into())
            }
            Piece::Files { files, caption, answers } => {
                let words = caption.map_or("", |words| words.text.as_str());
                let fields = outgoing::anew(outgoing::words(words, &[]), channel, answers, attempt);
                Content::Parts(outgoing::upload(fields, files).await?)
            }
        };
        let sent =
            self.bot.api.ask(Method::Post, &format!("channels/{channel}/messages"), of(to), with).await?;
        let garbled = || faults::local(FaultKind::Garbled, "its answer is not a message");
        let id =
            text(&sent, "/id").ok_or_else(|| sb_channel::model::Fault { maybe_done: true, ..garbled() })?;
        Ok(parse::reference(channel, id))
    }

    async fn edit(&self, to: &Chat, at: &MessageRef, piece: Piece<'_>) -> Result<()> {
        let Piece::Text { words, choices, .. } = piece else {
            return Err(faults::local(FaultKind::Unsupported, "a message's files cannot be changed"));
        };
        let (channel, message) = outgoing::split(at)?;
        let path = format!("channels/{channel}/messages/{message}");
        self.bot.api.call(Method::Patch, &path, of(to), outgoing::words(&words.text, choices)).await.map(drop)
    }

    async fn gesture(&self, to: &Chat, gesture: Gesture<'_>) -> Result<()> {
        match gesture {
            // It ends by itself after ten seconds, or with our next message.
            Gesture::Typing(false) => Ok(()),
            Gesture::Typing(true) => {
                let path = format!("channels/{}/typing", outgoing::channel(to)?);
                self.bot.api.ask(Method::Post, &path, of(to), Content::Nothing).await.map(drop)
            }
            Gesture::Mark(at, mark) => self.bot.mark(at, mark).await,
            Gesture::Heard(press) => match self.bot.api.answer(press, json!({"type": 6})).await {
                // Too late, or twice: the press counts all the same.
                Err(why) if why.kind == FaultKind::Expired => Ok(()),
                answered => answered,
            },
        }
    }

    async fn fetch(
        &self,
        file: &FileRef,
        into: &mut (dyn AsyncWrite + Unpin + Send),
        most: u64,
    ) -> Result<u64> {
        let gone = || refused("Discord does not have this file any more");
        let (at, url) = file.reference.split_once(' ').ok_or_else(gone)?;
        match self.bot.api.pour(url, into, most).await {
            // A link lasts about a day; its message has a new one.
            Err(why) if matches!(why.status, Some(401 | 403 | 404 | 410)) => {
                let (at, id) = at.rsplit_once('/').ok_or_else(gone)?;
                let (channel, message) = at.split_once('/').ok_or_else(gone)?;
                let path = format!("channels/{channel}/messages/{message}");
                let again = self.bot.api.get(&path, About::Chat { thread: false }).await?;
                let passed_on =
                    all(&again, "/message_snapshots").flat_map(|one| all(one, "/message/attachments"));
                let mut files = all(&again, "/attachments").chain(passed_on);
                let url =
                    files.find(|file| text(file, "/id") == Some(id)).and_then(|file| text(file, "/url"));
                self.bot.api.pour(url.ok_or_else(gone)?, into, most).await
            }
            poured => poured,
        }
    }

    fn read_again(&self, raw: &str) -> Option<Event> {
        self.bot.places(|places| parse::again(raw, places))
    }

    async fn offer(&self, commands: &[Command]) -> Result<()> {
        let application = self.bot.application.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let application = application.ok_or_else(|| refused("who we are is not known yet"))?;
        let path = format!("applications/{application}/commands");
        self.bot.api.call(Method::Put, &path, About::Account, outgoing::menu(commands)).await.map(drop)
    }
}

fn of(chat: &Chat) -> About {
    About::Chat { thread: chat.thread.is_some() }
}

/// What is not there need not be taken off.
fn is_lost(why: sb_channel::model::Fault) -> Result<()> {
    if why.kind == FaultKind::Lost { Ok(()) } else { Err(why) }
}

//! The engine API, as doors see it: submit a message, follow it to its ending.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use sb_channel::AnyKind;
use sb_core::commands;
use sb_core::model::{
    Clock, ConversationId, Dice, Inbound, McpFound, McpServer, MessageId, Profile, ProfileName, Secret,
};
use sb_harness::Harness;
use sb_harness::net::Http;
use sb_store::{Store, StoreError, Taken};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::actors::{Actors, Mail};
use crate::bridge::Bridges;
use crate::error::{EngineError, EngineErrorKind, Result};
use crate::follow::Follow;
use crate::live::Live;
use crate::places::Places;
use crate::profiles::Profiles;
use crate::stirred::Stirred;
use crate::tokens::Tokens;
use crate::waker;

/// How long conversations may take to close.
const CLOSING: Duration = Duration::from_secs(3);

/// Finds what runs a profile's turns. The binary knows; the engine does not.
#[async_trait]
pub trait Agents: Send + Sync + 'static {
    fn harness(&self, profile: &Profile) -> Arc<dyn Harness>;
    /// Names of the tools the profile gives its agent.
    fn tools(&self, profile: &Profile) -> Vec<String>;
    /// Whether such a profile could run; a sentence says why not.
    fn check(&self, profile: &Profile) -> std::result::Result<(), String>;
    /// The profile or its key was changed or removed: what is remembered of it no longer holds.
    async fn changed(&self, profile: &ProfileName);
    /// Begins an MCP server as it would be for this profile, and gives what was found; it has ended by then.
    /// `given`: values of its variables or headers that are not kept yet. The error is for the operator.
    async fn find_mcp(
        &self,
        profile: &Profile,
        server: &McpServer,
        given: BTreeMap<String, Secret>,
    ) -> std::result::Result<McpFound, String> {
        drop((profile, server, given));
        Err("Nothing here speaks to MCP servers.".to_owned())
    }
    /// The engine ends, and no turn is at work any more: programs kept for later turns are to end.
    async fn end(&self) {}
}

/// What an engine is made of.
pub struct Parts {
    pub store: Store,
    pub agents: Arc<dyn Agents>,
    pub clock: Arc<dyn Clock>,
    pub dice: Arc<dyn Dice>,
    /// Turns at once.
    pub parallel: usize,
    /// The messengers there are.
    pub kinds: Vec<Arc<dyn AnyKind>>,
    /// How messengers' platforms are reached.
    pub http: Http,
    /// Where platforms reach us, if they can.
    pub public_url: Option<String>,
}

/// The running engine; cloning is cheap.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

pub(crate) struct Inner {
    pub store: Store,
    pub agents: Arc<dyn Agents>,
    pub clock: Arc<dyn Clock>,
    pub dice: Arc<dyn Dice>,
    pub profiles: Profiles,
    pub places: Places,
    pub tokens: Tokens,
    pub actors: Actors,
    pub bridges: Bridges,
    pub kinds: Vec<Arc<dyn AnyKind>>,
    pub http: Http,
    public_url: Option<String>,
    serves_channels: AtomicBool,
    /// The timer runs.
    wakes: AtomicBool,
    ends: CancellationToken,
    closing: AtomicBool,
    pub(crate) stirred: Stirred,
    /// What is wrong with the store, once something was found to be.
    trouble: OnceLock<String>,
}

impl Inner {
    /// Where platforms reach us.
    pub fn public_url(&self) -> Option<&str> {
        self.public_url.as_deref()
    }
    /// Whether enabled channels are to run here.
    pub fn serves_channels(&self) -> bool {
        self.serves_channels.load(Ordering::Relaxed)
    }
    /// From now on they are.
    pub fn serve_channels(&self) {
        self.serves_channels.store(true, Ordering::Relaxed);
    }
}

/// Names one taken message for ever.
#[derive(Debug)]
pub struct Receipt {
    pub message: MessageId,
    pub(crate) live: Option<watch::Receiver<Live>>,
}

/// What came of a submission.
#[derive(Debug)]
pub struct Submitted {
    pub receipt: Receipt,
    /// The key was known: this is the first message's receipt, and nothing new was taken.
    pub known: bool,
}

impl Engine {
    /// Opens the engine. A conversation is taken up when it is spoken to; a server calls
    /// [`take_up`](Self::take_up) for all the others.
    pub async fn open(parts: Parts) -> Result<Self> {
        let profiles = Profiles::new(parts.agents.clone(), parts.store.profiles().await?);
        let engine = Self(Arc::new(Inner {
            store: parts.store,
            agents: parts.agents,
            clock: parts.clock,
            dice: parts.dice,
            profiles,
            places: Places::new(parts.parallel),
            tokens: Tokens::default(),
            actors: Actors::default(),
            bridges: Bridges::default(),
            kinds: parts.kinds,
            http: parts.http,
            public_url: parts.public_url,
            serves_channels: AtomicBool::new(false),
            wakes: AtomicBool::new(false),
            ends: CancellationToken::new(),
            closing: AtomicBool::new(false),
            stirred: Stirred::new(),
            trouble: OnceLock::new(),
        }));
        Ok(engine)
    }

    /// Takes up everything unfinished: how many conversations that is.
    pub async fn take_up(&self) -> Result<usize> {
        if !self.0.wakes.swap(true, Ordering::SeqCst) {
            tokio::spawn(waker::run(self.clone(), self.0.ends.clone()));
        }
        let unfinished = self.0.store.unfinished().await?;
        for conversation in &unfinished {
            self.send(conversation, Mail::Wake);
        }
        Ok(unfinished.len())
    }

    /// Takes one message: durable once this returns. A known key gives the first message's receipt.
    /// Errors: no such profile, another body under the key, too much waiting, a full disk, closing.
    /// Dropping this future takes nothing back.
    pub async fn submit(&self, inbound: Inbound) -> Result<Submitted> {
        let engine = self.clone();
        // On a task of its own: a client that goes away between the commit and the mail would else
        // leave a taken message that nobody wakes for.
        let taking = tokio::spawn(async move { engine.take(inbound).await });
        taking.await.unwrap_or_else(|why| {
            tracing::error!(error = %why, "taking a message failed");
            Err(EngineError::new(EngineErrorKind::Store, "The message could not be taken. Send it again."))
        })
    }

    async fn take(&self, inbound: Inbound) -> Result<Submitted> {
        self.may_take(&inbound.profile)?;
        let conversation = inbound.conversation.clone();
        let now = self.0.clock.now();
        let taken = match never_waits(&inbound) {
            true => Some(self.0.store.take_in_at_once(inbound, now).await?),
            false => self.0.store.take_in(vec![inbound], now).await?.into_iter().next(),
        };
        match taken {
            Some(Taken::New(message)) => {
                metrics::counter!("switchboard_messages_taken_total").increment(1);
                let (shows, live) = watch::channel(Live::default());
                let receipt = Receipt { message: message.id, live: Some(live) };
                self.send(&conversation, Mail::Arrived(Box::new(message), Some(shows)));
                Ok(Submitted { receipt, known: false })
            }
            Some(Taken::Known(message)) => {
                Ok(Submitted { receipt: Receipt { message, live: None }, known: true })
            }
            Some(Taken::OtherBody(_)) => Err(EngineError::other_body()),
            Some(Taken::Full | Taken::Held { .. }) => Err(EngineError::full()),
            None => Err(EngineError::new(EngineErrorKind::Store, "The store took nothing.")),
        }
    }

    /// Whether anything is taken for this profile now.
    pub(crate) fn may_take(&self, profile: &ProfileName) -> Result<()> {
        if self.is_closing() {
            return Err(EngineError::new(
                EngineErrorKind::Closing,
                "The server is closing; nothing was taken. Send it again soon.",
            ));
        }
        match self.0.profiles.get(profile) {
            Some(_) => Ok(()),
            None => Err(EngineError::no_profile(profile)),
        }
    }

    /// Follows a message to its ending; also after a restart, and after it has ended.
    pub fn follow(&self, receipt: Receipt) -> Follow {
        Follow::live(self.clone(), receipt.message, receipt.live)
    }

    /// Follows a message known by its number.
    pub fn follow_message(&self, message: MessageId) -> Follow {
        Follow::live(self.clone(), message, None)
    }

    /// Ends all actors and their turns, and closes the store. What was unfinished is taken up at the next start.
    pub async fn close(&self) -> Result<()> {
        self.rest().await;
        Ok(self.0.store.clone().close().await?)
    }

    /// The first half of [`close`](Self::close): everything ends that goes on by itself; what is kept can still be
    /// asked for.
    pub async fn rest(&self) {
        self.0.closing.store(true, Ordering::SeqCst);
        self.0.ends.cancel();
        tokio::join!(self.0.actors.close(CLOSING), self.end_channels());
        self.0.agents.end().await;
    }

    /// Where others reach this server, if it was told.
    pub fn public_url(&self) -> Option<&str> {
        self.0.public_url()
    }

    /// Whether [`close`](Self::close) was called.
    pub fn is_closing(&self) -> bool {
        self.0.closing.load(Ordering::SeqCst)
    }

    /// What is wrong with the home, in a sentence, once a conversation could not be read: the rest is
    /// still served, but somebody must look.
    pub fn trouble(&self) -> Option<&str> {
        self.0.trouble.get().map(String::as_str)
    }

    pub(crate) fn is_damaged(&self, why: &StoreError) {
        tracing::error!(error = %why, "the home is damaged");
        // The first finding stands; more of them say no more.
        let _ = self.0.trouble.set(format!("The home is damaged: {why}."));
    }

    /// The store, for the engine's own files and for administration on this machine.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }

    pub(crate) fn send(&self, to: &ConversationId, mail: Mail) {
        self.0.actors.send(self, to, mail);
    }

    /// The live view of a message that has no ending yet.
    pub(crate) async fn attach(&self, message: MessageId) -> Result<Option<watch::Receiver<Live>>> {
        let Some(stored) = self.0.store.message(message).await? else {
            return Err(EngineError::new(EngineErrorKind::NotFound, "There is no such message."));
        };
        if stored.ending.is_some() || self.is_closing() {
            return Ok(None);
        }
        let (answer, live) = oneshot::channel();
        self.send(&stored.conversation, Mail::Follow(message, answer));
        Ok(live.await.unwrap_or(None))
    }

    /// A place is free: whoever is next has it.
    pub(crate) fn release_place(&self) {
        if let Some(next) = self.0.places.release() {
            self.send(&next, Mail::Granted);
        }
    }
}

/// A command that is answered at once, whatever runs and waits.
pub(crate) fn never_waits(inbound: &Inbound) -> bool {
    let read = commands::read_text(&inbound.text, inbound.manner.stop_words);
    read.is_ok_and(|command| command.is_some_and(|(entry, _)| entry.when == commands::When::Always))
}

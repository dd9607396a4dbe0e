//! To run channels: added, changed, looked at, removed; who is let in; what lies in the outbox and the
//! inbox. What it changes holds at once, and restarts only the channel it concerns.

use std::sync::PoisonError;

use sb_channel::{Batch, Manifest};
use sb_core::model::{ChannelConfig, ConversationId, Guest, Pairing, Secret, Slug, Timestamp};
use sb_store::{InboxItem, KeptWhy, PairingAnswer, StoredPost};

use super::{BridgeStatus, check_config, intake};
use crate::Engine;
use crate::actors::Mail;
use crate::error::{EngineError, EngineErrorKind, Result};

/// Rows that a list shows.
const LISTED: usize = 200;

/// A channel as it is configured and as it is.
#[derive(Debug, Clone)]
pub struct ChannelView {
    pub config: ChannelConfig,
    /// Fields that have a secret.
    pub secrets: Vec<String>,
    pub status: BridgeStatus,
}

/// What became of something that was to be taken in again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replayed {
    /// It is taken in now.
    Taken,
    /// Nobody here knows what it is, still.
    Unknown,
    /// It is held until there is room in its conversation.
    Held,
    /// Its channel does not run here.
    NotRunning,
}

impl Engine {
    /// The facts of every kind of messenger.
    pub fn kinds(&self) -> Vec<Manifest> {
        self.inner().kinds.iter().map(|kind| kind.manifest()).collect()
    }

    /// One kind's facts.
    pub fn kind(&self, id: &str) -> Result<Manifest> {
        let kinds = self.kinds();
        let known: Vec<&str> = kinds.iter().map(|k| k.id).collect();
        let said = format!("There is no messenger of the kind {id:?}; there is {}.", known.join(", "));
        let found = kinds.into_iter().find(|k| k.id == id);
        found.ok_or_else(|| EngineError::new(EngineErrorKind::NotFound, said))
    }

    /// All channels, by slug.
    pub async fn channels(&self) -> Result<Vec<ChannelView>> {
        let mut views = Vec::new();
        for config in self.store().channels().await? {
            views.push(self.view(config).await?);
        }
        Ok(views)
    }

    /// One channel.
    pub async fn channel(&self, slug: &Slug) -> Result<ChannelView> {
        let config = self.store().channel(slug).await?.ok_or_else(|| no_channel(slug))?;
        self.view(config).await
    }

    async fn view(&self, config: ChannelConfig) -> Result<ChannelView> {
        let secrets = self.store().channel_secrets(&config.slug).await?;
        let status = self.channel_status(&config.slug);
        Ok(ChannelView { secrets: secrets.into_iter().map(|(name, _)| name).collect(), config, status })
    }

    /// Adds or changes a channel, and starts it anew if it is to run here. Secrets that are not named stay; an empty
    /// one is removed.
    pub async fn put_channel(&self, config: ChannelConfig, secrets: Vec<(String, Secret)>) -> Result<()> {
        let manifest = self.kind(&config.kind)?;
        let profiles = config.options.routes.values().chain([&config.profile]);
        if let Some(missing) = profiles.into_iter().find(|p| !self.has_profile(p)) {
            return Err(EngineError::no_profile(missing));
        }
        let mut set: Vec<String> =
            self.store().channel_secrets(&config.slug).await?.into_iter().map(|(name, _)| name).collect();
        for (name, value) in &secrets {
            set.retain(|known| known != name);
            if !value.expose().is_empty() {
                set.push(name.clone());
            }
        }
        check_config(&manifest, &config, &set)
            .map_err(|why| EngineError::new(EngineErrorKind::Bad, why.0))?;
        let slug = config.slug.clone();
        self.store().put_channel(&config, secrets).await?;
        self.restart_channel(&slug).await
    }

    /// Whether enabled channels run here; if not, a changed one is only stored.
    pub fn runs_channels(&self) -> bool {
        self.inner().serves_channels()
    }

    /// The engine's time, as a call that comes in is stamped with.
    pub fn now(&self) -> Timestamp {
        self.inner().clock.now()
    }

    /// Switches a channel on or off. One that could not be started is switched off all the same, not on.
    pub async fn enable_channel(&self, slug: &Slug, enabled: bool) -> Result<()> {
        let mut config = self.store().channel(slug).await?.ok_or_else(|| no_channel(slug))?;
        config.enabled = enabled;
        if enabled {
            return self.put_channel(config, Vec::new()).await;
        }
        self.store().put_channel(&config, Vec::new()).await?;
        self.end_channel(slug).await;
        Ok(())
    }

    /// Ends and forgets a channel. What is in its outbox and inbox stays.
    pub async fn remove_channel(&self, slug: &Slug) -> Result<()> {
        let known = self.store().channel(slug).await?.is_some();
        if !known || !self.store().remove_channel(slug).await? {
            return Err(no_channel(slug));
        }
        self.end_channel(slug).await;
        Ok(())
    }

    /// Those who asked to be let in.
    pub async fn pairings(&self) -> Result<Vec<Pairing>> {
        Ok(self.store().pairings(self.inner().clock.now()).await?)
    }

    /// Lets in whoever was shown the code: in direct chats, nowhere else.
    pub async fn approve_pairing(&self, code: &str, channel: Option<&Slug>) -> Result<PairingAnswer> {
        let answer = self.store().approve_pairing(code, channel, self.inner().clock.now()).await?;
        if let PairingAnswer::LetIn(guest) = &answer
            && let Some(bridge) = self.inner().bridges.get(&guest.channel)
        {
            bridge.guests.write().unwrap_or_else(PoisonError::into_inner).insert(guest.id.clone());
        }
        Ok(answer)
    }

    /// Takes back a code nobody used yet.
    pub async fn revoke_pairing(&self, code: &str) -> Result<bool> {
        Ok(self.store().revoke_pairing(code).await?)
    }

    /// Those who were let in.
    pub async fn guests(&self, channel: Option<&Slug>) -> Result<Vec<Guest>> {
        Ok(self.store().guests(channel).await?)
    }

    /// Lets somebody out again; holds from their next message.
    pub async fn let_out(&self, channel: &Slug, id: &str) -> Result<bool> {
        if let Some(bridge) = self.inner().bridges.get(channel) {
            bridge.guests.write().unwrap_or_else(PoisonError::into_inner).remove(id);
        }
        Ok(self.store().let_out(channel, id).await?)
    }

    /// What is unsent or was refused, newest first; `all`: also what was sent.
    pub async fn outbox(&self, channel: Option<&Slug>, all: bool) -> Result<Vec<StoredPost>> {
        Ok(self.store().outbox(channel, all, LISTED).await?)
    }

    /// Tries to send a post again, now.
    pub async fn retry_post(&self, number: i64) -> Result<bool> {
        if !self.store().retry_post(number, self.inner().clock.now()).await? {
            return Ok(false);
        }
        for bridge in self.inner().bridges.all() {
            bridge.sweep(self).await;
        }
        Ok(true)
    }

    /// Gives a post up.
    pub async fn drop_post(&self, number: i64) -> Result<bool> {
        Ok(self.store().drop_post(number).await?)
    }

    /// What came and is not answered: held, failed, or of a kind nobody knows; newest first.
    pub async fn inbox(&self, channel: Option<&Slug>) -> Result<Vec<InboxItem>> {
        Ok(self.store().inbox(channel, LISTED).await?)
    }

    /// Takes something in again.
    pub async fn replay(&self, number: i64) -> Result<Replayed> {
        let none = || EngineError::new(EngineErrorKind::NotFound, format!("The inbox has no item {number}."));
        let item = self.store().inbox_item(number).await?.ok_or_else(none)?;
        if item.why == KeptWhy::Held {
            return self.release(item.conversation.as_ref()).await;
        }
        let Some(bridge) = self.inner().bridges.get(&item.channel) else { return Ok(Replayed::NotRunning) };
        let Some(event) = bridge.channel.read_again(&item.raw) else { return Ok(Replayed::Unknown) };
        let batch = Batch { events: vec![event], cursor: None };
        let taken = intake::take(self, &bridge, "replay", batch).await;
        taken.map_err(|why| {
            EngineError::new(EngineErrorKind::Store, format!("It was not taken in: {why}."))
        })?;
        self.store().drop_inbox(number).await?;
        Ok(Replayed::Taken)
    }

    async fn release(&self, conversation: Option<&ConversationId>) -> Result<Replayed> {
        let Some(conversation) = conversation else { return Ok(Replayed::Unknown) };
        let released = self.store().release_held(conversation, self.inner().clock.now()).await?;
        let none = released.is_empty();
        for message in released {
            self.send(conversation, Mail::Arrived(Box::new(message), None));
        }
        Ok(if none { Replayed::Held } else { Replayed::Taken })
    }
}

fn no_channel(slug: &Slug) -> EngineError {
    EngineError::new(
        EngineErrorKind::NotFound,
        format!("There is no channel {slug}; `switchboard channel list` shows them."),
    )
}

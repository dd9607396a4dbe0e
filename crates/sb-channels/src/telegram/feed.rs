//! The long poll.
//!
//! Telegram forgets an update once a poll asks for a later one, so a poll asks for what follows the
//! last *stored* batch and for nothing later: the next poll is the acknowledgement of the one before.
//! Dropping a poll half-way loses nothing, since nothing is noted before its answer is whole.

use std::sync::Arc;

use async_trait::async_trait;
use sb_channel::{Batch, Feed, Result, Updates};
use serde_json::{Value, json};

use super::Bot;
use super::api::{self, POLL_S};
use super::faults::About;
use super::parse;

/// The kinds of updates we ask for; the platform remembers them until it is told others.
pub(super) const WANTED: [&str; 5] =
    ["message", "edited_message", "callback_query", "stopped_message_generation", "my_chat_member"];

/// The one feed of a bot.
pub(super) struct Polls(pub Arc<Bot>);

struct Polling {
    bot: Arc<Bot>,
    /// The webhook is taken off, without which there is no polling.
    ready: bool,
    /// The update to ask for: all before it are stored.
    from: Option<i64>,
    /// The same once the batch given out last is stored.
    after: Option<i64>,
}

#[async_trait]
impl Feed for Polls {
    async fn open(&self, after: Option<&str>) -> Result<Box<dyn Updates>> {
        let from = after.and_then(|cursor| cursor.parse().ok());
        Ok(Box::new(Polling { bot: self.0.clone(), ready: false, from, after: None }))
    }
}

#[async_trait]
impl Updates for Polling {
    async fn next(&mut self) -> Result<Batch> {
        if !self.ready {
            // Never with `drop_pending_updates`: what waits there was written to us.
            self.bot.api.call("deleteWebhook", About::Account, json!({})).await?;
            self.bot.know_me().await?;
            self.ready = true;
        }
        let mut with = json!({"limit": 100, "timeout": POLL_S, "allowed_updates": WANTED});
        if let Some(from) = self.from {
            with["offset"] = from.into();
        }
        let came: Vec<Value> = api::read(self.bot.api.poll(with).await?, "a list of updates")?;
        let me = self.bot.me();
        let mut batch = Batch::default();
        let mut last = None;
        for (id, events) in came.iter().filter_map(|update| parse::update(update, &me)) {
            // Numbers begin anew after a quiet week, so they are compared within one answer only.
            last = last.max(Some(id));
            batch.events.extend(events);
        }
        self.after = last.map(|id| id.saturating_add(1));
        batch.cursor = self.after.map(|id| id.to_string());
        Ok(batch)
    }

    async fn ack(&mut self) -> Result<()> {
        self.from = self.after.take().or(self.from);
        Ok(())
    }
}

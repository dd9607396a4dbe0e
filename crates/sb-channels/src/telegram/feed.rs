//! The long poll.
//!
//! Telegram forgets an update once a poll asks for a later one: the cursor is the number to ask for.

use std::sync::Arc;

use async_trait::async_trait;
use sb_channel::{Batch, Poll, Result};
use serde_json::{Value, json};

use super::Bot;
use super::api::{self, POLL_S};
use super::faults::About;
use super::parse;

/// The kinds of updates we ask for; the platform remembers them until it is told others.
pub(super) const WANTED: [&str; 5] =
    ["message", "edited_message", "callback_query", "stopped_message_generation", "my_chat_member"];

/// The one feed of a bot.
#[derive(Clone)]
pub(super) struct Polls(pub Arc<Bot>);

#[async_trait]
impl Poll for Polls {
    /// Takes the webhook off, without which there is no polling.
    async fn begin(&self) -> Result<()> {
        // Never with `drop_pending_updates`: what waits there was written to us.
        self.0.api.call("deleteWebhook", About::Account, json!({})).await?;
        self.0.know_me().await
    }

    async fn poll(&self, after: Option<&str>) -> Result<Batch> {
        let mut with = json!({"limit": 100, "timeout": POLL_S, "allowed_updates": WANTED});
        if let Some(from) = after.and_then(|cursor| cursor.parse::<i64>().ok()) {
            with["offset"] = from.into();
        }
        let came: Vec<Value> = api::read(self.0.api.poll(with).await?, "a list of updates")?;
        let me = self.0.me();
        let mut batch = Batch::default();
        let mut last = None;
        for (id, events) in came.iter().filter_map(|update| parse::update(update, &me)) {
            // Numbers begin anew after a quiet week, so they are compared within one answer only.
            last = last.max(Some(id));
            batch.events.extend(events);
        }
        batch.cursor = last.map(|id| id.saturating_add(1).to_string());
        Ok(batch)
    }
}

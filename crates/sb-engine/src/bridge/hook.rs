//! Calls of platforms to `/hooks/<slug>`: judged by the adapter, stored, and only then answered.

use sb_channel::{Inlet, Verdict, WebhookReply, WebhookRequest};
use sb_core::model::Slug;

use super::intake;
use crate::Engine;

/// The one feed of a webhook.
const FEED: &str = "webhook";

impl Engine {
    /// Takes a call in. What is not stored is answered so that the platform calls again.
    pub async fn hook(&self, slug: &Slug, request: WebhookRequest) -> WebhookReply {
        let Some(bridge) = self.inner().bridges.get(slug) else {
            // It may be starting; a platform calls again. Whether there is such a channel is nobody's business.
            return WebhookReply::status(503);
        };
        let verdict = match bridge.channel.inlet() {
            Inlet::Webhook(webhook) => webhook.accept(&request),
            _ => return WebhookReply::status(404),
        };
        let (batch, reply) = match verdict {
            Verdict::Take(batch, reply) => (batch, reply),
            Verdict::Refuse(reply) => {
                bridge.log.say(request.at, "a call to its webhook was refused");
                return reply;
            }
        };
        bridge.log.change(|s| {
            s.connected = Some(request.at);
            s.received = Some(request.at);
        });
        // On a task of its own: a caller that hangs up must not cut it between the commit and what follows.
        let engine = self.clone();
        let taking = tokio::spawn(async move { intake::take(&engine, &bridge, FEED, batch).await });
        match taking.await {
            Ok(Ok(())) => reply,
            Ok(Err(why)) => {
                tracing::warn!(channel = %slug, error = %why, "a call could not be stored");
                WebhookReply::status(503)
            }
            Err(why) => {
                tracing::error!(channel = %slug, error = %why, "taking a call failed");
                WebhookReply::status(500)
            }
        }
    }
}

//! The webhook: one update for each call, vouched for by a secret in a header.

use std::sync::Arc;

use sb_channel::model::Secret;
use sb_channel::{Batch, Verdict, Webhook, WebhookReply, WebhookRequest, is_same_secret};

use super::Bot;
use super::parse;

/// Where Telegram puts the secret it was told.
const HEADER: &str = "x-telegram-bot-api-secret-token";

pub(super) struct Hook {
    pub bot: Arc<Bot>,
    pub secret: Secret,
}

impl Webhook for Hook {
    fn accept(&self, request: &WebhookRequest) -> Verdict {
        let came = request.header(HEADER).unwrap_or_default();
        if !is_same_secret(came, &self.secret) {
            return Verdict::Refuse(WebhookReply::status(401));
        }
        let update = serde_json::from_slice(&request.body).ok();
        match update.and_then(|update| parse::update(&update, &self.bot.me())) {
            Some((_, events)) => Verdict::Take(Batch { events, cursor: None }, WebhookReply::status(200)),
            None => Verdict::Refuse(WebhookReply::status(400)),
        }
    }
}

/// Whether Telegram takes it as a webhook's secret.
pub(super) fn is_secret(text: &str) -> bool {
    (1..=256).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
}

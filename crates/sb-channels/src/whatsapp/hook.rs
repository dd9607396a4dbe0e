//! The webhook: Meta proves itself by a signature over the bytes it sends, and once, when it is told where
//! to call, we prove ourselves by a word that only we and the account's settings know.

use sb_channel::model::Secret;
use sb_channel::{
    Batch, Event, Verdict, Webhook, WebhookReply, WebhookRequest, is_same_secret, is_signed_hex,
};
use serde_json::Value;

use super::parse;
use super::{Number, query};

/// Where the signature stands.
const HEADER: &str = "x-hub-signature-256";

/// What Meta's calls are judged by.
pub(super) struct Hook {
    pub number: Number,
    pub app_secret: Secret,
    pub verify_token: Secret,
}

impl Webhook for Hook {
    fn accept(&self, request: &WebhookRequest) -> Verdict {
        match request.method.as_str() {
            "GET" => self.verified(&request.path),
            "POST" => self.told(request),
            _ => Verdict::Refuse(WebhookReply::status(405)),
        }
    }
}

impl Hook {
    /// The question whether we want to be called here.
    fn verified(&self, path: &str) -> Verdict {
        let asked = query::pairs(path);
        let field = |name: &str| asked.iter().find(|(n, _)| n == name).map_or("", |(_, value)| value);
        if field("hub.mode") != "subscribe" || !is_same_secret(field("hub.verify_token"), &self.verify_token)
        {
            return Verdict::Refuse(WebhookReply::status(403));
        }
        let reply = WebhookReply { body: field("hub.challenge").to_owned(), ..WebhookReply::status(200) };
        Verdict::Take(Batch::default(), reply)
    }

    fn told(&self, request: &WebhookRequest) -> Verdict {
        let signature = request.header(HEADER).and_then(|value| value.strip_prefix("sha256="));
        // Over the bytes as they came: Meta writes letters beyond ASCII as `\u` sequences, which no JSON library
        // would give back.
        if !signature.is_some_and(|hex| is_signed_hex(hex, &self.app_secret, &request.body)) {
            return Verdict::Refuse(WebhookReply::status(401));
        }
        let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
            return Verdict::Refuse(WebhookReply::status(400));
        };
        let events = parse::webhook(&body, &self.number.known(), Some(request.at));
        let events = events.unwrap_or_else(|| {
            vec![Event::Unknown { what: "a call without entries".into(), raw: body.to_string() }]
        });
        Verdict::Take(Batch { events, cursor: None }, WebhookReply::status(200))
    }
}

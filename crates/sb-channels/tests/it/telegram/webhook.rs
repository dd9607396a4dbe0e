//! The webhook: only Telegram is believed, and it really comes through.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use sb_channel::model::Timestamp;
use sb_channel::net::{Answering, Http, Service};
use sb_channel::{Event, Inlet, Verdict, WebhookRequest};
use sb_channels::telegram::standin::{self, SECRET, TelegramStandIn};

use super::{context, opened, settings};

fn request(secret: Option<&str>, body: &str) -> WebhookRequest {
    let headers = secret.map(|secret| ("x-telegram-bot-api-secret-token".to_owned(), secret.to_owned()));
    WebhookRequest {
        method: "POST".into(),
        path: String::new(),
        headers: headers.into_iter().collect(),
        body: Bytes::from(body.to_owned()),
        at: Timestamp(0),
    }
}

/// Holds: T-27.
#[tokio::test]
async fn a_call_without_the_secret_is_refused() {
    let world = opened(true);
    let Inlet::Webhook(hook) = world.bot.inlet() else { panic!("by webhook") };
    let body = r#"{"update_id":1,"message":{"message_id":1,"chat":{"id":5,"type":"private"},"from":{"id":5},"text":"hi"}}"#;
    let doubled = SECRET.repeat(2);
    for wrong in [None, Some(""), Some("wrong"), Some(&SECRET[..SECRET.len() - 1]), Some(&*doubled)] {
        let Verdict::Refuse(reply) = hook.accept(&request(wrong, body)) else { panic!("{wrong:?} is taken") };
        assert_eq!(reply.status, 401);
    }
    let Verdict::Take(batch, reply) = hook.accept(&request(Some(SECRET), body)) else { panic!("refused") };
    assert_eq!((batch.events.len(), batch.cursor, reply.status), (1, None, 200));
    for garbage in ["", "{", "[]", "null", "{}", r#"{"update_id":"x"}"#] {
        let Verdict::Refuse(reply) = hook.accept(&request(Some(SECRET), garbage)) else {
            panic!("{garbage} is taken")
        };
        assert_eq!(reply.status, 400, "{garbage}");
    }
}

/// What the platform calls: fails as often as told, then hands on.
struct Hooked {
    failures: Mutex<u32>,
    calls: tokio::sync::mpsc::UnboundedSender<WebhookRequest>,
}

impl Service for Hooked {
    fn call(&self, request: axum::http::Request<reqwest::Body>) -> Answering {
        let fails = {
            let mut left = self.failures.lock().expect("unpoisoned");
            let fails = *left > 0;
            *left = left.saturating_sub(1);
            fails
        };
        let (calls, path) = (self.calls.clone(), request.uri().path().to_owned());
        Box::pin(async move {
            if fails {
                let response = axum::http::Response::builder().status(503);
                return Ok(response.body(reqwest::Body::from("")).expect("a response"));
            }
            let headers = request.headers().iter();
            let headers =
                headers.map(|(k, v)| (k.to_string(), v.to_str().unwrap_or_default().to_owned())).collect();
            let body = request.into_body();
            let bytes = Bytes::copy_from_slice(body.as_bytes().expect("a whole body"));
            let told = WebhookRequest { method: "POST".into(), path, headers, body: bytes, at: Timestamp(0) };
            let _ = calls.send(told);
            Ok(axum::http::Response::new(reqwest::Body::from("")))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_registered_webhook_is_called_until_it_answers() {
    let (calls, mut called) = tokio::sync::mpsc::unbounded_channel();
    let hooked = Http::in_process(Arc::new(Hooked { failures: Mutex::new(3), calls }));
    let clock = Arc::new(sb_channel::net::ManualClock::at(Timestamp(1_796_000_000_000)));
    let platform = TelegramStandIn::new(clock, standin::TOKEN).calling(hooked);
    let bot =
        (sb_channels::telegram::KIND.open)(context(platform.http(), true), &settings(platform.settings()));
    let bot = bot.expect("a bot");
    let ann = platform.person("Ann");
    let chat = platform.direct(&ann);
    bot.register(Some("https://example.org/hooks/t")).await.expect("registered");
    platform.say(&chat, &ann, "one");
    platform.say(&chat, &ann, "two");
    let Inlet::Webhook(hook) = bot.inlet() else { panic!("by webhook") };
    for text in ["one", "two"] {
        let call = called.recv().await.expect("a call");
        assert_eq!(call.path, "/hooks/t");
        let Verdict::Take(batch, _) = hook.accept(&call) else { panic!("refused") };
        let [Event::Said(said)] = &batch.events[..] else { panic!("a message") };
        assert_eq!(said.text, text);
    }
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(platform.waiting(), 0);
    bot.register(None).await.expect("taken off");
    platform.say(&chat, &ann, "three");
    tokio::time::sleep(std::time::Duration::from_secs(600)).await;
    assert!(called.try_recv().is_err());
    assert_eq!(platform.waiting(), 1);
}

//! WhatsApp, by the adapter and the imitated platform, in process.

mod faults;
mod files;
mod fixtures;
mod reported;
mod rules;
mod sending;
mod settings;
mod webhook;

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use sb_channel::model::Timestamp;
use sb_channel::net::{Answering, Http, ManualClock, Service};
use sb_channel::standin::StandIn;
use sb_channel::{Channel, Inlet, Verdict, WebhookRequest, signed_hex};
use sb_channels::whatsapp::{KIND, standin};
use serde_json::Value;

use crate::telegram::{context, settings as values};

/// When it is.
pub const NOW: Timestamp = Timestamp(1_796_000_000_000);

/// A number and the platform it is on.
pub struct World {
    pub clock: Arc<ManualClock>,
    pub platform: Arc<dyn StandIn>,
    pub number: Arc<dyn Channel>,
}

pub fn world() -> World {
    let clock = Arc::new(ManualClock::at(NOW));
    let platform = standin::open(clock.clone(), None);
    let number = by(platform.http(), &platform);
    World { clock, platform, number }
}

/// The number, by another way than straight to the platform.
pub fn by(http: Http, platform: &Arc<dyn StandIn>) -> Arc<dyn Channel> {
    (KIND.open)(context(http, true), &values(platform.settings())).expect("a number")
}

/// What the webhook makes of a body that Meta has signed.
pub fn told(number: &Arc<dyn Channel>, body: &str) -> Verdict {
    accept(number, &signed(body, &format!("sha256={}", signed_hex(standin::APP_SECRET, body.as_bytes()))))
}

pub fn accept(number: &Arc<dyn Channel>, request: &WebhookRequest) -> Verdict {
    let Inlet::Webhook(hook) = number.inlet() else { panic!("by webhook") };
    hook.accept(request)
}

pub fn signed(body: &str, signature: &str) -> WebhookRequest {
    WebhookRequest {
        method: "POST".into(),
        path: String::new(),
        headers: vec![("x-hub-signature-256".into(), signature.into())],
        body: Bytes::from(body.to_owned()),
        at: NOW,
    }
}

/// A request as it was made.
#[derive(Debug, Clone)]
pub struct Asked {
    pub path: String,
    pub authorization: String,
    pub body: Value,
}

/// A server that answers everything alike and keeps what it was asked.
#[derive(Clone)]
pub struct Recorder {
    pub status: u16,
    pub answer: String,
    pub asked: Arc<Mutex<Vec<Asked>>>,
}

impl Recorder {
    pub fn answering(status: u16, answer: &Value) -> Self {
        Self { status, answer: answer.to_string(), asked: Arc::default() }
    }
    pub fn http(&self) -> Http {
        Http::in_process(Arc::new(self.clone()))
    }
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("unpoisoned").clone()
    }
}

impl Service for Recorder {
    fn call(&self, request: axum::http::Request<reqwest::Body>) -> Answering {
        let authorization = request.headers().get("authorization");
        let authorization = authorization.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let body = request.body().as_bytes().unwrap_or_default();
        self.asked.lock().expect("unpoisoned").push(Asked {
            path: request.uri().to_string(),
            authorization: authorization.to_owned(),
            body: serde_json::from_slice(body).unwrap_or_default(),
        });
        let response = axum::http::Response::builder().status(self.status);
        let response = response.body(reqwest::Body::from(self.answer.clone())).expect("a response");
        Box::pin(async move { Ok(response) })
    }
}

//! WhatsApp, by Meta's Cloud API: the number of a business.
//!
//! Translates and nothing else: [`hook`] judges Meta's calls, [`parse`] and [`content`] read them,
//! [`outgoing`] writes messages, [`media`] moves files, [`faults`] sorts refusals, [`facts`] says what the
//! platform can. A success means that a message was taken; what became of it is told later, by the
//! attempt's key ([`Event::Reported`](sb_channel::Event::Reported)).

mod content;
mod facts;
mod faults;
mod hook;
mod media;
mod outgoing;
mod parse;
mod query;
#[cfg(feature = "standins")]
pub mod standin;
mod wire;

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use sb_channel::model::{Chat, FaultKind, FileRef, MessageRef, Secret};
use sb_channel::net::Http;
use sb_channel::{
    Account, Attempt, Channel, ChannelContext, Event, Features, Gesture, Inlet, JsonApi, Kind, Mark, Piece,
    Result, Settings,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncWrite;

use self::faults::refused;
use self::hook::Hook;
use self::parse::Us;

/// This kind of messenger.
pub const KIND: Kind = Kind { manifest: facts::manifest, open };

/// Where the Graph API is, and its version, unless the settings say otherwise.
const API: &str = "https://graph.facebook.com";
const VERSION: &str = "v26.0";

/// One number of a business.
struct WhatsApp {
    http: Http,
    api: JsonApi,
    /// The API's address without its version.
    root: String,
    token: Secret,
    phone_number_id: String,
    account_id: String,
    number: Number,
    hook: Hook,
}

/// What is known of us, as it becomes known.
#[derive(Clone)]
struct Number(Arc<RwLock<Us>>);

impl Number {
    fn known(&self) -> Us {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
    fn is_called(&self, name: Option<String>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).name = name;
    }
}

/// What was put into a chat.
#[derive(Deserialize)]
struct Sent {
    messages: Vec<SentMessage>,
}

#[derive(Deserialize)]
struct SentMessage {
    id: String,
}

fn open(context: ChannelContext, settings: &Settings) -> Result<Arc<dyn Channel>> {
    let id = |field: &'static str| {
        let value = settings.needed(field)?.expose();
        match value.bytes().all(|b| b.is_ascii_digit()) {
            true => Ok(value.to_owned()),
            false => Err(refused(format!("`{field}` is a number of Meta's, such as 106540352242922"))),
        }
    };
    let (phone_number_id, account_id) = (id("phone_number_id")?, id("account_id")?);
    let token = settings.needed("token")?.clone();
    let (app_secret, verify_token) = (settings.needed("app_secret")?, settings.needed("verify_token")?);
    if app_secret.expose() == verify_token.expose() {
        return Err(refused("`verify_token` is shown in calls, so it must not be the app secret"));
    }
    let version = settings.text("version").unwrap_or(VERSION);
    if !is_version(version) {
        return Err(refused(format!("`version` is one of the Graph API, such as {VERSION}")));
    }
    let root = settings.api_url(API);
    let api = JsonApi::new(context.http.clone(), format!("{root}/{version}"))
        .with_secret("authorization", "Bearer ", &token)
        .refusing(faults::meaning);
    let us = Us { phone_number_id: phone_number_id.clone(), name: None };
    let number = Number(Arc::new(RwLock::new(us)));
    let hook =
        Hook { number: number.clone(), app_secret: app_secret.clone(), verify_token: verify_token.clone() };
    let http = context.http;
    Ok(Arc::new(WhatsApp { http, api, root, token, phone_number_id, account_id, number, hook }))
}

/// Whether it is `v`, a number, a dot and a number.
fn is_version(text: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.strip_prefix('v')
        .and_then(|rest| rest.split_once('.'))
        .is_some_and(|(major, minor)| number(major) && number(minor))
}

impl WhatsApp {
    async fn post(&self, message: Value) -> Result<Value> {
        self.api.post(&format!("{}/messages", self.phone_number_id), message).await
    }

    /// Puts a message into a chat.
    async fn put(&self, message: Value) -> Result<MessageRef> {
        let sent = self.post(message).await.map_err(faults::of_send)?;
        let sent = Sent::deserialize(&sent).ok().and_then(|sent| sent.messages.into_iter().next());
        let garbled = || {
            let mut fault = refused("its answer names no message");
            (fault.kind, fault.maybe_done) = (FaultKind::Garbled, true);
            fault
        };
        sent.map(|sent| MessageRef(sent.id)).ok_or_else(garbled)
    }
}

#[async_trait]
impl Channel for WhatsApp {
    async fn check(&self) -> Result<Account> {
        let path = format!("{}?fields={}", self.phone_number_id, facts::ASKED);
        let told: facts::Told = self.api.get(&path).await?;
        self.number.is_called(told.verified_name.clone());
        Ok(facts::account(&self.phone_number_id, &told))
    }

    fn features(&self, chat: &Chat) -> Features {
        facts::features(chat.sort)
    }

    fn inlet(&self) -> Inlet<'_> {
        Inlet::Webhook(&self.hook)
    }

    async fn send(&self, to: &Chat, piece: Piece<'_>, attempt: &Attempt) -> Result<MessageRef> {
        let (answers, (sort, content)) = match piece {
            Piece::Text { words, choices, answers } => (answers, outgoing::words(to, words, choices)),
            Piece::Files { files: [file], caption, answers } => {
                let id = self.upload(file).await?;
                (answers, outgoing::file(file, &id, caption))
            }
            Piece::Files { .. } => return Err(refused("a message holds one file")),
        };
        self.put(outgoing::message(to, answers, attempt, sort, content)).await
    }

    async fn gesture(&self, to: &Chat, gesture: Gesture<'_>) -> Result<()> {
        let body = match gesture {
            Gesture::Mark(at, Some(Mark::Taken)) => outgoing::read(at, false),
            Gesture::Mark(at, Some(Mark::Failed)) => outgoing::reaction(to, at, facts::FAILED),
            // What was read stays so; a press shows that it was taken by itself; and that we are at work is shown on
            // a message ([`Channel::work_on`]), until our next one.
            Gesture::Mark(_, None) | Gesture::Heard(_) | Gesture::Typing(_) => return Ok(()),
        };
        self.post(body).await.map(drop)
    }

    async fn work_on(&self, _: &Chat, message: &MessageRef) -> Result<()> {
        self.post(outgoing::read(message, true)).await.map(drop)
    }

    async fn fetch(
        &self,
        file: &FileRef,
        into: &mut (dyn AsyncWrite + Unpin + Send),
        most: u64,
    ) -> Result<u64> {
        self.pour(file, into, most).await
    }

    fn read_again(&self, raw: &str) -> Option<Event> {
        let change = serde_json::from_str(raw).ok()?;
        let event = parse::change(&change, &self.number.known(), None).into_iter().next();
        event.filter(|event| !matches!(event, Event::Unknown { .. }))
    }

    /// Has the account's events sent to us, and not to the address of the whole app.
    async fn register(&self, url: Option<&str>) -> Result<()> {
        let with = match url {
            Some(url) => json!({
                "override_callback_uri": url,
                "verify_token": self.hook.verify_token.expose(),
            }),
            None => json!({}),
        };
        self.api.post::<Value>(&format!("{}/subscribed_apps", self.account_id), with).await.map(drop)
    }
}

//! Requests to the Bot API.
//!
//! The token is part of every address, so an address is a [`Secret`] from the moment it is made.
//! A call gives the platform's `result` or a fault; nothing is tried twice here.

use std::time::Duration;

use sb_channel::Result;
use sb_channel::model::{Fault, FaultKind, Secret};
use sb_channel::net::{Content, Http, Method, Part, Request};
use serde::Deserialize;
use serde_json::Value;
use tokio::io::AsyncWrite;

use super::faults::{self, About};

/// Where calls go: the address up to the method, which holds the token.
pub(super) struct Api {
    http: Http,
    calls: Secret,
    files: Secret,
}

/// An answer that is a success.
#[derive(Deserialize)]
struct Answer {
    ok: Option<bool>,
    result: Option<Value>,
}

/// How long an upload may stay without an answer.
const UPLOAD: Duration = Duration::from_secs(120);
/// How long the platform holds a poll open, in seconds, and how long it is waited for.
pub(super) const POLL_S: u64 = 50;
pub(super) const POLL_PATIENCE: Duration = Duration::from_secs(65);

impl Api {
    /// `root` without a slash at its end. The token must be one ([`is_token`]): it becomes part of a path.
    pub(super) fn new(http: Http, root: &str, token: &Secret) -> Self {
        let token = token.expose();
        let (calls, files) = (format!("{root}/bot{token}/"), format!("{root}/file/bot{token}/"));
        Self { http, calls: Secret::new(calls), files: Secret::new(files) }
    }

    /// Calls a method with a JSON object.
    pub(super) async fn call(&self, method: &str, about: About, with: Value) -> Result<Value> {
        self.ask(method, about, Content::Json(with.to_string().into()), None).await
    }

    /// Waits for updates for as long as the platform keeps the poll open.
    pub(super) async fn poll(&self, with: Value) -> Result<Value> {
        let content = Content::Json(with.to_string().into());
        self.ask("getUpdates", About::Account, content, Some(POLL_PATIENCE)).await
    }

    /// Calls a method about a chat with fields and files.
    pub(super) async fn upload(&self, method: &str, parts: Vec<Part>) -> Result<Value> {
        self.ask(method, About::Chat, Content::Parts(parts), Some(UPLOAD)).await
    }

    /// Pours a file that the platform has laid at `path`.
    pub(super) async fn pour(
        &self,
        path: &str,
        into: &mut (dyn AsyncWrite + Unpin + Send),
        most: u64,
    ) -> Result<u64> {
        let url = Secret::new(format!("{}{path}", self.files.expose()));
        self.http.pour(Request::new(Method::Get, url, Content::Nothing), into, most).await
    }

    async fn ask(
        &self,
        method: &str,
        about: About,
        content: Content,
        patience: Option<Duration>,
    ) -> Result<Value> {
        let url = Secret::new(format!("{}{method}", self.calls.expose()));
        let mut request = Request::new(Method::Post, url, content);
        if let Some(patience) = patience {
            request = request.patient_for(patience);
        }
        let reply = self.http.send(request).await?;
        if !reply.is_success() {
            return Err(faults::of(&reply, about));
        }
        match serde_json::from_slice(&reply.body) {
            Ok(Answer { ok: Some(true), result: Some(result) }) => Ok(result),
            _ => Err(reply.garbled("an answer of the Bot API")),
        }
    }
}

/// Whether it has the form of a token: `<number>:<letters, digits, - and _>`.
pub(super) fn is_token(token: &str) -> bool {
    let all = |text: &str, allowed: fn(u8) -> bool| !text.is_empty() && text.bytes().all(allowed);
    token.split_once(':').is_some_and(|(bot, secret)| {
        all(bot, |b| b.is_ascii_digit()) && all(secret, |b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    })
}

/// Reads a `result` as what it should be.
pub(super) fn read<T: serde::de::DeserializeOwned>(result: Value, what: &str) -> Result<T> {
    serde_json::from_value(result).map_err(|_| Fault {
        maybe_done: true,
        ..faults::local(FaultKind::Garbled, &format!("its answer is not {what}"))
    })
}

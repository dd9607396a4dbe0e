//! Requests to Discord's HTTP API.
//!
//! One request each: nothing is tried twice here. What Discord says of its limits with each answer is kept, and
//! a request that it would refuse for them is not made: enough refusals close the API to a whole address.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sb_channel::Result;
use sb_channel::model::{Clock, FaultKind, Secret};
use sb_channel::net::{Content, Http, Method, Request};
use serde_json::Value;
use tokio::io::AsyncWrite;

use super::faults::{self, About};
use super::limits::{Limits, Route};

/// How we say who asks; without it, Discord's gates stay shut.
const WHO: &str = concat!("DiscordBot (https://localhost, ", env!("CARGO_PKG_VERSION"), ")");
/// How long an upload may stay without an answer.
const UPLOAD: Duration = Duration::from_secs(120);
/// An interaction that is not answered by then has failed, as Discord shows it.
const ANSWERS_WITHIN: Duration = Duration::from_secs(3);
/// Where Discord keeps files.
const FILES: [&str; 2] = ["https://cdn.discordapp.com/", "https://media.discordapp.net/"];

pub(super) struct Api {
    pub http: Http,
    root: String,
    pub token: Secret,
    clock: Arc<dyn Clock>,
    limits: Mutex<Limits>,
}

impl Api {
    /// `root` without a slash at its end; the API is below it.
    pub(super) fn new(http: Http, root: String, token: Secret, clock: Arc<dyn Clock>) -> Self {
        Self { http, root, token, clock, limits: Mutex::default() }
    }

    /// Whether such a gateway may be told the token: not in the open where the API is not.
    pub(super) fn may_listen_at(&self, url: &str) -> bool {
        url.starts_with("wss://") || (url.starts_with("ws://") && self.root.starts_with("http://"))
    }

    pub(super) async fn get(&self, path: &str, about: About) -> Result<Value> {
        self.ask(Method::Get, path, about, Content::Nothing).await
    }

    /// Asks with a document.
    pub(super) async fn call(&self, method: Method, path: &str, about: About, with: Value) -> Result<Value> {
        self.ask(method, path, about, Content::Json(with.to_string().into())).await
    }

    /// Asks for anything; an answer without a body is `null`.
    pub(super) async fn ask(&self, how: Method, path: &str, about: About, with: Content) -> Result<Value> {
        let route = Route::of(how, path);
        if let Some((ms, of_all)) = self.limits(|limits| limits.wait(&route, self.clock.now())) {
            let kind = match about {
                About::Chat { .. } if !of_all => FaultKind::ChatBusy { wait_ms: Some(ms) },
                _ => FaultKind::Passing { wait_ms: Some(ms) },
            };
            return Err(faults::local(kind, &format!("its limit is reached for another {ms} ms")));
        }
        let is_upload = matches!(with, Content::Parts(_));
        let mut request = self.request(how, path, with);
        if is_upload {
            request = request.patient_for(UPLOAD);
        }
        request.secret_headers.push(("authorization", "Bot ", self.token.clone()));
        let reply = self.http.send(request).await?;
        self.limits(|limits| limits.note(&route, &reply, self.clock.now()));
        match reply.is_success() {
            true if reply.body.is_empty() => Ok(Value::Null),
            true => serde_json::from_slice(&reply.body).map_err(|_| reply.garbled("what was asked for")),
            false => Err(faults::of(&reply, about)),
        }
    }

    /// Answers an interaction, named `id/token`. It is vouched for by its own token, and has no part in our limits.
    pub(super) async fn answer(&self, interaction: &str, with: Value) -> Result<()> {
        let path = format!("interactions/{interaction}/callback");
        let request = self.request(Method::Post, &path, Content::Json(with.to_string().into()));
        let reply = self.http.send(request.patient_for(ANSWERS_WITHIN)).await?;
        if reply.is_success() { Ok(()) } else { Err(faults::of(&reply, About::Chat { thread: false })) }
    }

    /// Pours a file that lies at one of Discord's own addresses.
    pub(super) async fn pour(
        &self,
        url: &str,
        into: &mut (dyn AsyncWrite + Unpin + Send),
        most: u64,
    ) -> Result<u64> {
        let own = format!("{}/", self.root);
        if !FILES.into_iter().chain([own.as_str()]).any(|place| url.starts_with(place)) {
            return Err(faults::refused("the file does not lie on Discord"));
        }
        self.http.pour(Request::new(Method::Get, Secret::new(url), Content::Nothing), into, most).await
    }

    fn request(&self, how: Method, path: &str, with: Content) -> Request {
        let mut request = Request::new(how, Secret::new(format!("{}/api/v10/{path}", self.root)), with);
        request.headers.push(("user-agent", WHO.to_owned()));
        request
    }

    fn limits<T>(&self, with: impl FnOnce(&mut Limits) -> T) -> T {
        with(&mut self.limits.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

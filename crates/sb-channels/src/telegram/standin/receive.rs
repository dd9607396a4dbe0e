//! How the bot is told: `getUpdates`, which really waits, and the webhook, which really calls.

use std::sync::{Arc, Weak};
use std::time::Duration;

use sb_channel::model::Secret;
use sb_channel::net::{Content, Http, Method, Request};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::Shared;
use super::params::{Params, Refusal};
use super::platform::{Hook, Platform};

const HEADER: &str = "x-telegram-bot-api-secret-token";
/// The longest that a poll is held, in seconds.
const LONGEST_POLL_S: i64 = 50;
/// Waits between two tries of a webhook's call, in seconds.
const LONGEST_WAIT_S: u64 = 60;
const BY_OTHER: &str =
    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
const BY_HOOK: &str = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";

/// `getUpdates`: waits until there is an update or the time is up.
pub(super) async fn get_updates(shared: &Shared, params: &Params) -> Result<Value, Refusal> {
    let wait = params.int("timeout").unwrap_or_default().clamp(0, LONGEST_POLL_S);
    let limit = usize::try_from(params.int("limit").unwrap_or(100).clamp(1, 100)).unwrap_or(100);
    let until = Instant::now() + Duration::from_secs(wait.unsigned_abs());
    let mut changed = shared.changes();
    // This tells an older poll, which ends.
    let (mine, drops) = shared.with(|platform| platform.begin_poll(params))?;
    loop {
        let found = shared.look(|platform| {
            if platform.drops != drops {
                return Err(Refusal::lost());
            }
            if platform.polls != mine {
                return Err(Refusal::new(409, BY_OTHER));
            }
            Ok(platform.updates.iter().take(limit).map(|update| update.body.clone()).collect::<Vec<_>>())
        })?;
        if !found.is_empty() || Instant::now() >= until {
            return Ok(found.into());
        }
        tokio::select! {
            _ = changed.changed() => {}
            () = tokio::time::sleep_until(until) => {}
        }
    }
}

impl Platform {
    /// A poll begins: what it says it has is forgotten. Its number, and that of the last break.
    fn begin_poll(&mut self, params: &Params) -> Result<(u64, u64), Refusal> {
        if self.hook.is_some() {
            return Err(Refusal::new(409, BY_HOOK));
        }
        self.allow(params)?;
        self.age();
        match params.int("offset").unwrap_or_default() {
            0 => {}
            last if last < 0 => {
                let kept = usize::try_from(last.unsigned_abs()).unwrap_or(usize::MAX).min(self.updates.len());
                self.updates.drain(..self.updates.len() - kept);
            }
            from => self.updates.retain(|update| update.id >= from),
        }
        self.polls += 1;
        Ok((self.polls, self.drops))
    }

    /// The kinds of updates asked for stay so until others are.
    fn allow(&mut self, params: &Params) -> Result<(), Refusal> {
        if params.json("allowed_updates")?.is_some() {
            let kinds = params.list("allowed_updates")?;
            self.allowed = kinds.iter().filter_map(|kind| kind.as_str().map(ToOwned::to_owned)).collect();
        }
        Ok(())
    }
}

/// `setWebhook`.
pub(super) fn set_webhook(shared: &Arc<Shared>, params: &Params) -> Result<Value, Refusal> {
    let url = params.text("url").unwrap_or_default().to_owned();
    if url.is_empty() {
        return delete_webhook(shared, params);
    }
    if !url.starts_with("https://") && !url.starts_with("http://") {
        return Err(Refusal::bad("bad webhook: An HTTPS URL must be provided for webhook"));
    }
    let secret = params.text("secret_token");
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
    if secret.is_some_and(|secret| secret.len() > 256 || !secret.bytes().all(allowed)) {
        return Err(Refusal::bad("secret token contains unallowed characters"));
    }
    let secret = secret.map(Secret::new);
    let number = shared.with(|platform| {
        platform.allow(params)?;
        if params.flag("drop_pending_updates") {
            platform.updates.clear();
        }
        let number = platform.next();
        platform.hook = Some(Hook { url, secret, number, last_error: None });
        Ok::<_, Refusal>(number)
    })?;
    if let Some(outside) = shared.outside.get().cloned() {
        tokio::spawn(deliver(Arc::downgrade(shared), shared.changes(), outside, number));
    }
    Ok(true.into())
}

/// `deleteWebhook`.
pub(super) fn delete_webhook(shared: &Shared, params: &Params) -> Result<Value, Refusal> {
    shared.with(|platform| {
        platform.hook = None;
        if params.flag("drop_pending_updates") {
            platform.updates.clear();
        }
    });
    Ok(true.into())
}

/// Calls the webhook for one update after another until it is another one's turn; a failed call is repeated.
async fn deliver(shared: Weak<Shared>, mut changed: watch::Receiver<u64>, outside: Http, number: i64) {
    let mut wait = Duration::ZERO;
    loop {
        let Some(here) = shared.upgrade() else { return };
        let Some(hook) = here.look(|platform| platform.hook.clone()).filter(|hook| hook.number == number)
        else {
            return;
        };
        let next =
            here.look(|platform| platform.updates.front().map(|update| (update.id, update.body.to_string())));
        drop(here);
        let Some((id, body)) = next else {
            if changed.changed().await.is_err() {
                return;
            }
            continue;
        };
        tokio::time::sleep(wait).await;
        let mut request = Request::new(Method::Post, Secret::new(hook.url), Content::Json(body.into()));
        request.secret_headers.extend(hook.secret.map(|secret| (HEADER, "", secret)));
        let answered = outside.send(request).await;
        let Some(here) = shared.upgrade() else { return };
        let failed = match answered {
            Ok(reply) if reply.is_success() => None,
            Ok(reply) => Some(format!("Wrong response from the webhook: {}", reply.status)),
            Err(fault) => Some(fault.detail),
        };
        // The first time again at once, then after 2, 4, 8 … seconds.
        wait = match &failed {
            None => Duration::ZERO,
            Some(_) => (wait * 2).clamp(Duration::from_secs(1), Duration::from_secs(LONGEST_WAIT_S)),
        };
        here.with(|platform| {
            if failed.is_none() {
                platform.updates.retain(|update| update.id != id);
            }
            if let Some(hook) = platform.hook.as_mut().filter(|hook| hook.number == number) {
                hook.last_error = failed;
            }
        });
    }
}

impl super::TelegramStandIn {
    /// The platform tells of something, whatever the bot asked for: `body` is JSON.
    pub fn tell_raw(&self, kind: &str, body: &str) {
        let body = serde_json::from_str(body).unwrap_or_default();
        self.shared.with(|platform| {
            platform.allowed.clear();
            platform.tell(kind, body);
        });
    }
}

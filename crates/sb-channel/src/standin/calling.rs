//! How a platform calls our webhook: one update after another, again with growing waits until it is answered
//! with a success.
//!
//! Where it calls and how it signs is the platform's own ([`MakeCall`]); what waits, and what goes wrong on
//! purpose, is the kit's. Dropped at any moment, it loses nothing: the same update is told the next time.

use std::pin::Pin;
use std::time::Duration;

use sb_net::model::Secret;
use sb_net::{Http, Request};
use serde_json::Value;

use super::Platform;
use super::state::Calls;

/// A platform's calls for as long as it is polled.
pub type Calling = Pin<Box<dyn Future<Output = ()> + Send>>;
/// The call by which an update is told; none while the platform was not told where to call.
pub type MakeCall = fn(&Platform, &Value) -> Option<Request>;

/// Waits between two tries.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

impl Platform {
    /// One that calls: `make` is how.
    #[must_use]
    pub fn that_calls(self, make: MakeCall) -> Self {
        self.change(|state| state.make_call = Some(make));
        self
    }

    /// One on which files that are sent together are messages of their own, and nothing says that they belong
    /// together.
    #[must_use]
    pub fn without_albums(self) -> Self {
        self.change(|state| state.no_albums = true);
        self
    }

    /// One whose messages have ids that begin so.
    #[must_use]
    pub fn with_message_ids(self, begin: &'static str) -> Self {
        self.change(|state| state.message_ids = Some(begin));
        self
    }

    /// What it calls with, once it calls.
    pub fn outside(&self) -> Option<Http> {
        self.look(|state| state.outside.clone())
    }

    /// Keeps what it was told, such as where to call; an empty value is none.
    pub fn keep(&self, name: &'static str, value: &str) {
        self.change(|state| state.kept.insert(name, Secret::new(value)));
    }
    pub fn kept(&self, name: &str) -> Option<Secret> {
        self.look(|state| state.kept.get(name).filter(|value| !value.expose().is_empty()).cloned())
    }

    /// Tells of something that nobody did here, such as what became of a message of ours. It counts as no update that
    /// waits.
    pub fn tell_aside(&self, update: Value) {
        self.change(|state| state.put_aside(update));
    }

    /// Calls until it is dropped.
    pub(super) async fn call_on(self, outside: Http, make: MakeCall) {
        self.change(|state| state.outside = Some(outside.clone()));
        let mut changed = self.changes();
        let mut wait = Duration::ZERO;
        loop {
            let next = self.look(|state| {
                let aside = state.asides.front().map(|update| (None, update.clone()));
                let first = state.page().updates.into_iter().next();
                aside.or_else(|| Some((Some(state.forgotten() + 1), first?)))
            });
            let call = next.and_then(|(number, update)| Some((number, make(&self, &update)?)));
            let Some((number, call)) = call else {
                if changed.changed().await.is_err() {
                    return;
                }
                continue;
            };
            tokio::time::sleep(wait).await;
            let planned = self.change(|state| state.breaks(Calls::Polls));
            let answered = match planned {
                Err(_) => false,
                Ok(lost) => {
                    let reply = outside.send(call).await;
                    lost.is_none() && reply.is_ok_and(|reply| reply.is_success())
                }
            };
            wait = match answered {
                true => Duration::ZERO,
                false => (wait * 2).clamp(FIRST_WAIT, LONGEST_WAIT),
            };
            if answered {
                self.change(|state| match number {
                    Some(number) => state.forget(number),
                    None => drop(state.asides.pop_front()),
                });
            }
        }
    }
}

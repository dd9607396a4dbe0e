//! Discord's limits, as its answers tell them.
//!
//! Each route belongs to a bucket, named in the answer; a bucket counts apart for each channel. Nothing is known
//! beforehand and nothing is counted here: an answer says when its bucket is empty, and for how long.

use std::collections::BTreeMap;

use sb_channel::model::Timestamp;
use sb_channel::net::{Method, Reply};
use serde_json::Value;

/// Routes and empty buckets that are remembered.
const MOST: usize = 4_000;
/// Nobody is told to wait longer than a day.
const LONGEST_MS: f64 = 24.0 * 60.0 * 60.0 * 1000.0;

/// See the module.
#[derive(Default)]
pub(super) struct Limits {
    /// The bucket of a route.
    buckets: BTreeMap<String, String>,
    /// When an empty bucket of a channel is filled again.
    empty: BTreeMap<(String, String), Timestamp>,
    /// When anything may be asked again.
    all: Timestamp,
}

/// What is asked, its ids and emoji taken out, and the first of its ids, for which its bucket counts.
pub(super) struct Route(String, String);

impl Route {
    pub(super) fn of(method: Method, path: &str) -> Self {
        let is_id = |part: &&str| part.bytes().all(|b| b.is_ascii_digit());
        let parts = path.split('?').next().unwrap_or_default().split('/');
        let first = parts.clone().find(is_id).unwrap_or_default().to_owned();
        let named = parts.map(|part| if is_id(&part) || part.contains('%') { "*" } else { part });
        Self(format!("{method:?} {}", named.collect::<Vec<_>>().join("/")), first)
    }
}

impl Limits {
    /// For how many milliseconds this is not to be asked yet, and whether nothing else is either.
    pub(super) fn wait(&self, route: &Route, now: Timestamp) -> Option<(u64, bool)> {
        let rest = |until: Timestamp| u64::try_from(until.ms_since(now)).ok().filter(|ms| *ms > 0);
        let own = || rest(*self.empty.get(&self.bucket(route))?);
        rest(self.all).map(|ms| (ms, true)).or_else(|| Some((own()?, false)))
    }

    /// Notes what an answer says of the limits.
    pub(super) fn note(&mut self, route: &Route, reply: &Reply, now: Timestamp) {
        if let Some(bucket) = reply.header("x-ratelimit-bucket") {
            if self.buckets.len() >= MOST {
                self.buckets.clear();
            }
            self.buckets.insert(route.0.clone(), bucket.to_owned());
        }
        let number = |name: &str| reply.header(name).and_then(|value| value.parse::<f64>().ok());
        if reply.status == 429 {
            let said: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
            let seconds = said["retry_after"].as_f64().or_else(|| number("retry-after"));
            let until = now.plus_ms(milliseconds(seconds.unwrap_or_default()) as i64);
            // A gate before Discord, which shuts out a whole address, says nothing of the sort.
            match said["global"] == false && reply.header("x-ratelimit-global").is_none() {
                true => self.is_empty(route, until, now),
                false => self.all = until,
            }
        } else if number("x-ratelimit-remaining") == Some(0.0)
            && let Some(seconds) = number("x-ratelimit-reset-after")
        {
            self.is_empty(route, now.plus_ms(milliseconds(seconds) as i64), now);
        }
    }

    fn is_empty(&mut self, route: &Route, until: Timestamp, now: Timestamp) {
        if self.empty.len() >= MOST {
            self.empty.retain(|_, until| until.ms_since(now) > 0);
        }
        if self.empty.len() < MOST {
            self.empty.insert(self.bucket(route), until);
        }
    }

    fn bucket(&self, Route(name, of): &Route) -> (String, String) {
        (self.buckets.get(name).unwrap_or(name).clone(), of.clone())
    }
}

/// A wait that Discord asks for in seconds.
pub(super) fn milliseconds(seconds: f64) -> u64 {
    if seconds.is_finite() { (seconds * 1000.0).clamp(0.0, LONGEST_MS).ceil() as u64 } else { 0 }
}

//! What the stand-ins remember: requests, hang-ups, and how they are to misbehave.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::http::HeaderMap;
use sb_harness::FailKind;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// One request as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    pub path: String,
    /// Without those that hold keys.
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

/// How an OpenAI-compatible server differs from OpenAI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quirks {
    /// A request with `stream_options` is refused.
    pub refuses_stream_options: bool,
    /// Calls come whole, without an index, with empty ids, and the answer ends with `stop`.
    pub odd_calls: bool,
    /// Usage stands in the last choice's chunk instead of one of its own.
    pub usage_with_choice: bool,
    /// The stream has no end mark.
    pub no_done: bool,
    /// What is asked to be streamed comes whole.
    pub never_streams: bool,
    /// Bytes come in pieces of this many, wherever that cuts; 0: an event each.
    pub piece: usize,
    /// Lines end in CR LF, and comments come between events.
    pub crlf: bool,
}

/// A failure to come.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub kind: FailKind,
    pub headers: Vec<(String, String)>,
}

#[derive(Debug, Default)]
struct Inner {
    seen: Vec<Seen>,
    failures: VecDeque<Planned>,
    midway: VecDeque<FailKind>,
    quirks: Quirks,
    answers: u64,
}

/// The memory both stand-ins share; clones are the same.
#[derive(Debug, Clone)]
pub struct Models {
    inner: Arc<Mutex<Inner>>,
    hangups: watch::Sender<usize>,
}

impl Default for Models {
    fn default() -> Self {
        Self { inner: Arc::default(), hangups: watch::Sender::new(0) }
    }
}

impl Models {
    /// Serves the stand-ins on a free port of this machine until the runtime ends.
    ///
    /// # Errors
    /// If no port can be had.
    pub async fn serve(&self) -> std::io::Result<SocketAddr> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let router = super::router(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(address)
    }

    /// All requests so far, refused ones too.
    pub fn requests(&self) -> Vec<Seen> {
        self.lock().seen.clone()
    }
    /// Forgets the requests and what is planned.
    pub fn forget(&self) {
        let mut inner = self.lock();
        inner.seen.clear();
        inner.failures.clear();
        inner.midway.clear();
    }
    /// The next so many requests fail this way before their first byte, with these headers.
    pub fn fail_next(&self, kind: FailKind, times: usize, headers: &[(&str, &str)]) {
        let headers: Vec<_> = headers.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        self.lock().failures.extend((0..times).map(|_| Planned { kind, headers: headers.clone() }));
    }
    /// The next answer begins, and then fails this way, whatever its script.
    pub fn break_next(&self, kind: FailKind) {
        self.lock().midway.push_back(kind);
    }
    pub fn set_quirks(&self, quirks: Quirks) {
        self.lock().quirks = quirks;
    }
    /// How many streams the client left before their end.
    pub fn hangups(&self) -> usize {
        *self.hangups.borrow()
    }
    /// Waits until the client has left so many streams before their end.
    pub async fn hung_up(&self, times: usize) {
        // The sender is ours, so this cannot fail.
        let _ = self.hangups.subscribe().wait_for(|n| *n >= times).await;
    }

    pub(super) fn saw(&self, path: &str, headers: &HeaderMap, body: &Value) {
        let shown = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
            let secret = matches!(name.as_str(), "authorization" | "x-api-key");
            (!secret).then(|| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        };
        let headers = headers.iter().filter_map(shown).collect();
        self.lock().seen.push(Seen { path: path.to_owned(), headers, body: body.clone() });
    }
    pub(super) fn next_failure(&self) -> Option<Planned> {
        self.lock().failures.pop_front()
    }
    pub(super) fn next_break(&self) -> Option<FailKind> {
        self.lock().midway.pop_front()
    }
    pub(super) fn quirks(&self) -> Quirks {
        self.lock().quirks
    }
    /// A number no other answer has.
    pub(super) fn next_answer(&self) -> u64 {
        let mut inner = self.lock();
        inner.answers += 1;
        inner.answers
    }
    pub(super) fn count_hangup(&self) {
        self.hangups.send_modify(|n| *n += 1);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

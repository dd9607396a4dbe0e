//! The imitated messenger on a socket, and when each of its calls came and was answered.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

use super::{Messenger, Platform};

/// One call.
#[derive(Debug, Clone)]
pub struct Call {
    pub name: String,
    pub arrived: Instant,
    pub answered: Option<Instant>,
}

type Calls = Arc<Mutex<Vec<Call>>>;

/// The running messenger; its socket closes with it.
pub struct Watched {
    pub platform: Arc<dyn Platform>,
    pub url: String,
    messenger: Messenger,
    calls: Calls,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Watched {
    pub async fn serve(platform: Arc<dyn Platform>, messenger: &Messenger) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
        let calls = Calls::default();
        let router = platform.router().layer(from_fn_with_state(calls.clone(), note));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { platform, url, messenger: messenger.clone(), calls, serving })
    }

    fn calls(&self) -> MutexGuard<'_, Vec<Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn forget(&self) {
        self.calls().retain(|call| call.answered.is_none());
    }

    /// The first call that fetches updates.
    pub fn first_poll(&self) -> Option<Instant> {
        self.calls().iter().find(|call| call.name == self.messenger.poll).map(|call| call.arrived)
    }

    /// Whether somebody waits for updates.
    pub fn is_polled(&self) -> bool {
        self.calls().iter().any(|call| call.name == self.messenger.poll && call.answered.is_none())
    }

    /// When the newest update was handed out, and when something was first said after that.
    pub fn round(&self) -> Option<(Instant, Instant)> {
        let calls = self.calls();
        let said = calls.iter().find(|call| call.name == self.messenger.send)?.arrived;
        let polls = calls.iter().filter(|call| call.name == self.messenger.poll);
        let given = polls.filter_map(|call| call.answered).filter(|at| *at <= said).max()?;
        Some((given, said))
    }

    /// When something was said last.
    pub fn last_said(&self) -> Option<Instant> {
        self.calls().iter().rfind(|call| call.name == self.messenger.send).map(|call| call.arrived)
    }

    /// How often each call was made, the most frequent first.
    pub fn counts(&self) -> Vec<(String, usize)> {
        let mut counts: Vec<(String, usize)> = Vec::new();
        for call in self.calls().iter() {
            match counts.iter_mut().find(|(name, _)| *name == call.name) {
                Some((_, count)) => *count += 1,
                None => counts.push((call.name.clone(), 1)),
            }
        }
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }
}

/// Waits for something, looking often.
pub async fn until<T>(what: &str, patience: Duration, mut look: impl FnMut() -> Option<T>) -> Result<T> {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if begun.elapsed() > patience {
            bail!("{what} never came");
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn note(State(calls): State<Calls>, request: Request, next: Next) -> Response {
    let name = request.uri().path().rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let call = Call { name, arrived: Instant::now(), answered: None };
    let arrived = call.arrived;
    calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    let response = next.run(request).await;
    let now = Instant::now();
    let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(call) = calls.iter_mut().rfind(|call| call.arrived == arrived) {
        call.answered = Some(now);
    }
    response
}

//! What the clients know: each message they sent, and what they were told of it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// One message as its client knows it.
#[derive(Debug, Clone, Default)]
pub(super) struct Page {
    pub body: String,
    /// It does something in the workspace that must happen once.
    pub acts: bool,
    pub acknowledged: bool,
    /// The answer's words, once the last event came.
    pub answered: Option<String>,
    pub session: Option<String>,
}

/// All clients' pages, by the message's name.
#[derive(Default)]
pub(super) struct Book {
    pages: Mutex<BTreeMap<String, Page>>,
    closed: AtomicBool,
}

impl Book {
    pub fn open_page(&self, name: &str, page: Page) {
        self.lock().insert(name.to_owned(), page);
    }
    pub fn note(&self, name: &str, change: impl FnOnce(&mut Page)) {
        if let Some(page) = self.lock().get_mut(name) {
            change(page);
        }
    }
    /// Acknowledged to somebody who still waits for the answer.
    pub fn unanswered(&self) -> usize {
        self.lock().values().filter(|p| p.acknowledged && p.answered.is_none()).count()
    }
    pub fn pages(&self) -> BTreeMap<String, Page> {
        self.lock().clone()
    }
    /// No new messages from now on.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Page>> {
        self.pages.lock().expect("no holder panics")
    }
}

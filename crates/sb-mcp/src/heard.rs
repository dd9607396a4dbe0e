//! What was heard of a server on its connection: how much, what was no MCP, and why it ended.
//!
//! Shared between the reading task and whoever asks how it stands. Only the beginnings of things are kept.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use sb_harness::model::Secret;
use sb_harness::net::redact;

/// Most that a server may send without being asked anything: bytes, and messages.
const FLOOD: u64 = 32 * 1024 * 1024;
const FLOOD_MESSAGES: u64 = 10_000;
/// Most lines that are no MCP before the server is given up.
const GARBAGE: u64 = 100;
/// So many of its last words are kept, and of all it says beside so many go to the log.
const LAST_WORDS: usize = 3;
const LOGGED: u64 = 200;

/// What is known of one connection.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    messages: AtomicU64,
    unasked: AtomicU64,
    unasked_messages: AtomicU64,
    garbage_lines: AtomicU64,
    words: AtomicU64,
    pub tools_changed: AtomicBool,
    garbage: Mutex<Option<String>>,
    fault: Mutex<Option<String>>,
    last_words: Mutex<VecDeque<String>>,
    secrets: Vec<Secret>,
}

impl Heard {
    pub fn new(secrets: Vec<Secret>) -> Self {
        Self { secrets, ..Self::default() }
    }

    /// How many messages came so far.
    pub fn messages(&self) -> u64 {
        self.messages.load(Ordering::Relaxed)
    }

    pub fn message(&self) {
        self.messages.fetch_add(1, Ordering::Relaxed);
    }

    /// Something was asked, so it may answer.
    pub fn asked(&self) {
        self.unasked.store(0, Ordering::Relaxed);
        self.unasked_messages.store(0, Ordering::Relaxed);
    }

    /// A line of so many bytes came; an error once they are a flood.
    pub fn line(&self, count: usize) -> Result<(), ()> {
        let before = self.unasked.fetch_add(count as u64, Ordering::Relaxed);
        let messages = self.unasked_messages.fetch_add(1, Ordering::Relaxed);
        if before + count as u64 <= FLOOD && messages < FLOOD_MESSAGES {
            return Ok(());
        }
        self.fails("it sent more than anybody had asked for");
        Err(())
    }

    /// A line that is no MCP came; an error once there were too many.
    pub fn garbage(&self, line: &[u8]) -> Result<(), ()> {
        let shown = self.fit(&String::from_utf8_lossy(&line[..line.len().min(400)]));
        lock(&self.garbage).get_or_insert(shown);
        if self.garbage_lines.fetch_add(1, Ordering::Relaxed) < GARBAGE {
            return Ok(());
        }
        self.fails("it prints what is no MCP");
        Err(())
    }

    /// It said something beside; gives what of it goes to the log.
    pub fn beside(&self, line: &[u8]) -> Option<String> {
        let shown = self.fit(&String::from_utf8_lossy(line));
        if shown.is_empty() {
            return None;
        }
        let mut last = lock(&self.last_words);
        last.push_back(shown.clone());
        while last.len() > LAST_WORDS {
            last.pop_front();
        }
        match self.words.fetch_add(1, Ordering::Relaxed) {
            n if n < LOGGED => Some(shown),
            LOGGED => Some("(what else it says is not logged)".to_owned()),
            _ => None,
        }
    }

    /// Why the connection ends; the first reason stays.
    pub fn fails(&self, why: &str) {
        lock(&self.fault).get_or_insert(why.to_owned());
    }

    /// Why it ended, in our own words.
    pub fn fault(&self) -> Option<String> {
        lock(&self.fault).clone()
    }

    /// What the operator should see of what it printed.
    pub fn printed(&self) -> String {
        let mut said = String::new();
        if let Some(garbage) = lock(&self.garbage).as_ref() {
            said.push_str(&format!(" It printed what is no MCP: {garbage:?}."));
        }
        let last: Vec<String> = lock(&self.last_words).iter().cloned().collect();
        if !last.is_empty() {
            said.push_str(&format!(" Its last words: {:?}.", last.join(" / ")));
        }
        said
    }

    /// Text of the server's made fit to be shown, without the secrets it was given.
    pub fn fit(&self, text: &str) -> String {
        redact(text, &self.secrets.iter().collect::<Vec<_>>())
    }
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

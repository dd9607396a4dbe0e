//! The line to one agent process: requests with ids of ours, answers to its own.

use std::io;
use std::time::Duration;

use sb_harness::net::Spoken;
use sb_harness::net::child::Exit;
use sb_harness::net::talk::Talk;
use sb_wire::jsonrpc::{self, Failure, Message};
use serde_json::Value;

/// A running agent process.
pub(super) struct Link {
    talk: Talk,
    next: u64,
}

impl Link {
    pub fn start(spoken: &Spoken) -> io::Result<Self> {
        Ok(Self { talk: Talk::start(spoken)?, next: 0 })
    }

    /// Asks for something; the answer comes under the id that is given back. That it is gone shows by [`next`](Self::next).
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = Value::from(self.next);
        self.next += 1;
        self.send(&Message::Request { id: id.clone(), method: method.to_owned(), params }).await;
        id
    }

    pub async fn tell(&self, method: &str, params: Value) {
        self.send(&Message::Notification { method: method.to_owned(), params }).await;
    }

    pub async fn answer(&self, id: Value, result: Result<Value, Failure>) {
        self.send(&Message::Answer { id, result }).await;
    }

    /// The next message; none: it says no more. What is no message is passed over. Cancel-safe.
    pub async fn next(&mut self) -> Option<Message> {
        loop {
            let line = self.talk.next().await?;
            match jsonrpc::read(&line) {
                Some(message) => return Some(message),
                None if line.trim().is_empty() => {}
                None => tracing::debug!(bytes = line.len(), "an agent said something that is no message"),
            }
        }
    }

    /// Whether it has ended by now.
    pub async fn has_ended(&mut self) -> bool {
        self.talk.ended_within(Duration::ZERO).await.is_some()
    }

    /// The end of what it said on its error output.
    pub fn last_words(&self) -> String {
        self.talk.last_words()
    }

    /// How it ended, and its last words.
    pub async fn end(&mut self) -> (Option<Exit>, String) {
        // Its outputs end a moment before it does.
        let exit = self.talk.ended_within(Duration::from_millis(500)).await;
        (exit, self.talk.last_words())
    }

    async fn send(&self, message: &Message) {
        // It is gone; whoever listens next hears that.
        let _ = self.talk.say(jsonrpc::line(message)).await;
    }
}

//! [`Imitated`]: what tells one platform from another, and what goes between it and the kit.

use axum::Router;
use axum::response::Response;
use sb_net::model::{Chat, Person, Timestamp};
use serde_json::Value;

use super::{Breakage, Platform, SeenFile};

/// What tells one platform from another.
#[derive(Clone, Copy)]
pub struct Imitated {
    /// What a channel is configured with, beside `api_url`.
    pub settings: &'static [(&'static str, &'static str)],
    /// The id of the `n`th one, from 1; none where the platform has none. A direct chat has its person's `n`.
    pub ids: fn(Named, u64) -> Option<String>,
    /// Its addresses.
    pub router: fn(Platform) -> Router,
    /// The updates by which it tells of what somebody did; none where nobody can do that.
    pub tell: fn(&Told) -> Vec<Value>,
    /// How it refuses.
    pub refuse: fn(Breakage) -> Response,
}

/// What has an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    Person,
    Direct,
    Group,
}

/// What somebody did, for whom it is to be told.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// `mentions`: it is meant for us. Files are known by [`Platform::file`] under their names here.
    Said {
        id: String,
        chat: Chat,
        person: Person,
        text: String,
        mentions: bool,
        files: Vec<(String, SeenFile)>,
        at: Timestamp,
    },
    /// `on` is our message with the button, `says` what it was posted with. Each press has an id of its own.
    Pressed { id: String, chat: Chat, person: Person, on: String, says: String, at: Timestamp },
    /// Somebody's message says this from now on.
    Edited { id: String, chat: Chat, person: Person, text: String, at: Timestamp },
}

/// What is put into a chat in our name.
#[derive(Debug, Clone, Default)]
pub struct Post {
    pub text: String,
    /// What each button shows, and what pressing it says.
    pub buttons: Vec<(String, String)>,
    pub files: Vec<SeenFile>,
    /// The message it answers.
    pub answers: Option<String>,
    pub thread: Option<String>,
    /// One that was posted there under the same key is that one: a repeat that the platform drops.
    pub key: Option<String>,
}

impl Post {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// What a poll brings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// The number of the last update that was brought or forgotten: the next poll asks for what follows it.
    pub last: u64,
    pub updates: Vec<Value>,
}

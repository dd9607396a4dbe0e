//! A kind of messenger and its facts.

use std::sync::Arc;

use serde::Serialize;

use crate::{Channel, ChannelContext, Features, Result, Settings};

/// A kind of messenger: its facts, and how one of it is opened. No network is used by either.
#[derive(Clone, Copy)]
pub struct Kind {
    pub manifest: fn() -> Manifest,
    /// Opens a configured one. Settings were checked against the manifest's fields; an error is a setting that
    /// cannot be, with what to do.
    pub open: fn(ChannelContext, &Settings) -> Result<Arc<dyn Channel>>,
}

/// A kind of messenger however it comes: built in, or from elsewhere.
pub trait AnyKind: Send + Sync + 'static {
    /// See [`Kind::manifest`].
    fn manifest(&self) -> Manifest;
    /// See [`Kind::open`].
    ///
    /// # Errors
    /// A setting that cannot be.
    fn open(&self, context: ChannelContext, settings: &Settings) -> Result<Arc<dyn Channel>>;
}

impl AnyKind for Kind {
    fn manifest(&self) -> Manifest {
        (self.manifest)()
    }
    fn open(&self, context: ChannelContext, settings: &Settings) -> Result<Arc<dyn Channel>> {
        (self.open)(context, settings)
    }
}

/// The facts of a kind: flags, forms, tables and pages are printed from them.
#[derive(Debug, Clone, Serialize)]
pub struct Manifest {
    /// As people type it: lower-case letters, digits, `-`.
    pub id: &'static str,
    pub label: &'static str,
    /// One sentence.
    pub blurb: &'static str,
    pub fields: Vec<Field>,
    /// In a chat with one person, and with several.
    pub direct: Features,
    pub group: Features,
    /// The ids of people and chats, as `--allow` and `--approvers` take them; a reason if this is none.
    pub id_hint: &'static str,
    /// Whether a text has the form of such an id. Names, which anybody can take, have not.
    #[serde(skip)]
    pub is_id: fn(&str) -> bool,
    /// What its safety rests on.
    pub trust: Vec<Trust>,
    /// What the platform, or we, cannot do; a sentence each.
    pub gaps: Vec<&'static str>,
    pub proof: Proof,
    /// The adapter's own page: how to set it up, and its quirks. Markdown.
    #[serde(skip)]
    pub page: &'static str,
}

impl Manifest {
    /// The features in such a chat, before an account narrows them.
    pub fn features(&self, sort: sb_net::model::ChatSort) -> Features {
        match sort {
            sb_net::model::ChatSort::Direct => self.direct,
            sb_net::model::ChatSort::Group => self.group,
        }
    }
}

/// One setting of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Field {
    /// As in `--set key=value`.
    pub key: &'static str,
    pub label: &'static str,
    /// Never shown again once set.
    pub secret: bool,
    pub required: bool,
    pub hint: &'static str,
    /// The only values, if not empty.
    pub choices: &'static [&'static str],
}

impl Field {
    /// What [`Settings::api_url`] reads.
    pub const API_URL: Self = Self::new("api_url", "API server", "If not the platform's own: its address.");

    /// One that may be left out and may be shown.
    pub const fn new(key: &'static str, label: &'static str, hint: &'static str) -> Self {
        Self { key, label, secret: false, required: false, hint, choices: &[] }
    }
    /// One that is needed and never shown again.
    pub const fn secret(key: &'static str, label: &'static str, hint: &'static str) -> Self {
        Self { secret: true, required: true, ..Self::new(key, label, hint) }
    }
}

/// One thing the safety of a channel rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Trust {
    /// Such as `agent:telegram-chats`.
    pub id: &'static str,
    /// What is assumed.
    pub assumes: &'static str,
    /// Where it is enforced.
    pub enforced: &'static str,
    /// What breaks if it does not hold.
    pub otherwise: &'static str,
}

impl Trust {
    /// That the platform tells truly who wrote what: every kind rests on it.
    pub const fn of_chats(id: &'static str, assumes: &'static str) -> Self {
        Self {
            id,
            assumes,
            enforced: "By the platform's servers, over TLS to the configured address.",
            otherwise: "Somebody could speak, and decide, as a person who is let in.",
        }
    }
}

/// What has shown that the adapter works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// A stand-in, proven by clients we did not write.
    StandIn,
    /// The platform itself, last on this day.
    Real(&'static str),
}

//! The A2A door: a profile as an agent that other agents may ask.
//!
//! A task is a view of a message, a context a conversation; nothing is kept here but webhooks, and those by
//! the engine. Who asks is settled by the HTTP door's tokens before anything of a request is read. What
//! another agent says is content from outside: its principal says so, and the engine marks the session.

mod card;
mod ending;
mod hooks;
mod pushing;
mod rpc;
mod stream;
mod taking;
mod tasks;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::engine::harness::net::Away;
use crate::http::Door;
use crate::model::{ProfileName, Timestamp};

pub use pushing::run as run_pushes;

/// Webhooks of one task.
pub const MOST_HOOKS: usize = 8;

/// What is offered, and how.
pub struct A2aOffer {
    /// The first one's card is at the well-known place.
    pub profiles: Vec<ProfileName>,
    /// Where we are reached, without a slash at its end; without it, where a request came to.
    pub public_url: Option<String>,
    /// Whether that is by TLS.
    pub tls: bool,
    /// The program's version, as cards tell it.
    pub version: &'static str,
    /// Webhooks may be on this machine or its network, and without TLS.
    pub push_private: bool,
    pub away: Away,
    pub begun: Timestamp,
}

/// What every handler has.
#[derive(Clone)]
struct Shared {
    door: Arc<Door>,
    offer: Arc<A2aOffer>,
}

impl A2aOffer {
    fn offers(&self, profile: &ProfileName) -> bool {
        self.profiles.contains(profile)
    }
}

/// Cards, which anybody may read.
pub(crate) fn cards(door: Arc<Door>, offer: Arc<A2aOffer>) -> Router {
    Router::new()
        .route("/.well-known/agent-card.json", get(card::first))
        .route("/v1/profiles/{profile}/agent-card.json", get(card::of_profile))
        .route("/v1/profiles/{profile}/.well-known/agent-card.json", get(card::of_profile))
        .with_state(Shared { door, offer })
}

/// The endpoint itself; whoever mounts it says who asks.
pub(crate) fn endpoint(door: Arc<Door>, offer: Arc<A2aOffer>) -> Router {
    Router::new()
        .route("/v1/profiles/{profile}/a2a", post(rpc::asked))
        .route("/v1/profiles/{profile}/a2a/", post(rpc::asked))
        .with_state(Shared { door, offer })
}

//! The HTTP channel: `/v1` routes, tokens, server-sent events.
//!
//! It translates requests to the engine API and endings to answers, and nothing else. Invariants: who
//! asks is settled by the headers before a body is read; every answer that is no success has
//! `{"error", "code"}`; a client that goes away changes nothing about a turn.

mod answer;
mod body;
mod crowd;
mod error;
mod files;
mod guesses;
mod hooks;
mod messages;
mod openapi;
mod outside;
mod parts;
mod sending;
mod serving;
mod session;
mod status;
mod stream;
mod tls;
mod transcript;
mod unsaid;
mod who;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::a2a::{self, A2aOffer};
use crate::engine::Engine;
use crate::model::{Digest, Secret, Timestamp};
use crate::openai::{self, Origins, Readers};

pub use body::{LARGEST_BODY, LONGEST_CONVERSATION, judge};
pub use error::{Code, HttpError, Problem, codes, codes_as_markdown};
pub use files::{LARGEST_FILE, MOST_FILES};
pub use guesses::GUESSES;
pub use hooks::{LARGEST_CALL, bridge_router};
pub use openapi::document;
pub use serving::{places, serve, serve_tls};
pub use status::metrics_builder;
pub use tls::Tls;
pub use who::{SHORTEST_MACHINE_TOKEN, check_machine_token};

pub(crate) use body::{Held, read as read_body};
pub(crate) use error::Result;
pub(crate) use files::{FileIn, check as check_files, keep as keep_files};
pub(crate) use guesses::Peer;
pub(crate) use messages::{Target, idempotency_key, take};
pub(crate) use outside::{envelope, is_loopback, is_same_origin, wrong_method};
pub(crate) use parts::{Parameters, Segments};
pub(crate) use serving::{Limits, OverTls, serve_within};
pub(crate) use session::find as find_session;
pub(crate) use unsaid::unsaid;
pub(crate) use who::{Reach, Who, authenticate};

/// Large bodies in memory at once.
const LARGE_BODIES: usize = 8;

/// What the door is made of.
pub struct HttpDoor {
    pub engine: Engine,
    /// Reaches every profile and session. Check it with [`check_machine_token`] first.
    pub machine_token: Option<Secret>,
    /// Where `/metrics` comes from; without it there is none.
    pub metrics: Option<PrometheusHandle>,
    /// Whether a proxy stands in front, whose word on where a request came from counts.
    pub behind_proxy: bool,
    /// Whether it is reached on this machine only, by names no other machine can have.
    pub only_loopback: bool,
    /// Origins whose pages may use OpenAI's API here: `*` for any.
    pub cors_origins: Vec<String>,
    /// Cancelled when the server closes: streams end, requests that wait are told.
    pub closing: CancellationToken,
}

/// What every handler has, behind either listener.
pub(crate) struct Door {
    pub engine: Engine,
    pub closing: CancellationToken,
    pub large_bodies: Semaphore,
    pub readers: Readers,
    /// Whether a proxy stands in front, whose word on how it was asked counts.
    pub behind_proxy: bool,
}

impl Door {
    pub fn new(engine: Engine, closing: CancellationToken, behind_proxy: bool) -> Arc<Self> {
        Arc::new(Self {
            engine,
            closing,
            large_bodies: Semaphore::new(LARGE_BODIES),
            readers: Readers::default(),
            behind_proxy,
        })
    }
    /// Whether new messages are taken.
    pub fn is_open(&self) -> bool {
        !self.closing.is_cancelled() && !self.engine.is_closing()
    }
}

/// The public door: what lets requests in.
pub(crate) struct Gate {
    pub door: Arc<Door>,
    pub machine: Option<Digest>,
    pub metrics: Option<PrometheusHandle>,
    pub behind_proxy: bool,
    pub guesses: Mutex<guesses::Guesses>,
}

/// The routes of the HTTP channel.
pub fn router(door: HttpDoor) -> Router {
    router_with(door, None)
}

/// As [`router`], with profiles that are offered to other agents.
pub fn router_with(door: HttpDoor, a2a: Option<Arc<A2aOffer>>) -> Router {
    let shared = Door::new(door.engine, door.closing, door.behind_proxy);
    let gate = Arc::new(Gate {
        door: shared.clone(),
        machine: door.machine_token.map(|token| Digest::of(token.expose().as_bytes())),
        metrics: door.metrics,
        behind_proxy: door.behind_proxy,
        guesses: Mutex::default(),
    });
    let open = Router::new()
        .route("/healthz", get(status::health))
        .route("/readyz", get(status::ready))
        .route("/openapi.json", get(status::openapi))
        .with_state(shared.clone());
    let measured = Router::new()
        .route("/metrics", get(status::metrics))
        .route_layer(from_fn_with_state(gate.clone(), who::machine_only))
        .with_state(gate.clone());
    let called = hooks::routes(shared.clone());
    let mut v1 = v1(shared.clone());
    let mut open = open;
    if let Some(offer) = a2a {
        open = open.merge(a2a::cards(shared.clone(), offer.clone()));
        v1 = v1.merge(a2a::endpoint(shared.clone(), offer));
    }
    let asked = v1.route_layer(from_fn_with_state(gate.clone(), who::authenticate));
    let apps = openai::routes(shared, gate, Origins::new(door.cors_origins));
    let routes = open.merge(measured).merge(asked).layer(from_fn(outside::same_origin)).merge(apps);
    let routes = match door.only_loopback {
        true => routes.layer(from_fn(outside::loopback_host)),
        false => routes,
    };
    envelope(routes.merge(called))
}

/// The `/v1` routes. Whoever mounts them says who asks.
pub(crate) fn v1(door: Arc<Door>) -> Router {
    Router::new()
        .route("/v1/profiles/{profile}/messages", post(messages::to_profile))
        .route("/v1/sessions/{id}", get(session::show))
        .with_state(door)
}

/// Whether the door may listen at an address: one that others reach needs TLS.
/// `guarded`: the server speaks it, or a proxy in front does.
pub fn check_address(address: SocketAddr, guarded: bool) -> std::result::Result<(), String> {
    if guarded || address.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    Err(format!(
        "{address} can be reached from other machines, and would speak plain HTTP to them. Listen on 127.0.0.1, or give a certificate with --tls-cert and --tls-key, or put a proxy that does TLS in front and say so with --behind-proxy."
    ))
}

/// Whether a door at an address is reached on this machine only.
pub fn is_only_loopback(address: SocketAddr, behind_proxy: bool) -> bool {
    address.ip().to_canonical().is_loopback() && !behind_proxy
}

/// A moment as JSON carries it.
pub(crate) fn rfc3339(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.0).map_or_else(|_| at.0.to_string(), |t| format!("{t:.3}"))
}

//! Discord, imitated: its HTTP API and its gateway on one side, people in a server and in direct messages on the
//! other.
//!
//! What it refuses follows Discord's documentation; it is proven by clients that were not written here
//! (`interop/discord`). Time comes from an injected clock. Nothing is kept on disk.

mod commands;
mod gateway;
mod kit;
mod people;
mod platform;
mod posts;
mod refusal;
mod routes;
mod sessions;
mod wire;

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use sb_channel::model::Clock;
use sb_channel::net::Http;
use sb_channel::standin::{Breakage, StandIn};
use tokio::sync::watch;

use self::platform::Platform;

/// A token for tests and trials.
pub const TOKEN: &str = "OTAw.stand-in_token";
/// The bot's own id.
pub const BOT: u64 = 900_000_000_000_000_000;

/// It with the bot of [`TOKEN`].
pub fn open(clock: Arc<dyn Clock>, _: Option<Http>) -> Arc<dyn StandIn> {
    Arc::new(DiscordStandIn::new(clock))
}

/// The imitated platform; clones are the same one.
#[derive(Clone)]
pub struct DiscordStandIn {
    shared: Arc<Shared>,
}

struct Shared {
    platform: Mutex<Platform>,
    /// Tells whoever waits that something happened.
    changed: watch::Sender<u64>,
}

impl Shared {
    fn look<T>(&self, read: impl FnOnce(&Platform) -> T) -> T {
        read(&self.platform.lock().unwrap_or_else(PoisonError::into_inner))
    }
    /// Changes the platform, and tells those who wait.
    fn with<T>(&self, change: impl FnOnce(&mut Platform) -> T) -> T {
        let done = change(&mut self.platform.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.send_modify(|count| *count += 1);
        done
    }
}

/// Which requests a breakage is planned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// Those that put, edit or upload a message.
    Posts,
    /// Connections to the gateway.
    Gateway,
    /// Reads of a channel's history.
    History,
    /// Typing and reactions.
    Gestures,
}

impl DiscordStandIn {
    /// One server without channels, and a bot in it.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let (changed, _) = watch::channel(0);
        Self { shared: Arc::new(Shared { platform: Mutex::new(Platform::new(clock)), changed }) }
    }

    /// Its addresses.
    pub fn router(&self) -> Router {
        routes::router(self.shared.clone())
    }

    /// Lets the next `times` requests of a sort go wrong.
    pub fn break_calls(&self, of: Calls, how: Breakage, times: u32) {
        self.shared.with(|platform| platform.planned.extend((0..times).map(|_| (of, how))));
    }

    /// The next request of a sort is refused with this status and code; `wait` in seconds, and whether it is of all.
    pub fn refuse_next(
        &self,
        of: Calls,
        status: u16,
        code: u64,
        field: Option<&str>,
        wait: Option<(f64, bool)>,
    ) {
        let refusal = match field {
            Some(field) => refusal::Refusal::body(field, "BASE_TYPE_BAD_LENGTH", "It does not fit."),
            None => refusal::Refusal { wait, ..refusal::Refusal::new(status, code, "It is refused.") },
        };
        self.shared.with(|platform| platform.refusals.push((of, refusal)));
    }

    /// Links to files that were told so far have run out.
    pub fn expire_links(&self) {
        self.shared.with(|platform| platform.links += 1);
    }

    /// Whether the portal lets the bot have everybody's words in servers.
    pub fn set_content_intent(&self, on: bool) {
        self.shared.with(|platform| platform.content_intent = on);
    }

    /// Every session is forgotten: none can be resumed.
    pub fn forget_sessions(&self) {
        self.shared.with(|platform| platform.sessions.clear());
    }

    /// The gateway closes the connection with this code.
    pub fn close_gateway(&self, code: u16) {
        self.shared.with(|platform| platform.close = Some((platform.connections, code)));
    }

    /// The gateway asks to connect again.
    pub fn ask_to_reconnect(&self) {
        self.shared.with(|platform| platform.reconnects += 1);
    }

    /// Whether heartbeats are answered.
    pub fn answer_heartbeats(&self, on: bool) {
        self.shared.with(|platform| platform.is_mute = !on);
    }

    /// How often later connections are to send heartbeats, in milliseconds.
    pub fn set_heartbeat(&self, every_ms: u64) {
        self.shared.with(|platform| platform.beat_ms = every_ms);
    }

    /// How many sessions may still begin today.
    pub fn set_starts_left(&self, left: u64) {
        self.shared.with(|platform| platform.starts_left = left);
    }

    /// How often sessions began, and were resumed.
    pub fn begun_and_resumed(&self) -> (u64, u64) {
        self.shared.look(|platform| (platform.begun, platform.resumed))
    }

    /// Requests so far, as `METHOD path`, the newest last.
    pub fn asked(&self) -> Vec<String> {
        self.shared.look(|platform| platform.asked.iter().cloned().collect())
    }

    /// The names of the commands in the menu.
    pub fn menu(&self) -> Vec<String> {
        let name = |command: &serde_json::Value| command["name"].as_str().unwrap_or_default().to_owned();
        self.shared.look(|platform| platform.commands.iter().map(name).collect())
    }

    /// Who is told with a sound of one of the bot's messages, named by its id: ids of people, `everyone`,
    /// `replied_user`.
    pub fn pings(&self, message: &str) -> Vec<String> {
        self.shared
            .with(|platform| platform.find(people::number(message)).map(|(_, m)| m.pings.clone()))
            .unwrap_or_default()
    }

    /// How interactions were answered: the type of each answer.
    pub fn answers(&self) -> Vec<Option<u64>> {
        self.shared.look(|platform| platform.interactions.iter().map(|one| one.answered).collect())
    }
}

//! Telegram, imitated: the Bot API over HTTP on one side, people with their chats on the other.
//!
//! What it refuses follows the platform's rules and its server's source. It is proven by clients that
//! were not written here (`interop/telegram`). Time comes from an injected clock; only the wait of a long
//! poll and of a webhook's next try are timers of the runtime. Nothing is kept on disk.

mod calls;
mod faults;
mod kit;
mod page;
mod params;
mod people;
mod platform;
mod posts;
mod receive;
mod routes;
mod rules;
mod seen;
mod wire;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::Router;
use sb_channel::model::Clock;
use sb_channel::net::Http;
use sb_channel::standin::StandIn;
use tokio::net::TcpListener;
use tokio::sync::watch;

pub use self::faults::{Break, Calls};
pub use self::people::{SaidFile, Saying};
pub use self::seen::{SeenFile, SeenMessage};

use self::faults::Planned;
use self::platform::Platform;

/// A token for tests and trials.
pub const TOKEN: &str = "123456:stand-in_token";
/// A webhook's secret for tests and trials.
pub const SECRET: &str = "stand-in_secret";

/// It with the bot of [`TOKEN`].
pub fn open(clock: Arc<dyn Clock>, outside: Option<Http>) -> Arc<dyn StandIn> {
    let standin = TelegramStandIn::new(clock, TOKEN);
    Arc::new(match outside {
        Some(outside) => standin.calling(outside),
        None => standin,
    })
}

/// The imitated platform; clones are the same one.
#[derive(Clone)]
pub struct TelegramStandIn {
    shared: Arc<Shared>,
}

struct Shared {
    platform: Mutex<Platform>,
    /// Tells whoever waits that something happened.
    changed: watch::Sender<u64>,
    /// By which webhooks are called.
    outside: OnceLock<Http>,
}

impl Shared {
    /// Reads the platform.
    fn look<T>(&self, read: impl FnOnce(&Platform) -> T) -> T {
        read(&self.platform.lock().unwrap_or_else(PoisonError::into_inner))
    }
    /// Changes the platform, and tells those who wait.
    fn with<T>(&self, change: impl FnOnce(&mut Platform) -> T) -> T {
        let done = change(&mut self.platform.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.send_modify(|count| *count += 1);
        done
    }
    fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}

impl TelegramStandIn {
    /// An empty platform with one bot, known by this token.
    pub fn new(clock: Arc<dyn Clock>, token: &str) -> Self {
        let platform = Mutex::new(Platform::new(clock, token.to_owned()));
        let (changed, _) = watch::channel(0);
        Self { shared: Arc::new(Shared { platform, changed, outside: OnceLock::new() }) }
    }

    /// The same, with a way by which it calls webhooks; the first one given stays.
    pub fn calling(self, outside: Http) -> Self {
        let _ = self.shared.outside.set(outside);
        self
    }

    /// What a channel is configured with to use it.
    pub fn settings(&self) -> Vec<(String, String)> {
        let token = self.shared.look(|platform| platform.token.clone());
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        vec![pair("token", &token), pair("secret_token", SECRET), pair("api_url", "http://telegram.invalid")]
    }

    /// A client that reaches it in process.
    pub fn http(&self) -> Http {
        sb_channel::standin::in_process(self.router())
    }

    /// The Bot API and the page.
    pub fn router(&self) -> Router {
        routes::router(self.shared.clone())
    }

    /// Lets the next `times` calls of a sort go wrong.
    pub fn break_next(&self, what: Break, of: Calls, times: u32) {
        if times > 0 {
            self.shared.with(|platform| platform.planned.push(Planned { what, of, times }));
        }
    }

    /// Nothing goes wrong any more.
    pub fn mend(&self) {
        self.shared.with(|platform| platform.planned.clear());
    }

    /// Breaks off every poll that is open.
    pub fn drop_connections(&self) {
        self.shared.with(|platform| platform.drops += 1);
    }

    /// Turns privacy mode on or off: with it, the bot gets of a group only what is meant for it.
    pub fn set_privacy(&self, on: bool) {
        self.shared.with(|platform| platform.reads_all = !on);
    }

    /// How often a method was called.
    pub fn calls(&self, method: &str) -> u64 {
        let method = method.to_ascii_lowercase();
        self.shared.look(|platform| platform.calls.get(&method).copied().unwrap_or_default())
    }
}

/// Serves it on a socket, with its page, until the task is dropped.
///
/// # Errors
/// If the listener fails for good.
pub async fn serve(listener: TcpListener, standin: TelegramStandIn) -> std::io::Result<()> {
    standin.welcome();
    sb_channel::standin::serve(listener, standin.router()).await
}

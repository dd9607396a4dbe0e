//! How a command reaches its home: through the running server, or by holding the home itself.
//!
//! Either way it speaks to the same socket with the same client, so every command is written once.

use std::time::Duration;

use anyhow::Result;
use sb_doors::local::client::Desk;
use sb_doors::local::wire::ServerInfo;
use sb_engine::Engine;
use sb_engine::store::{Store, StoreErrorKind};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::args::server::ServerFlags;
use crate::environment::Environment;
use crate::home::Home;
use crate::settings::Settings;
use crate::{door, opening};

/// A server that has the lock and no socket yet is given so long to make one.
const STARTING: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Longest that closing a home of our own takes.
const CLOSING: Duration = Duration::from_secs(5);

/// The way to a home.
pub struct Reached {
    pub desk: Desk,
    held: Option<Held>,
}

/// A home held by this command.
struct Held {
    home: Home,
    engine: Engine,
    closing: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
}

/// Who serves the home, if anybody does.
pub async fn server(home: &Home) -> Result<Option<ServerInfo>> {
    match Desk::at(&home.socket())?.server().await {
        Ok(server) => Ok(Some(server)),
        Err(why) if why.is_nobody() => Ok(None),
        Err(why) => Err(why.into()),
    }
}

impl Reached {
    /// Reaches the home.
    pub async fn open(home: &Home, environment: &Environment) -> Result<Self> {
        let started = tokio::time::Instant::now();
        loop {
            if server(home).await?.is_some() {
                return Ok(Self { desk: Desk::at(&home.socket())?, held: None });
            }
            let settings = Settings::find(ServerFlags::default(), environment, &home.settings())?;
            match opening::store(home, settings.durability).await {
                Ok(store) => return Self::hold(home, environment, store, settings.parallel).await,
                Err(why) if why.kind == StoreErrorKind::Locked && started.elapsed() < STARTING => {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
                Err(why) => return Err(why.into()),
            }
        }
    }

    async fn hold(home: &Home, environment: &Environment, store: Store, parallel: usize) -> Result<Self> {
        let engine = opening::engine(home, environment, store, parallel).await?;
        let closing = CancellationToken::new();
        let serving = tokio::spawn(door::open(home, &engine, None, &closing)?);
        let held = Held { home: home.clone(), engine, closing, serving };
        Ok(Self { desk: Desk::at(&home.socket())?, held: Some(held) })
    }

    /// Lets go of the home, if this command held it. What is unfinished is taken up by whoever is next.
    pub async fn close(self) -> Result<()> {
        let Some(held) = self.held else { return Ok(()) };
        // The client's connections, so that nothing is left to serve.
        drop(self.desk);
        held.closing.cancel();
        door::remove(&held.home);
        let closed = tokio::time::timeout(CLOSING, async {
            // How serving ended is of no interest any more.
            drop(held.serving.await);
            held.engine.close().await
        });
        match closed.await {
            Ok(closed) => Ok(closed?),
            // Everything accepted is on disk; the lock goes with the process.
            Err(_) => Ok(()),
        }
    }
}

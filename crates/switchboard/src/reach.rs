//! How a command reaches its home: through the running server, or by holding the home itself.
//!
//! Either way it speaks to the same socket with the same client, so every command is written once.
//! Whoever holds the home may end meanwhile, as a command does that held it for itself: then the client
//! asks for the home to be reached [again](Again), and this command may come to hold it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use sb_doors::local::client::{Again, Desk, Reaching};
use sb_doors::local::wire::ServerInfo;
use sb_engine::Engine;
use sb_engine::model::Dice;
use sb_engine::store::{Store, StoreErrorKind};
use sb_net::SystemDice;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::args::server::{ServerFlags, Survives};
use crate::door::Serves;
use crate::environment::Environment;
use crate::home::Home;
use crate::settings::Settings;
use crate::{door, opening, output};

/// Whoever has the lock and no socket yet is given so long to make one, and a command to end.
const STARTING: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Longest that closing a home of our own takes.
const CLOSING: Duration = Duration::from_secs(5);

/// The way to a home.
pub struct Reached {
    pub desk: Desk,
    way: Arc<Way>,
}

/// How to come to the home, and what this command holds of it.
struct Way {
    home: Home,
    environment: Environment,
    held: Mutex<Option<Held>>,
}

/// A home held by this command.
struct Held {
    engine: Engine,
    closing: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
}

/// Who serves the home, if anybody does.
pub async fn server(home: &Home) -> Result<Option<ServerInfo>> {
    door::check(home)?;
    match Desk::at(&home.socket())?.server().await {
        Ok(server) => Ok(Some(server)),
        Err(why) if why.is_nobody() => Ok(None),
        Err(why) => Err(why.into()),
    }
}

/// Takes the home for a server, after a command that is about to end. Where another one holds it, says
/// which and what can be done.
pub async fn take(home: &Home, survives: Survives) -> Result<Store> {
    let started = tokio::time::Instant::now();
    loop {
        let why = match opening::store(home, survives).await {
            Ok(store) => return Ok(store),
            Err(why) if why.kind != StoreErrorKind::Locked => return Err(why.into()),
            Err(why) => why,
        };
        let last = started.elapsed() >= STARTING;
        match server(home).await {
            Ok(Some(ServerInfo { pid, bridge: Some(bridge), .. })) => {
                return Err(anyhow!(
                    "The bridge {bridge} holds this home: process {pid}. To run it beside a server, stop it with `kill {pid}`, then `switchboard channel enable {bridge}` and start again; or name another home with --home or SWITCHBOARD_HOME."
                ));
            }
            Ok(Some(ServerInfo { pid, listen: Some(at), .. })) => {
                return Err(anyhow!(
                    "Another switchboard holds this home: process {pid}, on {at}. Talk to it with `switchboard talk`, stop it with `kill {pid}`, or name another home with --home or SWITCHBOARD_HOME."
                ));
            }
            Ok(Some(ServerInfo { pid, .. })) if last => {
                return Err(anyhow!(
                    "A command holds this home and goes on: process {pid}, such as a `switchboard talk`. Leave it or end it with `kill {pid}`, then start again; or name another home with --home or SWITCHBOARD_HOME."
                ));
            }
            _ if last => return Err(why.into()),
            _ => tokio::time::sleep(LOOK_AGAIN).await,
        }
    }
}

impl Reached {
    /// Reaches the home.
    pub async fn open(home: &Home, environment: &Environment) -> Result<Self> {
        let (home, environment) = (home.clone(), environment.clone());
        let way = Arc::new(Way { home, environment, held: Mutex::new(None) });
        way.reach().await?;
        Ok(Self { desk: Desk::at(&way.home.socket())?.reached_by(way.clone()), way })
    }

    /// Lets go of the home, if this command held it. What is unfinished is taken up by whoever is next.
    pub async fn close(self) -> Result<()> {
        let Some(held) = self.way.held.lock().await.take() else { return Ok(()) };
        // The client's connections, so that nothing is left to serve.
        drop(self.desk);
        // First its name, so that whoever has connected is the last.
        door::remove(&self.way.home);
        held.closing.cancel();
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

impl Way {
    /// Finds whoever serves the home, or holds it.
    async fn reach(&self) -> Result<()> {
        let started = tokio::time::Instant::now();
        loop {
            let found = server(&self.home).await;
            // One that is just ending is as good as none.
            let ending = found.is_err() && started.elapsed() < STARTING;
            if !ending && found?.is_some() {
                return Ok(());
            }
            let settings = Settings::find(ServerFlags::default(), &self.environment, &self.home.settings())?;
            match opening::store(&self.home, settings.durability).await {
                Ok(store) => return self.hold(store, settings.parallel).await,
                Err(why) if why.kind == StoreErrorKind::Locked && started.elapsed() < STARTING => {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
                Err(why) => return Err(why.into()),
            }
        }
    }

    async fn hold(&self, store: Store, parallel: usize) -> Result<()> {
        let engine = opening::engine(&self.home, &self.environment, store, parallel, None).await?;
        let closing = CancellationToken::new();
        let serving = tokio::spawn(door::open(&self.home, &engine, Serves::default(), &closing)?);
        *self.held.lock().await = Some(Held { engine, closing, serving });
        Ok(())
    }
}

impl Again for Way {
    fn key(&self) -> String {
        format!("{:016x}{:016x}", SystemDice.roll(), SystemDice.roll())
    }
    fn reach(&self) -> Reaching<'_> {
        Box::pin(async { Way::reach(self).await.map_err(|why| output::sentence(&why.to_string())) })
    }
}

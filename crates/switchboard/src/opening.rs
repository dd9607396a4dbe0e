//! Opens a home in this process: store, keys, the built-in loop, and the engine over them.
//!
//! In two steps, so that whoever opens it can fail for another reason after the lock is taken and
//! before any work is taken up.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use sb_engine::channel::AnyKind;
use sb_engine::model::{Clock, Dice, Secret};
use sb_engine::store::{Durability, Store};
use sb_engine::{Engine, Parts};
use sb_loop::{LoopContext, LoopHarness};
use sb_mcp::{McpContext, McpLimits, McpToolbox};
use sb_net::{Away, Http, SystemClock, SystemDice};

use crate::agents::House;
use crate::args::server::Survives;
use crate::environment::Environment;
use crate::home::Home;
use crate::keys::{KeyRing, Sealed};

/// Takes the home for this process, with the workspaces that go with it. Fails if another one holds it.
pub async fn store(home: &Home, survives: Survives) -> sb_engine::store::Result<Store> {
    let durability = match survives {
        Survives::Power => Durability::Power,
        Survives::Process => Durability::Process,
    };
    let store = Store::open(&home.folder, durability).await?;
    for mut profile in store.profiles().await? {
        let Some(kept) = profile.workspace.as_deref().and_then(|folder| home.moved(folder)) else { continue };
        // Where it cannot be made, the profile's check says so.
        drop(std::fs::create_dir_all(&kept));
        profile.workspace = Some(kept);
        store.put_profile(&profile).await?;
    }
    Ok(store)
}

/// The agents of a home, with their keys.
pub async fn agents(home: &Home, environment: &Environment, store: &Store) -> Result<House> {
    let keys = Arc::new(KeyRing::new(environment.keys.clone(), environment.base_urls.clone()));
    keys.load(store).await?;
    let http = Http::new().map_err(|why| anyhow!("No HTTP client can be set up: {why}."))?;
    let marks = Secret::new(store.drawn("marks", &SystemDice).await?);
    let context = LoopContext {
        http: http.clone(),
        clock: Arc::new(SystemClock),
        dice: Arc::new(SystemDice),
        keys: keys.clone(),
        away: Away::default(),
        marks,
        own: std::env::current_exe()?,
    };
    let secrets = Arc::new(Sealed(store.clone()));
    let mcp = Arc::new(McpToolbox::new(McpContext { http, secrets, limits: McpLimits::default() }));
    Ok(House::new(LoopHarness::new(context), mcp, keys, store.clone(), &home.folder))
}

/// Starts the engine: whatever is unfinished in the home is taken up.
pub async fn engine(
    home: &Home,
    environment: &Environment,
    store: Store,
    parallel: usize,
    public_url: Option<String>,
) -> Result<Engine> {
    let agents = Arc::new(agents(home, environment, &store).await?);
    let (clock, dice): (Arc<dyn Clock>, Arc<dyn Dice>) = (Arc::new(SystemClock), Arc::new(SystemDice));
    let http = Http::new().map_err(|why| anyhow!("No HTTP client can be set up: {why}."))?;
    let kinds = sb_channels::kinds().into_iter().map(|kind| Arc::new(kind) as Arc<dyn AnyKind>).collect();
    let engine =
        Engine::open(Parts { store, agents, clock, dice, parallel, kinds, http, public_url }).await?;
    engine.give_agents().await?;
    Ok(engine)
}

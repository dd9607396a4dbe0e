//! [`TestApp`]: an engine over a home of its own, with the scripted harness and one profile.
//!
//! Real store, clock and chance; only the agent is a script. It can be closed and opened again over the
//! same home, as a restart would.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use sb_engine::model::{Level, Profile, ProfileName, Rights, Secret, TokenId, ToolSet};
use sb_engine::{Agents, Engine, Parts};
use sb_harness::Harness;
use sb_harness::net::{Http, SystemClock, SystemDice};
use sb_store::{Durability, Store};
use tempfile::TempDir;

use crate::harness::{ScriptedHarness, TOOLS};

/// Every profile's turns are run by the scripted harness.
pub struct ScriptedAgents;

#[async_trait]
impl Agents for ScriptedAgents {
    fn harness(&self, _: &Profile) -> Arc<dyn Harness> {
        Arc::new(ScriptedHarness)
    }
    fn tools(&self, profile: &Profile) -> Vec<String> {
        TOOLS.iter().map(|(name, _)| (*name).to_owned()).filter(|name| profile.tools.has(name)).collect()
    }
    fn check(&self, _: &Profile) -> Result<(), String> {
        Ok(())
    }
    async fn changed(&self, _: &ProfileName) {}
}

/// See the module.
pub struct TestApp {
    pub engine: Engine,
    agents: Arc<dyn Agents>,
    folder: Option<TempDir>,
    parallel: usize,
}

impl TestApp {
    /// A new home, and profile `assistant` at L3.
    pub async fn new() -> Self {
        Self::with_parallel(16).await
    }

    /// As [`new`](Self::new), with so many turns at once.
    pub async fn with_parallel(parallel: usize) -> Self {
        let app = Self::with_agents(Arc::new(ScriptedAgents), parallel).await;
        app.add_profile("assistant").await;
        app
    }

    /// A new home without a profile, whose turns these agents run.
    pub async fn with_agents(agents: Arc<dyn Agents>, parallel: usize) -> Self {
        let folder = TempDir::new().unwrap();
        let engine = open(folder.path(), Arc::clone(&agents), parallel).await;
        Self { engine, agents, folder: Some(folder), parallel }
    }

    /// Another profile at L3.
    pub async fn add_profile(&self, name: &str) {
        self.engine.put_profile(self.profile(name), None).await.unwrap();
    }

    /// What a profile of this home looks like; its workspace is in the home.
    pub fn profile(&self, name: &str) -> Profile {
        profile_in(name, &self.workspace())
    }

    /// A token of a profile, and its id.
    pub async fn token(&self, profile: &str, decide: bool) -> (String, TokenId) {
        let rights = if decide { Rights::ALL } else { Rights::TALK };
        let (record, secret): (_, Secret) = self.engine.add_token(&profile.into(), rights).await.unwrap();
        (secret.expose().to_owned(), record.id)
    }

    /// The home.
    pub fn home(&self) -> &Path {
        self.folder.as_ref().expect("held until it is opened again").path()
    }

    /// The folder the agent's tools would work in.
    pub fn workspace(&self) -> PathBuf {
        self.home().join("workspace")
    }

    /// Closes the engine and opens another over the same home.
    pub async fn reopen(self) -> Self {
        self.reopen_after(|_| ()).await
    }

    /// As [`reopen`](Self::reopen); in between, while nobody holds it, something happens to the home.
    pub async fn reopen_after(mut self, happens: impl FnOnce(&Path)) -> Self {
        let folder = self.folder.take().expect("held until it is opened again");
        self.engine.close().await.unwrap();
        happens(folder.path());
        let engine = open(folder.path(), Arc::clone(&self.agents), self.parallel).await;
        Self { engine, agents: self.agents, folder: Some(folder), parallel: self.parallel }
    }
}

/// A profile at L3 that works in a folder.
pub fn profile_in(name: &str, workspace: &Path) -> Profile {
    Profile {
        name: name.into(),
        harness: Default::default(),
        harness_mode: None,
        models: vec!["scripted".parse().unwrap()],
        base_url: None,
        instructions: String::new(),
        workspace: Some(workspace.display().to_string()),
        tools: ToolSet::All,
        autonomy: Level::L3,
        allowed: Vec::new(),
        mcp: Vec::new(),
        image_model: None,
        web_hosts: Vec::new(),
        budgets: Default::default(),
        deadline_s: 600,
        agent: None,
    }
}

async fn open(home: &Path, agents: Arc<dyn Agents>, parallel: usize) -> Engine {
    let store = Store::open(home, Durability::Process).await.unwrap();
    let engine = Engine::open(Parts {
        store,
        agents,
        clock: Arc::new(SystemClock),
        dice: Arc::new(SystemDice),
        parallel,
        kinds: Vec::new(),
        http: Http::new().unwrap(),
        public_url: None,
    })
    .await
    .unwrap();
    engine.take_up().await.unwrap();
    engine
}

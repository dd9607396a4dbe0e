//! [`House`]: which harness runs a profile's turns, and whether a profile could run at all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use sb_agents::{A2aContext, A2aHarness, A2aKeys, AcpContext, AcpHarness, Launching, PiHarness};
use sb_engine::Agents;
use sb_engine::harness::Harness;
use sb_engine::model::{
    AccountKey, HarnessRef, Level, McpFound, McpServer, Profile, ProfileName, Secret, ToolSet,
};
use sb_engine::store::Store;
use sb_loop::{Dialect, Keys, LoopHarness, check_model, providers, tool_defs};
use sb_mcp::McpToolbox;
use sb_net::{Away, SystemDice};

use crate::home::unfit_workspace;
use crate::keys::{A2A, KeyRing};

/// The agents of this program: the built-in loop, and those that run elsewhere.
pub struct House {
    harness: Arc<LoopHarness>,
    acp: Arc<AcpHarness>,
    a2a: Arc<A2aHarness>,
    pi: Arc<PiHarness>,
    mcp: Arc<McpToolbox>,
    keys: Arc<KeyRing>,
    store: Store,
    home: PathBuf,
}

impl House {
    /// `home` is the folder no agent may work in.
    pub fn new(
        harness: LoopHarness,
        mcp: Arc<McpToolbox>,
        keys: Arc<KeyRing>,
        store: Store,
        home: &Path,
    ) -> Self {
        let home = home.canonicalize().unwrap_or_else(|_| home.to_path_buf());
        let launching = Arc::new(LaunchKeys(Arc::clone(&keys)));
        let pi = Arc::new(PiHarness::new(launching.clone()));
        let harness = Arc::new(harness.with_toolbox(mcp.clone()));
        let (lender, dice) = (harness.clone(), Arc::new(SystemDice));
        let acp = AcpHarness::new(AcpContext { launching, lender, dice, version: env!("CARGO_PKG_VERSION") });
        let peers = Arc::new(PeerKeys(Arc::clone(&keys)));
        let a2a = A2aHarness::new(A2aContext { away: Away::default(), keys: peers });
        Self { harness, acp: Arc::new(acp), a2a: Arc::new(a2a), pi, mcp, keys, store, home }
    }
}

/// What agents of their own are keyed with: as models are.
struct LaunchKeys(Arc<KeyRing>);

impl Launching for LaunchKeys {
    fn key(&self, profile: &Profile, provider: &str) -> Option<Secret> {
        self.0.key(&profile.name, provider)
    }
    fn base_url(&self, profile: &Profile, provider: &str) -> Option<String> {
        profile.base_url.clone().or_else(|| self.0.base_url(provider))
    }
}

/// What agents elsewhere are shown.
struct PeerKeys(Arc<KeyRing>);

impl A2aKeys for PeerKeys {
    fn key(&self, profile: &Profile) -> Option<Secret> {
        self.0.key(&profile.name, A2A)
    }
}

#[async_trait]
impl Agents for House {
    fn harness(&self, profile: &Profile) -> Arc<dyn Harness> {
        match profile.harness {
            HarnessRef::Loop | HarnessRef::OpenAi(_) => self.harness.clone(),
            HarnessRef::Acp(_) => self.acp.clone(),
            HarnessRef::A2a(_) => self.a2a.clone(),
            HarnessRef::Pi(_) => self.pi.clone(),
        }
    }

    fn tools(&self, profile: &Profile) -> Vec<String> {
        match profile.harness {
            HarnessRef::Loop | HarnessRef::OpenAi(_) => {
                let elsewhere = sb_mcp::called(profile).into_iter().filter(|name| profile.tools.has(name));
                tool_defs(profile).into_iter().map(|tool| tool.name).chain(elsewhere).collect()
            }
            // It has its own, and tells nobody before it uses them.
            HarnessRef::Acp(_) | HarnessRef::A2a(_) | HarnessRef::Pi(_) => Vec::new(),
        }
    }

    fn check(&self, profile: &Profile) -> Result<(), String> {
        match &profile.harness {
            HarnessRef::Loop if profile.models.is_empty() => {
                return Err(
                    "A profile needs a model: --model anthropic:<id>, openai:<id> or scripted.".to_owned()
                );
            }
            HarnessRef::Loop => profile.models.iter().try_for_each(check_model)?,
            HarnessRef::Acp(_) => AcpHarness::check(profile)?,
            HarnessRef::A2a(_) => A2aHarness::check(profile)?,
            HarnessRef::Pi(_) => PiHarness::check(profile)?,
            HarnessRef::OpenAi(url) => {
                check_base_url(url)?;
                if !profile.models.iter().any(|m| m.provider == "openai" && !m.id.is_empty()) {
                    return Err("Name what is asked there as its model: --model openai:<name>.".to_owned());
                }
                if profile.tools != ToolSet::Only(Vec::new()) {
                    return Err("An agent behind an address brings its own tools: --tools \"\".".to_owned());
                }
            }
        }
        profile.base_url.as_deref().map_or(Ok(()), check_base_url)?;
        if profile.deadline_s == 0 {
            return Err("A turn needs some time: --deadline takes 1 second or more.".to_owned());
        }
        check_mcp(profile)?;
        if profile.harness == HarnessRef::Loop {
            check_picture_model(profile)?;
            check_web_hosts(profile)?;
            check_tools(profile)?;
        }
        match &profile.workspace {
            Some(folder) => check_workspace(&self.home, Path::new(folder)),
            None => Ok(()),
        }
    }

    async fn changed(&self, name: &ProfileName) {
        self.mcp.forget(name).await;
        match self.store.profile(name).await {
            Ok(profile) => self.keys.reload(&self.store, name, profile.as_ref()).await,
            Err(why) => {
                tracing::warn!(profile = %name, error = %why, "a changed profile cannot be read");
            }
        }
    }

    async fn find_mcp(
        &self,
        profile: &Profile,
        server: &McpServer,
        given: BTreeMap<String, Secret>,
    ) -> Result<McpFound, String> {
        self.mcp.find(profile, server, given).await
    }

    async fn end(&self) {
        self.mcp.close().await;
    }
}

/// A base address is shown to whoever looks, so nothing secret may stand in it, nor what would come
/// before the path that is put at its end.
fn check_base_url(url: &str) -> Result<(), String> {
    let rest = ["http://", "https://"].iter().find_map(|begins| url.strip_prefix(begins));
    // What is wrong with it may be secret, so none of it is said again.
    let Some(rest) = rest.filter(|rest| !rest.is_empty()) else {
        return Err(
            "That is no base address: it begins with http:// or https:// and names a host.".to_owned()
        );
    };
    if rest.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("A base address has no spaces and no control characters in it.".to_owned());
    }
    if rest.split('/').next().is_some_and(|host| host.contains('@')) {
        return Err(
            "A base address takes no user and password: it is shown to whoever looks. Give the key with --api-key-stdin."
                .to_owned(),
        );
    }
    if rest.contains(['?', '#']) {
        return Err("A base address takes no query (?…) and no fragment (#…): the path of each request follows it. Give a key with --api-key-stdin.".to_owned());
    }
    Ok(())
}

/// Each server could be one and is called as no other, and there is somebody to use its tools.
fn check_mcp(profile: &Profile) -> Result<(), String> {
    if profile.harness != HarnessRef::Loop && !profile.mcp.is_empty() {
        return Err(format!(
            "The profile {} is run by an agent of its own, which has its own MCP servers: set them up there. Here they serve the built-in loop.",
            profile.name
        ));
    }
    for (at, server) in profile.mcp.iter().enumerate() {
        sb_mcp::check(server)?;
        if profile.mcp[..at].iter().any(|other| other.name == server.name) {
            return Err(format!("Two MCP servers are called {}.", server.name));
        }
    }
    Ok(())
}

/// Pictures are made by whoever speaks OpenAI's words, and put into a workspace.
fn check_picture_model(profile: &Profile) -> Result<(), String> {
    let Some(model) = &profile.image_model else { return Ok(()) };
    let speaks = providers().iter().any(|p| p.name == model.provider && p.dialect == Dialect::Openai);
    if !speaks || model.id.is_empty() {
        return Err(format!("{model} makes no pictures here: --image-model takes openai:<model>."));
    }
    if profile.workspace.is_none() {
        return Err(
            "Pictures need a folder to be kept in: give the profile one with --workspace DIR.".to_owned()
        );
    }
    Ok(())
}

/// Entries are hosts, so that nobody takes an address with a path for a narrower grant than it is.
fn check_web_hosts(profile: &Profile) -> Result<(), String> {
    let odd = |host: &&String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:[]".contains(c);
        host.is_empty() || host.len() > 255 || !host.chars().all(plain)
    };
    match profile.web_hosts.iter().find(odd) {
        Some(odd) => Err(format!(
            "{odd:?} is no host: --web-host takes HOST or HOST:PORT, such as wiki.lan or 127.0.0.1:8000."
        )),
        None => Ok(()),
    }
}

/// Every tool named must be one there is, or may be one of an MCP server's.
fn check_tools(profile: &Profile) -> Result<(), String> {
    let ToolSet::Only(named) = &profile.tools else { return Ok(()) };
    let mut all = Profile::gone(profile.name.clone());
    (all.tools, all.workspace, all.autonomy) = (ToolSet::All, Some("/".to_owned()), Level::L6);
    all.agent = Some(AccountKey([0; 32]));
    all.image_model = "openai:any".parse().ok();
    let known: Vec<_> = tool_defs(&all).into_iter().map(|tool| tool.name).collect();
    match named.iter().find(|name| !known.contains(name) && !name.contains("__")) {
        Some(odd) => Err(format!("There is no tool {odd:?}; there are {}.", known.join(", "))),
        None => Ok(()),
    }
}

/// The folder is there afterwards.
fn check_workspace(home: &Path, folder: &Path) -> Result<(), String> {
    if !folder.is_absolute() {
        return Err(format!("The workspace {} must be an absolute path.", folder.display()));
    }
    // Before it is made, as far as can be told; and after, with every link followed.
    unfit_workspace(home, folder).map_or(Ok(()), Err)?;
    std::fs::create_dir_all(folder)
        .and_then(|()| folder.canonicalize())
        .map_err(|why| format!("The workspace {} cannot be made: {why}.", folder.display()))
        .and_then(|real| unfit_workspace(home, &real).map_or(Ok(()), Err))
}

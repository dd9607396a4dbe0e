//! One server of one profile over time: begun when needed, listed between turns, begun again when it died,
//! ended when idle.
//!
//! After a failure the next try waits: nothing at first, then a second, doubling to five minutes. Whoever
//! meets a server that waits is told so at once and holds nothing up.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use sb_harness::model::{McpAt, McpServer, ProfileName, Secret};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::connection::{Connection, span};
use crate::listing::{self, Listed};
use crate::toolbox::McpContext;

/// A listing this old is made anew at the next turn: not every server says that it changed.
const FRESH: Duration = Duration::from_secs(300);
/// The longest wait after failures.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// One server of one profile.
pub(crate) struct Slot {
    pub profile: ProfileName,
    pub server: McpServer,
    pub dir: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    live: Option<Arc<Connection>>,
    listed: Option<(Arc<Listed>, Instant)>,
    failures: u32,
    /// Not before then, and why.
    waits: Option<(Instant, String)>,
    used: Option<Instant>,
}

/// A server that can be asked, and its tools.
pub(crate) type Ready = (Arc<Connection>, Arc<Listed>);

impl Slot {
    pub fn new(profile: ProfileName, server: McpServer, dir: PathBuf) -> Self {
        Self { profile, server, dir, state: Mutex::default() }
    }

    /// Whether it is still the same server, whatever the operator says of its tools.
    pub fn is_of(&self, server: &McpServer, dir: &std::path::Path) -> bool {
        self.server.at == server.at && self.server.secrets == server.secrets && self.dir == dir
    }

    /// Its tools at the beginning of a turn. A server that idles is not begun for this, and one that failed
    /// before is begun beside; the error says how it stands.
    pub async fn look(self: &Arc<Self>, context: &Arc<McpContext>) -> Result<Arc<Listed>, String> {
        let mut state = self.state.lock().await;
        state.bury_dead(&self.server).await;
        if state.live.is_none() && state.failures > 0 {
            if let Some((listed, _)) = &state.listed {
                // Its tools are known: a call begins it again and says what came of it.
                return Ok(listed.clone());
            }
            let why = state.waits.as_ref().map(|(_, why)| why.clone()).unwrap_or_default();
            if state.wait().is_none() {
                let (slot, context) = (self.clone(), context.clone());
                tokio::spawn(async move { drop(slot.ready(&context).await) });
            }
            return Err(why);
        }
        if let (Some((listed, at)), Some(live)) = (&state.listed, &state.live) {
            if !live.take_tools_changed() && at.elapsed() < FRESH {
                return Ok(listed.clone());
            }
        } else if let Some((listed, at)) = &state.listed
            && at.elapsed() < FRESH
        {
            return Ok(listed.clone());
        }
        self.begin(&mut state, context).await.map(|(_, listed)| listed)
    }

    /// The server, begun if need be. The error says how it stands.
    pub async fn ready(self: &Arc<Self>, context: &Arc<McpContext>) -> Result<Ready, String> {
        let mut state = self.state.lock().await;
        state.bury_dead(&self.server).await;
        if let (Some(live), Some((listed, _))) = (&state.live, &state.listed) {
            let ready = (live.clone(), listed.clone());
            state.used = Some(Instant::now());
            return Ok(ready);
        }
        if let Some((wait, why)) = state.wait() {
            return Err(format!("{why} It is begun again in {} at the earliest", span(wait)));
        }
        self.begin(&mut state, context).await
    }

    /// Begins it unless it runs, and lists its tools.
    async fn begin(self: &Arc<Self>, state: &mut State, context: &Arc<McpContext>) -> Result<Ready, String> {
        let begun = match state.live.clone() {
            Some(live) => Ok(live),
            None => self.connect(context).await.map(Arc::new),
        };
        let outcome = match begun {
            Ok(live) => match listing::list(&live, context.limits.begin).await {
                Ok(listed) => Ok((live, Arc::new(listed))),
                Err(why) => {
                    let printed = live.printed();
                    live.kill().await;
                    Err(format!("The MCP server {} failed: {why}.{printed}", self.server.name))
                }
            },
            Err(why) => Err(why),
        };
        match outcome {
            Ok((live, listed)) => {
                if state.live.is_none() {
                    tracing::info!(profile = %self.profile, server = %self.server.name, "an MCP server began");
                    tokio::spawn(end_when_idle(
                        Arc::downgrade(self),
                        Arc::downgrade(&live),
                        context.limits.idle,
                    ));
                }
                (state.live, state.waits) = (Some(live.clone()), None);
                state.listed = Some((listed.clone(), Instant::now()));
                state.used = Some(Instant::now());
                Ok((live, listed))
            }
            Err(why) => {
                tracing::warn!(profile = %self.profile, server = %self.server.name, %why, "an MCP server failed");
                state.live = None;
                state.failed(format!("The MCP server {} could not be begun.", self.server.name));
                Err(why)
            }
        }
    }

    async fn connect(&self, context: &McpContext) -> Result<Connection, String> {
        let mut secrets = Vec::new();
        for name in &self.server.secrets {
            let value = context.secrets.value(&self.profile, &self.server.name, name).await?;
            secrets.push((name.clone(), value));
        }
        Connection::begin(&self.server, &self.dir, secrets, &context.http, context.limits.begin).await
    }

    /// Notes that a call came through.
    pub async fn succeeded(&self) {
        let mut state = self.state.lock().await;
        (state.failures, state.waits, state.used) = (0, None, Some(Instant::now()));
    }

    /// Kills a connection that does not answer, unless another one was begun meanwhile.
    pub async fn give_up(&self, on: &Arc<Connection>) {
        on.kill().await;
        let mut state = self.state.lock().await;
        if state.live.as_ref().is_some_and(|live| Arc::ptr_eq(live, on)) {
            state.live = None;
            state.failed(format!("The MCP server {} did not answer, and was ended.", self.server.name));
        }
    }

    /// Ends it. A call under way goes on with the connection it has, unless `now`.
    pub async fn end(&self, now: bool) {
        let live = self.state.lock().await.live.take();
        if let Some(live) = live
            && (now || Arc::strong_count(&live) == 1)
        {
            live.end().await;
        }
    }
}

impl State {
    /// Takes note of a server that ended by itself.
    async fn bury_dead(&mut self, server: &McpServer) {
        let Some(dead) = self.live.take_if(|live| live.has_ended()) else { return };
        let why = dead.why_ended().await;
        let printed = dead.printed();
        tracing::warn!(server = %server.name, %why, %printed, "an MCP server ended");
        dead.kill().await;
        self.failed(format!("The MCP server {} ended {why}.", server.name));
    }

    fn failed(&mut self, why: String) {
        self.failures = self.failures.saturating_add(1);
        let wait = match self.failures {
            0 | 1 => Duration::ZERO,
            n => LONGEST_WAIT.min(Duration::from_secs(1 << (n - 2).min(9))),
        };
        self.waits = Some((Instant::now() + wait, why));
    }

    /// How long it still waits, and why; none once the wait is over.
    fn wait(&self) -> Option<(Duration, String)> {
        let (until, why) = self.waits.as_ref()?;
        let left = until.saturating_duration_since(Instant::now());
        // Rounded up, so that nobody is told of no time at all.
        (!left.is_zero()).then(|| (Duration::from_secs(left.as_secs() + 1), why.clone()))
    }
}

/// Ends a connection that nobody used for so long.
async fn end_when_idle(slot: Weak<Slot>, connection: Weak<Connection>, idle: Duration) {
    let mut wait = idle;
    loop {
        tokio::time::sleep(wait).await;
        let (Some(slot), Some(connection)) = (slot.upgrade(), connection.upgrade()) else { return };
        let mut state = slot.state.lock().await;
        if !state.live.as_ref().is_some_and(|live| Arc::ptr_eq(live, &connection)) {
            return;
        }
        let unused = state.used.map_or(idle, |at| at.elapsed());
        // One is the slot's, one is ours; any other is a call's.
        if unused >= idle && Arc::strong_count(&connection) == 2 {
            state.live = None;
            drop(state);
            tracing::info!(profile = %slot.profile, server = %slot.server.name, "an idle MCP server is ended");
            return connection.end().await;
        }
        wait = idle.saturating_sub(unused).max(Duration::from_millis(50));
    }
}

/// Where a server's program is started: the profile's workspace, else the root.
pub(crate) fn folder(workspace: Option<&str>, server: &McpServer) -> PathBuf {
    match (&server.at, workspace) {
        (McpAt::Command { .. }, Some(folder)) => PathBuf::from(folder),
        _ => PathBuf::from("/"),
    }
}

/// The values given, as far as the server names them.
pub(crate) fn named(
    server: &McpServer,
    mut given: std::collections::BTreeMap<String, Secret>,
) -> Vec<(String, Secret)> {
    server.secrets.iter().filter_map(|name| given.remove_entry(name)).collect()
}

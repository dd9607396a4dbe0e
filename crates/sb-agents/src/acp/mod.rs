//! [`AcpHarness`]: agents that speak the Agent Client Protocol, each session a process of its own.
//!
//! A process stays between the turns of its session and ends after idleness. Whatever goes wrong in a
//! turn ends it; the next turn starts another, which takes the session up again where the agent can.
//! Source: protocol version 1 of agentclientprotocol.com.

mod calls;
mod diff;
mod files;
mod link;
mod modes;
mod opening;
mod options;
mod places;
mod presets;
pub(crate) mod prompt;
mod questions;
mod settings;
mod terminal;
mod turn;
mod updates;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use sb_harness::model::{HarnessRef, Profile, Secret, SessionId, StopReason, TurnFault, TurnFaultKind};
use sb_harness::{Events, Harness, HarnessFeatures, Inputs, TurnSpec};
use tokio::time::Instant;

use self::opening::Agent;
pub use self::presets::{Launch, Preset, presets};

/// A process whose session is quiet for so long is ended.
const IDLE: Duration = Duration::from_secs(600);
/// Processes that wait for the next turn of their sessions; beyond, the one that has waited longest is ended.
const MOST_IDLE: usize = 32;

/// What an agent is started with, which only the installation knows.
pub trait Launching: Send + Sync + 'static {
    /// The key a profile has for a provider, and the base address, where they are not the agent's own business.
    fn key(&self, profile: &Profile, provider: &str) -> Option<Secret>;
    /// See [`key`](Self::key).
    fn base_url(&self, profile: &Profile, provider: &str) -> Option<String>;
}

/// All it may touch of the outside.
#[derive(Clone)]
pub struct AcpContext {
    pub launching: Arc<dyn Launching>,
    /// Ours, as agents are told it.
    pub version: &'static str,
}

/// See the module.
pub struct AcpHarness {
    context: AcpContext,
    idle: Arc<Mutex<HashMap<SessionId, Idle>>>,
}

/// A process between two turns.
struct Idle {
    agent: Agent,
    since: Instant,
}

impl AcpHarness {
    pub fn new(context: AcpContext) -> Self {
        Self { context, idle: Arc::default() }
    }

    /// Why no turn of such a profile could run, if so.
    ///
    /// # Errors
    /// A sentence that says what to do.
    pub fn check(profile: &Profile) -> Result<(), String> {
        presets::check(profile)
    }

    /// The process of a session, unless it was started for something else than this.
    fn take(&self, session: SessionId, launch: &Launch) -> Option<Agent> {
        let idle = locked(&self.idle).remove(&session)?;
        Some(idle.agent).filter(|agent| agent.is_of(launch))
    }

    /// Keeps a process for the session's next turn.
    fn put(&self, session: SessionId, agent: Agent) {
        let mut idle = locked(&self.idle);
        let since = Instant::now();
        idle.insert(session, Idle { agent, since });
        if idle.len() > MOST_IDLE
            && let Some(longest) = idle.iter().min_by_key(|(_, i)| i.since).map(|(id, _)| *id)
        {
            idle.remove(&longest);
        }
        let all = Arc::downgrade(&self.idle);
        tokio::spawn(async move {
            tokio::time::sleep(IDLE).await;
            let Some(all) = all.upgrade() else { return };
            let mut idle = locked(&all);
            if idle.get(&session).is_some_and(|i| i.since == since) {
                idle.remove(&session);
            }
        });
    }
}

#[async_trait]
impl Harness for AcpHarness {
    fn features(&self) -> HarnessFeatures {
        HarnessFeatures { images: true, ..HarnessFeatures::default() }
    }

    async fn turn(&self, spec: TurnSpec, inputs: Inputs, events: Events) -> Result<StopReason, TurnFault> {
        let HarnessRef::Acp(named) = &spec.profile.harness else {
            return Err(TurnFault::new(TurnFaultKind::Internal, "This profile's agent is none of these"));
        };
        let launch = Launch::of(named, &spec.profile, &spec.choices, &*self.context.launching)
            .map_err(|why| TurnFault::new(TurnFaultKind::Refused, why))?;
        let running = self.take(spec.session, &launch);
        let session = spec.session;
        let (how, agent) = turn::run(&self.context, launch, running, spec, inputs, events).await;
        if let Some(agent) = agent {
            self.put(session, agent);
        }
        how
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! [`AcpHarness`]: agents that speak the Agent Client Protocol, each session a process of its own.
//!
//! A process stays between the turns of its session and ends after idleness. Whatever goes wrong in a
//! turn ends it; the next turn starts another, which takes the session up again where the agent can.
//! Source: protocol version 1 of agentclientprotocol.com.

mod calls;
mod diff;
mod files;
mod lent;
mod link;
mod modes;
pub(crate) mod opening;
mod options;
mod places;
pub(crate) mod presets;
pub(crate) mod prompt;
mod questions;
mod settings;
mod shared;
mod terminal;
mod turn;
mod updates;

use std::sync::Arc;

use async_trait::async_trait;
use sb_harness::model::{Dice, HarnessRef, Profile, Secret, StopReason, TurnFault, TurnFaultKind};
use sb_harness::{Events, Harness, HarnessFeatures, Inputs, Lender, TurnSpec};

use self::opening::Agent;
pub use self::presets::{Launch, Preset, presets};
use crate::keep::Keep;
use crate::lending::Lending;

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
    /// Whose tools agents are lent.
    pub lender: Arc<dyn Lender>,
    pub dice: Arc<dyn Dice>,
    /// Ours, as agents are told it.
    pub version: &'static str,
}

/// See the module.
pub struct AcpHarness {
    context: AcpContext,
    lending: Lending,
    keep: Keep<Agent>,
}

impl AcpHarness {
    pub fn new(context: AcpContext) -> Self {
        let lending = Lending::new(context.dice.clone(), context.version);
        Self { context, lending, keep: Keep::default() }
    }

    /// Why no turn of such a profile could run, if so.
    ///
    /// # Errors
    /// A sentence that says what to do.
    pub fn check(profile: &Profile) -> Result<(), String> {
        presets::check(profile)
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
        let mut running = self.keep.take(spec.session).filter(|agent| agent.is_of(&launch));
        if let Some(agent) = &mut running
            && agent.link.has_ended().await
        {
            running = None;
        }
        let session = spec.session;
        let (how, agent) =
            turn::run(&self.context, &self.lending, launch, running, spec, inputs, events).await;
        if let Some(agent) = agent {
            self.keep.put(session, agent);
        }
        how
    }
}

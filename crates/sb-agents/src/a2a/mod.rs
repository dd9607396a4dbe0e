//! [`A2aHarness`]: agents that run elsewhere and speak Agent2Agent.
//!
//! A turn is a task there. What such an agent says is content from outside, and nothing it says makes us ask
//! another place than the operator named. A message is sent once: where an answer breaks off, the task is
//! looked up. Source: the A2A specification, versions 0.3 and 1.0.

mod files;
mod hearing;
mod keeping;
mod known;
mod peer;
mod prompt;
mod reply;
mod trouble;
mod turn;

use std::sync::Arc;

use async_trait::async_trait;
use sb_harness::model::{HarnessRef, Profile, Secret, StopReason, TurnFault, TurnFaultKind};
use sb_harness::net::Away;
use sb_harness::{Events, Harness, HarnessFeatures, Inputs, TurnSpec};

/// The key that an agent elsewhere is shown, which only the installation knows.
pub trait A2aKeys: Send + Sync + 'static {
    /// The profile's own, else the machine's for such agents.
    fn key(&self, profile: &Profile) -> Option<Secret>;
}

/// All it may touch of the outside.
#[derive(Clone)]
pub struct A2aContext {
    pub away: Away,
    pub keys: Arc<dyn A2aKeys>,
}

/// See the module. Keeps nothing of a turn: what must be known later stands in the log.
pub struct A2aHarness {
    context: A2aContext,
}

impl A2aHarness {
    pub fn new(context: A2aContext) -> Self {
        Self { context }
    }

    /// Why no turn of such a profile could run, if so.
    ///
    /// # Errors
    /// A sentence that says what to do.
    pub fn check(profile: &Profile) -> Result<(), String> {
        match &profile.harness {
            HarnessRef::A2a(card) => peer::check(card),
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Harness for A2aHarness {
    fn features(&self) -> HarnessFeatures {
        HarnessFeatures { images: true, ..HarnessFeatures::default() }
    }

    async fn turn(&self, spec: TurnSpec, inputs: Inputs, events: Events) -> Result<StopReason, TurnFault> {
        let HarnessRef::A2a(card) = spec.profile.harness.clone() else {
            return Err(TurnFault::new(TurnFaultKind::Internal, "This profile's agent is none of these"));
        };
        turn::run(&self.context, &card, spec, inputs, events).await
    }
}

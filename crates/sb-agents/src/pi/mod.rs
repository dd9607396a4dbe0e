//! [`PiHarness`]: pi, spoken to in its own mode for other programs, each session a process of its own.
//!
//! pi acts without asking and has no way to be made to ask. So it runs only where nothing would be asked: for a
//! profile whose level leaves programs and the outside free, in a session that has read nothing from outside.
//! Source: the documentation of its RPC mode, in its package.

mod launch;
mod process;
mod turn;

use std::sync::Arc;

use async_trait::async_trait;
use sb_harness::model::{Profile, StopReason, TurnFault, TurnFaultKind};
use sb_harness::{Events, Harness, HarnessFeatures, Inputs, TurnSpec};

use self::launch::Started;
use self::process::Pi;
use crate::Launching;
use crate::keep::Keep;

pub use self::launch::key_variable;

/// See the module.
pub struct PiHarness {
    launching: Arc<dyn Launching>,
    keep: Keep<Pi>,
}

impl PiHarness {
    pub fn new(launching: Arc<dyn Launching>) -> Self {
        Self { launching, keep: Keep::default() }
    }

    /// Why no turn of such a profile could run, if so.
    ///
    /// # Errors
    /// A sentence that says what to do.
    pub fn check(profile: &Profile) -> Result<(), String> {
        launch::check(profile)
    }
}

#[async_trait]
impl Harness for PiHarness {
    fn features(&self) -> HarnessFeatures {
        HarnessFeatures { images: true, ..HarnessFeatures::default() }
    }

    async fn turn(&self, spec: TurnSpec, inputs: Inputs, events: Events) -> Result<StopReason, TurnFault> {
        let refused = |why: String| TurnFault::new(TurnFaultKind::Refused, why);
        launch::check(&spec.profile).map_err(refused)?;
        launch::check_session(&spec).map_err(refused)?;
        let started = Started::of(&spec.profile, &spec.choices, &*self.launching).map_err(refused)?;
        let mut running = self.keep.take(spec.session).filter(|pi| pi.started.is_same(&started));
        if let Some(pi) = &mut running
            && pi.has_ended().await
        {
            running = None;
        }
        let session = spec.session;
        let (how, pi) = turn::run(started, running, spec, inputs, events).await;
        if let Some(pi) = pi {
            self.keep.put(session, pi);
        }
        how
    }
}

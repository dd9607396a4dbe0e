//! [`LoopHarness`]: the loop as a harness, and what it is given of the outside.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use sb_harness::model::{Clock, Dice, ProfileName, Secret, StopReason, TurnFault};
use sb_harness::net::{Away, Http};
use sb_harness::{Events, Harness, HarnessFeatures, Inputs, TurnSpec};

use crate::toolbox::Toolbox;
use crate::turn::Run;

/// Where keys and addresses come from; the loop itself reads no environment and no store.
pub trait Keys: Send + Sync + 'static {
    /// The key `profile` uses for `provider`: its own, else the machine's.
    fn key(&self, profile: &ProfileName, provider: &str) -> Option<Secret>;
    /// The machine's base address for `provider`, where it is not the provider's own.
    fn base_url(&self, provider: &str) -> Option<String>;
}

/// All the loop may touch of the outside.
#[derive(Clone)]
pub struct LoopContext {
    pub http: Http,
    pub clock: Arc<dyn Clock>,
    pub dice: Arc<dyn Dice>,
    pub keys: Arc<dyn Keys>,
    /// The way to addresses that somebody else chose.
    pub away: Away,
    /// What the marks around content from outside are made from; the same after a restart.
    pub marks: Secret,
    /// Our own program, which as `read-sheets` reads a spreadsheet ([`sheets`](crate::sheets)) in a process of its own.
    pub own: PathBuf,
}

/// The built-in loop. Keeps nothing of a turn; only what it learned about servers' quirks.
pub struct LoopHarness {
    pub(crate) context: LoopContext,
    quirks: Quirks,
    toolbox: Option<Arc<dyn Toolbox>>,
}

/// Base addresses whose servers refused an optional field once; it is not sent to them again.
#[derive(Debug, Default)]
pub(crate) struct Quirks {
    without_stream_options: Mutex<HashSet<String>>,
}

impl Quirks {
    pub(crate) fn sends_stream_options(&self, base: &str) -> bool {
        !self.without_stream_options.lock().is_ok_and(|set| set.contains(base))
    }
    pub(crate) fn drop_stream_options(&self, base: &str) {
        if let Ok(mut set) = self.without_stream_options.lock() {
            set.insert(base.to_owned());
        }
    }
}

impl LoopHarness {
    pub fn new(context: LoopContext) -> Self {
        Self { context, quirks: Quirks::default(), toolbox: None }
    }

    /// The same, with tools from elsewhere beside its own.
    pub fn with_toolbox(self, toolbox: Arc<dyn Toolbox>) -> Self {
        Self { toolbox: Some(toolbox), ..self }
    }
}

#[async_trait]
impl Harness for LoopHarness {
    fn features(&self) -> HarnessFeatures {
        HarnessFeatures { steers: true, parks: true, rewinds: true, compacts: true, images: true }
    }

    async fn turn(&self, spec: TurnSpec, inputs: Inputs, events: Events) -> Result<StopReason, TurnFault> {
        Run::new(&self.context, &self.quirks, self.toolbox.as_ref(), &spec, inputs, events).run().await
    }
}

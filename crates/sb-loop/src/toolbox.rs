//! [`Toolbox`]: tools from elsewhere, beside the loop's own.
//!
//! What is in it may change between two turns, never within one. It sees no call before the engine's `Go`,
//! and decides nothing: the class it gives a tool is a fact that the one gate is told.

use std::sync::Arc;

use async_trait::async_trait;
use sb_harness::Blobs;
use sb_harness::model::{Call, Profile};

use crate::tools::{Outcome, ToolDef};

/// What a toolbox has for a profile in one turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Offer {
    pub tools: Vec<ToolDef>,
    /// What the agent must know of it: tools held back, servers that do not answer. A sentence each.
    pub notes: Vec<String>,
}

/// Tools from elsewhere.
#[async_trait]
pub trait Toolbox: Send + Sync + 'static {
    /// What it has for a profile, asked once at the beginning of a turn. May take as long as a server takes
    /// to start; what cannot be had is told as a note. Dropping it gives up.
    async fn offer(&self, profile: &Profile) -> Offer;

    /// Whether a tool of this name is one of its own, whether or not it can be had now.
    fn has(&self, profile: &Profile, tool: &str) -> bool;

    /// Runs a call that was allowed. The error is told to the model. Dropping it cancels the call.
    async fn run(&self, profile: &Profile, call: &Call, blobs: Arc<dyn Blobs>) -> Outcome;
}

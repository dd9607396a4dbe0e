//! Tools of ours, as an agent elsewhere is lent them.
//!
//! What they are and how they run is the business of whoever lends them; the gate is asked for each call before.
//! Those the engine performs itself are only listed by a lender, never run by one.

use std::sync::Arc;

use async_trait::async_trait;
use sb_net::model::{Attachment, Call, CallId, Choices, Profile, SessionId, ToolClass};
use serde_json::Value;

use crate::{Blobs, Memory};

/// A tool as models are told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDef {
    pub name: String,
    pub class: ToolClass,
    pub description: String,
    /// The JSON schema of its input.
    pub schema: Value,
}

/// What came of a tool.
#[derive(Debug, Default)]
pub struct Done {
    pub text: String,
    /// Pictures the model is to be shown.
    pub files: Vec<Attachment>,
    /// A file for the person.
    pub shared: Option<Attachment>,
    /// The person is given the pictures too, not only the model.
    pub shows_pictures: bool,
    /// The tool ran and says that it failed.
    pub failed: bool,
    /// It brought content from outside, which is never an instruction.
    pub outside: bool,
}

/// What came of a tool, or why nothing did, both in words for the model.
pub type Outcome = Result<Done, String>;

/// What a lent tool works with.
#[derive(Clone)]
pub struct Borrower {
    pub profile: Arc<Profile>,
    pub blobs: Arc<dyn Blobs>,
    pub memory: Arc<dyn Memory>,
    /// The session has read content from outside.
    pub tainted: bool,
}

/// Lends tools.
#[async_trait]
pub trait Lender: Send + Sync + 'static {
    /// The tools that a profile's agent is lent in a chat.
    fn lends(&self, profile: &Profile, choices: &Choices) -> Vec<ToolDef>;

    /// Whether a call can be run at all, before anyone is asked about it.
    ///
    /// # Errors
    /// What is wrong with it, in words for the model.
    fn check(&self, lent: &[ToolDef], call: &Call) -> Result<(), String>;

    /// Runs a call that was allowed and that the engine does not perform itself.
    async fn run(&self, with: &Borrower, call: &Call) -> Outcome;

    /// Words from outside, as a model is shown them: set apart from whatever may instruct it.
    fn set_apart(&self, session: SessionId, call: &CallId, words: &str) -> String;
}

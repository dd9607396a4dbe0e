//! Calls: what the agent wants to do, what class of deed it is, and rules that let some pass unasked.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallId, Digest};

/// What kind of deed a tool does: the fact that the autonomy level is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolClass {
    /// Reads, inside the workspace or our own records; may be repeated freely.
    Read,
    /// Changes files of the workspace.
    Write,
    /// Runs a program.
    Shell,
    /// Reaches beyond this machine.
    Outside,
    /// May destroy what cannot be brought back, or does not say what it does. Only a rule lets it pass unasked.
    Destructive,
    /// Moves money.
    Spend,
}

impl ToolClass {
    /// Whether doing it twice could matter, so that it is committed before it is done.
    pub fn acts(self) -> bool {
        self != ToolClass::Read
    }
}

/// One thing the agent wants to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The harness's own id for it, unique within the turn.
    pub id: CallId,
    pub tool: String,
    /// A JSON object.
    pub input: Value,
    pub class: ToolClass,
}

impl Call {
    /// Binds an approval to exactly this call: recomputed when it runs.
    pub fn digest(&self) -> Digest {
        // Objects of `serde_json` are sorted by key here, so equal inputs print equally.
        Digest::of(format!("{}\0{}\0{}", self.id, self.tool, self.input).as_bytes())
    }
    /// Whether `other` would do the same thing, whatever its id.
    pub fn does_same_as(&self, other: &Call) -> bool {
        self.tool == other.tool && self.input == other.input
    }
    /// The call as people read it: `write_file {"path":"a.txt"}`.
    pub fn shown(&self) -> String {
        format!("{} {}", self.tool, self.input)
    }
}

/// What a person allowed for the rest of a session: this very call again, or the calls a pattern matches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// `tool` with exactly this input.
    Same { tool: String, input: Value },
    /// As typed: `write_file(notes:*)`, `shell(git status:*)`. `exact` holds without the trailing `:*`.
    Pattern { tool: String, words: String, exact: bool },
}

/// What the one gate says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Go,
    /// A person must decide; why, such as "a write at autonomy L3".
    Ask(String),
    /// Never, whoever asks; why, told to the model.
    No(String),
}

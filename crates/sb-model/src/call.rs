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
    /// The call as people read it: `write_file {"path":"a.txt"}`. What [`lines`](Self::lines) gives is left out.
    pub fn shown(&self) -> String {
        format!("{} {}", self.tool, self.fields())
    }
    /// Its input without what is to be read as lines.
    pub fn fields(&self) -> Value {
        let mut fields = self.input.clone();
        if let (Some(object), Some((name, _))) = (fields.as_object_mut(), self.lines()) {
            object.remove(name);
        }
        fields
    }
    /// The change or the plan that it is about, as lines to be shown as they are, and its field.
    pub fn lines(&self) -> Option<(&'static str, &str)> {
        let text = |name: &'static str| Some((name, self.input.get(name)?.as_str()?));
        ["change", "diff", "patch", "plan"].into_iter().filter_map(text).find(|(_, text)| text.contains('\n'))
    }
}

/// How an agent elsewhere would have a call allowed or refused, in its own words. All are for this once only; where
/// there are several, a person says which.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ways {
    #[serde(default)]
    pub allow: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decline: Option<String>,
}

impl Ways {
    /// It said nothing of how.
    pub fn is_plain(&self) -> bool {
        self.allow.is_empty() && self.decline.is_none()
    }
    /// Those that allow, with the numbers people choose them by.
    pub fn listed(&self) -> String {
        let all = (1..).zip(&self.allow).map(|(n, way)| format!("{n}. {way}"));
        all.collect::<Vec<_>>().join(", ")
    }
    /// It is no mere yes: which of them must be said.
    pub fn are_several(&self) -> bool {
        self.allow.len() > 1
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

//! What a model gives: pieces while it writes, and the whole answer at the end.

use sb_harness::model::Usage;
use serde_json::Value;

/// Something a model said while its answer is still growing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    /// Words of the answer.
    Text(String),
    /// Reasoning, which is never part of it.
    Thought(String),
}

/// Why a model ended its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Stop {
    /// It said all it had to say, or wants its calls run.
    #[default]
    End,
    /// It reached a limit: of one answer, or of what fits.
    Limit,
    /// It declined.
    Refusal,
    /// It wants its answer sent back to go on.
    Pause,
}

/// A call as the model wrote it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WantedCall {
    /// May be empty, or used before; the loop sees to it.
    pub id: String,
    pub tool: String,
    /// The JSON it wrote, not yet read.
    pub input: String,
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Answer {
    pub text: String,
    pub calls: Vec<WantedCall>,
    /// What the provider wants back unchanged, if anything.
    pub kept: Option<Value>,
    pub usage: Usage,
    pub stop: Stop,
}

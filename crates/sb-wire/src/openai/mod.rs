//! OpenAI's chat API as a server answers it: lists of models, completions, their chunks, errors.
//!
//! Every field that OpenAI's own clients look for is there, null where nothing is meant, since they read
//! strictly. What a client sends is read where it is judged.

mod chat;

use serde::{Deserialize, Serialize};

pub use chat::{Choice, Chunk, ChunkChoice, Completion, Delta, FinishReason, Message, Role};

/// One model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    pub id: String,
    /// `model`.
    pub object: String,
    /// Seconds since 1970; 0 where nobody knows.
    pub created: i64,
    pub owned_by: String,
}

impl Model {
    /// A model of this name.
    pub fn new(id: impl Into<String>, owned_by: &str) -> Self {
        Self { id: id.into(), object: "model".to_owned(), created: 0, owned_by: owned_by.to_owned() }
    }
}

/// Several of something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct List<T> {
    /// `list`.
    pub object: String,
    pub data: Vec<T>,
}

impl<T> List<T> {
    pub fn new(data: Vec<T>) -> Self {
        Self { object: "list".to_owned(), data }
    }
}

/// Tokens of an answer. The total is the sum of the other two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub total_tokens: u64,
    pub prompt_tokens_details: PromptTokens,
    pub completion_tokens_details: CompletionTokens,
}

/// Of the tokens that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PromptTokens {
    pub cached_tokens: u64,
}

/// Of the tokens that were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CompletionTokens {
    pub reasoning_tokens: u64,
}

impl Usage {
    /// So many read, of them so many from a cache, and so many written.
    pub fn new(read: u64, cached: u64, written: u64) -> Self {
        Self {
            prompt_tokens: read,
            completion_tokens: written,
            total_tokens: read.saturating_add(written),
            prompt_tokens_details: PromptTokens { cached_tokens: cached },
            completion_tokens_details: CompletionTokens::default(),
        }
    }
}

/// The body of an error, and the data of one that ends a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    pub error: ErrorDetail,
}

/// What went wrong. All four are always there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorDetail {
    pub message: String,
    #[serde(rename = "type")]
    pub kind: String,
    /// The field that is at fault.
    pub param: Option<String>,
    /// A word that never changes.
    pub code: Option<String>,
}

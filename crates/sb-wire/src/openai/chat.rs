//! Chat completions: a whole answer, and the chunks of one that is streamed.

use serde::{Deserialize, Serialize};

use super::Usage;

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    pub id: String,
    /// `chat.completion`.
    pub object: String,
    /// Seconds since 1970.
    pub created: i64,
    pub model: String,
    pub choices: Vec<Choice>,
    pub usage: Usage,
    pub system_fingerprint: Option<String>,
}

/// One answer of those a completion could have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    pub index: u32,
    pub message: Message,
    pub logprobs: Option<()>,
    pub finish_reason: FinishReason,
}

/// What the assistant says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    pub content: Option<String>,
    pub refusal: Option<String>,
}

/// Who speaks, where it is the assistant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Assistant,
}

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    Stop,
    Length,
    ContentFilter,
}

impl Completion {
    /// One answer of these words.
    pub fn new(
        id: String,
        created: i64,
        model: String,
        content: String,
        finish: FinishReason,
        usage: Usage,
    ) -> Self {
        let message = Message { role: Role::Assistant, content: Some(content), refusal: None };
        Self {
            id,
            object: "chat.completion".to_owned(),
            created,
            model,
            choices: vec![Choice { index: 0, message, logprobs: None, finish_reason: finish }],
            usage,
            system_fingerprint: None,
        }
    }
}

/// A piece of a streamed answer. All pieces share id, time and model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    pub id: String,
    /// `chat.completion.chunk`.
    pub object: String,
    pub created: i64,
    pub model: String,
    /// Empty in the one with the usage only.
    pub choices: Vec<ChunkChoice>,
    pub system_fingerprint: Option<String>,
    /// Left out unless usage was asked for; then null in all but the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Option<Usage>>,
}

/// What a piece adds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkChoice {
    pub index: u32,
    pub delta: Delta,
    pub logprobs: Option<()>,
    pub finish_reason: Option<FinishReason>,
}

/// What is new since the piece before.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Delta {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_field_a_strict_reader_looks_for_is_there() {
        let usage = Usage::new(120, 20, 14);
        let whole =
            Completion::new("chatcmpl-1".into(), 7, "a".into(), "Hi.".into(), FinishReason::Stop, usage);
        assert_eq!(
            serde_json::to_value(whole).expect("json"),
            json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 7, "model": "a",
                "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi.", "refusal": null},
                    "logprobs": null, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 120, "completion_tokens": 14, "total_tokens": 134,
                    "prompt_tokens_details": {"cached_tokens": 20},
                    "completion_tokens_details": {"reasoning_tokens": 0}},
                "system_fingerprint": null})
        );
    }

    #[test]
    fn usage_is_left_out_or_null_or_there() {
        let chunk = |usage| Chunk {
            id: "x".into(),
            object: "chat.completion.chunk".into(),
            created: 7,
            model: "a".into(),
            choices: vec![ChunkChoice {
                index: 0,
                delta: Delta::default(),
                logprobs: None,
                finish_reason: None,
            }],
            system_fingerprint: None,
            usage,
        };
        let value = |usage| serde_json::to_value(chunk(usage)).expect("json");
        assert!(value(None).get("usage").is_none());
        assert_eq!(value(Some(None))["usage"], json!(null));
        assert_eq!(value(Some(Some(Usage::new(1, 0, 2))))["usage"]["total_tokens"], 3);
        assert_eq!(value(None)["choices"][0]["delta"], json!({}));
        assert_eq!(value(None)["choices"][0]["finish_reason"], json!(null));
    }
}

//! OpenAI's Chat Completions API, imitated, with the oddities of compatible servers on demand.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use sb_harness::FailKind;
use serde_json::{Value, json};

use super::openai_rules::{check, check_headers};
use super::refusal::Refusal;
use super::script::{Act, broken, count, holds, plan};
use super::state::{Models, Quirks};
use super::writer::{Gone, Writer, stream};

/// `POST /v1/chat/completions`.
pub(super) async fn completions(State(models): State<Models>, headers: HeaderMap, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    models.saw("/v1/chat/completions", &headers, &request);
    let quirks = models.quirks();
    let refuse = |refusal: Refusal| refusal.response(refusal.in_openais_shape(), None);
    if let Err(refusal) = check_headers(&headers) {
        return refuse(refusal);
    }
    let talk = match check(&request, quirks) {
        Ok(talk) => talk,
        Err(refusal) => return refuse(refusal),
    };
    if let Some(planned) = models.next_failure() {
        let refusal = Refusal::openai(planned.kind);
        return refusal.response(refusal.in_openais_shape(), Some(&planned));
    }
    let model = request["model"].as_str().unwrap_or_default().to_owned();
    if talk.words > holds(&model) {
        return refuse(Refusal::openai(FailKind::ContextFull));
    }
    let acts = models.next_break().map_or_else(|| plan(&talk), broken);
    let streamed = request["stream"] == true && !quirks.never_streams;
    match acts.first() {
        Some(Act::Fail(kind)) if *kind != FailKind::Network || !streamed => {
            return refuse(Refusal::openai(*kind));
        }
        _ => {}
    }
    let usage = request["stream_options"]["include_usage"] == true;
    let telling = Telling { number: models.next_answer(), model, input: talk.words, acts, quirks, usage };
    if !streamed {
        return telling.whole();
    }
    let (writer, response) = stream(&models);
    tokio::spawn(async move { telling.stream(&writer).await });
    response
}

/// One answer to give.
struct Telling {
    number: u64,
    model: String,
    input: u64,
    acts: Vec<Act>,
    quirks: Quirks,
    usage: bool,
}

impl Telling {
    fn reason(&self) -> &'static str {
        let calls = matches!(self.acts.last(), Some(Act::Call { .. }));
        if calls && !self.quirks.odd_calls { "tool_calls" } else { "stop" }
    }
    fn usage(&self, output: u64) -> Value {
        json!({"prompt_tokens": self.input, "completion_tokens": output, "total_tokens": self.input + output,
               "prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 0}})
    }
    fn document(&self, object: &str, choices: Value, usage: Value) -> Value {
        json!({"id": format!("chatcmpl-{}", self.number), "object": object, "created": 1_800_000_000,
               "model": self.model, "choices": choices, "usage": usage})
    }
    fn call_id(&self) -> String {
        format!("call_standin_{}", self.number)
    }

    fn whole(&self) -> Response {
        let mut text = String::new();
        let mut calls = Vec::new();
        for act in &self.acts {
            match act {
                Act::Say(more) => text.push_str(more),
                Act::Fail(kind) => {
                    let refusal = Refusal::openai(*kind);
                    return refusal.response(refusal.in_openais_shape(), None);
                }
                Act::Call { name, input } => {
                    let function = json!({"name": name, "arguments": input.to_string()});
                    calls.push(json!({"id": self.call_id(), "type": "function", "function": function}));
                }
                Act::Pause(_) => {}
            }
        }
        let output = count(&text);
        let content = if text.is_empty() { Value::Null } else { text.into() };
        let mut message = json!({"role": "assistant", "content": content, "refusal": null});
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let choice =
            json!({"index": 0, "message": message, "logprobs": null, "finish_reason": self.reason()});
        Json(self.document("chat.completion", json!([choice]), self.usage(output))).into_response()
    }

    async fn stream(&self, writer: &Writer) -> Result<(), Gone> {
        let mut words = 0;
        self.chunk(writer, json!({"role": "assistant", "content": ""}), None).await?;
        for act in &self.acts {
            match act {
                Act::Say(text) => {
                    words += count(text);
                    self.chunk(writer, json!({"content": text}), None).await?;
                }
                Act::Pause(time) => writer.pause(*time).await?,
                Act::Fail(FailKind::Network) => return writer.break_off().await,
                Act::Fail(kind) => {
                    return writer.event("", &Refusal::openai(*kind).in_openais_shape().to_string()).await;
                }
                Act::Call { name, input } => self.call(writer, name, input).await?,
            }
        }
        self.chunk(writer, json!({}), Some(words)).await?;
        if self.usage && !self.quirks.usage_with_choice {
            let last = self.document("chat.completion.chunk", json!([]), self.usage(words));
            writer.event("", &last.to_string()).await?;
        }
        if self.quirks.no_done { Ok(()) } else { writer.event("", "[DONE]").await }
    }

    async fn call(&self, writer: &Writer, name: &str, input: &Value) -> Result<(), Gone> {
        let arguments = input.to_string();
        if self.quirks.odd_calls {
            let whole =
                json!({"id": "", "type": "function", "function": {"name": name, "arguments": arguments}});
            return self.chunk(writer, json!({"tool_calls": [whole]}), None).await;
        }
        let first = json!({"index": 0, "id": self.call_id(), "type": "function", "function": {"name": name, "arguments": ""}});
        self.chunk(writer, json!({"tool_calls": [first]}), None).await?;
        let middle = arguments.char_indices().nth(arguments.chars().count() / 2).map_or(0, |(at, _)| at);
        for piece in [&arguments[..middle], &arguments[middle..]] {
            let more = json!({"index": 0, "function": {"arguments": piece}});
            self.chunk(writer, json!({"tool_calls": [more]}), None).await?;
        }
        Ok(())
    }

    /// A chunk; `ends` with so many words written.
    async fn chunk(&self, writer: &Writer, delta: Value, ends: Option<u64>) -> Result<(), Gone> {
        let reason = ends.map(|_| self.reason());
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason});
        let usage =
            ends.filter(|_| self.quirks.usage_with_choice).map_or(Value::Null, |words| self.usage(words));
        writer.event("", &self.document("chat.completion.chunk", json!([choice]), usage).to_string()).await
    }
}

//! Anthropic's Messages API, imitated: one answer, streamed or whole.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use sb_harness::FailKind;
use serde_json::{Value, json};

use super::anthropic_rules::{SIGNATURE, check, check_headers};
use super::refusal::Refusal;
use super::script::{Act, broken, count, holds, plan};
use super::state::Models;
use super::writer::{Gone, Writer, stream};

/// `POST /v1/messages`.
pub(super) async fn messages(State(models): State<Models>, headers: HeaderMap, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    models.saw("/v1/messages", &headers, &request);
    let refuse = |refusal: Refusal| refusal.response(refusal.in_anthropics_shape(), None);
    let talk = match check_headers(&headers).and_then(|version| check(&request, version)) {
        Ok(talk) => talk,
        Err(refusal) => return refuse(refusal),
    };
    if let Some(planned) = models.next_failure() {
        let refusal = Refusal::anthropic(planned.kind);
        return refusal.response(refusal.in_anthropics_shape(), Some(&planned));
    }
    let model = request["model"].as_str().unwrap_or_default().to_owned();
    if talk.words > holds(&model) {
        return refuse(Refusal::anthropic(FailKind::ContextFull));
    }
    let acts = models.next_break().map_or_else(|| plan(&talk), broken);
    let streamed = request["stream"] == true;
    match acts.first() {
        Some(Act::Fail(kind)) if *kind != FailKind::Network || !streamed => {
            return refuse(Refusal::anthropic(*kind));
        }
        _ => {}
    }
    let telling = Telling { number: models.next_answer(), model, input: talk.words, acts };
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
}

impl Telling {
    fn message(&self) -> Value {
        json!({
            "id": format!("msg_{}", self.number), "type": "message", "role": "assistant", "model": self.model,
            "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": self.input, "cache_creation_input_tokens": 0,
                      "cache_read_input_tokens": 0, "output_tokens": 1},
        })
    }
    fn calls(&self) -> bool {
        matches!(self.acts.last(), Some(Act::Call { .. }))
    }
    fn reason(&self) -> &'static str {
        if self.calls() { "tool_use" } else { "end_turn" }
    }
    fn call_id(&self) -> String {
        format!("toolu_{}", self.number)
    }

    fn whole(&self) -> Response {
        let mut text = String::new();
        let mut content = Vec::new();
        for act in &self.acts {
            match act {
                Act::Say(more) => text.push_str(more),
                Act::Fail(kind) => {
                    let refusal = Refusal::anthropic(*kind);
                    return refusal.response(refusal.in_anthropics_shape(), None);
                }
                Act::Call { name, input } => {
                    content.push(
                        json!({"type": "tool_use", "id": self.call_id(), "name": name, "input": input}),
                    );
                }
                Act::Pause(_) => {}
            }
        }
        if !text.is_empty() {
            content.insert(0, json!({"type": "text", "text": text}));
        }
        let mut message = self.message();
        message["content"] = content.into();
        message["stop_reason"] = self.reason().into();
        message["usage"]["output_tokens"] = count(&text).into();
        Json(message).into_response()
    }

    async fn stream(&self, writer: &Writer) -> Result<(), Gone> {
        let mut block = Block { writer, index: 0, open: false };
        send(writer, json!({"type": "message_start", "message": self.message()})).await?;
        send(writer, json!({"type": "ping"})).await?;
        if self.model.starts_with("thinking") {
            block.think().await?;
        }
        let mut words = 0;
        for act in &self.acts {
            match act {
                Act::Say(text) => {
                    words += count(text);
                    block.say(text).await?;
                }
                Act::Pause(time) => writer.pause(*time).await?,
                Act::Fail(FailKind::Network) => return writer.break_off().await,
                Act::Fail(kind) => {
                    return send(writer, Refusal::anthropic(*kind).in_anthropics_shape()).await;
                }
                Act::Call { name, input } => block.call(&self.call_id(), name, input).await?,
            }
        }
        block.end().await?;
        let delta = json!({"stop_reason": self.reason(), "stop_sequence": null});
        send(writer, json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": words}}))
            .await?;
        send(writer, json!({"type": "message_stop"})).await
    }
}

async fn send(writer: &Writer, data: Value) -> Result<(), Gone> {
    writer.event(data["type"].as_str().unwrap_or_default(), &data.to_string()).await
}

/// The content block being written.
struct Block<'a> {
    writer: &'a Writer,
    index: u64,
    open: bool,
}

impl Block<'_> {
    async fn start(&mut self, block: Value) -> Result<(), Gone> {
        self.open = true;
        send(self.writer, json!({"type": "content_block_start", "index": self.index, "content_block": block}))
            .await
    }
    async fn delta(&self, delta: Value) -> Result<(), Gone> {
        send(self.writer, json!({"type": "content_block_delta", "index": self.index, "delta": delta})).await
    }
    async fn end(&mut self) -> Result<(), Gone> {
        if std::mem::take(&mut self.open) {
            send(self.writer, json!({"type": "content_block_stop", "index": self.index})).await?;
            self.index += 1;
        }
        Ok(())
    }
    async fn say(&mut self, text: &str) -> Result<(), Gone> {
        if !self.open {
            self.start(json!({"type": "text", "text": ""})).await?;
        }
        self.delta(json!({"type": "text_delta", "text": text})).await
    }
    async fn think(&mut self) -> Result<(), Gone> {
        self.start(json!({"type": "thinking", "thinking": "", "signature": ""})).await?;
        self.delta(json!({"type": "thinking_delta", "thinking": "Let me think."})).await?;
        self.delta(json!({"type": "signature_delta", "signature": SIGNATURE})).await?;
        self.end().await
    }
    async fn call(&mut self, id: &str, name: &str, input: &Value) -> Result<(), Gone> {
        self.end().await?;
        self.start(json!({"type": "tool_use", "id": id, "name": name, "input": {}})).await?;
        let text = input.to_string();
        let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
        for piece in ["", &text[..middle], &text[middle..]] {
            self.delta(json!({"type": "input_json_delta", "partial_json": piece})).await?;
        }
        self.end().await
    }
}

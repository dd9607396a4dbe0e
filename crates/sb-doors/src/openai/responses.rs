//! `POST /v1/responses`: the same talk in the newer API's words, whole or as its events.
//!
//! An answer's id can be given back as `previous_response_id`: then the talk goes on from there, and what
//! was said before need not be sent.

use std::sync::Arc;

use axum::extract::{Request as HttpRequest, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use sb_wire::openai::{FinishReason, Usage};
use serde_json::{Value, json};

use super::chat::Head;
use super::error::{Fault, Result};
use super::request::{self, Fields, Request};
use super::stream::{self, Form};
use super::{aside, ask, chat, models};
use crate::http::{Door, Who};
use crate::model::{Digest, MessageId, ProfileName};

const PREVIOUS: &str = "previous_response_id";

/// `POST /v1/responses`
pub(super) async fn create(
    State(door): State<Arc<Door>>,
    Extension(who): Extension<Who>,
    request: HttpRequest,
) -> Result<Response> {
    let (head, held) = ask::received(&door, request).await?;
    let fields = request::fields(&held.bytes)?;
    let model = request::model(&fields)?;
    let (profile, is_aside) = models::named(&door, &who, &model)?;
    let request = Request::of_input(&fields)?;
    let previous: Option<String> = request::take(&fields, PREVIOUS, "a string")?;
    let streams = request.streams;
    let mut about = About {
        head: Head { id: String::new(), created: door.engine.now().0 / 1000, model },
        previous: previous.clone(),
        instructions: instructions(&fields)?,
    };
    if let Some(text) = aside::answer(&request, &head.headers, is_aside) {
        about.head.id = format!("resp_aside-{}", door.engine.now().0);
        return Ok(match streams {
            true => stream::only(Events::new(about), &text),
            false => Json(about.whole(&text, FinishReason::Stop, Usage::default())).into_response(),
        });
    }
    let after = match &previous {
        Some(id) => Some(place(&door, &who, &profile, id).await?),
        None => None,
    };
    let taken = ask::take(&door, &who, profile, &head, request.talk, after, streams).await?;
    drop(held);
    about.head.id = format!("resp_{}-{}", taken.session, taken.reading.message.0);
    if streams {
        return stream::respond(door, taken, Events::new(about)).await;
    }
    let told = chat::read(&door, taken).await?;
    Ok(Json(about.whole(&told.text, told.finish, told.usage)).into_response())
}

fn instructions(fields: &Fields<'_>) -> Result<Option<String>> {
    request::take(fields, "instructions", "a string")
}

/// The place in its talk that an answer's id names, if this caller may go on from it.
async fn place(door: &Door, who: &Who, profile: &ProfileName, id: &str) -> Result<Digest> {
    let none = || {
        let id: String = id.chars().take(80).collect();
        let said = format!("There is no answer {id:?} to go on from, for this token and model.");
        Fault::coded(PREVIOUS, "previous_response_not_found", said)
    };
    let number = id.strip_prefix("resp_").and_then(|rest| rest.split_once('-')).ok_or_else(none)?.1;
    let message = MessageId(number.parse().map_err(|_| none())?);
    let place = door.engine.answered_at(message).await?.ok_or_else(none)?;
    let may = place.profile == *profile && (place.owner == who.principal || who.rights.decide);
    if may { Ok(place.digest) } else { Err(none()) }
}

/// What an answer says about itself.
struct About {
    head: Head,
    previous: Option<String>,
    instructions: Option<String>,
}

impl About {
    fn response(&self, status: &str, output: Value, usage: Value, error: Value) -> Value {
        json!({
            "id": self.head.id, "object": "response", "created_at": self.head.created, "status": status,
            "error": error, "incomplete_details": null, "instructions": self.instructions,
            "max_output_tokens": null, "metadata": {}, "model": self.head.model, "output": output,
            "parallel_tool_calls": false, "previous_response_id": self.previous, "reasoning": null,
            "store": true, "temperature": null, "text": {"format": {"type": "text"}}, "tool_choice": "none",
            "tools": [], "top_p": null, "truncation": "disabled", "usage": usage, "user": null,
        })
    }
    fn item(&self, status: &str, content: Value) -> Value {
        json!({"id": self.item_id(), "type": "message", "status": status, "role": "assistant",
            "content": content})
    }
    fn item_id(&self) -> String {
        format!("msg_{}", self.head.id.trim_start_matches("resp_"))
    }
    fn whole(&self, text: &str, finish: FinishReason, used: Usage) -> Value {
        let status = status(finish);
        let output = json!([self.item(status, json!([part(text)]))]);
        let mut response = self.response(status, output, usage(used), Value::Null);
        match finish {
            FinishReason::Length => response["incomplete_details"] = json!({"reason": "max_output_tokens"}),
            FinishReason::ContentFilter => {
                response["incomplete_details"] = json!({"reason": "content_filter"})
            }
            FinishReason::Stop => {}
        }
        response
    }
}

fn status(finish: FinishReason) -> &'static str {
    match finish {
        FinishReason::Length | FinishReason::ContentFilter => "incomplete",
        FinishReason::Stop => "completed",
    }
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn usage(used: Usage) -> Value {
    json!({
        "input_tokens": used.prompt_tokens,
        "input_tokens_details": {"cached_tokens": used.prompt_tokens_details.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": used.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used.total_tokens,
    })
}

/// Writes an answer's events. Each has its number.
struct Events {
    about: About,
    next: u64,
}

impl Events {
    fn new(about: About) -> Self {
        Self { about, next: 0 }
    }
    fn event(&mut self, kind: &str, mut data: Value) -> String {
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.next);
        self.next += 1;
        format!("event: {kind}\ndata: {data}\n\n")
    }
    /// An event about the words.
    fn of_part(&mut self, kind: &str, mut data: Value) -> String {
        data["item_id"] = json!(self.about.item_id());
        data["output_index"] = json!(0);
        data["content_index"] = json!(0);
        self.event(kind, data)
    }
}

impl Form for Events {
    fn begin(&mut self) -> String {
        let begun = self.about.response("in_progress", json!([]), Value::Null, Value::Null);
        let item = self.about.item("in_progress", json!([]));
        let mut all = self.event("response.created", json!({"response": begun}));
        all.push_str(&self.event("response.in_progress", json!({"response": begun})));
        all.push_str(&self.event("response.output_item.added", json!({"output_index": 0, "item": item})));
        all.push_str(&self.of_part("response.content_part.added", json!({"part": part("")})));
        all
    }
    fn words(&mut self, text: &str) -> String {
        self.of_part("response.output_text.delta", json!({"delta": text, "logprobs": []}))
    }
    fn end(&mut self, text: &str, finish: FinishReason, used: Usage) -> String {
        let status = status(finish);
        let item = self.about.item(status, json!([part(text)]));
        let whole = self.about.whole(text, finish, used);
        let mut all = self.of_part("response.output_text.done", json!({"text": text, "logprobs": []}));
        all.push_str(&self.of_part("response.content_part.done", json!({"part": part(text)})));
        all.push_str(&self.event("response.output_item.done", json!({"output_index": 0, "item": item})));
        all.push_str(&self.event(&format!("response.{status}"), json!({"response": whole})));
        all
    }
    fn fault(&mut self, fault: &Fault) -> String {
        // Some clients look at the event's own fields, others for an error in it.
        let error = json!({"code": fault.code.unwrap_or("server_error"), "message": fault.said});
        let failed = self.about.response("failed", json!([]), Value::Null, error);
        let mut all = self.event("response.failed", json!({"response": failed}));
        let body = fault.body().error;
        let data = json!({"code": body.code, "message": body.message, "param": body.param, "error": fault.body().error});
        all.push_str(&self.event("error", data));
        all
    }
}

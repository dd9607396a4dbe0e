//! Anthropic's Messages API: the request.
//!
//! Marks for the prompt cache stand on the tools, the instructions and the last message, so each step
//! of a turn reads the one before it from the cache. Blocks the provider wants back (signed thinking)
//! are sent unchanged, and only to the model that wrote them.

mod reading;

use serde_json::{Value, json};

use crate::dialect::Question;
use crate::pictures::Picture;
use crate::transcript::{CallResult, Item};

pub(crate) use reading::AnthropicReader;

/// Under which name [`Record::Answered`](sb_harness::model::Record) keeps this dialect's blocks.
const KEPT: &str = "anthropic";
/// What to ask for where nothing is known of the model; the field is required.
const SOME_OUTPUT: u64 = 8192;

/// The body of a request.
pub(crate) fn request(question: &Question) -> Value {
    let mut body = json!({
        "model": question.id,
        "max_tokens": question.family.output.unwrap_or(SOME_OUTPUT),
        "stream": true,
        "messages": messages(question),
    });
    let mut system: Vec<Value> =
        question.system.iter().map(|text| json!({"type": "text", "text": text})).collect();
    if let Some(last) = system.last_mut() {
        mark(last);
        body["system"] = system.into();
    }
    let tool = |t: &crate::tools::ToolDef| json!({"name": t.name, "description": t.description, "input_schema": t.schema});
    let mut tools: Vec<Value> = question.tools.iter().map(tool).collect();
    if let Some(last) = tools.last_mut() {
        mark(last);
        body["tools"] = tools.into();
    }
    body
}

/// Marks the end of a stretch worth caching.
fn mark(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

fn messages(question: &Question) -> Value {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for item in question.items {
        let (role, blocks) = match item {
            Item::Person { text, pictures } => ("user", person(text, pictures)),
            Item::Results(results) => ("user", results.iter().map(result).collect()),
            Item::Model { .. } => ("assistant", model(item, question.model)),
        };
        match messages.last_mut() {
            Some((before, content)) if *before == role => content.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    if let Some((_, blocks)) = messages.last_mut()
        && let Some(last) = blocks.last_mut()
    {
        mark(last);
    }
    messages.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn person(text: &str, pictures: &[Picture]) -> Vec<Value> {
    pictures.iter().map(picture).chain([json!({"type": "text", "text": text})]).collect()
}

fn picture(picture: &Picture) -> Value {
    let source = json!({"type": "base64", "media_type": picture.media_type, "data": &*picture.base64});
    let kind = if picture.is_document() { "document" } else { "image" };
    json!({"type": kind, "source": source})
}

fn result(result: &CallResult) -> Value {
    let mut content: Vec<Value> = result.pictures.iter().map(picture).collect();
    // An empty text block is refused.
    let text = if result.text.trim().is_empty() { "(nothing)" } else { &result.text };
    content.push(json!({"type": "text", "text": text}));
    let mut block =
        json!({"type": "tool_result", "tool_use_id": plain_id(result.call.as_str()), "content": content});
    if !result.ok {
        block["is_error"] = true.into();
    }
    block
}

fn model(item: &Item, asked: &str) -> Vec<Value> {
    let Item::Model { text, calls, kept, model } = item else { return Vec::new() };
    if model == asked
        && let Some(blocks) = kept.as_ref().and_then(|k| k.get(KEPT)).and_then(Value::as_array)
    {
        return blocks.clone();
    }
    let words = (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text.trim_end()}));
    let calls = calls.iter().map(|call| {
        json!({"type": "tool_use", "id": plain_id(call.id.as_str()), "name": call.tool, "input": call.input})
    });
    words.into_iter().chain(calls).collect()
}

/// An id of another provider's in the letters this one takes.
fn plain_id(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use sb_harness::model::ToolClass;

    use super::*;
    use crate::providers::Family;
    use crate::tools::ToolDef;
    use crate::view::tests::call;

    #[test]
    fn roles_alternate_results_come_first_and_the_ends_are_marked() {
        let picture = Picture { media_type: "image/png".into(), base64: "QUJD".into() };
        let items = [
            Item::Person { text: "hi".into(), pictures: vec![picture.clone()] },
            Item::Model {
                text: "let me see".into(),
                calls: vec![call("call:1", "look")],
                kept: None,
                model: "m".into(),
            },
            Item::Results(vec![CallResult {
                call: "call:1".into(),
                ok: false,
                text: " ".into(),
                pictures: vec![picture],
            }]),
            Item::Person { text: "and?".into(), pictures: vec![] },
        ];
        let tools = [ToolDef {
            name: "look".into(),
            class: ToolClass::Read,
            description: "Looks.".into(),
            schema: json!({"type": "object"}),
        }];
        let family = Family::default();
        let body = request(&Question {
            id: "m-1",
            model: "anthropic:m-1",
            family: &family,
            system: vec!["Be kind.", "Be brief."],
            tools: &tools,
            items: &items,
        });
        let cached = json!({"type": "ephemeral"});
        let shown =
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}});
        assert_eq!(
            body,
            json!({
                "model": "m-1", "max_tokens": 8192, "stream": true,
                "system": [
                    {"type": "text", "text": "Be kind."},
                    {"type": "text", "text": "Be brief.", "cache_control": cached},
                ],
                "tools": [{"name": "look", "description": "Looks.", "input_schema": {"type": "object"}, "cache_control": cached}],
                "messages": [
                    {"role": "user", "content": [shown, {"type": "text", "text": "hi"}]},
                    {"role": "assistant", "content": [
                        {"type": "text", "text": "let me see"},
                        {"type": "tool_use", "id": "call_1", "name": "look", "input": {"path": "call:1"}},
                    ]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": "call_1", "is_error": true,
                         "content": [shown, {"type": "text", "text": "(nothing)"}]},
                        {"type": "text", "text": "and?", "cache_control": cached},
                    ]},
                ],
            })
        );
    }

    #[test]
    fn kept_blocks_go_back_unchanged_to_the_model_that_wrote_them_only() {
        let blocks =
            json!([{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "hi"}]);
        let item = Item::Model {
            text: "hi".into(),
            calls: vec![],
            kept: Some(json!({"anthropic": blocks})),
            model: "anthropic:a".into(),
        };
        assert_eq!(Value::from(model(&item, "anthropic:a")), blocks);
        assert_eq!(Value::from(model(&item, "anthropic:b")), json!([{"type": "text", "text": "hi"}]));
    }
}

//! OpenAI's Chat Completions API and its many compatibles: the request.
//!
//! Only fields that all of them take are sent; the one that some refuse (`stream_options`) is left out
//! once a server has refused it.

mod reading;

use serde_json::{Value, json};

use crate::dialect::Question;
use crate::pictures::Picture;
use crate::transcript::Item;

pub(crate) use reading::OpenaiReader;

/// What differs between OpenAI itself and a compatible server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// It is the provider's own host, which knows the newer name of the limit only.
    pub own_host: bool,
    pub stream_options: bool,
}

/// The body of a request.
pub(crate) fn request(question: &Question, manner: Manner) -> Value {
    let mut body = json!({"model": question.id, "stream": true, "messages": messages(question)});
    if manner.stream_options {
        body["stream_options"] = json!({"include_usage": true});
    }
    if let Some(most) = question.family.output {
        // Quirk: the newer models refuse the older name, and most compatibles know only that.
        body[if manner.own_host { "max_completion_tokens" } else { "max_tokens" }] = most.into();
    }
    if !question.tools.is_empty() {
        let tool = |t: &crate::tools::ToolDef| {
            let function = json!({"name": t.name, "description": t.description, "parameters": t.schema});
            json!({"type": "function", "function": function})
        };
        body["tools"] = question.tools.iter().map(tool).collect();
    }
    body
}

fn messages(question: &Question) -> Value {
    let mut messages = Vec::new();
    if !question.system.is_empty() {
        messages.push(json!({"role": "system", "content": question.system.join("\n\n")}));
    }
    for item in question.items {
        match item {
            Item::Person { text, pictures } => messages.push(person(text, pictures)),
            Item::Model { text, calls, .. } => messages.push(model(text, calls)),
            Item::Results(results) => {
                for result in results {
                    let content =
                        if result.ok { result.text.clone() } else { format!("Error: {}", result.text) };
                    messages.push(json!({"role": "tool", "tool_call_id": result.call, "content": content}));
                }
                // Only a user's message may hold pictures.
                let pictures: Vec<Picture> = results.iter().flat_map(|r| r.pictures.clone()).collect();
                if !pictures.is_empty() {
                    messages.push(person("(The pictures the tool gave.)", &pictures));
                }
            }
        }
    }
    messages.into()
}

fn person(text: &str, pictures: &[Picture]) -> Value {
    if pictures.is_empty() {
        return json!({"role": "user", "content": text});
    }
    let picture = |p: &Picture| {
        let url = format!("data:{};base64,{}", p.media_type, p.base64);
        match p.is_document() {
            true => json!({"type": "file", "file": {"filename": "document.pdf", "file_data": url}}),
            false => json!({"type": "image_url", "image_url": {"url": url}}),
        }
    };
    let parts: Vec<Value> =
        [json!({"type": "text", "text": text})].into_iter().chain(pictures.iter().map(picture)).collect();
    json!({"role": "user", "content": parts})
}

fn model(text: &str, calls: &[sb_harness::model::Call]) -> Value {
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        let call = |c: &sb_harness::model::Call| json!({"id": c.id, "type": "function", "function": {"name": c.tool, "arguments": c.input.to_string()}});
        message["tool_calls"] = calls.iter().map(call).collect();
        if text.trim().is_empty() {
            message["content"] = Value::Null;
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::Family;
    use crate::transcript::CallResult;
    use crate::view::tests::call;

    #[test]
    fn a_pdf_is_a_file_of_the_persons_message() {
        let paper = Picture { media_type: "application/pdf".into(), base64: "QUJD".into() };
        let file = json!({"type": "file", "file": {
            "filename": "document.pdf", "file_data": "data:application/pdf;base64,QUJD"}});
        assert_eq!(person("Read it", &[paper])["content"][1], file);
    }

    #[test]
    fn results_follow_their_calls_and_a_tools_picture_comes_from_the_user() {
        let picture = Picture { media_type: "image/png".into(), base64: "QUJD".into() };
        let items = [
            Item::Person { text: "hi".into(), pictures: vec![] },
            Item::Model { text: "".into(), calls: vec![call("c1", "look")], kept: None, model: "m".into() },
            Item::Results(vec![CallResult {
                call: "c1".into(),
                ok: true,
                text: "seen".into(),
                pictures: vec![picture],
            }]),
        ];
        let family = Family { output: Some(9), ..Family::default() };
        let question = Question {
            id: "m",
            model: "openai:m",
            family: &family,
            system: vec!["A", "B"],
            tools: &[],
            items: &items,
        };
        let body = request(&question, Manner { own_host: false, stream_options: true });
        assert_eq!(
            body,
            json!({
                "model": "m", "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 9,
                "messages": [
                    {"role": "system", "content": "A\n\nB"},
                    {"role": "user", "content": "hi"},
                    {"role": "assistant", "content": null, "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"path\":\"c1\"}"}},
                    ]},
                    {"role": "tool", "tool_call_id": "c1", "content": "seen"},
                    {"role": "user", "content": [
                        {"type": "text", "text": "(The pictures the tool gave.)"},
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
                    ]},
                ],
            })
        );
        let own = request(&question, Manner { own_host: true, stream_options: false });
        assert_eq!(own["max_completion_tokens"], 9);
        assert!(own.get("stream_options").is_none() && own.get("max_tokens").is_none());
    }
}

//! What OpenAI's Chat Completions API asks of a request.

use axum::http::HeaderMap;
use serde_json::Value;

use super::WRONG_KEY;
use super::refusal::Refusal;
use super::script::{Talk, count};
use super::state::Quirks;

type Checked<T = ()> = Result<T, Refusal>;

/// # Errors
/// As the real server: no key, or a wrong one.
pub(super) fn check_headers(headers: &HeaderMap) -> Checked {
    let value = headers.get("authorization").and_then(|v| v.to_str().ok());
    match value.and_then(|v| v.strip_prefix("Bearer ")) {
        Some(key) if !key.is_empty() && key != WRONG_KEY => Ok(()),
        _ => Err(Refusal::no_key()),
    }
}

/// Reads the conversation out of a request that keeps the rules.
pub(super) fn check(body: &Value, quirks: Quirks) -> Checked<Talk> {
    require(body["model"].as_str().is_some_and(|m| !m.is_empty()), "you must provide a model parameter")?;
    let streamed = body["stream"] == true;
    let options = body.get("stream_options").is_some_and(|o| !o.is_null());
    require(
        !options || streamed,
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
    )?;
    require(
        !options || !quirks.refuses_stream_options,
        "Unrecognized request argument supplied: stream_options",
    )?;
    let both = body.get("max_tokens").is_some() && body.get("max_completion_tokens").is_some();
    require(!both, "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")?;
    check_tools(body.get("tools"))?;
    check_messages(&body["messages"])
}

fn require(holds: bool, otherwise: &str) -> Checked {
    if holds { Ok(()) } else { Err(Refusal::bad(otherwise)) }
}

fn check_tools(tools: Option<&Value>) -> Checked {
    let Some(tools) = tools else { return Ok(()) };
    require(tools.as_array().is_some_and(|t| !t.is_empty()), "[] is too short - 'tools'")?;
    for tool in tools.as_array().into_iter().flatten() {
        let function = &tool["function"];
        require(tool["type"] == "function", "Invalid value for 'tools.type'")?;
        require(function["name"].as_str().is_some_and(|n| !n.is_empty()), "Missing 'tools.function.name'")?;
        require(
            function["parameters"]["type"] == "object",
            "Invalid schema for function: it must have type 'object'",
        )?;
    }
    Ok(())
}

fn check_messages(messages: &Value) -> Checked<Talk> {
    let messages = messages.as_array().filter(|m| !m.is_empty());
    let messages = messages.ok_or_else(|| Refusal::bad("[] is too short - 'messages'"))?;
    let mut talk = Talk::default();
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let at = open.iter().position(|o| *o == id);
            let at = at.ok_or_else(|| {
                Refusal::bad(
                    "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
                )
            })?;
            open.remove(at);
            let text =
                message["content"].as_str().ok_or_else(|| Refusal::bad("tool content must be a string"))?;
            talk.words += count(text);
            talk.results.push(text.to_owned());
            continue;
        }
        require(
            open.is_empty(),
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
        )?;
        match role {
            "system" | "developer" => talk.words += count(message["content"].as_str().unwrap_or_default()),
            "user" => check_user(&message["content"], &mut talk)?,
            "assistant" => check_assistant(message, &mut open, &mut talk)?,
            _ => return Err(Refusal::bad("Invalid value for 'messages.role'")),
        }
    }
    require(open.is_empty(), "tool messages are missing at the end")?;
    Ok(talk)
}

fn check_user(content: &Value, talk: &mut Talk) -> Checked {
    let mut said = String::new();
    match content {
        Value::String(text) => said.push_str(text),
        Value::Array(parts) => {
            for part in parts {
                match part["type"].as_str().unwrap_or_default() {
                    "text" => said.push_str(part["text"].as_str().unwrap_or_default()),
                    "image_url" => {
                        let url = part["image_url"]["url"].as_str().unwrap_or_default();
                        let (kind, data) = url.split_once(";base64,").unwrap_or_default();
                        require(kind.starts_with("data:image/") && !data.is_empty(), "Invalid 'image_url'")?;
                        talk.pictures += 1;
                    }
                    _ => return Err(Refusal::bad("Invalid value for 'content.type'")),
                }
            }
        }
        _ => return Err(Refusal::bad("Invalid type for 'messages.content'")),
    }
    require(!said.is_empty(), "user content is empty")?;
    talk.words += count(&said);
    // A picture a tool gave comes in a user's message of its own; the script goes on.
    if !said.starts_with("(The pictures the tool gave") {
        *talk = Talk { said, calls: 0, results: Vec::new(), ..std::mem::take(talk) };
    }
    Ok(())
}

fn check_assistant<'a>(message: &'a Value, open: &mut Vec<&'a str>, talk: &mut Talk) -> Checked {
    let calls = message["tool_calls"].as_array();
    require(
        calls.is_some() || message["content"].is_string(),
        "Expected content or tool_calls in an assistant message",
    )?;
    require(calls.is_none_or(|c| !c.is_empty()), "[] is too short - 'messages.tool_calls'")?;
    talk.words += count(message["content"].as_str().unwrap_or_default());
    for call in calls.into_iter().flatten() {
        let function = &call["function"];
        require(call["type"] == "function" && function["name"].is_string(), "Invalid 'tool_calls'")?;
        let arguments = function["arguments"].as_str().and_then(|a| serde_json::from_str::<Value>(a).ok());
        require(arguments.is_some_and(|a| a.is_object()), "'arguments' must be a JSON object in a string")?;
        let id = call["id"].as_str().filter(|id| !id.is_empty() && !open.contains(id));
        open.push(id.ok_or_else(|| Refusal::bad("'tool_calls' need ids of their own"))?);
        talk.calls += 1;
    }
    Ok(())
}

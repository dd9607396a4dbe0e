//! What Anthropic's Messages API asks of a request.

use std::collections::HashSet;

use axum::http::HeaderMap;
use serde_json::Value;

use super::WRONG_KEY;
use super::refusal::Refusal;
use super::script::{Talk, count};

type Checked<T = ()> = Result<T, Refusal>;

/// The signature of every thought of the stand-in; it must come back unchanged.
pub(super) const SIGNATURE: &str = "c2lnbmVkIGJ5IHRoZSBzdGFuZC1pbg==";

const FIELDS: [&str; 13] = [
    "model",
    "max_tokens",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "thinking",
    "cache_control",
    "stop_sequences",
    "metadata",
    "output_config",
    "service_tier",
];
const SAMPLING: [&str; 3] = ["temperature", "top_p", "top_k"];

/// The versions of the API that are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// 2023-06-01.
    First,
    /// 2026-10-21, which takes no sampling fields and no citations from the user.
    Second,
}

/// # Errors
/// As the real server: no key, a wrong one, no version.
pub(super) fn check_headers(headers: &HeaderMap) -> Checked<Version> {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok());
    let key = text("x-api-key").or_else(|| text("authorization").and_then(|v| v.strip_prefix("Bearer ")));
    if key.is_none_or(|k| k.is_empty() || k == WRONG_KEY) {
        return Err(Refusal::no_key());
    }
    match text("anthropic-version") {
        Some("2023-06-01") => Ok(Version::First),
        Some("2026-10-21") => Ok(Version::Second),
        _ => Err(Refusal::bad("anthropic-version: header is required")),
    }
}

/// Reads the conversation out of a request that keeps the rules.
pub(super) fn check(body: &Value, version: Version) -> Checked<Talk> {
    let Some(object) = body.as_object() else { return Err(Refusal::bad("the body must be an object")) };
    let taken = |k: &str| FIELDS.contains(&k) || (version == Version::First && SAMPLING.contains(&k));
    if let Some(extra) = object.keys().find(|k| !taken(k)) {
        return Err(Refusal::bad(format!("{extra}: Extra inputs are not permitted")));
    }
    require(body["model"].as_str().is_some_and(|m| !m.is_empty()), "model: Field required")?;
    require(body["max_tokens"].as_u64().is_some_and(|n| n > 0), "max_tokens: Field required")?;
    let tools = check_tools(&body["tools"])?;
    let mut talk = Talk { words: check_system(&body["system"])?, ..Talk::default() };
    check_messages(&body["messages"], tools, &mut talk)?;
    require(marks(body) <= 4, "A maximum of 4 blocks with cache_control may be provided")?;
    Ok(talk)
}

fn require(holds: bool, otherwise: &str) -> Checked {
    if holds { Ok(()) } else { Err(Refusal::bad(otherwise)) }
}

fn check_tools(tools: &Value) -> Checked<bool> {
    let mut names = HashSet::new();
    for tool in tools.as_array().into_iter().flatten() {
        let name = tool["name"].as_str().unwrap_or_default();
        require(!name.is_empty() && name.len() <= 64, "tools: name is required")?;
        require(names.insert(name), "tools: Tool names must be unique.")?;
        require(
            tool["input_schema"]["type"] == "object",
            "tools: input_schema.type: Input should be 'object'",
        )?;
    }
    Ok(!names.is_empty())
}

fn check_system(system: &Value) -> Checked<u64> {
    match system {
        Value::Null => Ok(0),
        Value::String(text) => Ok(count(text)),
        Value::Array(blocks) => blocks.iter().try_fold(0, |words, block| {
            let text = block["text"].as_str().unwrap_or_default();
            require(
                block["type"] == "text" && !text.trim().is_empty(),
                "system: text content blocks must be non-empty",
            )?;
            Ok(words + count(text))
        }),
        _ => Err(Refusal::bad("system: Input should be a valid string or list")),
    }
}

fn check_messages(messages: &Value, tools: bool, talk: &mut Talk) -> Checked {
    let messages = messages.as_array().filter(|m| !m.is_empty());
    let messages = messages.ok_or_else(|| Refusal::bad("messages: at least one message is required"))?;
    require(
        messages.last().is_some_and(|m| m["role"] == "user"),
        "This model does not support assistant message prefill.",
    )?;
    let mut open: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        require(message["role"] == expected, "messages: roles must alternate between user and assistant")?;
        let blocks = match &message["content"] {
            Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
            Value::Array(blocks) => blocks.clone(),
            _ => return Err(Refusal::bad("messages: content is required")),
        };
        require(!blocks.is_empty(), "messages: content must not be empty")?;
        if expected == "user" {
            check_results(&blocks, &open)?;
            open.clear();
        }
        for block in &blocks {
            check_block(block, expected, talk)?;
            if let ("tool_use", Some(id)) = (block["type"].as_str().unwrap_or_default(), block["id"].as_str())
            {
                require(tools, "Requests which include `tool_use` blocks must define tools.")?;
                require(!open.iter().any(|o| o == id), "messages: `tool_use` ids must be unique")?;
                open.push(id.to_owned());
            }
        }
    }
    Ok(())
}

/// Every call of the message before has its one result, before anything else.
fn check_results(blocks: &[Value], open: &[String]) -> Checked {
    let is_result = |b: &&Value| b["type"] == "tool_result";
    let given: Vec<&str> =
        blocks.iter().take_while(is_result).filter_map(|b| b["tool_use_id"].as_str()).collect();
    require(
        blocks.iter().filter(is_result).count() == given.len(),
        "tool_result blocks must come first in the user message",
    )?;
    let unique: HashSet<&str> = given.iter().copied().collect();
    require(unique.len() == given.len(), "each tool_use must have a single result")?;
    require(
        open.iter().all(|id| unique.contains(id.as_str())),
        "`tool_use` ids were found without `tool_result` blocks immediately after",
    )?;
    require(given.len() == open.len(), "unexpected `tool_use_id` found in `tool_result` blocks")
}

fn check_block(block: &Value, role: &str, talk: &mut Talk) -> Checked {
    let text = |name: &str| block[name].as_str().unwrap_or_default();
    match (text("type"), role) {
        ("text", _) => {
            let cites = block["citations"].as_array().is_some_and(|c| !c.is_empty());
            require(role == "assistant" || !cites, "messages: citations are not permitted in user text")?;
            require(
                !text("text").trim().is_empty(),
                "messages: text content blocks must contain non-whitespace text",
            )?;
            talk.words += count(text("text"));
            if role == "user" {
                *talk = Talk {
                    said: text("text").to_owned(),
                    calls: 0,
                    results: Vec::new(),
                    ..std::mem::take(talk)
                };
            }
            Ok(())
        }
        ("image", "user") => check_image(&block["source"], talk),
        ("document", "user") => {
            let source = &block["source"];
            require(
                source["type"] == "base64" && source["media_type"] == "application/pdf",
                "document.source: a PDF in base64 here",
            )?;
            require(source["data"].as_str().is_some_and(|d| !d.is_empty()), "document.source.data: empty")
        }
        ("tool_result", "user") => check_result(block, talk),
        ("tool_use", "assistant") => {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            require(
                !text("id").is_empty() && text("id").chars().all(plain),
                "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
            )?;
            require(
                !text("name").is_empty() && block["input"].is_object(),
                "tool_use: name and input are required",
            )?;
            talk.calls += 1;
            Ok(())
        }
        ("thinking", "assistant") => {
            require(text("signature") == SIGNATURE, "Invalid `signature` in `thinking` block")
        }
        _ => Err(Refusal::bad(format!("messages: block of type {:?} is not allowed here", text("type")))),
    }
}

fn check_image(source: &Value, talk: &mut Talk) -> Checked {
    let known = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    require(source["type"] == "base64", "image.source.type: only base64 here")?;
    require(known.iter().any(|k| source["media_type"] == *k), "image.source.media_type: not supported")?;
    require(
        source["data"].as_str().is_some_and(|d| !d.is_empty() && d.len() % 4 == 0),
        "image.source.data: invalid base64",
    )?;
    talk.pictures += 1;
    Ok(())
}

fn check_result(block: &Value, talk: &mut Talk) -> Checked {
    let mut said = String::new();
    match &block["content"] {
        Value::String(text) => said.push_str(text),
        Value::Array(parts) => {
            for part in parts {
                if part["type"] == "image" {
                    check_image(&part["source"], talk)?;
                } else {
                    let text = part["text"].as_str().unwrap_or_default();
                    require(!text.trim().is_empty(), "messages: text content blocks must be non-empty")?;
                    said.push_str(text);
                }
            }
        }
        _ => {}
    }
    talk.words += count(&said);
    talk.results.push(said);
    Ok(())
}

fn marks(value: &Value) -> usize {
    match value {
        Value::Object(map) => map.iter().map(|(k, v)| usize::from(k == "cache_control") + marks(v)).sum(),
        Value::Array(all) => all.iter().map(marks).sum(),
        _ => 0,
    }
}

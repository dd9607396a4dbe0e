//! Anthropic's Messages API: the stream.
//!
//! Events are told apart by the `type` inside them; unknown ones are passed over, so a new sort of
//! event breaks nothing. An answer counts only once `message_stop` has come.

use sb_harness::model::{Fault, Usage};
use sb_wire::sse::Event;
use serde_json::{Value, json};

use super::KEPT;
use crate::answer::{Answer, Piece, Stop, WantedCall};
use crate::dialect::{Reader, garbled, stream_fault};

/// One content block while it grows: as it will be sent back, and a tool's input as text.
struct Block {
    index: u64,
    value: Value,
    input: String,
}

/// Reads one streamed answer.
#[derive(Default)]
pub(crate) struct AnthropicReader {
    blocks: Vec<Block>,
    stop: Stop,
    over: bool,
    fresh: u64,
    cache_written: u64,
    cache_read: u64,
    output: u64,
}

impl AnthropicReader {
    fn message_start(&mut self, message: &Value) {
        self.count(&message["usage"]);
    }

    /// Counts are totals so far, so a later one replaces an earlier one.
    fn count(&mut self, usage: &Value) {
        let take = |name: &str, into: &mut u64| {
            if let Some(n) = usage.get(name).and_then(Value::as_u64) {
                *into = n;
            }
        };
        take("input_tokens", &mut self.fresh);
        take("cache_creation_input_tokens", &mut self.cache_written);
        take("cache_read_input_tokens", &mut self.cache_read);
        take("output_tokens", &mut self.output);
    }

    fn block_start(&mut self, index: u64, block: &Value) -> Vec<Piece> {
        self.blocks.push(Block { index, value: block.clone(), input: String::new() });
        // Only what is an answer is shown: the text of a kind of block we do not know is not.
        match (block["type"].as_str(), block["text"].as_str()) {
            (Some("text"), Some(text)) if !text.is_empty() => vec![Piece::Text(text.to_owned())],
            _ => Vec::new(),
        }
    }

    fn block_delta(&mut self, index: u64, delta: &Value) -> Vec<Piece> {
        let Some(block) = self.blocks.iter_mut().rev().find(|b| b.index == index) else { return Vec::new() };
        let text = |name: &str| delta[name].as_str().unwrap_or_default().to_owned();
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" if block.value["type"] == "text" => {
                grow(&mut block.value, "text", &text("text"));
                vec![Piece::Text(text("text"))]
            }
            "thinking_delta" => {
                grow(&mut block.value, "thinking", &text("thinking"));
                vec![Piece::Thought(text("thinking"))]
            }
            "signature_delta" => {
                grow(&mut block.value, "signature", &text("signature"));
                Vec::new()
            }
            "input_json_delta" => {
                block.input.push_str(&text("partial_json"));
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn message_delta(&mut self, event: &Value) {
        self.count(&event["usage"]);
        if let Some(reason) = event["delta"]["stop_reason"].as_str() {
            self.stop = stop_of(reason);
        }
    }
}

fn grow(block: &mut Value, field: &str, more: &str) {
    let whole = format!("{}{more}", block[field].as_str().unwrap_or_default());
    block[field] = whole.into();
}

fn stop_of(reason: &str) -> Stop {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => Stop::Limit,
        "refusal" => Stop::Refusal,
        "pause_turn" => Stop::Pause,
        _ => Stop::End,
    }
}

impl Reader for AnthropicReader {
    fn take(&mut self, event: &Event) -> Result<Vec<Piece>, Fault> {
        let data: Value =
            serde_json::from_str(&event.data).map_err(|_| garbled("an event of its answer is not JSON"))?;
        let index = data["index"].as_u64().unwrap_or_default();
        Ok(match data["type"].as_str().unwrap_or_default() {
            "message_start" => {
                self.message_start(&data["message"]);
                Vec::new()
            }
            "content_block_start" => self.block_start(index, &data["content_block"]),
            "content_block_delta" => self.block_delta(index, &data["delta"]),
            "message_delta" => {
                self.message_delta(&data);
                Vec::new()
            }
            "message_stop" => {
                self.over = true;
                Vec::new()
            }
            "error" => {
                let text = |name: &str| data["error"][name].as_str().unwrap_or_default();
                return Err(stream_fault(text("type"), text("message")));
            }
            _ => Vec::new(),
        })
    }

    fn take_whole(&mut self, document: &Value) -> Result<Vec<Piece>, Fault> {
        let blocks = document["content"].as_array().ok_or_else(|| garbled("its answer has no content"))?;
        self.message_start(document);
        self.stop = stop_of(document["stop_reason"].as_str().unwrap_or_default());
        self.over = true;
        let mut pieces = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            pieces.extend(self.block_start(index as u64, block));
            if let (Some(last), true) = (self.blocks.last_mut(), block["input"].is_object()) {
                last.input = block["input"].to_string();
            }
        }
        Ok(pieces)
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn finish(&mut self) -> Result<Answer, Fault> {
        if !self.over {
            return Err(garbled("its answer broke off before its end"));
        }
        let mut answer = Answer { stop: self.stop, usage: self.usage(), ..Answer::default() };
        let mut kept = Vec::new();
        let mut thinks = false;
        for block in self.blocks.drain(..) {
            let mut value = block.value;
            match value["type"].as_str().unwrap_or_default() {
                "text" if value["text"].as_str().unwrap_or_default().is_empty() => continue,
                "text" => answer.text.push_str(value["text"].as_str().unwrap_or_default()),
                "tool_use" => {
                    let input = if block.input.trim().is_empty() { "{}".to_owned() } else { block.input };
                    value["input"] = serde_json::from_str(&input).unwrap_or_else(|_| json!({}));
                    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
                    answer.calls.push(WantedCall { id: text("id"), tool: text("name"), input });
                }
                "thinking" | "redacted_thinking" => thinks = true,
                // Blocks of tools the server runs itself, which we never ask for.
                _ => continue,
            }
            kept.push(value);
        }
        answer.kept = thinks.then(|| json!({KEPT: kept}));
        Ok(answer)
    }

    fn usage(&self) -> Usage {
        Usage {
            calls: 1,
            input: self.fresh + self.cache_written + self.cache_read,
            cached: self.cache_read,
            output: self.output,
            ..Usage::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use sb_harness::model::FaultKind;

    use super::*;

    fn read(events: &[&str]) -> (Vec<Piece>, Result<Answer, Fault>) {
        let mut reader = AnthropicReader::default();
        let mut pieces = Vec::new();
        for data in events {
            match reader.take(&Event { name: String::new(), data: (*data).into() }) {
                Ok(more) => pieces.extend(more),
                Err(fault) => return (pieces, Err(fault)),
            }
        }
        (pieces, reader.finish())
    }

    const START: &str = r#"{"type":"message_start","message":{"id":"m","usage":{"input_tokens":10,"cache_creation_input_tokens":2,"cache_read_input_tokens":30,"output_tokens":1}}}"#;

    #[test]
    fn text_thinking_and_calls_are_gathered() {
        let (pieces, answer) = read(&[
            START,
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Let me "}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"see."}}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"look","input":{}}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\": "}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"a\"}"}}"#,
            r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t2","name":"rest","input":{}}}"#,
            r#"{"type":"something_new","index":9}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":25}}"#,
            r#"{"type":"message_stop"}"#,
        ]);
        let answer = answer.expect("whole");
        assert_eq!(pieces[0], Piece::Thought("hm".into()));
        assert_eq!(answer.text, "Let me see.");
        let call = |id: &str, tool: &str, input: &str| WantedCall {
            id: id.into(),
            tool: tool.into(),
            input: input.into(),
        };
        assert_eq!(answer.calls, [call("t1", "look", r#"{"path": "a"}"#), call("t2", "rest", "{}")]);
        assert_eq!((answer.usage.input, answer.usage.cached, answer.usage.output), (42, 30, 25));
        let kept = answer.kept.expect("thinking is kept");
        assert_eq!(kept["anthropic"][0], json!({"type": "thinking", "thinking": "hm", "signature": "sig"}));
        assert_eq!(kept["anthropic"][2]["input"], json!({"path": "a"}));
    }

    /// Only what is an answer is shown; a kind of block we do not know is dropped, not printed.
    #[test]
    fn the_text_of_an_unknown_kind_of_block_is_not_shown() {
        let (pieces, _) = read(&[
            START,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"novelty","text":"WEIRD"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"MORE"}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"seen"}}"#,
        ]);
        let shown = |p: &Piece| matches!(p, Piece::Text(text) if text != "seen");
        assert!(!pieces.iter().any(shown), "{pieces:?}");
        assert!(pieces.iter().any(|p| matches!(p, Piece::Text(text) if text == "seen")));
    }

    #[test]
    fn an_error_inside_the_stream_is_a_failure_of_its_kind() {
        let (_, failed) =
            read(&[START, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#]);
        let fault = failed.expect_err("failed");
        assert_eq!((fault.kind, fault.status), (FaultKind::Passing { wait_ms: None }, Some(529)));
    }

    #[test]
    fn a_stream_without_its_end_is_a_failure() {
        let (_, failed) = read(&[START]);
        assert_eq!(failed.expect_err("failed").kind, FaultKind::Garbled);
    }
}

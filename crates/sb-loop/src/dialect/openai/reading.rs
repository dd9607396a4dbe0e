//! OpenAI's Chat Completions API and its many compatibles: the stream.
//!
//! Forgiving, since compatibles differ: calls may come whole, without an index, with empty ids, under
//! any finish reason; usage may come before, with or after the last words; the end mark may be missing.

use sb_harness::model::{Fault, Usage};
use sb_wire::sse::Event;
use serde_json::Value;

use crate::answer::{Answer, Piece, Stop, WantedCall};
use crate::dialect::{Reader, garbled, stream_fault};

/// Reads one streamed answer.
#[derive(Default)]
pub(crate) struct OpenaiReader {
    text: String,
    calls: Vec<(u64, WantedCall)>,
    stop: Option<Stop>,
    over: bool,
    usage: Usage,
}

impl OpenaiReader {
    fn choice(&mut self, words: &Value, reason: Option<&str>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let text = |name: &str| words[name].as_str().filter(|s| !s.is_empty()).map(str::to_owned);
        if let Some(thought) = text("reasoning_content").or_else(|| text("reasoning")) {
            pieces.push(Piece::Thought(thought));
        }
        for more in [text("content"), text("refusal")].into_iter().flatten() {
            self.text.push_str(&more);
            pieces.push(Piece::Text(more));
        }
        for (at, call) in words["tool_calls"].as_array().into_iter().flatten().enumerate() {
            self.call(at, call);
        }
        if words["refusal"].as_str().is_some_and(|s| !s.is_empty()) {
            self.stop = Some(Stop::Refusal);
        } else if let Some(reason) = reason
            && self.stop != Some(Stop::Refusal)
        {
            self.stop = Some(match reason {
                "length" => Stop::Limit,
                "content_filter" => Stop::Refusal,
                _ => Stop::End,
            });
        }
        pieces
    }

    /// A call, or a piece of one. Quirk: without an index, one with a name begins a new call and one
    /// without goes on with the last.
    fn call(&mut self, at: usize, call: &Value) {
        let function = &call["function"];
        let name = function["name"].as_str().unwrap_or_default();
        let id = call["id"].as_str().unwrap_or_default();
        let last = self.calls.last().map(|(index, _)| *index);
        let index = match (call["index"].as_u64(), last) {
            (Some(index), _) => index,
            (None, None) => at as u64,
            (None, Some(last)) if name.is_empty() => last,
            (None, Some(last)) => last + 1,
        };
        let known = self.calls.iter().position(|(i, _)| *i == index);
        // Quirk: some give every whole call the index 0.
        let whole_again =
            |w: &WantedCall| !name.is_empty() && !w.tool.is_empty() && !id.is_empty() && w.id != id;
        let known = known.filter(|k| !whole_again(&self.calls[*k].1));
        let at = known.unwrap_or_else(|| {
            let index = if self.calls.iter().any(|(i, _)| *i == index) {
                last.unwrap_or_default() + 1
            } else {
                index
            };
            self.calls
                .push((index, WantedCall { id: String::new(), tool: String::new(), input: String::new() }));
            self.calls.len() - 1
        });
        let wanted = &mut self.calls[at].1;
        if wanted.id.is_empty() {
            wanted.id = id.to_owned();
        }
        if wanted.tool.is_empty() {
            wanted.tool = name.to_owned();
        }
        match &function["arguments"] {
            Value::String(more) => wanted.input.push_str(more),
            // Quirk: some give the object itself instead of its text.
            whole @ Value::Object(_) => wanted.input = whole.to_string(),
            _ => {}
        }
    }

    fn count(&mut self, usage: &Value) {
        if !usage.is_object() {
            return;
        }
        let number = |value: &Value| value.as_u64().unwrap_or_default();
        self.usage.input = number(&usage["prompt_tokens"]);
        self.usage.cached = number(&usage["prompt_tokens_details"]["cached_tokens"]);
        self.usage.output = number(&usage["completion_tokens"]);
    }

    fn document(&mut self, data: &Value, words: &str) -> Result<Vec<Piece>, Fault> {
        if let Some(error) = data.get("error").filter(|e| !e.is_null()) {
            let kind = ["code", "type"].iter().find_map(|f| match &error[*f] {
                Value::String(s) if !s.is_empty() => Some(s.clone()),
                Value::Number(n) => Some(n.to_string()),
                _ => None,
            });
            let message = error.as_str().or_else(|| error["message"].as_str()).unwrap_or("no reason given");
            return Err(stream_fault(&kind.unwrap_or_default(), message));
        }
        self.count(&data["usage"]);
        let Some(choice) = data["choices"].get(0) else { return Ok(Vec::new()) };
        // Quirk: usage inside the choice, and whole messages in place of pieces.
        self.count(&choice["usage"]);
        let said = if choice[words].is_object() { &choice[words] } else { &choice["message"] };
        Ok(self.choice(said, choice["finish_reason"].as_str()))
    }
}

impl Reader for OpenaiReader {
    fn take(&mut self, event: &Event) -> Result<Vec<Piece>, Fault> {
        if event.data.trim() == "[DONE]" {
            self.over = true;
            return Ok(Vec::new());
        }
        let data =
            serde_json::from_str(&event.data).map_err(|_| garbled("an event of its answer is not JSON"))?;
        self.document(&data, "delta")
    }

    fn take_whole(&mut self, document: &Value) -> Result<Vec<Piece>, Fault> {
        let pieces = self.document(document, "message")?;
        if document["choices"].get(0).is_none() {
            return Err(garbled("its answer has no choices"));
        }
        self.over = true;
        Ok(pieces)
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn finish(&mut self) -> Result<Answer, Fault> {
        let ended = self.stop.is_some() || (self.over && !(self.text.is_empty() && self.calls.is_empty()));
        if !ended {
            return Err(garbled("its answer broke off before its end"));
        }
        let calls = std::mem::take(&mut self.calls).into_iter().map(|(_, call)| call);
        let calls = calls.filter(|c| !c.tool.is_empty()).map(|call| match call.input.trim().is_empty() {
            true => WantedCall { input: "{}".to_owned(), ..call },
            false => call,
        });
        Ok(Answer {
            text: std::mem::take(&mut self.text),
            calls: calls.collect(),
            kept: None,
            usage: self.usage(),
            stop: self.stop.unwrap_or_default(),
        })
    }

    fn usage(&self) -> Usage {
        Usage { calls: 1, ..self.usage }
    }
}

#[cfg(test)]
mod tests {
    use sb_harness::model::FaultKind;

    use super::*;

    fn read(events: &[&str]) -> Result<Answer, Fault> {
        let mut reader = OpenaiReader::default();
        for data in events {
            reader.take(&Event { name: String::new(), data: (*data).into() })?;
        }
        reader.finish()
    }
    fn call(id: &str, tool: &str, input: &str) -> WantedCall {
        WantedCall { id: id.into(), tool: tool.into(), input: input.into() }
    }

    #[test]
    fn pieces_of_calls_are_gathered_by_index_and_usage_comes_after_the_end() {
        let answer = read(&[
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"Hm","refusal":null},"finish_reason":null}],"usage":null}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"look","arguments":""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"rest"}},{"index":0,"function":{"arguments":"{\"p\""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":3}}}"#,
            "[DONE]",
        ]);
        let answer = answer.expect("whole");
        assert_eq!(answer.text, "Hm");
        assert_eq!(answer.calls, [call("a", "look", r#"{"p":1}"#), call("b", "rest", "{}")]);
        assert_eq!((answer.usage.input, answer.usage.cached, answer.usage.output), (9, 3, 4));
    }

    #[test]
    fn odd_compatibles_are_understood() {
        let whole = r#"{"choices":[{"delta":{"tool_calls":[{"id":"","function":{"name":"x","arguments":"{}"}},{"id":"","function":{"name":"y","arguments":{"k":1}}}]},"finish_reason":"stop","usage":{"prompt_tokens":1,"completion_tokens":2}}]}"#;
        let answer = read(&[whole]).expect("no end mark is needed");
        assert_eq!(answer.calls, [call("", "x", "{}"), call("", "y", r#"{"k":1}"#)]);
        assert_eq!((answer.stop, answer.usage.output), (Stop::End, 2));
        let same_index = [
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"x","arguments":"{}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"2","function":{"name":"x","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
        ];
        assert_eq!(read(&same_index).expect("whole").calls, [call("1", "x", "{}"), call("2", "x", "{}")]);
        let no_index = [
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"1","function":{"name":"x","arguments":"{\"a\""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":":2}"}}]},"finish_reason":"stop"}]}"#,
        ];
        assert_eq!(read(&no_index).expect("whole").calls, [call("1", "x", r#"{"a":2}"#)]);
    }

    #[test]
    fn an_error_inside_the_stream_or_a_missing_end_is_a_failure() {
        let said = r#"{"choices":[{"delta":{"content":"Hi"}}]}"#;
        let limited = read(&[said, r#"{"error":{"code":429,"message":"slow down"}}"#]).expect_err("failed");
        assert_eq!((limited.kind, limited.status), (FaultKind::Passing { wait_ms: None }, Some(429)));
        assert_eq!(read(&[said]).expect_err("failed").kind, FaultKind::Garbled);
        assert!(read(&[said, "[DONE]"]).is_ok());
    }

    #[test]
    fn declining_and_limits_are_told_apart() {
        let stop = |reason: &str| {
            read(&[&format!(r#"{{"choices":[{{"delta":{{"content":"x"}},"finish_reason":"{reason}"}}]}}"#)])
                .map(|a| a.stop)
        };
        assert_eq!(stop("length"), Ok(Stop::Limit));
        assert_eq!(stop("content_filter"), Ok(Stop::Refusal));
        assert_eq!(stop("stop"), Ok(Stop::End));
    }
}

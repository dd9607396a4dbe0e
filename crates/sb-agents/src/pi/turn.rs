//! One turn of pi: its prompt, what it tells meanwhile, its end.
//!
//! It acts by itself; each call and what came of it stands in the log as it is told. Its work has ended when it
//! says so and neither tries again nor shortens its memory, which it is asked for: both are told before the answer.

use std::time::Duration;

use sb_harness::model::text::{clip, one_line};
use sb_harness::model::{
    Call, CallId, Principal, Record, StopReason, ToolClass, TurnFault, TurnFaultKind, Usage,
};
use sb_harness::{Events, HarnessEvent, HarnessInput, Inputs, ToolUpdate, TurnSpec};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::launch::Started;
use super::process::{Opened, Pi};
use crate::acp::opening::known_session;
use crate::acp::prompt::{self, Knows};
use crate::exit::{Exit, stopped};

/// How long it may take to stop, before its process is ended.
const PATIENCE: Duration = Duration::from_secs(8);
/// Visible characters of one result.
const SHOWN: usize = 20_000;
/// Calls that may be at work at once.
const MOST_OPEN: usize = 100;

struct Run {
    pi: Pi,
    spec: TurnSpec,
    inputs: Inputs,
    events: Events,
    /// Words of the answer being written.
    words: String,
    /// Calls without a result yet: id and name.
    open: Vec<(String, String)>,
    stopping: Option<Instant>,
    /// Why its newest answer ended, and what it said of that.
    last: (String, String),
}

/// Runs a turn; the process is given back if it can have another.
pub(super) async fn run(
    started: Started,
    running: Option<Pi>,
    spec: TurnSpec,
    mut inputs: Inputs,
    events: Events,
) -> (Result<StopReason, TurnFault>, Option<Pi>) {
    let known = known_session(&spec.log).map(str::to_owned);
    let opened = match running.filter(|pi| known.as_ref() == Some(&pi.session)) {
        Some(pi) => Ok((pi, Opened::Known)),
        None => {
            tokio::select! {
                opened = Pi::open(started, known.as_deref()) => opened,
                () = stopped(&mut inputs) => return (Ok(StopReason::Stopped), None),
            }
        }
    };
    let (pi, opened) = match opened {
        Ok(both) => both,
        Err(fault) => return (Err(fault), None),
    };
    let (words, open, last) = (String::new(), Vec::new(), (String::new(), String::new()));
    let mut run = Run { pi, spec, inputs, events, words, open, stopping: None, last };
    let ended = run.turn(opened).await;
    let settled = run.settle().await;
    match (ended, settled) {
        (Ok(how), Ok(())) => (Ok(how), Some(run.pi)),
        (Err(Exit::Unheard), _) | (_, Err(_)) => (Ok(StopReason::Stopped), None),
        (Err(Exit::Fault(fault)), _) => (Err(fault), None),
    }
}

impl Run {
    async fn turn(&mut self, opened: Opened) -> Result<StopReason, Exit> {
        if opened != Opened::Known {
            self.log(Record::Opened { id: self.pi.session.clone() }).await?;
        }
        if opened == Opened::Lost {
            let text =
                "pi could not take this conversation up again: it begins anew and was told what was said.";
            self.log(Record::Noted { text: text.to_owned(), by: by(), told: true }).await?;
        }
        let knows = if opened == Opened::Known { Knows::Before } else { Knows::Nothing };
        let blocks = prompt::prompt(&self.spec, knows, self.pi.images, Vec::new()).await;
        let texts: Vec<&str> = blocks.iter().filter_map(|b| b["text"].as_str()).collect();
        let images: Vec<&Value> = blocks.iter().filter(|b| b["type"] == "image").collect();
        let mut message = texts.join("\n\n");
        if message.starts_with('/') {
            // It would be a command of its own, and start nothing.
            message.insert(0, ' ');
        }
        let asked = self.pi.ask("prompt", json!({"message": message, "images": images})).await;
        self.work(&asked).await?;
        Ok(match (self.stopping, self.last.0.as_str()) {
            (Some(_), _) | (None, "aborted") => StopReason::Stopped,
            (None, "length") => StopReason::Limit,
            (None, "error") => return Err(self.failed()),
            (None, _) => StopReason::Done,
        })
    }

    /// Hears it until its work has ended.
    async fn work(&mut self, asked: &str) -> Result<(), Exit> {
        // The question whether it is at rest, and what it does though it said that it ended.
        let (mut at_rest, mut tries_again, mut shortens) = (None, false, false);
        loop {
            let until = self.stopping;
            let patience = async {
                match until {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            let told = tokio::select! {
                biased;
                input = self.inputs.recv() => {
                    if input.ok_or(Exit::Unheard)? == HarnessInput::Stop {
                        self.stop().await;
                    }
                    continue;
                }
                () = patience => return Err(Exit::Unheard),
                told = self.pi.next() => told,
            };
            let Some(told) = told else {
                return Err(Exit::Fault(self.pi.died("in the middle of this").await));
            };
            match told["type"].as_str().unwrap_or_default() {
                "response" if told["id"] == asked && told["success"] == false => {
                    let why = self.pi.plain(told["error"].as_str().unwrap_or_default());
                    let what = format!("pi would not take this up: {why}");
                    return Err(Exit::Fault(TurnFault::new(TurnFaultKind::Refused, what)));
                }
                "response" if at_rest.as_deref() == told["id"].as_str() && at_rest.is_some() => {
                    if !tries_again && !shortens {
                        return Ok(());
                    }
                    at_rest = None;
                }
                "agent_start" => (at_rest, tries_again) = (None, false),
                "agent_end" => at_rest = Some(self.pi.ask("get_state", json!({})).await),
                "auto_retry_start" => {
                    tries_again = true;
                    self.words.clear();
                    self.send(HarnessEvent::Void).await?;
                }
                "auto_retry_end" => {
                    tries_again = false;
                    if told["success"] == false && at_rest.is_none() {
                        return Ok(());
                    }
                }
                "compaction_start" => shortens = true,
                "compaction_end" => {
                    (shortens, tries_again) = (false, told["willRetry"] == true);
                    if !tries_again && at_rest.is_none() && !self.last.0.is_empty() {
                        at_rest = Some(self.pi.ask("get_state", json!({})).await);
                    }
                }
                "message_update" => self.writes(&told["assistantMessageEvent"]).await?,
                "message_end" => self.wrote(&told["message"]).await?,
                "tool_execution_start" => self.acts(&told).await?,
                "tool_execution_end" => self.acted(&told).await?,
                _ => {}
            }
        }
    }

    async fn stop(&mut self) {
        if self.stopping.is_none() {
            self.stopping = Some(Instant::now() + PATIENCE);
            self.pi.ask("abort", json!({})).await;
        }
    }

    async fn writes(&mut self, event: &Value) -> Result<(), Exit> {
        let delta = event["delta"].as_str().unwrap_or_default();
        match event["type"].as_str() {
            Some("text_delta") if !delta.is_empty() => {
                self.words.push_str(delta);
                self.send(HarnessEvent::Text(delta.to_owned())).await
            }
            Some("thinking_delta") => self.send(HarnessEvent::Thought(delta.to_owned())).await,
            _ => Ok(()),
        }
    }

    /// One answer of its model is whole.
    async fn wrote(&mut self, message: &Value) -> Result<(), Exit> {
        if message["role"] != "assistant" {
            return Ok(());
        }
        let said = |name: &str| message[name].as_str().unwrap_or_default().to_owned();
        self.last = (said("stopReason"), said("errorMessage"));
        let count = |name: &str| message["usage"][name].as_u64().unwrap_or_default();
        let cost = message["usage"]["cost"]["total"].as_f64().unwrap_or_default();
        // A figure for people to look at; nothing is paid by it.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
        let cost_micros = (cost * 1e6).clamp(0.0, 1e15) as u64;
        let usage = Usage {
            calls: 1,
            input: count("input") + count("cacheRead") + count("cacheWrite"),
            cached: count("cacheRead"),
            output: count("output"),
            cost_micros,
            ..Usage::default()
        };
        self.send(HarnessEvent::Usage(usage)).await?;
        match self.last.0.as_str() {
            // It may try again from the beginning of this answer.
            "error" => Ok(()),
            how => self.log_words(how == "aborted").await,
        }
    }

    async fn acts(&mut self, told: &Value) -> Result<(), Exit> {
        self.log_words(false).await?;
        let call = as_call(told);
        let (id, name) = (call.id.clone(), call.tool.clone());
        self.log_answer(String::new(), vec![call], false).await?;
        if self.open.len() < MOST_OPEN {
            self.open.push((id.0.clone(), name.clone()));
        }
        self.send(HarnessEvent::Tool(ToolUpdate { call: id, tool: name, state: "running" })).await
    }

    async fn acted(&mut self, told: &Value) -> Result<(), Exit> {
        let id = told["toolCallId"].as_str().unwrap_or_default();
        let Some(at) = self.open.iter().position(|(open, _)| open == id) else { return Ok(()) };
        let (id, tool) = self.open.remove(at);
        let content = told["result"]["content"].as_array().into_iter().flatten();
        let text: Vec<&str> = content.filter_map(|block| block["text"].as_str()).collect();
        self.result((id, tool), told["isError"] != true, clip(text.join("\n").trim_end(), SHOWN)).await
    }

    async fn result(&mut self, (id, tool): (String, String), ok: bool, text: String) -> Result<(), Exit> {
        let call = CallId(id);
        self.send(HarnessEvent::Tool(ToolUpdate { call: call.clone(), tool, state: "done" })).await?;
        self.log(Record::Result { call, ok, text, files: Vec::new(), outside: false }).await
    }

    fn failed(&self) -> Exit {
        let why = self.pi.plain(&self.last.1);
        let why = if why.is_empty() { "its model gave no answer".to_owned() } else { why };
        Exit::Fault(TurnFault::new(TurnFaultKind::Crashed, format!("pi failed: {why}")))
    }

    /// Whatever the turn left open is closed, and its last words are kept.
    async fn settle(&mut self) -> Result<(), Exit> {
        self.log_words(self.stopping.is_some() || self.last.0 == "error").await?;
        for open in std::mem::take(&mut self.open) {
            self.result(open, false, "It was not told how this ended.".to_owned()).await?;
        }
        Ok(())
    }

    async fn log_words(&mut self, cut: bool) -> Result<(), Exit> {
        let text = std::mem::take(&mut self.words);
        if text.trim().is_empty() {
            return Ok(());
        }
        self.send(HarnessEvent::Break).await?;
        self.log_answer(text, Vec::new(), cut).await
    }

    async fn log_answer(&mut self, text: String, calls: Vec<Call>, cut: bool) -> Result<(), Exit> {
        let (model, usage) = (self.spec.profile.harness.to_string(), Usage::default());
        self.log(Record::Answered { text, calls, model, kept: None, usage, cut }).await
    }

    async fn log(&mut self, record: Record) -> Result<(), Exit> {
        self.send(HarnessEvent::Log(record)).await
    }

    async fn send(&mut self, event: HarnessEvent) -> Result<(), Exit> {
        self.events.send(event).await.map_err(|_| Exit::Unheard)
    }
}

fn by() -> Principal {
    Principal("agent:pi".to_owned())
}

/// A call of its own, named as ours are where it is the same deed.
fn as_call(told: &Value) -> Call {
    let own = one_line(told["toolName"].as_str().unwrap_or_default(), 40);
    let mut input = match &told["args"] {
        Value::Object(fields) => fields.clone(),
        Value::Null => Map::new(),
        other => Map::from_iter([("input".to_owned(), other.clone())]),
    };
    let (tool, class) = match own.as_str() {
        "bash" => ("shell", ToolClass::Shell),
        "write" | "edit" => ("write_file", ToolClass::Write),
        "read" => ("read_file", ToolClass::Read),
        "grep" | "find" | "ls" => ("search", ToolClass::Read),
        other => {
            input.insert("tool".to_owned(), other.into());
            ("other", ToolClass::Shell)
        }
    };
    let id = CallId(told["toolCallId"].as_str().unwrap_or_default().to_owned());
    Call { id, tool: tool.to_owned(), input: Value::Object(input), class }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_calls_are_named_as_ours_and_no_other_name_of_ours_is_believed() {
        let named = |name: &str| {
            let call = as_call(&json!({"toolCallId": "1", "toolName": name, "args": {"path": "a"}}));
            (call.tool, call.class)
        };
        assert_eq!(named("bash"), ("shell".to_owned(), ToolClass::Shell));
        assert_eq!(named("edit"), ("write_file".to_owned(), ToolClass::Write));
        assert_eq!(named("ledger_pay"), ("other".to_owned(), ToolClass::Shell));
    }
}

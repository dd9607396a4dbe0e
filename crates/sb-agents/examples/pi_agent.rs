//! A program that speaks as pi does to other programs (`--mode rpc`) and obeys the script in its prompt: for tests,
//! and for trying things without an account. `switchboard profile add a --harness "pi:…/pi_agent" --autonomy L5`.
//!
//! Besides the script's own lines it knows `!tool die {}`, `!tool fail {}` (its model fails for good), `!tool retry {}` (it
//! fails once and answers then), `!tool dialog {}` (an extension asks), `!tool mute {}`. Sessions are files in its folder.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it stands for a program that sleeps"
)]

use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use sb_harness::{Script, Step};
use serde_json::{Value, json};

struct Pi {
    lines: Receiver<Value>,
    session: String,
    messages: usize,
    aborted: bool,
    calls: usize,
}

fn main() {
    let given: Vec<String> = std::env::args().collect();
    let after = |name: &str| given.iter().position(|a| a == name).and_then(|at| given.get(at + 1)).cloned();
    if after("--model").as_deref() == Some("unknown") {
        eprintln!("Error: Model \"unknown\" not found");
        std::process::exit(1);
    }
    let here = std::env::current_dir().unwrap_or_default();
    let new = || here.join(format!(".pi-{}.jsonl", std::process::id())).display().to_string();
    let session = after("--session").unwrap_or_else(new);
    let kept = std::fs::read_to_string(&session).ok().and_then(|n| n.trim().parse().ok());
    let _ = std::fs::write(".pid", std::process::id().to_string());
    let (heard, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let _ = heard.send(serde_json::from_str(&line).unwrap_or_default());
        }
    });
    let mut pi = Pi { lines, session, messages: kept.unwrap_or_default(), aborted: false, calls: 0 };
    println!("Loading extensions");
    while let Ok(command) = pi.lines.recv() {
        pi.told(&command);
    }
}

impl Pi {
    fn send(&self, event: Value) {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{event}").and_then(|()| out.flush());
    }

    fn answer(&self, command: &Value, data: Value) {
        self.send(json!({"type": "response", "id": command["id"], "command": command["type"], "success": true, "data": data}));
    }

    fn told(&mut self, command: &Value) {
        match command["type"].as_str().unwrap_or_default() {
            "get_state" => self.answer(
                command,
                json!({"model": {"id": "fake", "input": ["text", "image"]}, "sessionFile": self.session,
                    "sessionId": "x", "messageCount": self.messages}),
            ),
            "prompt" => {
                self.answer(command, Value::Null);
                self.prompted(command);
            }
            "abort" => {
                self.aborted = true;
                self.answer(command, Value::Null);
            }
            _ => {}
        }
    }

    fn say(&self, text: &str) {
        let event = json!({"type": "text_delta", "contentIndex": 0, "delta": text});
        self.send(json!({"type": "message_update", "assistantMessageEvent": event}));
    }

    fn ends(&self, reason: &str, error: &str) {
        let usage =
            json!({"input": 10, "output": 5, "cacheRead": 2, "cacheWrite": 0, "cost": {"total": 0.000_25}});
        self.send(json!({"type": "message_end", "message": {"role": "assistant", "stopReason": reason,
            "errorMessage": error, "usage": usage}}));
    }

    fn prompted(&mut self, command: &Value) {
        self.aborted = false;
        self.messages += 2;
        let _ = std::fs::write(&self.session, self.messages.to_string());
        self.send(json!({"type": "agent_start"}));
        let text = command["message"].as_str().unwrap_or_default();
        let pictures = command["images"].as_array().map_or(0, Vec::len);
        let mut how = ("stop", "");
        match Script::read(text) {
            None => self.say(&format!("{} messages, {pictures} pictures: {text}", self.messages)),
            Some(script) => {
                for step in script.steps {
                    how = self.does(step);
                    if how.0 != "stop" {
                        break;
                    }
                }
            }
        }
        self.ends(how.0, how.1);
        self.send(json!({"type": "agent_end", "messages": []}));
    }

    fn does(&mut self, step: Step) -> (&'static str, &'static str) {
        match step {
            Step::Say(text) => self.say(&text),
            Step::Stream { words, ms } => {
                for n in 1..=words {
                    self.say(&format!("word{n} "));
                    if let Ok(command) = self.lines.recv_timeout(Duration::from_millis(ms)) {
                        self.told(&command);
                    }
                    if self.aborted {
                        return ("aborted", "Request was aborted");
                    }
                }
            }
            Step::Tool { name, input } => match name.as_str() {
                "die" => {
                    eprintln!("the disk is on fire");
                    std::process::exit(7);
                }
                "fail" => return ("error", "529 overloaded"),
                "retry" => {
                    self.say("Half");
                    self.ends("error", "529 overloaded");
                    self.send(json!({"type": "agent_end", "messages": []}));
                    self.send(json!({"type": "auto_retry_start", "attempt": 1}));
                    // Whoever asks meanwhile is answered, and must not take that for the end.
                    if let Ok(command) = self.lines.recv_timeout(Duration::from_secs(5)) {
                        self.told(&command);
                    }
                    self.send(json!({"type": "agent_start"}));
                    self.say("Whole.");
                }
                "dialog" => {
                    self.send(json!({"type": "extension_ui_request", "id": "d", "method": "confirm", "title": "Sure?"}));
                    let answer = self.lines.recv().unwrap_or_default();
                    self.say(&format!("cancelled: {}", answer["cancelled"]));
                }
                "mute" => std::thread::sleep(Duration::from_secs(600)),
                name => self.tool(name, &input),
            },
            _ => {}
        }
        ("stop", "")
    }

    fn tool(&mut self, name: &str, input: &Value) {
        self.ends("toolUse", "");
        self.calls += 1;
        let id = format!("call{}", self.calls);
        self.send(json!({"type": "tool_execution_start", "toolCallId": id, "toolName": name, "args": input}));
        if let (Some(path), Some(text)) = (input["path"].as_str(), input["content"].as_str()) {
            let _ = std::fs::write(path, text);
        }
        let result = json!({"content": [{"type": "text", "text": format!("did {name}")}]});
        self.send(json!({"type": "tool_execution_end", "toolCallId": id, "toolName": name, "result": result, "isError": false}));
    }
}

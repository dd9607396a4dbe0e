//! An agent that speaks the Agent Client Protocol and obeys the script in its prompt: for tests, and for
//! trying things without an account. `switchboard profile add a --harness "acp:…/acp_agent" --workspace DIR`.
//!
//! Besides the script's own lines it knows `!tool fault {"kind":"…"}`: `die`, `garbage`, `twice`, `mute`, `late`, `files`,
//! `mode`, `picture`; `!tool house {"tool":"…","input":{…}}` calls a tool of the server it was
//! given (`"leave":true`: and does not wait; `"leave":"late"`: until its next call is there; `"key":"…"`: with another key; `"list":true`: lists them;
//! `"asks":"meta"` or `"title"`: asks leave first); `!tool choose {"options":[[kind, id, name] …]}`, and `!tool edit {"path":"…","old":"…","new":"…"}`.
//! Its sessions are files in its folder, so that another process can take them up. Flags: `--no-modes`, `--options` (modes
//! and models as options of a session), `--no-http` (it takes no servers over HTTP), `--load` (it takes sessions up by telling them again), `--blind` (it is shown no
//! pictures), `--deaf` (it works on though nobody speaks to it any more).
#![allow(clippy::disallowed_methods, reason = "it stands for a program that sleeps")]

use std::io::{BufRead, Write};

use sb_harness::{Script, Step};
use serde_json::{Value, json};

/// Its memory of one session, by file.
struct Session {
    id: String,
    prompts: usize,
}

struct Agent {
    lines: std::io::Lines<std::io::StdinLock<'static>>,
    session: Session,
    next: u64,
    calls: usize,
    cancelled: bool,
    /// The mode it is in, and the model it works with.
    mode: String,
    model: String,
    /// The server it was given.
    server: Value,
    /// A call that it still holds though it waits for it no longer.
    held: Option<Answering>,
}

fn main() {
    let _ = std::fs::write(".pid", std::process::id().to_string());
    let mut agent = Agent {
        lines: std::io::stdin().lock().lines(),
        session: Session { id: String::new(), prompts: 0 },
        next: 0,
        calls: 0,
        cancelled: false,
        mode: "auto".to_owned(),
        model: "small".to_owned(),
        server: Value::Null,
        held: None,
    };
    while let Some(message) = agent.hear() {
        let (id, params) = (message["id"].clone(), message["params"].clone());
        if params["mcpServers"].is_array() {
            agent.server = params["mcpServers"][0].clone();
            let _ = std::fs::write(".server", agent.server.to_string());
        }
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => agent.answer(id, hello()),
            "session/new" => {
                agent.session = Session { id: format!("s{}", std::process::id()), prompts: 0 };
                agent.answer(id, agent.opened());
            }
            "session/resume" | "session/load" => {
                let known = params["sessionId"].as_str().unwrap_or_default().to_owned();
                match std::fs::read_to_string(format!(".session-{known}")) {
                    Ok(prompts) => {
                        agent.session = Session { id: known, prompts: prompts.trim().parse().unwrap_or(0) };
                        if message["method"] == "session/load" {
                            agent.say("What was said before.");
                        }
                        agent.answer(id, agent.opened());
                    }
                    Err(_) => agent.fails(id, -32002, "no such session"),
                }
            }
            "session/set_mode" if params["modeId"] == "ask" => {
                agent.mode = "ask".to_owned();
                agent.answer(id, json!({}));
            }
            "session/set_config_option" => {
                let value = params["value"].as_str().unwrap_or_default().to_owned();
                match params["configId"].as_str() {
                    Some("mode") => agent.mode = value,
                    _ => agent.model = value,
                }
                agent.answer(id, agent.opened());
            }
            "session/prompt" => agent.prompted(id, &params),
            "session/cancel" | "" => {}
            _ => agent.fails(id, -32601, "not known"),
        }
    }
    while flag("--deaf") {
        std::thread::sleep(std::time::Duration::from_secs(600));
    }
}

fn flag(name: &str) -> bool {
    std::env::args().any(|argument| argument == name)
}

fn hello() -> Value {
    let sessions = if flag("--load") { json!({}) } else { json!({"resume": {}}) };
    json!({"protocolVersion": 1, "agentInfo": {"name": "acp_agent", "version": "1"}, "agentCapabilities": {
        "loadSession": flag("--load"), "sessionCapabilities": sessions, "mcpCapabilities": {"http": !flag("--no-http")},
        "promptCapabilities": {"image": !flag("--blind")}}})
}

impl Agent {
    /// How a session stands that was opened, or in which something was set.
    fn opened(&self) -> Value {
        let id = &self.session.id;
        if flag("--no-modes") {
            return json!({"sessionId": id});
        }
        if !flag("--options") {
            return json!({"sessionId": id, "modes": {"currentModeId": self.mode,
                "availableModes": [{"id": "auto", "name": "Auto"}, {"id": "ask", "name": "Ask"}]}});
        }
        let values = |all: &[&str]| all.iter().map(|v| json!({"value": v, "name": v})).collect::<Vec<_>>();
        json!({"sessionId": id, "configOptions": [
            {"id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": self.mode,
                "options": [{"group": "all", "name": "All", "options": values(&["auto", "ask", "careful"])}]},
            {"id": "size", "name": "Model", "category": "model", "type": "select", "currentValue": self.model,
                "options": values(&["small", "maker/big"])}]})
    }

    fn hear(&mut self) -> Option<Value> {
        let line = self.lines.next()?.ok()?;
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        self.cancelled |= message["method"] == "session/cancel";
        Some(message)
    }

    fn send(&self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{message}").and_then(|()| out.flush());
    }

    fn answer(&self, id: Value, result: Value) {
        self.send(json!({"id": id, "result": result}));
    }

    fn fails(&self, id: Value, code: i64, why: &str) {
        self.send(json!({"id": id, "error": {"code": code, "message": why}}));
    }

    fn update(&self, update: Value) {
        let params = json!({"sessionId": self.session.id, "update": update});
        self.send(json!({"method": "session/update", "params": params}));
    }

    fn say(&self, text: &str) {
        let content = json!({"type": "text", "text": text});
        self.update(json!({"sessionUpdate": "agent_message_chunk", "content": content}));
    }

    fn prompted(&mut self, id: Value, params: &Value) {
        self.session.prompts += 1;
        let _ = std::fs::write(format!(".session-{}", self.session.id), self.session.prompts.to_string());
        self.cancelled = false;
        let blocks: Vec<&Value> = params["prompt"].as_array().into_iter().flatten().collect();
        let pictures = blocks.iter().filter(|b| b["type"] == "image").count();
        let links: Vec<&str> = blocks.iter().filter_map(|b| b["uri"].as_str()).collect();
        for link in links {
            self.say(&format!("linked {link}. "));
        }
        let text: Vec<&str> = blocks.iter().filter_map(|b| b["text"].as_str()).collect();
        // The script is in what was said last; what stands before it is told by whoever runs us.
        let last = text.last().copied().unwrap_or_default();
        match Script::read(last) {
            None => {
                if text.iter().any(|t| t.contains("how do you stand")) {
                    self.say(&format!("mode {}, model {}. ", self.mode, self.model));
                }
                self.say(&format!("prompt {}, {pictures} pictures: {}", self.session.prompts, text.join("|")))
            }
            Some(script) => {
                for step in script.steps {
                    if self.cancelled || !self.does(step) {
                        break;
                    }
                }
            }
        }
        let how = if self.cancelled { "cancelled" } else { "end_turn" };
        let usage = json!({"inputTokens": 10, "outputTokens": 5, "totalTokens": 15});
        self.answer(id, json!({"stopReason": how, "usage": usage}));
        if last.contains("\"late\"") {
            self.update(json!({"sessionUpdate": "session_info_update", "title": "A title"}));
        }
    }

    /// One step; false: it goes no further.
    fn does(&mut self, step: Step) -> bool {
        match step {
            Step::Say(text) => self.say(&text),
            Step::Stream { words, ms } => {
                for n in 1..=words {
                    self.say(&format!("word{n} "));
                    std::thread::sleep(std::time::Duration::from_millis(ms));
                }
            }
            Step::Wait { ms } => {
                // What comes meanwhile, such as a cancel, is heard once the wait is over.
                std::thread::sleep(std::time::Duration::from_millis(ms));
            }
            Step::Tool { name, input } if name == "fault" => return self.fault(&input),
            Step::Tool { name, input } if name == "house" => self.house(&input),
            Step::Tool { name, input } if name == "choose" => return self.choose(&input),
            Step::Tool { name, input } => return self.tool(&name, &input),
            _ => {}
        }
        true
    }

    fn fault(&mut self, input: &Value) -> bool {
        match input["kind"].as_str().unwrap_or_default() {
            "die" => {
                eprintln!("the disk is on fire");
                std::process::exit(7);
            }
            "garbage" => {
                let mut out = std::io::stdout().lock();
                let _ = writeln!(out, "Warning: this is no JSON\n[1,2]\n{{\"jsonrpc\":\"2.0\"}}\n\u{1}");
                drop(out);
                self.update(json!({"sessionUpdate": "of_tomorrow", "x": 1}));
                self.send(json!({"method": "_own/thing", "params": {}}));
                self.send(json!({"id": "odd", "method": "_own/question", "params": {}}));
            }
            "twice" => {
                let (a, b) = (
                    self.ask("write_file", &json!({"path": "a.txt"})),
                    self.ask("write_file", &json!({"path": "b.txt"})),
                );
                let mut said = Vec::new();
                while said.len() < 2 {
                    let Some(message) = self.hear() else { return false };
                    for (asked, name) in [(&a, "a"), (&b, "b")] {
                        if message["id"] == *asked {
                            let outcome = &message["result"]["outcome"];
                            said.push(format!(
                                "{name}: {}",
                                outcome["optionId"].as_str().unwrap_or("cancelled")
                            ));
                        }
                    }
                }
                self.say(&said.join(", "));
            }
            "files" => {
                let asks = [
                    ("fs/read_text_file", json!({"path": here("in.txt"), "line": 2, "limit": 1})),
                    ("fs/read_text_file", json!({"path": "/etc/passwd"})),
                    ("fs/write_text_file", json!({"path": here("../out.txt"), "content": "x"})),
                    ("fs/write_text_file", json!({"path": here("new/in.txt"), "content": "x"})),
                ];
                for (method, params) in asks {
                    self.next += 1;
                    let id = format!("file{}", self.next);
                    self.send(json!({"id": id, "method": method, "params": params}));
                    let said = loop {
                        let Some(message) = self.hear() else { return false };
                        if message["id"] == id {
                            break message["result"]["content"]
                                .as_str()
                                .unwrap_or(if message["error"].is_null() { "done" } else { "refused" })
                                .trim()
                                .to_owned();
                        }
                    };
                    self.say(&format!("{said}. "));
                }
            }
            "mode" => {
                self.mode = "auto".to_owned();
                self.update(json!({"sessionUpdate": "current_mode_update", "currentModeId": "auto"}));
                let Some(set) = self.hear() else { return false };
                self.mode = set["params"]["modeId"].as_str().unwrap_or_default().to_owned();
                match input["refuse"].is_null() {
                    true => self.answer(set["id"].clone(), json!({})),
                    false => self.fails(set["id"].clone(), -32603, "no"),
                }
                self.say(&format!("set to {}", self.mode));
            }
            "picture" => {
                let data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
                let _ = std::fs::write("made.txt", "made");
                for content in [
                    json!({"type": "image", "mimeType": "image/png", "data": data}),
                    json!({"type": "resource", "resource": {"uri": "file:///r/notes.md", "mimeType": "text/markdown", "text": "# Notes"}}),
                    json!({"type": "resource_link", "uri": format!("file://{}", here("made.txt")), "name": "made.txt"}),
                    json!({"type": "resource_link", "uri": "file:///etc/passwd", "name": "passwd"}),
                    json!({"type": "image", "mimeType": "image/png", "data": "no base64!"}),
                ] {
                    self.update(json!({"sessionUpdate": "agent_message_chunk", "content": content}));
                }
            }
            "mute" => loop {
                // It hears nothing any more, not even that it is to stop.
                std::thread::sleep(std::time::Duration::from_secs(600));
            },
            _ => {}
        }
        true
    }

    /// A tool of the server it was given; it says what came of it.
    fn house(&mut self, input: &Value) {
        if self.server.is_null() {
            return self.say("There is no server.");
        }
        if let Some(how) = input["asks"].as_str()
            && !self.asks_leave(how, &input["tool"], &input["input"])
        {
            return self.say("not allowed ");
        }
        self.calls += 1;
        let method = if input["list"] == true { "tools/list" } else { "tools/call" };
        let given = json!({"name": input["tool"], "arguments": input["input"]});
        let body = json!({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": given}).to_string();
        let key = self.server["headers"][0]["value"].as_str().unwrap_or_default().to_owned();
        let key = input["key"].as_str().map_or(key, |other| format!("Bearer {other}"));
        let url = self.server["url"].as_str().unwrap_or_default();
        let address = url.trim_start_matches("http://").split('/').next().unwrap_or_default();
        let said = match post(address, &key, &body) {
            Ok(answering) => {
                self.held = None;
                // For whoever wants to know how many were taken.
                let _ = std::fs::File::options()
                    .create(true)
                    .append(true)
                    .open(here(".taken"))
                    .and_then(|mut taken| writeln!(taken, "{}", answering.status));
                match input["leave"].as_str() {
                    Some(_) => {
                        self.held = Some(answering);
                        String::new()
                    }
                    None if input["leave"] == true => String::new(),
                    None => answering.read().unwrap_or_else(|why| why.to_string()),
                }
            }
            Err(why) => why.to_string(),
        };
        self.say(&format!("{said} "));
    }

    /// Asks leave for a tool of the server it was given, naming it as its program does (`meta`) or in its title only.
    fn asks_leave(&mut self, how: &str, tool: &Value, input: &Value) -> bool {
        let name = format!("mcp__switchboard__{}", tool.as_str().unwrap_or_default());
        let meta = if how == "meta" { json!({"claudeCode": {"toolName": name}}) } else { json!({}) };
        let call = format!("leave{}", self.calls);
        self.update(json!({"sessionUpdate": "tool_call", "toolCallId": call, "title": name, "kind": "other",
            "status": "pending", "rawInput": input, "_meta": meta}));
        let options = json!([{"optionId": "yes", "name": "Allow", "kind": "allow_once"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"}]);
        let params =
            json!({"sessionId": self.session.id, "toolCall": {"toolCallId": call}, "options": options});
        self.send(json!({"id": "leave", "method": "session/request_permission", "params": params}));
        loop {
            let Some(message) = self.hear() else { return false };
            if message["id"] == "leave" {
                return message["result"]["outcome"]["optionId"] == "yes";
            }
        }
    }

    /// A question with options of its own; it says which it was given.
    fn choose(&mut self, input: &Value) -> bool {
        let all = input["options"].as_array().into_iter().flatten();
        let options: Vec<Value> =
            all.map(|o| json!({"kind": o[0], "optionId": o[1], "name": o[2]})).collect();
        let call = json!({"toolCallId": "choice", "kind": "switch_mode", "title": "Which way?",
            "rawInput": {"plan": "# Plan\n1. go"}});
        let params = json!({"sessionId": self.session.id, "toolCall": call, "options": options});
        self.send(json!({"id": "choose", "method": "session/request_permission", "params": params}));
        let answer = loop {
            let Some(message) = self.hear() else { return false };
            if message["id"] == "choose" {
                break message["result"]["outcome"]["optionId"].as_str().unwrap_or("cancelled").to_owned();
            }
        };
        self.say(&format!("It was {answer}."));
        true
    }

    fn ask(&mut self, name: &str, input: &Value) -> String {
        self.calls += 1;
        self.next += 1;
        let (call, request) = (format!("call{}", self.calls), format!("ask{}", self.next));
        let kind = match name {
            "shell" => "execute",
            "write_file" | "edit" => "edit",
            "web_fetch" => "fetch",
            _ => "other",
        };
        let paths: Vec<Value> =
            input["path"].as_str().map(|path| json!({"path": here(path)})).into_iter().collect();
        self.update(json!({"sessionUpdate": "tool_call", "toolCallId": call, "title": name, "kind": kind,
            "status": "pending", "rawInput": input, "locations": paths}));
        if name == "edit" {
            let diff = json!({"type": "diff", "path": here(input["path"].as_str().unwrap_or_default()),
                "oldText": input["old"], "newText": input["new"]});
            self.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "content": [diff]}));
        }
        let options = json!([
            {"optionId": "ever", "name": "Always", "kind": "allow_always"},
            {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"}]);
        let params =
            json!({"sessionId": self.session.id, "toolCall": {"toolCallId": call}, "options": options});
        self.send(json!({"id": request, "method": "session/request_permission", "params": params}));
        request
    }

    /// A tool of its own: asked for, then done. False: it goes no further.
    fn tool(&mut self, name: &str, input: &Value) -> bool {
        let asked = self.ask(name, input);
        let call = format!("call{}", self.calls);
        let answer = loop {
            let Some(message) = self.hear() else { return false };
            if message["id"] == asked {
                break message["result"]["outcome"]["optionId"].as_str().unwrap_or("cancelled").to_owned();
            }
        };
        let (status, said) = match answer.as_str() {
            "yes" => ("completed", self.carry_out(name, input)),
            other => ("failed", format!("not done: {other}")),
        };
        let content = json!([{"type": "content", "content": {"type": "text", "text": said}}]);
        self.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status, "content": content}));
        answer == "yes"
    }

    fn carry_out(&self, name: &str, input: &Value) -> String {
        if name == "write_file" {
            let path = here(input["path"].as_str().unwrap_or_default());
            let text = input["content"].as_str().unwrap_or("written");
            return match std::fs::write(&path, text) {
                Ok(()) => format!("wrote {path}"),
                Err(why) => why.to_string(),
            };
        }
        format!("did {name}")
    }
}

/// Posts to a server and reads what it says; `leave`: only that it listens.
/// A call whose answer may take its time.
struct Answering {
    status: String,
    lines: std::io::Lines<std::io::BufReader<std::net::TcpStream>>,
}

fn post(address: &str, key: &str, body: &str) -> std::io::Result<Answering> {
    let mut server = std::net::TcpStream::connect(address)?;
    let length = body.len();
    write!(
        server,
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: {key}\r\nconnection: close\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         content-length: {length}\r\n\r\n{body}"
    )?;
    let mut lines = std::io::BufReader::new(server).lines();
    let status = lines.next().transpose()?.unwrap_or_default();
    Ok(Answering { status, lines })
}

impl Answering {
    fn read(self) -> std::io::Result<String> {
        let mut said = Value::Null;
        for line in self.lines {
            let line = line?;
            let line = line.trim().trim_start_matches("data: ");
            if line.starts_with('{') {
                said = serde_json::from_str(line)?;
            }
        }
        let result = &said["result"];
        if let Some(tools) = result["tools"].as_array() {
            let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
            return Ok(names.join(", "));
        }
        let how = if result["isError"] == true { "failed" } else { "ok" };
        Ok(result["content"][0]["text"].as_str().map_or(self.status, |text| format!("{how}: {text}")))
    }
}

fn here(path: &str) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    folder.join(path).display().to_string()
}

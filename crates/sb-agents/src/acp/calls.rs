//! What an agent does, as calls of ours: pieced together from its updates, and named as our own tools are,
//! so that the same levels and the same rules hold for them.

use std::collections::HashMap;
use std::path::Path;

use sb_harness::model::text::one_line;
use sb_harness::model::{Call, CallId, ToolClass};
use serde_json::{Map, Value, json};

use super::diff::unified;
use super::places::within;
use super::terminal::{command, uncoloured};
use crate::lending::NAME;

/// Calls of one turn that are remembered; an agent that makes more has the oldest ones forgotten.
const MOST_CALLS: usize = 1_000;
/// Visible characters of one change or output in a result.
const SHOWN: usize = 20_000;

/// Fields in which agents say what they write; where the change itself is told, these say it again.
const HOLD_WORDS: [&str; 9] =
    ["content", "new_string", "newString", "newText", "new_str", "diff", "patch", "changes", "edits"];
/// Fields in which they say where.
const PATHS: [&str; 4] = ["filepath", "file_path", "filePath", "abs_path"];
/// Bytes of output that are kept of a terminal of the agent's own, from its end.
const OUTPUT: usize = 64 * 1024;

/// One call, as told so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub title: String,
    pub kind: String,
    pub status: String,
    input: Value,
    content: Vec<Value>,
    paths: Vec<String>,
    /// What a terminal of the agent's own showed.
    output: String,
    /// It stands in the log.
    pub logged: bool,
    /// Its result does.
    pub settled: bool,
    /// It is a call of a tool of ours, of which the agent's own words change nothing.
    ours: bool,
    /// A call of a tool of ours that the agent has told of too.
    told_too: bool,
    /// The tool's name as the agent's program knows it, which no model words.
    pub program_name: Option<String>,
}

/// The calls of a turn, by the agent's ids.
#[derive(Debug, Default)]
pub(super) struct Calls {
    known: HashMap<String, Known>,
    order: Vec<String>,
}

impl Calls {
    /// Takes in what an update says of a call: only what it has changes.
    pub fn update(&mut self, update: &Value) -> Option<(String, &mut Known)> {
        let id = update["toolCallId"].as_str()?.to_owned();
        if self.known.get(&id).is_some_and(|known| known.ours) {
            return None;
        }
        Some(self.enter(id)).map(|(id, known)| {
            known.take(update);
            (id, known)
        })
    }

    /// A call of a tool of ours.
    pub fn ours(&mut self, call: &Call) {
        let input = call.input.clone();
        let known = Known { title: call.tool.clone(), input, ours: true, ..Known::default() };
        *self.enter(call.id.0.clone()).1 = known;
    }

    /// Whether a call that the agent tells of is one of a tool of ours, which stands in the log already. It is if it
    /// is named so and has just the input of one that came, each of which stands for one telling only.
    pub fn is_told_again(&mut self, id: &str) -> bool {
        let Some(own) = self.known.get(id) else { return false };
        let names: Vec<&str> = own.program_name.as_deref().into_iter().chain([own.title.as_str()]).collect();
        let inputs = [&own.input, &own.input["arguments"]];
        let same = |known: &&Known| {
            let named = names.iter().any(|name| lent_name(name) == Some(known.title.as_str()));
            known.ours && !known.told_too && named && inputs.contains(&&known.input)
        };
        let told = self.order.iter().find(|id| self.known.get(*id).as_ref().is_some_and(same)).cloned();
        let Some(told) = told.and_then(|id| self.known.get_mut(&id)) else { return false };
        told.told_too = true;
        true
    }

    /// The place of a call, new if it is not known yet.
    fn enter(&mut self, id: String) -> (String, &mut Known) {
        if !self.known.contains_key(&id) {
            if self.order.len() >= MOST_CALLS {
                let oldest = self.order.remove(0);
                self.known.remove(&oldest);
            }
            self.order.push(id.clone());
        }
        let known = self.known.entry(id.clone()).or_default();
        (id, known)
    }

    pub fn get_mut(&mut self, id: &str) -> Option<&mut Known> {
        self.known.get_mut(id)
    }

    /// Those in the log that have no result yet, in order.
    pub fn unsettled(&self) -> Vec<String> {
        let open = |id: &&String| self.known.get(*id).is_some_and(|k| k.logged && !k.settled);
        self.order.iter().filter(open).cloned().collect()
    }
}

/// Why a call is never put before anybody.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LeadsOut(pub String);

impl Known {
    /// Takes in what an update says: only what it has changes.
    fn take(&mut self, update: &Value) {
        for (at, key) in [(&mut self.title, "title"), (&mut self.kind, "kind"), (&mut self.status, "status")]
        {
            if let Some(text) = update[key].as_str() {
                *at = text.to_owned();
            }
        }
        if let Some(name) = update["_meta"]["claudeCode"]["toolName"].as_str() {
            self.program_name = Some(name.to_owned());
        }
        if !update["rawInput"].is_null() {
            self.input = update["rawInput"].clone();
        }
        if let Some(content) = update["content"].as_array() {
            self.content = content.clone();
        }
        for name in ["terminal_output", "terminal_output_delta"] {
            if let Some(data) = update["_meta"][name]["data"].as_str() {
                self.output.push_str(data);
                let over = self.output.len().saturating_sub(OUTPUT);
                let over = (over..=self.output.len()).find(|at| self.output.is_char_boundary(*at));
                self.output.drain(..over.unwrap_or_default());
            }
        }
        if let Some(places) = update["locations"].as_array() {
            self.paths = places.iter().filter_map(|p| p["path"].as_str()).map(str::to_owned).collect();
        }
    }

    /// The call as the gate judges it.
    ///
    /// # Errors
    /// If it names a file outside the workspace.
    pub fn as_call(&self, id: &str, workspace: &Path) -> Result<Call, LeadsOut> {
        let mut input = match &self.input {
            Value::Object(object) => object.clone(),
            Value::Null => Map::new(),
            other => Map::from_iter([("input".to_owned(), other.clone())]),
        };
        let places = self.places(&input, workspace)?;
        let (tool, class) = match self.kind.as_str() {
            "execute" => match command(&input) {
                Some(command) => {
                    input.insert("command".to_owned(), command.into());
                    ("shell", ToolClass::Shell)
                }
                None => ("execute", ToolClass::Shell),
            },
            "edit" if places.len() == 1 => ("write_file", ToolClass::Write),
            kind @ ("edit" | "delete" | "move") if !places.is_empty() => (kind, ToolClass::Write),
            "read" if !places.is_empty() => ("read_file", ToolClass::Read),
            "search" if !places.is_empty() => ("search", ToolClass::Read),
            "think" => ("think", ToolClass::Read),
            "fetch" => ("web_fetch", ToolClass::Outside),
            kind @ ("edit" | "delete" | "move" | "read" | "search" | "switch_mode") => {
                (kind, ToolClass::Shell)
            }
            // Whatever it is, it is judged as a program would be, and under no name of ours.
            _ => ("other", ToolClass::Shell),
        };
        if matches!(class, ToolClass::Write) || tool == "read_file" {
            // Where it is, is said once and as the workspace knows it.
            input.retain(|name, _| !PATHS.contains(&name.as_str()));
            input.insert("path".to_owned(), places.join(", ").into());
        }
        if let Some(diffs) = self.diffs(workspace) {
            // It is told once, as people read it; of the rest what says the same goes.
            let told: Vec<&str> = self.told_by_diffs().collect();
            input.retain(|name, value| match value {
                Value::String(text) => !HOLD_WORDS.contains(&name.as_str()) && !told.contains(&text.as_str()),
                _ => !HOLD_WORDS.contains(&name.as_str()),
            });
            input.insert("change".to_owned(), diffs.into());
        }
        if input.is_empty() || tool == "switch_mode" {
            input.insert("title".to_owned(), self.title.clone().into());
        }
        let tool = one_line(tool, 40);
        Ok(Call { id: CallId(id.to_owned()), tool, input: Value::Object(input), class })
    }

    /// The files it names, as the workspace knows them.
    fn places(&self, input: &Map<String, Value>, workspace: &Path) -> Result<Vec<String>, LeadsOut> {
        const NAMES: [&str; 10] = [
            "filepath",
            "path",
            "file_path",
            "filePath",
            "abs_path",
            "notebook_path",
            "cwd",
            "workdir",
            "directory",
            "dir",
        ];
        let given = NAMES.iter().filter_map(|name| Some((*name, input.get(*name)?.as_str()?)));
        let diffs = self.content.iter().filter(|c| c["type"] == "diff").filter_map(|c| c["path"].as_str());
        let files = given.map(|(name, path)| (!matches!(name, "cwd" | "workdir"), path));
        let all = self.paths.iter().map(|p| (true, p.as_str())).chain(diffs.map(|p| (true, p))).chain(files);
        let mut places = Vec::new();
        for (is_file, path) in all {
            let Some(place) = within(workspace, path) else {
                return Err(LeadsOut(one_line(path, 200)));
            };
            if is_file && !places.contains(&place) {
                places.push(place);
            }
        }
        Ok(places)
    }

    /// Its changes to files, as people read them.
    fn diffs(&self, workspace: &Path) -> Option<String> {
        let diffs = self.content.iter().filter(|c| c["type"] == "diff");
        let shown: Vec<String> = diffs
            .map(|diff| {
                let path = diff["path"].as_str().unwrap_or_default();
                let path = within(workspace, path).unwrap_or_else(|| path.to_owned());
                let (old, new) = (diff["oldText"].as_str(), diff["newText"].as_str().unwrap_or_default());
                unified(&one_line(&path, 200), old, new)
            })
            .collect();
        (!shown.is_empty()).then(|| shown.concat())
    }

    /// The texts that its changes are made of.
    fn told_by_diffs(&self) -> impl Iterator<Item = &str> {
        let diffs = self.content.iter().filter(|c| c["type"] == "diff");
        diffs.flat_map(|diff| [diff["oldText"].as_str(), diff["newText"].as_str()]).flatten()
    }

    /// What came of it, for the log.
    pub fn result(&self, workspace: &Path) -> String {
        let mut parts: Vec<String> = Vec::new();
        for content in &self.content {
            let block = &content["content"];
            match (content["type"].as_str(), block["type"].as_str()) {
                (Some("content"), Some("text")) => parts.extend(block["text"].as_str().map(uncoloured)),
                (Some("content"), Some("resource_link")) => {
                    parts.extend(block["uri"].as_str().map(|uri| format!("(a link: {uri})")));
                }
                (Some("content"), Some(other)) => {
                    parts.push(format!("(a part of the sort {})", one_line(other, 40)))
                }
                (Some("terminal"), _) if self.output.trim().is_empty() => {
                    parts.push("(its output was shown on a terminal of its own)".to_owned())
                }
                (Some("terminal"), _) => parts.push(uncoloured(self.output.trim_end())),
                _ => {}
            }
        }
        parts.extend(self.diffs(workspace));
        let text = parts.join("\n");
        let text = if text.trim().is_empty() { format!("({})", one_line(&self.title, 200)) } else { text };
        let shown = sb_harness::model::text::clip(&text, SHOWN);
        match shown.len() < text.len() {
            true => format!("{shown}\n(cut here: {} bytes in all)", text.len()),
            false => text,
        }
    }

    /// The words it wants one file to hold, where its change says so whole.
    pub fn new_text(&self) -> Option<String> {
        let mut diffs = self.content.iter().filter(|c| c["type"] == "diff");
        match (diffs.next(), diffs.next()) {
            (Some(diff), None) => diff["newText"].as_str().map(str::to_owned),
            _ => None,
        }
    }

    /// The call as it was told, of one that was done already.
    pub fn unplaced(&self, id: &str) -> Call {
        let input = json!({"title": one_line(&self.title, 200)});
        Call { id: CallId(id.to_owned()), tool: one_line(&self.kind, 40), input, class: ToolClass::Shell }
    }

    /// Whether what it brings is content from outside.
    pub fn is_outside(&self) -> bool {
        self.kind == "fetch"
    }

    /// Its name while it runs, on one line.
    pub fn shown(&self) -> String {
        let title = if self.title.trim().is_empty() { &self.kind } else { &self.title };
        one_line(title, 80)
    }
}

/// The tool of ours that an agent's name for it means.
pub(super) fn lent_name(name: &str) -> Option<&str> {
    let after = name
        .strip_prefix("mcp__")
        .or(name.strip_prefix("mcp."))
        .or(name.strip_prefix("mcp_"))
        .unwrap_or(name);
    let tool = after.strip_prefix(NAME)?;
    ["__", "_", ".", "/"].iter().find_map(|between| tool.strip_prefix(between))
}

/// A call of ours that an agent makes by asking us to write a file.
pub(super) fn write(id: &str, path: &str, content: &str) -> Call {
    let input = json!({"path": path, "content": content});
    Call { id: CallId(id.to_owned()), tool: "write_file".to_owned(), input, class: ToolClass::Write }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(update: Value) -> Result<Call, LeadsOut> {
        let folder = tempfile::tempdir().expect("a folder");
        let text = update.to_string().replace("$W", folder.path().to_str().unwrap());
        let mut calls = Calls::default();
        let (id, known) = calls.update(&serde_json::from_str(&text).unwrap()).expect("a call");
        known.clone().as_call(&id, folder.path())
    }

    #[test]
    fn calls_are_named_as_our_own_so_that_levels_and_rules_hold() {
        let named = |update| call(update).map(|c| (c.tool, c.class, c.input));
        let shell = json!({"toolCallId": "1", "kind": "execute", "rawInput": {"command": "git status", "timeout": 5}});
        let input = json!({"command": "git status", "timeout": 5});
        assert_eq!(named(shell), Ok(("shell".into(), ToolClass::Shell, input)));
        let words =
            json!({"toolCallId": "1", "kind": "execute", "rawInput": {"command": ["bash", "-lc", "a | b"]}});
        assert_eq!(named(words).map(|c| c.2), Ok(json!({"command": "a | b"})));
        let words =
            json!({"toolCallId": "1", "kind": "execute", "rawInput": {"command": ["rm", "a b", "$(x)"]}});
        assert_eq!(named(words).map(|c| c.2), Ok(json!({"command": "rm 'a b' '$(x)'"})));
        let edit = json!({"toolCallId": "1", "kind": "edit", "locations": [{"path": "$W/a.txt"}],
            "content": [{"type": "diff", "path": "$W/a.txt", "oldText": null, "newText": "x\ny"}]});
        let change = "--- /dev/null\n+++ a.txt\n@@ -0,0 +1,2 @@\n+x\n+y\n";
        let input = json!({"path": "a.txt", "change": change});
        assert_eq!(named(edit), Ok(("write_file".into(), ToolClass::Write, input)));
        let again = json!({"toolCallId": "1", "kind": "edit", "rawInput": {"file_path": "$W/a.txt", "old_string": "x",
            "new_string": "y", "replace_all": true},
            "content": [{"type": "diff", "path": "$W/a.txt", "oldText": "x", "newText": "y"}]});
        let change = "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-x\n+y\n";
        let input = json!({"path": "a.txt", "replace_all": true, "change": change});
        assert_eq!(named(again), Ok(("write_file".into(), ToolClass::Write, input)));
        let fetch = json!({"toolCallId": "1", "kind": "fetch", "rawInput": {"url": "https://example.org"}});
        assert_eq!(named(fetch).map(|c| c.1), Ok(ToolClass::Outside));
        let odd = json!({"toolCallId": "1", "title": "mcp__x__y"});
        assert_eq!(named(odd), Ok(("other".into(), ToolClass::Shell, json!({"title": "mcp__x__y"}))));
        let forged =
            json!({"toolCallId": "1", "kind": "ledger_pay", "rawInput": {"to": "bob", "amount": "1"}});
        assert_eq!(named(forged).map(|c| (c.0, c.1)), Ok(("other".into(), ToolClass::Shell)));
        let blind = json!({"toolCallId": "1", "kind": "edit", "title": "Edit"});
        assert_eq!(named(blind).map(|c| c.1), Ok(ToolClass::Shell), "it names no file");
    }

    #[test]
    fn what_its_terminal_showed_is_read_without_colours() {
        let mut calls = Calls::default();
        let terminal = json!([{"type": "terminal", "terminalId": "t"}]);
        calls.update(&json!({"toolCallId": "1", "kind": "execute", "content": terminal}));
        for data in ["\u{1b}[1;32mok\u{1b}[0m\r\n", "\u{1b}]0;title\u{7}two\u{1b}]8;;x\u{1b}\\\u{8}\n"] {
            let meta = json!({"terminal_output_delta": {"terminal_id": "t", "data": data}});
            calls.update(&json!({"toolCallId": "1", "_meta": meta}));
        }
        let (_, known) = calls.update(&json!({"toolCallId": "1", "status": "completed"})).expect("known");
        assert_eq!(known.result(Path::new("/")), "ok\ntwo");
        let much = json!({"terminal_output": {"data": "é".repeat(OUTPUT)}});
        let (_, known) = calls.update(&json!({"toolCallId": "1", "_meta": much})).expect("known");
        assert!(known.output.len() <= OUTPUT && known.output.starts_with('é'));
    }

    #[test]
    fn a_file_outside_the_workspace_is_never_asked_about() {
        for update in [
            json!({"toolCallId": "1", "kind": "edit", "locations": [{"path": "$W/a"}, {"path": "/etc/passwd"}]}),
            json!({"toolCallId": "1", "kind": "read", "rawInput": {"file_path": "$W/../x"}}),
            json!({"toolCallId": "1", "kind": "execute", "rawInput": {"command": "ls", "cwd": "/"}}),
            json!({"toolCallId": "1", "kind": "edit", "content": [{"type": "diff", "path": "/x", "newText": ""}]}),
        ] {
            assert!(call(update.clone()).is_err(), "{update}");
        }
    }

    #[test]
    fn a_call_of_ours_is_told_once_and_what_only_looks_like_one_is_told() {
        let mut calls = Calls::default();
        let ours = |id: &str| Call {
            id: CallId(id.to_owned()),
            tool: "remember".to_owned(),
            input: json!({"text": "tea"}),
            class: ToolClass::Write,
        };
        calls.ours(&ours("house-1-1"));
        let mut tells = |id: &str, title: &str, input: Value| {
            calls.update(&json!({"toolCallId": id, "title": title, "rawInput": input}));
            calls.is_told_again(id)
        };
        assert!(!tells("a", "switchboard_remember", json!({"text": "coffee"})), "it was another");
        assert!(!tells("b", "echo tea", json!({"text": "tea"})), "it has another name");
        assert!(tells("c", "switchboard_remember", json!({"text": "tea"})));
        assert!(!tells("d", "mcp__switchboard__remember", json!({"text": "tea"})), "one call, one telling");
        assert!(calls.update(&json!({"toolCallId": "house-1-1", "status": "completed"})).is_none());
    }

    #[test]
    fn an_update_changes_only_what_it_has() {
        let mut calls = Calls::default();
        calls.update(&json!({"toolCallId": "1", "title": "bash", "kind": "execute", "status": "pending"}));
        calls.update(&json!({"toolCallId": "1", "title": "ls", "rawInput": {"command": "ls"}}));
        let (_, known) = calls.update(&json!({"toolCallId": "1", "status": "completed"})).expect("known");
        assert_eq!(
            (known.title.as_str(), known.kind.as_str(), known.status.as_str()),
            ("ls", "execute", "completed")
        );
        assert_eq!(known.input, json!({"command": "ls"}));
        for n in 0..2 * MOST_CALLS {
            calls.update(&json!({"toolCallId": n.to_string()}));
        }
        assert_eq!(calls.known.len(), MOST_CALLS);
    }
}

//! A server's tools, listed page by page within limits, and what of them a profile is given.
//!
//! A tool reaches a model only as the operator saw it: one that is new or was changed is held back, and
//! that is said. Limits keep a server with thousands of tools from filling every question.

use std::collections::BTreeSet;
use std::time::Duration;

use rmcp::model::{PaginatedRequestParams, Tool};
use sb_harness::model::text::{clip, counted, one_line};
use sb_harness::model::{McpFound, McpServer, McpTool, McpToolState, Profile};
use sb_loop::{Offer, ToolDef};
use serde_json::Value;

use crate::connection::{Connection, span};
use crate::{gating, names};

/// The most tools of one server.
const MOST_TOOLS: usize = 128;
/// The most pages that are asked for.
const MOST_PAGES: usize = 64;
/// The most that a model is told of one tool, in characters, and the largest schema in bytes.
const MOST_WORDS: usize = 4000;
const LARGEST_SCHEMA: usize = 32 * 1024;

/// A server's tools as they were listed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listed {
    pub tools: Vec<Tool>,
    /// What was left out.
    pub notes: Vec<String>,
}

/// Lists the tools, within `limit`. The error is for the operator.
pub(crate) async fn list(connection: &Connection, limit: Duration) -> Result<Listed, String> {
    let pages = async {
        let (mut listed, mut names, mut cursor) = (Listed::default(), BTreeSet::new(), None);
        for _ in 0..MOST_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor.take());
            let page = connection.peer().list_tools(Some(params)).await;
            let page = page
                .map_err(|why| format!("its tools cannot be listed: {}", connection.fit(&why.to_string())))?;
            for tool in page.tools {
                take(&mut listed, &mut names, tool);
            }
            cursor = page.next_cursor;
            if cursor.is_none() || listed.tools.len() >= MOST_TOOLS {
                break;
            }
        }
        if listed.tools.len() >= MOST_TOOLS {
            listed.notes.push(format!("Only its first {MOST_TOOLS} tools are taken."));
        }
        Ok(listed)
    };
    match tokio::time::timeout(limit, pages).await {
        Ok(listed) => listed,
        Err(_) => Err(format!("it did not list its tools within {}", span(limit))),
    }
}

fn take(listed: &mut Listed, names: &mut BTreeSet<String>, tool: Tool) {
    if listed.tools.len() >= MOST_TOOLS {
        return;
    }
    let name = one_line(&tool.name, 60);
    let schema = serde_json::to_string(&*tool.input_schema).map_or(usize::MAX, |text| text.len());
    let note = if tool.name.is_empty() || tool.name.len() > 256 {
        format!("A tool whose name is empty or longer than 256 bytes ({name:?}) is left out.")
    } else if !names.insert(tool.name.to_string()) {
        format!("A second tool called {name:?} is left out.")
    } else if schema > LARGEST_SCHEMA {
        format!("The tool {name:?} is left out: its schema is larger than 32 KB.")
    } else {
        return listed.tools.push(tool);
    };
    if listed.notes.len() < 10 {
        listed.notes.push(note);
    }
}

/// What of a listing a profile's agent is offered.
pub(crate) fn offer(profile: &Profile, server: &McpServer, listed: &Listed) -> Offer {
    let mut offer = Offer::default();
    let mut held = Vec::new();
    for (called, name) in names::seen(server) {
        let Some(tool) = listed.tools.iter().find(|t| t.name == *name) else { continue };
        if !server.gives(&name) {
            continue;
        }
        match state(server, tool) {
            McpToolState::Seen => offer.tools.push(def(server, tool, called)),
            _ => held.push(called),
        }
    }
    let new = |t: &&Tool| server.gives(&t.name) && !server.seen.contains_key(t.name.as_ref());
    let new = listed.tools.iter().filter(new).count() as u64;
    if !held.is_empty() {
        offer.notes.push(format!(
            "Tools of the MCP server {} are held back, since what it says of them changed after the operator saw it: {}. {}",
            server.name,
            clip(&held.join(", "), 500),
            remedy(profile, server)
        ));
    }
    if new > 0 {
        offer.notes.push(format!(
            "The MCP server {} has {} that the operator has not seen; they are held back. {}",
            server.name,
            counted(new, "tool"),
            remedy(profile, server)
        ));
    }
    offer
}

/// How the operator lets held back tools go.
pub(crate) fn remedy(profile: &Profile, server: &McpServer) -> String {
    format!(
        "The operator can look at them with `switchboard profile mcp test {} {}` and take them with --accept.",
        profile.name, server.name
    )
}

pub(crate) fn state(server: &McpServer, tool: &Tool) -> McpToolState {
    match server.seen.get(tool.name.as_ref()) {
        None => McpToolState::New,
        Some(seen) if *seen == gating::digest(tool) => McpToolState::Seen,
        Some(_) => McpToolState::Changed,
    }
}

fn def(server: &McpServer, tool: &Tool, called: String) -> ToolDef {
    let words = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or(&tool.name);
    ToolDef {
        name: called,
        class: gating::facts(server, tool).class,
        description: clip(words, MOST_WORDS),
        schema: Value::Object((*tool.input_schema).clone()),
    }
}

/// A listing as the operator is shown it.
pub(crate) fn found(server: &McpServer, connection: &Connection, listed: &Listed) -> McpFound {
    let (title, protocol) = connection.title();
    let mut table = names::table(
        server,
        listed.tools.iter().map(|t| t.name.as_ref()).collect::<BTreeSet<_>>().into_iter(),
    );
    let mut tools = Vec::new();
    for tool in &listed.tools {
        let called = table.iter().find(|(_, name)| tool.name == **name).map(|(called, _)| called.clone());
        let called = called.unwrap_or_default();
        table.remove(&called);
        let facts = gating::facts(server, tool);
        tools.push(McpTool {
            name: tool.name.to_string(),
            called,
            class: facts.class,
            taints: facts.taints,
            given: server.gives(&tool.name),
            state: state(server, tool),
            digest: gating::digest(tool),
            description: one_line(tool.description.as_deref().unwrap_or_default(), 160),
        });
    }
    let mut notes = listed.notes.clone();
    let gone =
        server.seen.keys().filter(|name| !listed.tools.iter().any(|t| t.name == **name)).count() as u64;
    if gone > 0 {
        notes.push(format!("{} it had when it was last looked at is not there now.", counted(gone, "tool")));
    }
    McpFound { title, protocol, tools, notes }
}

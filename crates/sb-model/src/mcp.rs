//! MCP servers: where a profile's further tools come from, and how far they are believed.
//!
//! Facts only. The values of variables and headers are no part of them: secrets are sealed apart.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Digest, ToolClass};

/// One MCP server of a profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct McpServer {
    /// What it is called here; its tools are `name__tool`.
    pub name: String,
    pub at: McpAt,
    /// Names of environment variables (a command) or headers (an address) whose values are sealed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// The only tools of it that are given, by the server's own names; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Tools of it that are not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
    /// What the operator says of a tool, over what the server says.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, McpOverride>,
    /// Whatever it gives counts as content from outside.
    #[serde(default)]
    pub untrusted: bool,
    /// How long one call may take, in seconds.
    #[serde(default = "McpServer::default_limit_s")]
    pub limit_s: u32,
    /// The tools the operator has seen, each with the digest of its definition then. What differs now, or
    /// was not there, is held back.
    #[serde(default)]
    pub seen: BTreeMap<String, Digest>,
}

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpAt {
    /// A program of this machine, spoken to over its input and output.
    Command { command: String, args: Vec<String> },
    /// An address, spoken to over streamable HTTP.
    Url(String),
}

/// What the operator says of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct McpOverride {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<ToolClass>,
    /// Whether its results count as content from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taints: Option<bool>,
}

impl McpServer {
    /// A minute.
    pub fn default_limit_s() -> u32 {
        60
    }
    /// Whether the operator gives this tool of the server, by the server's own name for it.
    pub fn gives(&self, tool: &str) -> bool {
        (self.only.is_empty() || self.only.iter().any(|n| n == tool))
            && !self.without.iter().any(|n| n == tool)
    }
}

/// A server as it was found when it was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct McpFound {
    /// What it calls itself, with its version.
    pub title: String,
    /// The version of the protocol spoken.
    pub protocol: String,
    pub tools: Vec<McpTool>,
    /// What else is worth knowing: tools left out and why.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// One tool of a server that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct McpTool {
    /// The server's own name for it.
    pub name: String,
    /// As the model is to call it.
    pub called: String,
    pub class: ToolClass,
    pub taints: bool,
    /// The operator gives it.
    pub given: bool,
    pub state: McpToolState,
    pub digest: Digest,
    /// The beginning of what the server says of it.
    pub description: String,
}

/// How a tool stands to what the operator saw before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpToolState {
    Seen,
    New,
    Changed,
}

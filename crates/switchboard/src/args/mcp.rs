//! `profile mcp …`: the commands about MCP servers, and the flags that describe one.

use clap::{Args, Subcommand, ValueEnum};
use sb_engine::model::ToolClass;

const ADD: &str = "\
The server is begun at once, its tools are listed with how each will be gated, and it is ended again. If that
works it is kept; the tools shown count as seen. What a server changes later is held back until you take it with
`profile mcp test --accept`.

What a tool may do unasked follows from what the server says of it: one that only reads, from a closed world, is a
read; one that reaches an open world is a call to the outside, and what it brings taints the session; one that
adds is a write; one that may destroy, or says nothing, always asks. --class and --taints say otherwise.

Values of variables and headers are read from your environment and kept sealed.

Examples:
  switchboard profile mcp add helper files -- mcp-server-filesystem /srv/notes
  switchboard profile mcp add helper tracker --url https://tracker.example/mcp --header Authorization=TRACKER_AUTH
  switchboard profile mcp add helper git --without git_reset --class git_commit=write -- mcp-server-git";

/// `profile mcp …`.
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Add an MCP server to a profile, once it is seen to work
    #[command(after_help = ADD)]
    Add {
        profile: String,
        /// What the server is called here: 1 to 24 of a-z, 0-9 and -; its tools are NAME__tool
        name: String,
        #[command(flatten)]
        flags: Box<McpFlags>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List a profile's MCP servers
    List {
        profile: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Begin an MCP server, list its tools with how each is gated, and end it
    Test {
        profile: String,
        name: String,
        /// Take what is new or changed: it counts as seen from now on
        #[arg(long)]
        accept: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove an MCP server with the values sealed for it
    Remove { profile: String, name: String },
}

/// What describes a server.
#[derive(Debug, Default, Args)]
pub struct McpFlags {
    /// Its address, if it is reached over streamable HTTP
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub url: Option<String>,
    /// A variable of its environment; the value is that of VARIABLE in yours, or of the one of the same name
    #[arg(long = "env", value_name = "NAME[=VARIABLE]", conflicts_with = "url")]
    pub variables: Vec<String>,
    /// A header of every request; the whole value is that of VARIABLE in your environment
    #[arg(long = "header", value_name = "NAME=VARIABLE", requires = "url")]
    pub headers: Vec<String>,
    /// The only tools of it that are given, separated by commas
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Tools of it that are not given, separated by commas
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub without: Vec<String>,
    /// What a tool does, whatever the server says: read, write, shell, outside, destructive or spend; again for more
    #[arg(long = "class", value_name = "TOOL=CLASS")]
    pub classes: Vec<String>,
    /// Whether a tool's results count as content from outside (true or false), whatever the server says; again for
    /// more
    #[arg(long = "taints", value_name = "TOOL=BOOL")]
    pub taints: Vec<String>,
    /// Whatever it gives counts as content from outside
    #[arg(long)]
    pub untrusted: bool,
    /// How long one call may take [default: 60]
    #[arg(long, value_name = "SECONDS", default_value_t = 60, hide_default_value = true)]
    pub limit: u32,
    /// Put it in place of the profile's server of this name
    #[arg(long)]
    pub replace: bool,
    /// The command that is the server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// A class of deed as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClassFlag {
    Read,
    Write,
    Shell,
    Outside,
    Destructive,
    Spend,
}

impl From<ClassFlag> for ToolClass {
    fn from(flag: ClassFlag) -> Self {
        match flag {
            ClassFlag::Read => ToolClass::Read,
            ClassFlag::Write => ToolClass::Write,
            ClassFlag::Shell => ToolClass::Shell,
            ClassFlag::Outside => ToolClass::Outside,
            ClassFlag::Destructive => ToolClass::Destructive,
            ClassFlag::Spend => ToolClass::Spend,
        }
    }
}

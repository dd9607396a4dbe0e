//! `profile …`: the commands about profiles and tokens, and the flags that make up a profile.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::mcp::McpCommand;

const ADD: &str = "\
Models are provider:id. The first answers; the others are asked in turn when it is overloaded. A key comes
from the server's environment (ANTHROPIC_API_KEY, OPENAI_API_KEY), or is kept sealed for this profile: it
is then used for the provider of the first model.

Autonomy: L1 talks only · L2 reads · L3 writes and programs ask · L4 writes and allowed programs are free,
the outside asks · L5 the outside is free, spending asks · L6 spending within the budget is free.

Every profile has an agent in the ledger: --agent names it, else it gets one called as the profile is,
without a budget, under the person's account `operator`. `switchboard agent --help` tells more.

Examples:
  switchboard profile add helper --model anthropic:claude-sonnet-5-5 --workspace ./garden
  switchboard profile add local --model openai:llama --base-url http://127.0.0.1:8080/v1 --autonomy L2
  switchboard profile add coder --model openai:gpt-6 --instructions @coder.md --autonomy L4 \\
      --allow 'shell(git status:*)' --api-key-stdin < key.txt";

const SET: &str = "\
Examples:
  switchboard profile set helper --autonomy L4 --allow 'shell(git status:*)' --allow 'write_file(notes:*)'
  switchboard profile set helper --model openai:gpt-6 --model anthropic:claude-sonnet-5-5
  switchboard profile set helper --tools all --allow ''
  switchboard profile set helper --no-api-key";

const TOKEN: &str = "\
Examples:
  switchboard profile token add helper             for an app: may talk
  switchboard profile token add helper --instruct  may change the chat's model, instructions and tools too
  switchboard profile token add helper --approve   for a person: may also approve and decline
  switchboard profile token add helper --json      {\"token\": \"sb_…\", \"id\": …}";

/// `profile …`.
#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// Add a profile
    #[command(after_help = ADD)]
    Add {
        /// What it is called: 1 to 64 of a-z, 0-9, - and _
        name: String,
        #[command(flatten)]
        flags: Box<ProfileFlags>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List profiles
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one profile
    Show {
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Change a profile: only what is given changes, and it holds from the next turn
    #[command(after_help = SET)]
    Set {
        name: String,
        #[command(flatten)]
        flags: Box<ProfileFlags>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the agents of their own that are known by name
    Harnesses {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a profile with its tokens and key; its sessions stay
    Remove { name: String },
    /// MCP servers, whose tools the agent is given
    Mcp {
        #[command(subcommand)]
        command: McpCommand,
    },
    /// Tokens for programs that talk to one profile
    Token {
        #[command(subcommand)]
        command: TokenCommand,
    },
}

/// What makes up a profile.
#[derive(Debug, Default, Args)]
pub struct ProfileFlags {
    /// What runs its turns: loop, the built-in one; acp:<name>, an agent of its own such as acp:opencode; or
    /// acp:"<command>", any that speaks the Agent Client Protocol; pi, which cannot ask; openai:<base address>, an
    /// agent behind an OpenAI-compatible one; a2a:<address>, an agent that speaks Agent2Agent, by its card or the
    /// address below which that is. `switchboard profile harnesses` lists the names [default: loop]
    #[arg(long, value_name = "HARNESS")]
    pub harness: Option<String>,
    /// The mode in which an agent of its own asks before it acts, where it is not known by name; `asks` says
    /// that its own set-up makes it ask. An empty one takes it back
    #[arg(long, value_name = "MODE")]
    pub harness_mode: Option<String>,
    /// A model, as anthropic:<id>, openai:<id> or scripted; again for those asked when it is overloaded. An empty
    /// one leaves the choice to an agent of its own
    #[arg(long = "model", value_name = "MODEL")]
    pub models: Vec<String>,
    /// The address of a compatible server; OpenAI's kind ends in /v1. An empty one takes it back
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// What the agent is told about itself, or @FILE that says it
    #[arg(long, value_name = "TEXT")]
    pub instructions: Option<String>,
    /// The folder its file tools work in; made if it is not there. An empty one takes it back
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// The only tools it has, separated by commas, or all [default: all its set-up allows]
    #[arg(long, value_name = "A,B")]
    pub tools: Option<String>,
    /// What it may do unasked, L1 to L6 [default: L3]
    #[arg(long, value_name = "LEVEL")]
    pub autonomy: Option<String>,
    /// What may run unasked at L4 and above, such as shell(git status:*); again for more. An empty one
    /// takes all back
    #[arg(long = "allow", value_name = "RULE")]
    pub allowed: Vec<String>,
    /// What makes pictures for it, as openai:<model>; it needs a workspace too. An empty one takes it back
    #[arg(long, value_name = "MODEL")]
    pub image_model: Option<String>,
    /// A host of your own network that web_fetch may ask, as HOST or HOST:PORT; again for more. An empty
    /// one takes all back
    #[arg(long = "web-host", value_name = "HOST")]
    pub web_hosts: Vec<String>,
    /// What one run may use, as tokens=200000,usd=0.50,tools=40; any of them. An empty one takes it back
    #[arg(long, value_name = "BUDGET")]
    pub budget_run: Option<String>,
    /// What one session may use, written the same way
    #[arg(long, value_name = "BUDGET")]
    pub budget_session: Option<String>,
    /// What each person may use in a day, written the same way
    #[arg(long, value_name = "BUDGET")]
    pub budget_sender: Option<String>,
    /// How long a turn may take, not counting the time it waits for people [default: 600]
    #[arg(long, value_name = "SECONDS")]
    pub deadline: Option<u32>,
    /// The agent behind it: an agent's account of the ledger, by name or key [default: one of its own]
    #[arg(long, value_name = "ACCOUNT")]
    pub agent: Option<String>,
    /// Read this profile's own API key from the input, and keep it sealed
    #[arg(long, conflicts_with = "api_key_env")]
    pub api_key_stdin: bool,
    /// Take this profile's own API key from this variable of your environment, and keep it sealed
    #[arg(long, value_name = "NAME")]
    pub api_key_env: Option<String>,
    /// Forget this profile's own API key; the server's environment's is used again
    #[arg(long, conflicts_with_all = ["api_key_env", "api_key_stdin"])]
    pub no_api_key: bool,
}

impl ProfileFlags {
    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        let Self { models, base_url, instructions, workspace, tools, autonomy, allowed, deadline, .. } = self;
        let Self { harness, harness_mode, agent, budget_run, budget_session, budget_sender, .. } = self;
        let more = self.image_model.is_some() || !self.web_hosts.is_empty();
        let keys = self.api_key_stdin || self.no_api_key || self.api_key_env.is_some();
        models.is_empty()
            && allowed.is_empty()
            && [base_url, instructions, tools, autonomy, harness, harness_mode, agent]
                .into_iter()
                .chain([budget_run, budget_session, budget_sender])
                .all(Option::is_none)
            && workspace.is_none()
            && deadline.is_none()
            && !keys
            && !more
    }
}

/// `profile token …`.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token; it is shown this once
    #[command(after_help = TOKEN)]
    Add {
        profile: String,
        /// It may approve and decline, and instruct, not only talk
        #[arg(long)]
        approve: bool,
        /// It may change what a conversation chose (/model, /system, /tools), not only talk
        #[arg(long)]
        instruct: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List tokens
    List {
        /// Only those of this profile
        profile: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take a token back
    Remove { profile: String, id: String },
}

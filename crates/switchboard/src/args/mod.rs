//! The command line: every command and flag, with the help that teaches them.
//!
//! Only values here; what a command does is in `commands/` and `server/`. A doc comment is what
//! `--help` and the reference print.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub mod channel;
pub mod job;
pub mod ledger;
pub mod mcp;
pub mod memory;
pub mod messenger;
pub mod profile;
pub mod server;

use job::JobCommand;
use ledger::{AgentCommand, LedgerCommand};
use memory::MemoryCommand;
use messenger::{
    Bridge, ChannelCommand, InboxCommand, OutboxCommand, PairingCommand, People, Standin, Trust,
};
use profile::ProfileCommand;
use server::ServerFlags;

const EXAMPLES: &str = "\
Examples:
  switchboard up                          start here: a server, a first profile, lines to paste
  switchboard talk                        talk to it in the terminal
  echo Hello | switchboard talk           one message a line, one answer each
  switchboard profile add helper --model anthropic:claude-sonnet-5-5 --workspace ./garden
  switchboard profile token add helper    a token for an app that may talk, not decide
  switchboard standin telegram            try a messenger without an account
  switchboard session list                what was talked about, and what waits
  switchboard trace 37702955dda47c36      everything that happened, and who approved it

Commands reach the server of the same home, and what they change holds at once. Where no server
runs, they open the home themselves.";

/// Puts AI agents within people's reach: over HTTP and in the terminal, with every message kept until
/// it is answered.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Cli {
    /// The folder that holds everything [environment: SWITCHBOARD_HOME; else the platform's data folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start everything, with every channel; in a new home, make a first profile and print lines to paste
    #[command(after_help = UP)]
    Up(ServerFlags),
    /// Start the server alone, without channels, for profiles that are there already
    #[command(after_help = SERVE)]
    Serve(ServerFlags),
    /// Run one messenger alone: its people reach a profile through it
    #[command(after_help = messenger::BRIDGE)]
    Bridge(Bridge),
    /// Talk to an agent here in the terminal
    #[command(after_help = TALK)]
    Talk(Talk),
    /// Show everything that happened in a session, in order, with who decided what
    #[command(
        after_help = "Examples:\n  switchboard trace 37702955dda47c36\n  switchboard trace 37702955dda47c36 --json | less"
    )]
    Trace(Trace),
    /// Go on with a session: decide the call it waits on, or say something
    #[command(after_help = CONTINUE)]
    Continue(Continue),
    /// List sessions
    Session {
        #[command(subcommand)]
        command: SessionCommand,
    },
    /// Add, list, show, change and remove profiles, and their tokens
    Profile {
        #[command(subcommand)]
        command: ProfileCommand,
    },
    /// Open, list, show, fund, suspend and resume accounts of agents and people
    Agent {
        #[command(subcommand)]
        command: AgentCommand,
    },
    /// Verify, list and print the ledger: everything that accounts signed, as a chain
    Ledger {
        #[command(subcommand)]
        command: LedgerCommand,
    },
    /// Add, list, show, change, switch and remove channels: the messengers of this home
    Channel {
        #[command(subcommand)]
        command: ChannelCommand,
    },
    /// Let in those who were shown a code by a messenger
    Pairing {
        #[command(subcommand)]
        command: PairingCommand,
    },
    /// List those who were let in, and let them out again
    People(People),
    /// Have an agent write by itself, at its times, into a conversation
    Job {
        #[command(subcommand)]
        command: JobCommand,
    },
    /// Look at what agents noted for themselves, and forget it
    Memory {
        #[command(subcommand)]
        command: MemoryCommand,
    },
    /// Look at what is to be sent, try it again, or give it up
    Outbox {
        #[command(subcommand)]
        command: OutboxCommand,
    },
    /// Look at what came and is not answered, and take it in again
    Inbox {
        #[command(subcommand)]
        command: InboxCommand,
    },
    /// Print what the safety of this home rests on: assumptions, where each is enforced, what breaks else
    Trust(Trust),
    /// Imitate a messenger, with a page where you type as a person: to try a bridge without an account
    #[command(after_help = messenger::STANDIN)]
    Standin(Standin),
    /// Copy the home into a new file, while it is in use: all but workspaces and machine.key
    #[command(after_help = BACKUP)]
    Backup {
        /// The file to make; files that were sent and shared go beside it, into FILE.blobs
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Look the home over: its data, its files, its profiles, its channels
    #[command(
        after_help = "The exit code is 1 if something is wrong, and each problem says what to do about it."
    )]
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print completions for a shell
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the reference of all commands, flags and settings, as Markdown
    #[command(hide = true)]
    Reference,
    /// Print the text of the spreadsheet that comes in; an agent's tool asks this of a process of its own
    #[command(hide = true)]
    ReadSheets,
}

const UP: &str = "\
In a home without a profile it makes `assistant`: with a real model if ANTHROPIC_API_KEY or
OPENAI_API_KEY is set (SWITCHBOARD_MODEL names which), else with the scripted one, which needs no
account. Settings come from <home>/switchboard.toml, then the environment, then these flags.

Examples:
  switchboard up
  OPENAI_API_KEY=… SWITCHBOARD_MODEL=openai:gpt-6 switchboard up --listen 127.0.0.1:9000";

const SERVE: &str = "\
Settings come from <home>/switchboard.toml, then the environment, then these flags.

Examples:
  switchboard serve --listen 127.0.0.1:8791
  SWITCHBOARD_TOKEN=… switchboard serve --log json --parallel 16";

const TALK: &str = "\
On a terminal: Ctrl-C stops the agent, a second one leaves; Ctrl-D leaves; /help lists the commands of
a conversation. With no terminal on its input it takes a message a line and ends with the input.

Examples:
  switchboard talk
  switchboard talk helper --conversation garden
  printf 'Hello\\n/status\\n' | switchboard talk";

/// `talk`.
#[derive(Debug, Args)]
pub struct Talk {
    /// Whom to talk to; left out: the only profile there is, else `assistant`
    pub profile: Option<String>,
    /// A conversation of its own; the same name goes on with the same one
    #[arg(long, value_name = "NAME")]
    pub conversation: Option<String>,
}

/// `trace`.
#[derive(Debug, Args)]
pub struct Trace {
    /// A session's id, or the id of an answer (chatcmpl-…, resp_…)
    pub session: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const CONTINUE: &str = "\
Examples:
  switchboard continue 37702955dda47c36 --approve
  switchboard continue 37702955dda47c36 --decline 'not in that folder'
  switchboard continue 37702955dda47c36 'And now in French'";

/// `continue`.
#[derive(Debug, Args)]
#[command(override_usage = "switchboard continue <SESSION> <--approve | --decline WHY | TEXT>")]
#[command(group(clap::ArgGroup::new("what").required(true).args(["approve", "decline", "text"])))]
pub struct Continue {
    /// A session's id, or the id of an answer (chatcmpl-…, resp_…)
    pub session: String,
    /// Let the waiting call go ahead
    #[arg(long)]
    pub approve: bool,
    /// Refuse the waiting call, and tell the agent why
    #[arg(long, value_name = "WHY")]
    pub decline: Option<String>,
    /// Say this
    pub text: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `session …`.
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// List sessions, the last active first
    #[command(
        after_help = "Examples:\n  switchboard session list\n  switchboard session list --profile helper --most 5 --json"
    )]
    List {
        /// Only those of this profile
        #[arg(long)]
        profile: Option<String>,
        /// At most so many
        #[arg(long, default_value_t = 50)]
        most: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

const COMPLETIONS: &str = "\
Examples:
  switchboard completions bash > ~/.local/share/bash-completion/completions/switchboard
  switchboard completions fish > ~/.config/fish/completions/switchboard.fish";

const BACKUP: &str = "\
In it are messages, sessions, profiles, tokens, sealed keys, and the files that were sent and shared. Not in
it are workspaces, which are ordinary folders (those under <home>/workspaces too), and the home's
machine.key: keep copies of both elsewhere.

To go back to it: make a folder with the file as switchboard.db, FILE.blobs as blobs, and your copies of
workspaces and machine.key, and name it in SWITCHBOARD_HOME. Without machine.key, set API keys again.";

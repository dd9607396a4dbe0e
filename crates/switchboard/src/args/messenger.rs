//! The commands about messengers: a bridge on its own, channels, who is let in, outbox and inbox.

use clap::{Args, Subcommand};

use super::channel::ChannelFlags;
use super::server::LogForm;

/// What `bridge --help` ends with.
pub const BRIDGE: &str = "\
It is for a home that no server holds; `switchboard up` runs all channels beside the server. What it is
given is kept under its slug, so the next start needs only --via. Where a home has no profile at all, it
makes `assistant` as `up` does. It runs until Ctrl-C.

Secrets are better given in the environment than on the command line, which others can see:
SWITCHBOARD_TELEGRAM_TOKEN is the field `token` of the kind `telegram`.

Examples:
  SWITCHBOARD_TELEGRAM_TOKEN=123456:AAH… switchboard bridge --via telegram --profile assistant --approvers 4242
  switchboard bridge --via telegram
  switchboard bridge --via telegram --route -1001234=coder --require-mention --busy queue --stream off
  switchboard bridge --via telegram --set secret_token=… --listen 127.0.0.1:8443 --public-url https://bot.example.org";

/// `bridge`.
#[derive(Debug, Args)]
pub struct Bridge {
    /// The kind of messenger; `switchboard channel kinds` lists them
    #[arg(long, value_name = "KIND")]
    pub via: String,
    /// What the channel is called here [default: the kind]
    #[arg(long, value_name = "NAME")]
    pub slug: Option<String>,
    #[command(flatten)]
    pub flags: Box<ChannelFlags>,
    /// Chats answered side by side; more wait their turn, whoever has waited longest goes first
    /// [default: 4]
    #[arg(long, value_name = "N", default_value_t = 4, hide_default_value = true)]
    pub parallel: usize,
    /// Where its platform's calls arrive, as address:port: /hooks/<slug> and /healthz, nothing else
    /// [default: nowhere]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<String>,
    /// The address by which the platform reaches --listen, as https://host: updates then come by webhook
    /// where the platform has both
    #[arg(long, value_name = "URL", requires = "listen")]
    pub public_url: Option<String>,
    /// A proxy that speaks TLS stands in front, so another address than loopback may be listened on
    #[arg(long, requires = "listen")]
    pub behind_proxy: bool,
    /// How log lines on stderr look [default: text]
    #[arg(long)]
    pub log: Option<LogForm>,
}

const ADD: &str = "\
Examples:
  SWITCHBOARD_TELEGRAM_TOKEN=123456:AAH… switchboard channel add telegram --profile assistant --approvers 4242
  switchboard channel add telegram --slug garden-bot --profile garden --set token=…";

const SET: &str = "\
Only what is given changes. Where the channel runs, it alone is started anew.

Examples:
  switchboard channel set telegram --approvers 4242,4711 --busy queue
  switchboard channel set telegram --allow '' --require-mention --typing=false
  SWITCHBOARD_TELEGRAM_TOKEN=… switchboard channel set telegram --set token";

/// `channel …`.
#[derive(Debug, Subcommand)]
pub enum ChannelCommand {
    /// Add a channel; where a server with channels runs, it starts at once
    #[command(after_help = ADD)]
    Add {
        /// The kind of messenger; `switchboard channel kinds` lists them
        kind: String,
        /// What it is called here: 1 to 40 of a-z, 0-9 and - [default: the kind]
        #[arg(long, value_name = "NAME")]
        slug: Option<String>,
        #[command(flatten)]
        flags: Box<ChannelFlags>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List channels
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one channel; of its secrets, only whether they are set
    Show {
        slug: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Change a channel
    #[command(after_help = SET)]
    Set {
        slug: String,
        #[command(flatten)]
        flags: Box<ChannelFlags>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Switch a channel on: `up` runs it
    Enable {
        slug: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Switch a channel off; what is unsent stays in the outbox
    Disable {
        slug: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a channel with its secrets and those let in; outbox and inbox stay
    Remove { slug: String },
    /// Show how channels are: state and reason, and when each was connected, receiving and sending
    Status {
        /// Only this one
        slug: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the last lines of a channel's log, 50 at most
    Log {
        slug: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the kinds of messengers, with their settings and what they can do
    Kinds {
        /// Print JSON: everything their manifests say
        #[arg(long)]
        json: bool,
    },
}

/// `pairing …`.
#[derive(Debug, Subcommand)]
pub enum PairingCommand {
    /// List those who asked to be let in, with their codes
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Let in whoever showed you this code: in their direct chat, nowhere else
    #[command(after_help = "Example:\n  switchboard pairing approve K7QP2MXA")]
    Approve {
        code: String,
        /// Only if it is this channel's
        #[arg(long, value_name = "SLUG")]
        channel: Option<String>,
    },
    /// Take a code back that nobody used yet
    Revoke { code: String },
}

/// `people …`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct People {
    #[command(subcommand)]
    pub command: Option<PeopleCommand>,
    /// Only those of this channel
    #[arg(long, value_name = "SLUG")]
    pub channel: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What else there is to do about people.
#[derive(Debug, Subcommand)]
pub enum PeopleCommand {
    /// Let somebody out again; it holds from their next message
    Remove {
        /// The channel's slug
        channel: String,
        /// Their id there
        id: String,
    },
}

/// `outbox …`.
#[derive(Debug, Subcommand)]
pub enum OutboxCommand {
    /// List what is unsent or was refused, the newest first
    List {
        /// What was sent too
        #[arg(long)]
        all: bool,
        /// Only this channel's
        #[arg(long, value_name = "SLUG")]
        channel: Option<String>,
        /// Print JSON, with the words
        #[arg(long)]
        json: bool,
    },
    /// Try again to send one, now
    Retry { number: i64 },
    /// Give one up
    Drop { number: i64 },
}

/// `inbox …`.
#[derive(Debug, Subcommand)]
pub enum InboxCommand {
    /// List what came and is not answered, with the reason, the newest first
    List {
        /// Only this channel's
        #[arg(long, value_name = "SLUG")]
        channel: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take one in again
    Replay { number: i64 },
}

/// `trust`.
#[derive(Debug, Args)]
pub struct Trust {
    /// Of every kind of messenger there is, not only of what is switched on here
    #[arg(long)]
    pub all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What `standin --help` ends with.
pub const STANDIN: &str = "\
It needs no account and no home: in another terminal, paste the line it prints.

Example:
  switchboard standin telegram";

/// `standin`.
#[derive(Debug, Args)]
pub struct Standin {
    /// The kind of messenger to imitate
    pub kind: String,
    /// Where to listen, on this machine, as address:port [default: 127.0.0.1:8081]
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8081", hide_default_value = true)]
    pub listen: String,
}

//! `memory …`: what agents noted for themselves.

use clap::Subcommand;

/// `memory …`.
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// List what a profile's agent noted, the newest first
    List {
        profile: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget a note, by its number, or all of them
    #[command(
        after_help = "Examples:\n  switchboard memory forget helper 12\n  switchboard memory forget helper --all"
    )]
    Forget {
        profile: String,
        /// The note's number, as `memory list` shows it
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        number: Option<i64>,
        /// Forget everything this profile's agent noted
        #[arg(long)]
        all: bool,
    },
}

//! `job …`: agents that write by themselves.

use clap::{Args, Subcommand};

const ADD: &str = "\
The conversation must be there already, and its messenger must let us write first; both are looked at now.
A run that was missed while no server ran is made up for once: a single time for certain, of a recurring
job one run, however many were missed. While a run has no end, further ones are left out.

Cron expressions have five fields: minute, hour, day of the month, month, day of the week; or @hourly,
@daily, @weekly, @monthly.

Examples:
  switchboard job add standup --profile assistant --to telegram:assistant:chat:4242 \\
      --cron '0 9 * * 1-5' --zone Europe/Berlin 'Say what the calendar has for today'
  switchboard job add water --profile helper --to garden --every 2d 'Ask whether the plants were watered'
  switchboard job add cake --profile helper --to garden --at '2026-12-24 15:00' 'Remind us of the cake'";

/// `job …`.
#[derive(Debug, Subcommand)]
pub enum JobCommand {
    /// Make a job: what the agent is asked, when, and where its answer goes
    #[command(after_help = ADD)]
    Add(AddJob),
    /// List the jobs: when each is due, and how its last run went
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a job with its last runs, and whether each was delivered
    Show {
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a job now, whenever it is due, and print what comes of it
    Run {
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a job; what it said stays
    Remove { name: String },
}

/// `job add`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("when").required(true).args(["cron", "every", "at"])))]
pub struct AddJob {
    /// What it is called: 1 to 64 of a-z, 0-9, - and _
    pub name: String,
    /// What the agent is asked; a command of conversations, such as /new, works too
    pub prompt: String,
    /// Who is asked
    #[arg(long, value_name = "PROFILE")]
    pub profile: String,
    /// Where it answers: a conversation's id or name, or the id of a session of it
    #[arg(long, value_name = "CONVERSATION")]
    pub to: String,
    /// At the times of a cron expression
    #[arg(long, value_name = "EXPRESSION")]
    pub cron: Option<String>,
    /// Every so often from now on: 90m, 2h, 1d
    #[arg(long, value_name = "TIME")]
    pub every: Option<String>,
    /// Once: 2026-12-24 18:00, or with an offset
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// The time zone of --cron and --at, such as Europe/Berlin [default: the server's]
    #[arg(long, value_name = "NAME", conflicts_with = "every")]
    pub zone: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

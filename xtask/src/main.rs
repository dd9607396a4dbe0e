//! `cargo xtask <task>`: the command line of the project's own tasks.
//!
//! Each task is a module of `xtask::task`; this file only reads the words.

use anyhow::Result;
use clap::{Parser, Subcommand};
use xtask::task::{
    agents, bench, docs, fuzz, interop, new_channel, requirements, simulate, soak, test, transcript,
};

/// The project's own tasks.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Installs what the tests need, then runs formatting, lints and every test.
    Test {
        /// Leaves the lints out.
        #[arg(long)]
        quick: bool,
    },
    /// Counts the requirements that hold, section by section.
    Requirements {
        /// Writes the tests found into docs/requirements.md first.
        #[arg(long)]
        link: bool,
    },
    /// Writes the pages that are made of what the program prints: the reference, messengers, trust.
    Docs {
        /// Changes nothing; fails if a page is stale.
        #[arg(long)]
        check: bool,
    },
    /// Makes the folder of a new messenger, which holds the laws with a made-up platform from the start.
    NewChannel {
        /// As people type it: lower-case letters, digits and `-`.
        id: String,
    },
    /// Runs docs/transcript.sh on a fresh home and keeps what it prints as docs/transcript.md.
    Transcript,
    /// Runs clients that were not written here against the stand-ins: model SDKs, and bot libraries.
    Interop,
    /// Runs real agents with the program, their models scripted; installs them first if need be.
    Agents {
        /// A short script of each only: what every change must pass.
        #[arg(long)]
        short: bool,
    },
    /// Kills the program under load, many times, and judges what it answered by its clients' own record.
    Soak {
        /// How often it is killed [default: 200, or 20 with --messenger].
        #[arg(long)]
        kills: Option<u32>,
        /// The moments of the kills follow from it.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// With an imitated messenger in which people write, judged by what they see there.
        #[arg(long)]
        messenger: bool,
    },
    /// Runs whole engines with a messenger in simulated time, where seeds decide what goes wrong.
    Simulate {
        /// The first seed.
        #[arg(long, default_value_t = 1)]
        from: u64,
        /// How many.
        #[arg(long, default_value_t = 10_000)]
        seeds: u64,
    },
    /// Measures the release binary beside its floors: turns, latency, memory, start, bridge.
    Bench {
        /// Only these sections: turns, latency, memory, start, bridge.
        sections: Vec<String>,
        /// A look instead of a measurement.
        #[arg(long)]
        quick: bool,
        /// Puts the figures into docs/bench.md.
        #[arg(long)]
        write: bool,
    },
    /// Fuzzes the parsers of outside input; all targets, or the one named.
    Fuzz {
        /// A file of fuzz/fuzz_targets, without its ending.
        target: Option<String>,
        /// How long each target runs.
        #[arg(long, default_value_t = 60)]
        seconds: u32,
    },
}

fn main() -> Result<()> {
    match Cli::parse().task {
        Task::Test { quick } => test::run(quick),
        Task::Requirements { link } => requirements::run(link),
        Task::Docs { check } => docs::run(check),
        Task::NewChannel { id } => new_channel::run(&id),
        Task::Transcript => transcript::run(),
        Task::Interop => interop::run(),
        Task::Agents { short } => agents::run(short),
        Task::Soak { kills, seed, messenger } => soak::run(kills, seed, messenger),
        Task::Simulate { from, seeds } => simulate::run(from, seeds),
        Task::Bench { sections, quick, write } => bench::run(&sections, quick, write),
        Task::Fuzz { target, seconds } => fuzz::run(target.as_deref(), seconds),
    }
}

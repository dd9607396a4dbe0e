//! The bench: how fast and how small the real program is, each figure beside a floor of the same run.
//!
//! Figures of a shared machine mean little by themselves, so everything is measured several times and in
//! turns with its floor, and told as a ratio. Nothing here judges: a miss of an aim is a finding for a
//! person to explain. The page it makes is Markdown.
#![allow(clippy::disallowed_methods, reason = "it times the real world from outside the program")]

mod agents;
mod append;
pub mod bridge;
mod client;
mod echo;
mod figures;
mod latency;
mod ledger;
mod machine;
mod memory;
mod model;
mod openai;
mod server;
mod start;
mod turns;

use std::path::PathBuf;

use anyhow::Result;

pub use echo::serve as serve_echo;
pub use openai::pass::serve as serve_pass;

/// What to measure, and with what.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The program under measure, built for release.
    pub binary: PathBuf,
    /// This program, which is the echo floor when started with `--echo`.
    pub own: PathBuf,
    /// Homes are made here; it decides which disk is measured.
    pub folder: PathBuf,
    /// Sections to run, by name; all if empty.
    pub only: Vec<String>,
    /// A look instead of a measurement: everything short.
    pub quick: bool,
}

impl Plan {
    fn wants(&self, section: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|o| o == section)
    }
}

/// Runs the plan; the page's body, a section each. What is under way is told on standard error.
pub async fn run(plan: &Plan) -> Result<String> {
    let mut page = machine::facts(&plan.folder);
    if plan.wants("turns") {
        page += &turns::measure(plan).await?;
    }
    if plan.wants("latency") {
        page += &latency::measure(plan).await?;
    }
    if plan.wants("memory") {
        page += &memory::measure(plan).await?;
    }
    if plan.wants("start") {
        page += &start::measure(plan).await?;
    }
    if plan.wants("agents") {
        page += &agents::measure(plan).await?;
    }
    if plan.wants("ledger") {
        page += &ledger::measure(plan).await?;
    }
    if plan.wants("openai") {
        page += &openai::measure(plan).await?;
    }
    Ok(page)
}

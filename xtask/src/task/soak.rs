//! `cargo xtask soak`: the release binary under load, killed with SIGKILL again and again, and judged.
//!
//! The short soak among the ordinary tests tries the same on a debug build; this one is the proof.

use anyhow::Result;

use crate::{project, shell};

/// Builds the program and the soak, and lets it kill that often.
pub fn run(kills: u32, seed: u64) -> Result<()> {
    shell::run(&mut shell::cargo(&["build", "--release", "--locked", "--package", "switchboard"]))?;
    shell::run(&mut shell::cargo(&["build", "--locked", "--package", "sb-testkit", "--example", "soak"]))?;
    let target = project::target_dir();
    let soak = target.join("debug/examples/soak").display().to_string();
    let binary = target.join("release/switchboard").display().to_string();
    shell::run(&mut shell::command(&soak, &[&binary, &kills.to_string(), &seed.to_string()]))
}

//! `cargo xtask soak`: the release binary under load, killed with SIGKILL again and again, and judged.
//!
//! The short soaks among the ordinary tests try the same on a debug build; these are the proof. What judges
//! is never the program: its clients' own record, or what people see in the messenger.

use anyhow::Result;

use crate::{project, shell};

/// Kills, if nobody says how many: over HTTP, and of a messenger, whose people need a moment to write.
const KILLS: u32 = 200;
const KILLS_OF_MESSENGER: u32 = 20;

/// Builds the program and the soak, and lets it kill that often.
pub fn run(kills: Option<u32>, seed: u64, messenger: bool) -> Result<()> {
    shell::run(&mut shell::cargo(&["build", "--release", "--locked", "--package", "switchboard"]))?;
    shell::run(&mut shell::cargo(&["build", "--locked", "--package", "sb-testkit", "--example", "soak"]))?;
    let target = project::target_dir();
    let soak = target.join("debug/examples/soak").display().to_string();
    let binary = target.join("release/switchboard").display().to_string();
    let kills = kills.unwrap_or(if messenger { KILLS_OF_MESSENGER } else { KILLS });
    let mut soak = shell::command(&soak, &[&binary, &kills.to_string(), &seed.to_string()]);
    if messenger {
        soak.arg("--messenger");
    }
    shell::run(&mut soak)
}

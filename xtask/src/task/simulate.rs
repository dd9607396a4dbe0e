//! `cargo xtask simulate`: whole engines with a messenger, in simulated time, where a seed decides what goes
//! wrong: thousands of seeds, as a release build.
//!
//! A few seeds run among the ordinary tests. A seed that breaks a promise is printed and is a test to be.

use anyhow::Result;

use crate::shell;

/// Runs so many seeds from this one on.
pub fn run(from: u64, seeds: u64) -> Result<()> {
    let example = ["--locked", "--package", "sb-channels", "--features", "standins", "--example", "simulate"];
    let mut run = shell::cargo(&["run", "--release"]);
    shell::run(run.args(example).args(["--", &from.to_string(), &seeds.to_string()]))
}

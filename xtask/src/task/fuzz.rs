//! `cargo xtask fuzz [target] [--seconds N]`: libFuzzer on stable Rust, without further tools.
//!
//! The compiler's own coverage pass is switched on by flags, without a sanitizer: our code is safe Rust,
//! so a finding is a panic, a failed assertion or a hang. What a target found interesting is kept in
//! `fuzz/corpus`, what broke it in `fuzz/artifacts`; `fuzz/seeds/<target>` holds inputs to begin with.

use std::path::Path;

use anyhow::{Result, bail};

use crate::needs::{self, CXX_COMPILER};
use crate::{project, shell};

/// Counters, tables and comparisons for libFuzzer, as `cargo fuzz run --sanitizer none` sets them.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Clink-dead-code";

/// Builds all targets, then runs each for so long; the first finding ends it.
pub fn run(only: Option<&str>, seconds: u32) -> Result<()> {
    needs::ensure(&[CXX_COMPILER])?;
    let targets = targets();
    let chosen: Vec<&String> = targets.iter().filter(|name| only.is_none_or(|only| only == *name)).collect();
    if chosen.is_empty() {
        bail!("there is no such target; there are: {}", targets.join(", "));
    }
    let host = host()?;
    let folder = project::target_dir().join("fuzz");
    // The same versions as the program's; Cargo adds what only the fuzzers need.
    std::fs::copy(project::root().join("Cargo.lock"), project::root().join("fuzz/Cargo.lock"))?;
    // With a target named, the flags reach neither build scripts nor macros.
    let build = ["build", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target", &host];
    shell::run(shell::cargo(&build).env("CARGO_TARGET_DIR", &folder).env("RUSTFLAGS", FLAGS))?;
    for name in &chosen {
        fuzz(&folder.join(&host).join("release").join(name), name, seconds)?;
    }
    println!(
        "no findings: {} for {seconds} s each",
        chosen.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(", ")
    );
    Ok(())
}

/// The names of all targets.
pub fn targets() -> Vec<String> {
    let stem = |path: &str| path.rsplit('/').next().map(|name| name.trim_end_matches(".rs").to_owned());
    project::sources("fuzz/fuzz_targets", "rs").iter().filter_map(|source| stem(&source.path)).collect()
}

fn fuzz(program: &Path, name: &str, seconds: u32) -> Result<()> {
    let (corpus, artifacts) = (format!("fuzz/corpus/{name}"), format!("fuzz/artifacts/{name}/"));
    for folder in [&corpus, &artifacts] {
        std::fs::create_dir_all(project::root().join(folder))?;
    }
    let time = format!("-max_total_time={seconds}");
    let artifacts = format!("-artifact_prefix={artifacts}");
    let mut words =
        vec![&*time, &*artifacts, "-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1", &*corpus];
    let seeds = format!("fuzz/seeds/{name}");
    if project::root().join(&seeds).is_dir() {
        words.push(&seeds);
    }
    shell::run(&mut shell::command(&program.display().to_string(), &words))
}

fn host() -> Result<String> {
    let about = shell::output(&mut shell::command("rustc", &["-vV"]))?;
    match about.lines().find_map(|line| line.strip_prefix("host: ")) {
        Some(host) => Ok(host.to_owned()),
        None => bail!("rustc -vV names no host"),
    }
}

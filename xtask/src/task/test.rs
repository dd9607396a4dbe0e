//! `cargo xtask test`: everything a change must pass, from a fresh machine with Rust.
//!
//! With `CI` set in the environment the leaner profile `ci` builds it all, lints included, so that
//! build scripts and macros are built once for both.

use anyhow::Result;

use super::docs;
use crate::needs;
use crate::shell::{cargo, run as run_one, succeeds};

/// The words that choose the profile: none, or `ci`.
pub fn profile() -> Vec<&'static str> {
    if in_ci() { vec!["--profile", "ci"] } else { vec![] }
}

/// Formatting, lints (unless `quick`), tests; stops at the first that fails.
pub fn run(quick: bool) -> Result<()> {
    needs::ensure(needs::TESTS)?;
    needs::ensure_component("fmt", "rustfmt")?;
    run_one(&mut cargo(&["fmt", "--all", "--", "--check"]))?;
    let mut ran = vec!["formatting"];
    if !quick {
        needs::ensure_component("clippy", "clippy")?;
        run_one(&mut with_profile(
            &["clippy", "--workspace", "--all-targets", "--locked"],
            &["--", "-D", "warnings"],
        ))?;
        ran.push("lints");
    }
    if succeeds(&mut cargo(&["nextest", "--version"])) {
        let mut words = vec!["nextest", "run", "--workspace", "--locked", "--no-fail-fast"];
        if in_ci() {
            words.extend(["--cargo-profile", "ci"]);
        }
        run_one(&mut cargo(&words))?;
        run_one(&mut with_profile(&["test", "--workspace", "--locked", "--doc", "--quiet"], &[]))?;
        ran.push("all tests (nextest) and examples");
    } else {
        run_one(&mut with_profile(&["test", "--workspace", "--locked", "--no-fail-fast"], &[]))?;
        ran.push("all tests (cargo test: nextest is not installed) and examples");
    }
    docs::run(true)?;
    ran.push("the generated pages");
    println!("passed: {}", ran.join(", "));
    Ok(())
}

fn with_profile(words: &[&str], after: &[&str]) -> std::process::Command {
    let words: Vec<&str> = words.iter().copied().chain(profile()).chain(after.iter().copied()).collect();
    cargo(&words)
}

fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty())
}

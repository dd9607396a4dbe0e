//! Running a command so that a reader of the log sees which, and how it ended.
//!
//! A command inherits the terminal unless its output is asked for; a failure names the command line.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// A command in the project's root folder.
pub fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(crate::project::root());
    command
}

/// The project's cargo: the one that runs us, so that versions agree.
pub fn cargo(args: &[&str]) -> Command {
    command(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()), args)
}

/// Runs it, showing its line and its time; fails if it fails.
pub fn run(command: &mut Command) -> Result<()> {
    let line = line(command);
    println!("== {line}");
    let start = Instant::now();
    let status = command.status().with_context(|| format!("cannot start: {line}"))?;
    if !status.success() {
        bail!("{line}: {status}");
    }
    println!("   done in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// What it prints on its standard output; fails if it fails.
pub fn output(command: &mut Command) -> Result<String> {
    let line = line(command);
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start: {line}"))?;
    if !output.status.success() {
        bail!("{line}: {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("{line} printed what is not UTF-8"))
}

/// Whether it can be started and succeeds; prints nothing.
pub fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The command as a person would type it, near enough.
fn line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program()).file_name().unwrap_or_default();
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

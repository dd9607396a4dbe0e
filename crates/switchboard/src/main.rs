//! The program: configuration, the command line, and the wiring of everything.
//!
//! The only room that names concrete parts. A command that fails prints one sentence on stderr and ends
//! with 1; one that was typed wrongly ends with 2.

mod agents;
mod args;
mod changes;
mod commands;
mod door;
mod environment;
mod home;
mod keys;
mod logs;
mod opening;
mod output;
mod reach;
mod server;
mod settings;
mod usage;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use args::Cli;
use sb_engine::store::StoreError;

/// Whatever still blocks at the end, such as reading a terminal, is not waited for longer.
const LEAVING: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    // Before anything makes a client. Fails only if it was done already.
    drop(rustls::crypto::ring::default_provider().install_default());
    keep_environment_private();
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(why) => return failed(&anyhow::anyhow!("The program cannot start: {why}.")),
    };
    let outcome = runtime.block_on(commands::run(cli));
    runtime.shutdown_timeout(LEAVING);
    match outcome {
        Ok(code) => code,
        Err(error) if output::is_gone(&error) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

/// Programs an agent runs are children of ours: without this they could read our environment, keys and
/// all, from the system's table of processes. (Root can always; do not run it as root.)
fn keep_environment_private() {
    #[cfg(target_os = "linux")]
    // A system that does not know it has no such table to read.
    let _ = nix::sys::prctl::set_dumpable(false);
}

fn failed(error: &anyhow::Error) -> ExitCode {
    // The store says what it did and why; whoever typed is told a sentence.
    let said = match error.downcast_ref::<StoreError>() {
        Some(why) => output::sentence(&why.to_string()),
        None => error.to_string(),
    };
    eprintln!("switchboard: {said}");
    let typed_wrongly = error.downcast_ref::<usage::Usage>().is_some();
    ExitCode::from(if typed_wrongly { 2 } else { 1 })
}

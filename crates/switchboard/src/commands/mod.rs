//! The commands, a file for each subject. All but the server's reach the home through its socket.

mod backup;
mod channel;
mod doctor;
mod job;
mod kinds;
mod ledger;
mod mcp;
mod memory;
mod people;
mod posts;
mod profile;
mod reference;
mod session;
mod sheets;
mod standin;
mod talk;
mod token;
mod trace;
mod trust;
mod typing;

use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::CommandFactory;
use sb_doors::local::client::Desk;

use crate::args::messenger::{ChannelCommand, Trust};
use crate::args::profile::ProfileCommand;
use crate::args::server::LogForm;
use crate::args::{Cli, Command};
use crate::environment::Environment;
use crate::home::Home;
use crate::reach::Reached;
use crate::{logs, output, server};

/// Runs the command that was typed.
pub async fn run(cli: Cli) -> Result<ExitCode> {
    let environment = Environment::read();
    let home = |flag| Home::find(flag, &environment);
    match cli.command {
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "switchboard", &mut script);
            output::line(String::from_utf8_lossy(&script).trim_end())?;
        }
        Command::ReadSheets => sheets::read()?,
        Command::Reference => output::line(reference::page().trim_end())?,
        Command::Up(flags) => server::run(&home(cli.home)?, &environment, flags, true).await?,
        Command::Serve(flags) => server::run(&home(cli.home)?, &environment, flags, false).await?,
        Command::Bridge(args) => server::bridge::run(&home(cli.home)?, &environment, args).await?,
        Command::Channel { command: ChannelCommand::Kinds { json } } => kinds::list(json)?,
        Command::Profile { command: ProfileCommand::Harnesses { json } } => profile::harnesses(json)?,
        Command::Trust(Trust { all: true, json }) => trust::of_all(json)?,
        Command::Standin(args) => standin::run(args).await?,
        Command::Doctor { json } => {
            logs::begin(LogForm::Text, logs::COMMAND, &environment);
            return doctor::run(&home(cli.home)?, &environment, json).await;
        }
        command => {
            logs::begin(LogForm::Text, logs::COMMAND, &environment);
            return at_the_desk(command, &home(cli.home)?, &environment).await;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a command that needs the home, and lets go of it afterwards, whatever came of it.
async fn at_the_desk(command: Command, home: &Home, environment: &Environment) -> Result<ExitCode> {
    if let Command::Talk(args) = &command {
        talk::check(args)?;
    }
    let begins = matches!(command, Command::Profile { command: ProfileCommand::Add { .. } });
    if !begins && !home.exists() {
        return Err(anyhow!(
            "There is no home at {} yet; `switchboard up` makes one.",
            home.folder.display()
        ));
    }
    let reached = Reached::open(home, environment).await?;
    let outcome = desk_command(command, home, &reached.desk).await;
    let closed = reached.close().await;
    // The command's own failure is the one to tell.
    let code = outcome?;
    closed.map(|()| code)
}

async fn desk_command(command: Command, home: &Home, desk: &Desk) -> Result<ExitCode> {
    match command {
        Command::Talk(talk) => return talk::run(talk, home, desk).await,
        Command::Trace(args) => trace::run(args, desk).await,
        Command::Continue(args) => session::go_on(args, desk).await,
        Command::Session { command } => session::run(command, desk).await,
        Command::Profile { command } => profile::run(command, home, desk).await,
        Command::Agent { command } => ledger::agent(command, desk).await,
        Command::Ledger { command } => ledger::run(command, desk).await,
        Command::Channel { command } => channel::run(command, desk).await,
        Command::Pairing { command } => people::pairing(command, desk).await,
        Command::People(args) => people::run(args, desk).await,
        Command::Job { command } => job::run(command, desk).await,
        Command::Memory { command } => memory::run(command, desk).await,
        Command::Outbox { command } => posts::outbox(command, desk).await,
        Command::Inbox { command } => posts::inbox(command, desk).await,
        Command::Trust(args) => trust::run(&args, desk).await,
        Command::Backup { file, json } => backup::run(&file, json, desk).await,
        Command::Up(_)
        | Command::Serve(_)
        | Command::Bridge(_)
        | Command::Standin(_)
        | Command::Doctor { .. }
        | Command::Completions { .. }
        | Command::Reference
        | Command::ReadSheets => Ok(()),
    }
    .map(|()| ExitCode::SUCCESS)
}

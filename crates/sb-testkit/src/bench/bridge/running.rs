//! What stands between the messenger and the model: the program's bridge, or the plain bot.

use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::super::Plan;
use super::super::model::Model;
use super::super::server::Home;
use super::Messenger;
use super::watch::Watched;

/// A running bot; killed if it is dropped.
pub struct Bot {
    child: Child,
    /// Its home stays as long as it runs.
    _home: Option<Home>,
}

impl Bot {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Tells it to end, and waits until it has.
    pub fn stop(mut self) -> Result<()> {
        let told = Command::new("kill").args(["-TERM", &self.pid().to_string()]).status()?;
        ensure!(told.success(), "the bot cannot be told to end");
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Bot {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A home whose profile asks this model.
pub fn home(plan: &Plan, model: &Model) -> Result<Home> {
    Home::make(plan, "openai:small", Some(&format!("http://{}/v1", model.address)))
}

/// The program's bridge in a home, with these flags besides.
pub fn command(home: &Home, messenger: &Messenger, on: &Watched, flags: &[&str]) -> Result<Command> {
    let mut command = home.program();
    command.args(["bridge", "--via", messenger.kind, "--profile", "bench", "--allow", "*"]).args(flags);
    for (key, value) in on.platform.settings(&on.url) {
        command.args(["--set", &format!("{key}={value}")]);
    }
    command.stderr(std::fs::File::create(home.path().join("log"))?);
    Ok(command)
}

/// Starts the program's bridge in a new home.
pub fn bridge(
    plan: &Plan,
    model: &Model,
    messenger: &Messenger,
    on: &Watched,
    flags: &[&str],
) -> Result<Bot> {
    let home = home(plan, model)?;
    let child = command(&home, messenger, on, flags)?.spawn().context("the program does not start")?;
    Ok(Bot { child, _home: Some(home) })
}

/// Starts the plain bot.
pub fn plain(plan: &Plan, model: &Model, messenger: &Messenger, on: &Watched) -> Result<Bot> {
    let mut command = Command::new(&plan.own);
    command.args([messenger.plain, &on.url, &format!("http://{}/v1", model.address)]).stdin(Stdio::null());
    Ok(Bot { child: command.spawn().context("the plain bot does not start")?, _home: None })
}

/// A bot that is already running in a home of somebody else's.
pub fn started(mut command: Command) -> Result<Bot> {
    Ok(Bot { child: command.spawn().context("the program does not start")?, _home: None })
}

//! `talk`: whom to, and by which hands.

use std::io::{IsTerminal, stderr, stdin, stdout};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use sb_doors::local::client::Desk;
use sb_doors::terminal::{Partner, TalkError, pipe, talk};

use super::typing::{Keyboard, Pipe};
use crate::args::Talk;
use crate::home::Home;
use crate::output;
use crate::usage::usage;

/// Whom is meant where several could be.
const USUAL: &str = "assistant";

/// The longest name of a conversation, in bytes.
const LONGEST_NAME: usize = 256;

/// Talks until the person or the input ends. Fails over a pipe if a message was refused or failed.
pub async fn run(args: Talk, home: &Home, desk: &Desk) -> Result<ExitCode> {
    let profile = whom(args.profile, desk).await?;
    let partner = Partner { desk: desk.clone(), profile, conversation: args.conversation };
    let ended = if stdin().is_terminal() && stdout().is_terminal() {
        output::foreign(&format!("You talk to {}. /help lists commands; Ctrl-D leaves.", partner.profile))?;
        talk(partner, Keyboard::new(home.history())?, stdout()).await.map(|()| true)
    } else {
        pipe(&partner, Pipe, (stdout(), stderr())).await
    };
    let well = ended.map_err(|why| match why {
        // As it is, so that a reader who went away is known as that.
        TalkError::Terminal(why) => anyhow::Error::from(why),
        TalkError::Desk(why) => anyhow::Error::from(why),
    })?;
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Refuses a conversation's name that no message could be sent to.
pub fn check(args: &Talk) -> Result<()> {
    let Some(name) = &args.conversation else { return Ok(()) };
    if name.is_empty() || name.len() > LONGEST_NAME || name.contains(char::is_control) {
        return Err(usage(format!(
            "--conversation takes a name of 1 to {LONGEST_NAME} bytes, without line breaks and other control characters."
        )));
    }
    Ok(())
}

/// The profile that is named, else the only one, else the usual one.
async fn whom(named: Option<String>, desk: &Desk) -> Result<String> {
    if let Some(name) = named {
        // Refused now if there is none, and not at the first word.
        return Ok(desk.profile(&name).await?.profile.name.0);
    }
    let mut names: Vec<String> = desk.profiles().await?.into_iter().map(|p| p.profile.name.0).collect();
    if names.len() == 1 {
        return Ok(names.remove(0));
    }
    if names.is_empty() {
        return Err(anyhow!(
            "There is no profile to talk to. `switchboard up` makes one, and so does: switchboard profile add NAME --model scripted"
        ));
    }
    names.iter().find(|name| *name == USUAL).cloned().ok_or_else(|| {
        anyhow!(
            "Whom do you want to talk to? Name one: switchboard talk PROFILE. There are {}.",
            names.join(", ")
        )
    })
}

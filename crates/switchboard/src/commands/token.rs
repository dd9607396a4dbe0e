//! `profile token …`: what programs show at the door.

use anyhow::Result;
use sb_doors::local::client::Desk;
use sb_doors::local::wire::{AddToken, TokenInfo};

use crate::args::profile::TokenCommand;
use crate::output;

/// Runs a command about tokens.
pub async fn run(command: TokenCommand, desk: &Desk) -> Result<()> {
    match command {
        TokenCommand::Add { profile, approve, instruct, json } => {
            let made = desk.add_token(&profile, AddToken { approve, instruct }).await?;
            if json {
                return output::json(&made);
            }
            output::line(&format!(
                "Token {} of profile {}, agent {}: {}. It is shown this once; only its hash is kept.",
                made.info.id,
                made.info.profile,
                agent(&made.info),
                rights(&made.info)
            ))?;
            output::line(&made.token)
        }
        TokenCommand::List { profile, json } => {
            let tokens = desk.tokens(profile.as_deref()).await?;
            if json {
                return output::json(&tokens);
            }
            if tokens.is_empty() {
                return output::line(
                    "There is no token. `switchboard profile token add <profile>` makes one.",
                );
            }
            let mut rows = vec![["token", "profile", "agent", "may", "made"].map(str::to_owned).to_vec()];
            rows.extend(tokens.into_iter().map(|t| {
                let (may, agent) = (rights(&t).to_owned(), agent(&t));
                vec![t.id, t.profile, agent, may, t.created]
            }));
            output::table(&rows)
        }
        TokenCommand::Remove { profile, id } => {
            desk.remove_token(&profile, &id).await?;
            output::line(&format!(
                "Token {id} of profile {profile} is taken back; it opens nothing any more."
            ))
        }
    }
}

fn agent(token: &TokenInfo) -> String {
    token.agent.as_ref().map_or_else(|| "none".to_owned(), |agent| agent.short())
}

fn rights(token: &TokenInfo) -> &'static str {
    match (token.approve, token.instruct) {
        (false, false) => "talk",
        (false, true) => "talk, instruct",
        (true, false) => "talk, approve, decline",
        (true, true) => "talk, instruct, approve, decline",
    }
}

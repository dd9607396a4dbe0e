//! `profile token …`: what programs show at the door.

use anyhow::Result;
use sb_doors::local::client::Desk;
use sb_doors::local::wire::AddToken;

use crate::args::profile::TokenCommand;
use crate::output;

/// Runs a command about tokens.
pub async fn run(command: TokenCommand, desk: &Desk) -> Result<()> {
    match command {
        TokenCommand::Add { profile, approve, json } => {
            let made = desk.add_token(&profile, AddToken { approve }).await?;
            if json {
                return output::json(&made);
            }
            output::line(&format!(
                "Token {} of profile {}: {}. It is shown this once; only its hash is kept.",
                made.info.id,
                made.info.profile,
                rights(made.info.approve)
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
            let mut rows = vec![["token", "profile", "may", "made"].map(str::to_owned).to_vec()];
            rows.extend(
                tokens.into_iter().map(|t| vec![t.id, t.profile, rights(t.approve).to_owned(), t.created]),
            );
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

fn rights(approve: bool) -> &'static str {
    if approve { "talk, approve and decline" } else { "talk" }
}

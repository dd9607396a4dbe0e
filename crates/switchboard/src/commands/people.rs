//! `pairing …` and `people …`: who asked to be let in, and who was.

use anyhow::Result;
use sb_doors::local::client::Desk;

use crate::args::messenger::{PairingCommand, People, PeopleCommand};
use crate::output;

/// Runs a command about pairing.
pub async fn pairing(command: PairingCommand, desk: &Desk) -> Result<()> {
    match command {
        PairingCommand::List { json } => {
            let all = desk.pairings().await?;
            if json {
                return output::json(&all);
            }
            if all.is_empty() {
                return output::line(
                    "Nobody asks to be let in. Whoever writes to a channel in a direct chat, and is not known, is shown a code.",
                );
            }
            let heading = ["code", "channel", "id", "name", "asked", "until"];
            let mut rows = vec![heading.map(str::to_owned).to_vec()];
            rows.extend(all.into_iter().map(|p| vec![p.code, p.channel, p.id, p.name, p.asked, p.until]));
            output::table(&rows)
        }
        PairingCommand::Approve { code, channel } => {
            let person = desk.approve_pairing(&code, channel.as_deref()).await?;
            output::foreign(&format!(
                "Let in {} ({}) on {}: in their direct chat, nowhere else. `switchboard people remove {} {}` takes it back.",
                person.name, person.id, person.channel, person.channel, person.id
            ))
        }
        PairingCommand::Revoke { code } => {
            desk.revoke_pairing(&code).await?;
            output::line(&format!("The code {code} lets nobody in any more."))
        }
    }
}

/// Runs a command about those let in.
pub async fn run(args: People, desk: &Desk) -> Result<()> {
    if let Some(PeopleCommand::Remove { channel, id }) = args.command {
        desk.remove_person(&channel, &id).await?;
        return output::foreign(&format!("{id} is no longer let in on {channel}."));
    }
    let all = desk.people(args.channel.as_deref()).await?;
    if args.json {
        return output::json(&all);
    }
    if all.is_empty() {
        return output::line(
            "Nobody was let in by a code. Those named in --allow and --approvers are with their channel: switchboard channel show SLUG",
        );
    }
    let mut rows = vec![["channel", "id", "name", "since"].map(str::to_owned).to_vec()];
    rows.extend(all.into_iter().map(|p| vec![p.channel, p.id, p.name, p.since]));
    output::table(&rows)
}

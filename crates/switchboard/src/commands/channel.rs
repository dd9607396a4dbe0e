//! `channel …`: the messengers of a home. How they are shown is in `shown`.

mod shown;

use anyhow::{Result, anyhow};
use sb_doors::local::client::Desk;
use sb_doors::local::wire::{ChannelInfo, KindInfo, PutChannel};
use sb_engine::model::{ChannelConfig, ProfileName};

use crate::args::channel::ChannelFlags;
use crate::args::messenger::ChannelCommand;
use crate::environment::variable;
use crate::usage::usage;
use crate::{changes, output};

/// Whom is meant where several profiles could answer.
const USUAL: &str = "assistant";

/// Runs a command about channels.
pub async fn run(command: ChannelCommand, desk: &Desk) -> Result<()> {
    match command {
        ChannelCommand::Add { kind, slug, flags, json } => {
            let kind = find(&kind, desk).await?;
            let profile = answers(flags.profile.as_deref(), desk).await?;
            let mut channel = changes::fresh(&kind.id, slug.as_deref(), profile);
            channel.enabled = true;
            let made = put(channel, &flags, &kind, true, desk).await?;
            told(&made, "Added", json, desk).await
        }
        ChannelCommand::Set { slug, flags, json } => {
            if flags.is_empty() {
                return Err(usage(
                    "There is nothing to change: name at least one flag, such as --approvers or --set. `switchboard channel set --help` lists them.",
                ));
            }
            let channel = desk.channel(&slug).await?.config;
            let kind = find(&channel.kind, desk).await?;
            let made = put(channel, &flags, &kind, false, desk).await?;
            told(&made, "Changed", json, desk).await
        }
        ChannelCommand::Enable { slug, json } => {
            told(&desk.enable_channel(&slug, true).await?, "Switched on", json, desk).await
        }
        ChannelCommand::Disable { slug, json } => {
            told(&desk.enable_channel(&slug, false).await?, "Switched off", json, desk).await
        }
        ChannelCommand::Remove { slug } => {
            desk.remove_channel(&slug).await?;
            output::line(&format!(
                "Removed the channel {slug} and its secrets. What is in its outbox and inbox stays."
            ))
        }
        ChannelCommand::List { json } => shown::list(desk.channels().await?, json),
        ChannelCommand::Show { slug, json } => {
            shown::show(&desk.channel(&slug).await?, &desk.kinds().await?, json)
        }
        ChannelCommand::Status { slug: Some(slug), json } => shown::status(&desk.channel(&slug).await?, json),
        ChannelCommand::Status { slug: None, json } => shown::all(desk.channels().await?, json),
        ChannelCommand::Log { slug, json } => shown::log(&desk.channel(&slug).await?, json),
        // Printed before any home is looked for.
        ChannelCommand::Kinds { .. } => Ok(()),
    }
}

async fn find(kind: &str, desk: &Desk) -> Result<KindInfo> {
    let all = desk.kinds().await?;
    let known: Vec<&str> = all.iter().map(|k| k.id.as_str()).collect();
    let said = format!("There is no messenger of the kind {kind:?}; there is {}.", known.join(", "));
    all.into_iter().find(|k| k.id == kind).ok_or_else(|| usage(said))
}

/// The profile that is named, else the only one, else the usual one.
async fn answers(named: Option<&str>, desk: &Desk) -> Result<ProfileName> {
    if let Some(name) = named {
        return Ok(name.into());
    }
    let names: Vec<ProfileName> = desk.profiles().await?.into_iter().map(|p| p.profile.name).collect();
    match names.as_slice() {
        [] => Err(anyhow!(
            "There is no profile that could answer. Make one: switchboard profile add NAME --model scripted"
        )),
        [only] => Ok(only.clone()),
        several if several.iter().any(|name| name.as_str() == USUAL) => Ok(USUAL.into()),
        several => {
            let names = several.iter().map(ProfileName::as_str).collect::<Vec<_>>().join(", ");
            Err(usage(format!("Who answers? Name one with --profile: there are {names}.")))
        }
    }
}

async fn put(
    mut channel: ChannelConfig,
    flags: &ChannelFlags,
    kind: &KindInfo,
    new: bool,
    desk: &Desk,
) -> Result<ChannelInfo> {
    let secrets = changes::apply(flags, kind, new, &variable, &mut channel)?;
    Ok(desk.put_channel(&PutChannel { channel, secrets, new }).await?)
}

/// Says what was done, how it goes, and what the operator should know.
async fn told(channel: &ChannelInfo, what: &str, json: bool, desk: &Desk) -> Result<()> {
    if json {
        return output::json(channel);
    }
    output::foreign(&format!("{what} the channel {}. {}", channel.config.slug, going(channel, desk).await?))?;
    if channel.config.enabled {
        for warning in &channel.warnings {
            output::foreign(&format!("Warning: {warning}"))?;
        }
    }
    Ok(())
}

async fn going(channel: &ChannelInfo, desk: &Desk) -> Result<String> {
    let (slug, status) = (&channel.config.slug, &channel.status);
    if !channel.runs_here {
        let server = desk.server().await?;
        return Ok(match (server.bridge, server.listen, channel.config.enabled) {
            // Switched off it ends, which its state says even while it is still here.
            (Some(bridge), _, _) if bridge == slug.0 && status.state != "off" => {
                "Its bridge takes up what changed within seconds.".to_owned()
            }
            (_, _, false) => format!("It is off; `switchboard channel enable {slug}` switches it on."),
            (Some(bridge), _, _) => {
                format!("The bridge {bridge} has the home now; `switchboard up` runs all that are on.")
            }
            (None, Some(_), _) => {
                "The server that runs is `serve`, which runs no channels; `switchboard up` does.".to_owned()
            }
            (None, None, _) => "It starts with `switchboard up`.".to_owned(),
        });
    }
    Ok(match status.state.as_str() {
        "running" => {
            let account = status.account.as_ref();
            let link = account.and_then(|a| a.link.as_deref()).map(|l| format!(" ({l})")).unwrap_or_default();
            let name = account.map_or_else(String::new, |a| format!(" as {}{link}", a.name));
            format!("It runs{name}, answered by {}.", channel.config.profile)
        }
        "failed" => {
            let why = output::sentence(status.why.as_deref().unwrap_or_default());
            let again = status.again.as_deref().map(|at| format!(" It is tried again at {at}."));
            format!("It could not start. {why}{}", again.unwrap_or_default())
        }
        "off" => format!("It is off; `switchboard channel enable {slug}` switches it on."),
        _ => format!("It is still starting; `switchboard channel status {slug}` shows how it goes."),
    })
}

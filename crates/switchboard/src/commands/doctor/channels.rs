//! What `doctor` says of channels: how each is, and what its operator should know.

use sb_doors::local::wire::ChannelInfo;
use sb_doors::standing;
use sb_engine::check_config;
use sb_engine::model::ChannelConfig;
use sb_engine::store::Store;

use super::Report;
use crate::commands::kinds::manifests;
use crate::output;

/// How a channel stands.
pub enum State {
    /// In words.
    Fine(String),
    /// Why it does not run, or would not.
    Wrong(String),
}

impl State {
    /// As the process that has the home says it.
    pub fn of(channel: &ChannelInfo) -> Self {
        let status = &channel.status;
        match (status.state.as_str(), &status.why, &status.trouble) {
            ("failed", why, _) => Self::Wrong(why.clone().unwrap_or_default()),
            (_, _, Some(trouble)) => Self::Wrong(trouble.clone()),
            ("running", _, _) => {
                let name = status.account.as_ref().map(|a| format!(" as {}", a.name)).unwrap_or_default();
                let received = status
                    .received
                    .as_deref()
                    .map_or_else(|| "nothing came yet".to_owned(), |at| format!("last received at {at}"));
                Self::Fine(format!("running{name}, {received}"))
            }
            ("off", _, _) if channel.config.enabled => Self::Fine("on, not running here".to_owned()),
            (state, _, _) => Self::Fine(state.to_owned()),
        }
    }
}

/// Puts a channel into the report.
pub fn report(channel: &ChannelConfig, state: State, warnings: Vec<String>, into: &mut Report) {
    let (slug, kind, profile) = (&channel.slug, &channel.kind, &channel.profile);
    match state {
        State::Fine(state) => {
            into.notes.push(format!("Channel {slug} ({kind}, answered by {profile}): {state}."));
        }
        State::Wrong(why) => into.problems.push(format!(
            "Channel {slug} ({kind}, answered by {profile}) does not work: {} `switchboard channel set {slug}` changes it, `switchboard channel log {slug}` says more.",
            output::sentence(&why)
        )),
    }
    if channel.enabled {
        into.notes.extend(warnings);
    }
}

/// What can be found of channels without a server: whether they could start.
pub async fn alone(store: &Store, into: &mut Report) -> sb_engine::store::Result<()> {
    let kinds = manifests();
    for channel in store.channels().await? {
        let people = store.guests(Some(&channel.slug)).await?.len();
        let secrets = store.channel_secrets(&channel.slug).await;
        let has_profile = store.profile(&channel.profile).await?.is_some();
        let state = match (kinds.iter().find(|k| k.id == channel.kind), secrets) {
            (None, _) => State::Wrong(format!("there is no messenger of the kind {:?}", channel.kind)),
            (_, Err(_)) => State::Wrong(
                "its secrets cannot be opened: bring the machine.key they were sealed with into this home, or set them again with --set".to_owned(),
            ),
            _ if !has_profile => State::Wrong(format!("there is no profile {}; name another with --profile", channel.profile)),
            (Some(kind), Ok(secrets)) => {
                let named: Vec<String> = secrets.into_iter().map(|(name, _)| name).collect();
                match check_config(kind, &channel, &named) {
                    Err(why) => State::Wrong(why.0),
                    Ok(()) if channel.enabled => State::Fine("on, not running".to_owned()),
                    Ok(()) => State::Fine("off".to_owned()),
                }
            }
        };
        report(&channel, state, standing::warnings(&channel, people), into);
    }
    Ok(())
}

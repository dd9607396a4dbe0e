//! What the flags of a channel come to: changes to its configuration, its secrets, and the same flags as
//! words to paste.
//!
//! Only what is given changes. A field that its kind says is secret never stands among the settings and is
//! never said again.

use std::collections::BTreeMap;

use anyhow::Result;
use sb_doors::local::wire::{FieldInfo, KindInfo};
use sb_engine::model::{ChannelConfig, ChannelOptions, ProfileName, Slug};

use crate::args::channel::{ChannelFlags, LimitFlag};
use crate::output::quoted;
use crate::usage::usage;

/// Where a field's value may come from besides the command line.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A channel of this kind as it is before any flag.
pub fn fresh(kind: &str, slug: Option<&str>, profile: ProfileName) -> ChannelConfig {
    ChannelConfig {
        slug: Slug(slug.unwrap_or(kind).to_owned()),
        kind: kind.to_owned(),
        profile,
        enabled: false,
        settings: BTreeMap::new(),
        options: ChannelOptions::default(),
    }
}

/// The variable that holds a field's value.
pub fn variable(kind: &str, field: &str) -> String {
    format!("SWITCHBOARD_{kind}_{field}").to_uppercase().replace('-', "_")
}

/// Changes what the flags give, and returns the secrets among it. `all`: a field that is not given is taken
/// from its variable, where that is set.
pub fn apply(
    flags: &ChannelFlags,
    kind: &KindInfo,
    all: bool,
    variables: Variables<'_>,
    channel: &mut ChannelConfig,
) -> Result<BTreeMap<String, String>> {
    if let Some(profile) = &flags.profile {
        channel.profile = ProfileName(profile.clone());
    }
    behave(flags, &mut channel.options)?;
    let mut given = if all { from_variables(kind, variables) } else { BTreeMap::new() };
    for pair in &flags.fields {
        let (key, value) = field(pair, kind, variables)?;
        given.insert(key, value);
    }
    let mut secrets = BTreeMap::new();
    for (key, value) in given {
        match kind.fields.iter().find(|f| f.key == key) {
            Some(FieldInfo { secret: true, .. }) => drop(secrets.insert(key, value)),
            // What is unknown is told by whoever checks the whole.
            _ if !value.is_empty() => drop(channel.settings.insert(key, value)),
            _ => drop(channel.settings.remove(&key)),
        }
    }
    Ok(secrets)
}

fn from_variables(kind: &KindInfo, variables: Variables<'_>) -> BTreeMap<String, String> {
    let found = |f: &FieldInfo| Some((f.key.clone(), variables(&variable(&kind.id, &f.key))?));
    kind.fields.iter().filter_map(found).collect()
}

/// One `--set`, its value from the environment if it has none of its own.
fn field(pair: &str, kind: &KindInfo, variables: Variables<'_>) -> Result<(String, String)> {
    if let Some((key, value)) = pair.split_once('=') {
        return Ok((key.trim().to_owned(), value.trim().to_owned()));
    }
    if !kind.fields.iter().any(|f| f.key == pair) {
        let known: Vec<&str> = kind.fields.iter().map(|f| f.key.as_str()).collect();
        return Err(usage(format!(
            "--set takes KEY=VALUE, or a key alone whose value is in the environment; {} has {}.",
            kind.label,
            known.join(", ")
        )));
    }
    let name = variable(&kind.id, pair);
    let value = variables(&name).ok_or_else(|| {
        usage(format!("--set {pair} has no value, and {name} is not set either: write --set {pair}=…"))
    })?;
    Ok((pair.to_owned(), value))
}

fn behave(flags: &ChannelFlags, options: &mut ChannelOptions) -> Result<()> {
    if !flags.routes.is_empty() {
        let given = flags.routes.iter().filter(|route| !route.trim().is_empty());
        options.routes = given.map(|route| routed(route)).collect::<Result<_>>()?;
    }
    for (given, list) in [(&flags.allow, &mut options.allow), (&flags.approvers, &mut options.approvers)] {
        if !given.is_empty() {
            let ids = given.iter().map(|id| id.trim()).filter(|id| !id.is_empty());
            *list = ids.map(str::to_owned).collect();
        }
    }
    put(&mut options.require_mention, flags.require_mention);
    put(&mut options.debounce_ms, flags.debounce.map(|ms| ms.0));
    put(&mut options.busy, flags.busy.map(Into::into));
    put(&mut options.stream, flags.stream.map(Into::into));
    put(&mut options.typing, flags.no_typing.then_some(false).or(flags.typing));
    put(&mut options.reactions, flags.no_reactions.then_some(false).or(flags.reactions));
    put(&mut options.fresh_final_s, flags.fresh_final.map(|s| s.0));
    put(&mut options.catch_up_s, flags.catch_up.map(|s| s.0));
    put(&mut options.isolate, flags.isolate.map(Into::into));
    put(&mut options.ask_expiry_s, flags.ask_expiry.map(|s| s.0));
    put(&mut options.limit, flags.limit.map(|l| l.0));
    Ok(())
}

fn put<T>(at: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *at = value;
    }
}

/// A chat and who answers it. Ids of chats may hold `=`, names of profiles may not.
fn routed(route: &str) -> Result<(String, ProfileName)> {
    let parts = route.rsplit_once('=').map(|(chat, profile)| (chat.trim(), profile.trim()));
    match parts.filter(|(chat, profile)| !chat.is_empty() && !profile.is_empty()) {
        Some((chat, profile)) => Ok((chat.to_owned(), profile.into())),
        None => {
            Err(usage(format!("--route takes CHAT=PROFILE, a chat's id and who answers it, not {route:?}.")))
        }
    }
}

/// The same flags as words for a shell; of secrets, only their keys.
pub fn words(flags: &ChannelFlags, kind: &KindInfo) -> String {
    let mut words = Vec::new();
    let mut word = |flag: &str, value: String| words.push(format!("--{flag} {}", quoted(&value)));
    let name = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
    flags.profile.iter().for_each(|p| word("profile", p.clone()));
    flags.routes.iter().for_each(|r| word("route", r.clone()));
    for (flag, ids) in [("allow", &flags.allow), ("approvers", &flags.approvers)] {
        if !ids.is_empty() {
            word(flag, ids.join(","));
        }
    }
    let span = |s: crate::args::channel::Span| s.0.map_or_else(|| "off".to_owned(), |s| s.to_string());
    flags.debounce.iter().for_each(|d| word("debounce", d.0.to_string()));
    flags.busy.iter().for_each(|b| word("busy", name(b)));
    flags.stream.iter().for_each(|s| word("stream", name(s)));
    flags.fresh_final.iter().for_each(|s| word("fresh-final", span(*s)));
    flags.catch_up.iter().for_each(|s| word("catch-up", span(*s)));
    flags.isolate.iter().for_each(|i| word("isolate", name(i).replace("chatandsender", "chat+sender")));
    flags.ask_expiry.iter().for_each(|s| word("ask-expiry", span(*s)));
    let limit =
        |l: LimitFlag| l.0.map_or_else(|| "off".to_owned(), |l| format!("{}/{}", l.messages, l.per_s));
    flags.limit.iter().for_each(|l| word("limit", limit(*l)));
    let mut rest = Vec::new();
    let switches = [
        ("require-mention", flags.require_mention),
        ("typing", flags.typing),
        ("reactions", flags.reactions),
    ];
    rest.extend(switches.iter().filter_map(|(flag, on)| Some(format!("--{flag}={}", (*on)?))));
    rest.extend(flags.no_typing.then(|| "--no-typing".to_owned()));
    rest.extend(flags.no_reactions.then(|| "--no-reactions".to_owned()));
    for pair in &flags.fields {
        let key = pair.split('=').next().unwrap_or_default();
        let known = kind.fields.iter().find(|f| f.key == key);
        // What nobody knows may be a secret under a wrong name.
        let open = known.is_some_and(|f| !f.secret) || !pair.contains('=');
        rest.push(format!("--set {}", if open { quoted(pair) } else { format!("{}=…", quoted(key)) }));
    }
    words.extend(rest);
    words.join(" ")
}

#[cfg(test)]
mod tests;

//! Channels as they are shown: in a list, one by one, how they are, and their logs. Never their secrets.

use anyhow::Result;
use sb_doors::local::wire::{ChannelInfo, KindInfo, StatusInfo};
use sb_engine::model::{ChannelOptions, Isolation};

use crate::output;

const NONE: &str = "There is no channel. `switchboard channel add --help` shows how to add one, and `switchboard channel kinds` which there are.";

/// A line for each.
pub fn list(channels: Vec<ChannelInfo>, json: bool) -> Result<()> {
    if json {
        return output::json(&channels);
    }
    if channels.is_empty() {
        return output::line(NONE);
    }
    let mut rows = vec![["channel", "kind", "profile", "state", "account"].map(str::to_owned).to_vec()];
    rows.extend(channels.into_iter().map(|c| {
        let account = c.status.account.as_ref().map(|a| a.name.clone()).unwrap_or_default();
        let state = state(&c);
        vec![c.config.slug.0, c.config.kind, c.config.profile.0, state, account]
    }));
    output::table(&rows)
}

/// How a channel is, in a word: one that is on and runs nowhere is off, too.
fn state(channel: &ChannelInfo) -> String {
    match (channel.status.state.as_str(), channel.config.enabled) {
        ("off", true) => "on, not running".to_owned(),
        (state, _) => state.to_owned(),
    }
}

/// Everything about one, but for its secrets.
pub fn show(channel: &ChannelInfo, kinds: &[KindInfo], json: bool) -> Result<()> {
    if json {
        return output::json(channel);
    }
    let config = &channel.config;
    let mut rows = vec![
        ("channel".to_owned(), config.slug.0.clone()),
        ("kind".to_owned(), config.kind.clone()),
        ("profile".to_owned(), config.profile.0.clone()),
        ("state".to_owned(), state(channel)),
    ];
    rows.extend(fields(channel, kinds));
    rows.extend(options(&config.options).into_iter().map(|(name, value)| (name.to_owned(), value)));
    rows.extend(channel.warnings.iter().map(|w| ("warning".to_owned(), w.clone())));
    print(rows)
}

/// The settings of its kind; of a secret, whether it is set.
fn fields(channel: &ChannelInfo, kinds: &[KindInfo]) -> Vec<(String, String)> {
    let kind = kinds.iter().find(|k| k.id == channel.config.kind);
    let known = kind.into_iter().flat_map(|k| &k.fields).filter(|f| f.secret);
    let secrets = known.map(|f| {
        let set = channel.secrets.contains(&f.key);
        (f.key.clone(), if set { "set".to_owned() } else { String::new() })
    });
    let open = channel.config.settings.iter().map(|(key, value)| (key.clone(), value.clone()));
    secrets.chain(open).collect()
}

fn options(of: &ChannelOptions) -> Vec<(&'static str, String)> {
    let span = |s: Option<u64>| s.map_or_else(|| "off".to_owned(), |s| format!("{s} s"));
    let word = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
    let yes = |on: bool| if on { "yes" } else { "no" }.to_owned();
    let isolate = match of.isolate {
        Isolation::ChatAndSender => "chat+sender".to_owned(),
        other => word(&other),
    };
    let routes: Vec<String> = of.routes.iter().map(|(chat, profile)| format!("{chat}={profile}")).collect();
    vec![
        ("routes", routes.join(", ")),
        ("allow", of.allow.join(", ")),
        ("approvers", of.approvers.join(", ")),
        ("require mention", yes(of.require_mention)),
        ("debounce", format!("{} ms", of.debounce_ms)),
        ("busy", word(&of.busy)),
        ("stream", word(&of.stream)),
        ("typing", yes(of.typing)),
        ("reactions", yes(of.reactions)),
        ("fresh final", span(of.fresh_final_s)),
        ("catch up", span(of.catch_up_s)),
        ("isolate", isolate),
        ("ask expiry", span(of.ask_expiry_s)),
        (
            "limit",
            of.limit
                .map_or_else(|| "off".to_owned(), |l| format!("{} messages in {} s", l.messages, l.per_s)),
        ),
    ]
}

/// How one is.
pub fn status(channel: &ChannelInfo, json: bool) -> Result<()> {
    if json {
        return output::json(&named(channel));
    }
    let StatusInfo { why, again, account, connected, received, sent, paused_until, trouble, .. } =
        &channel.status;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let fact = |value: &Option<String>| value.clone().unwrap_or_else(|| "not yet".to_owned());
    let mut rows = vec![
        ("channel", channel.config.slug.0.clone()),
        ("state", state(channel)),
        ("why", text(why)),
        ("tried again", text(again)),
        ("account", account.as_ref().map(|a| a.name.clone()).unwrap_or_default()),
        ("link", account.as_ref().and_then(|a| a.link.clone()).unwrap_or_default()),
    ];
    if channel.status.state != "off" {
        rows.extend([("connected", fact(connected)), ("receiving", fact(received)), ("sending", fact(sent))]);
    }
    rows.extend([("trouble", text(trouble)), ("paused until", text(paused_until))]);
    rows.extend(account.iter().flat_map(|a| &a.notes).map(|note| ("note", note.clone())));
    rows.extend(channel.warnings.iter().map(|w| ("warning", w.clone())));
    print(rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// How all are.
pub fn all(channels: Vec<ChannelInfo>, json: bool) -> Result<()> {
    if json {
        return output::json(&channels.iter().map(named).collect::<Vec<_>>());
    }
    if channels.is_empty() {
        return output::line(NONE);
    }
    let heading = ["channel", "state", "connected", "receiving", "sending", "why"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(channels.into_iter().map(|c| {
        let state = state(&c);
        let StatusInfo { why, connected, received, sent, paused_until, trouble, .. } = c.status;
        let paused = paused_until.map(|until| format!("nothing is sent until {until}"));
        let why = why.or(trouble).or(paused).unwrap_or_default();
        let time = |at: Option<String>| at.unwrap_or_else(|| "–".to_owned());
        vec![c.config.slug.0, state, time(connected), time(received), time(sent), why]
    }));
    output::table(&rows)
}

/// A status that names its channel.
fn named(channel: &ChannelInfo) -> serde_json::Value {
    serde_json::json!({
        "slug": channel.config.slug,
        "kind": channel.config.kind,
        "enabled": channel.config.enabled,
        "runs_here": channel.runs_here,
        "status": channel.status,
        "warnings": channel.warnings,
    })
}

/// Its last lines.
pub fn log(channel: &ChannelInfo, json: bool) -> Result<()> {
    let lines = &channel.status.lines;
    if json {
        return output::json(lines);
    }
    if lines.is_empty() {
        return output::line("Its log is empty: it is kept while the channel runs, and not longer.");
    }
    lines.iter().try_for_each(|line| output::foreign(&format!("{}  {}", line.at, line.said)))
}

fn print(rows: Vec<(String, String)>) -> Result<()> {
    let shown = rows.into_iter().filter(|(_, value)| !value.is_empty());
    output::foreign(&shown.map(|(name, value)| format!("{name:16} {value}")).collect::<Vec<_>>().join("\n"))
}

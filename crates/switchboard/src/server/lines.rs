//! What a server prints when it has started: where it is, who answers, and lines that work when pasted.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use sb_doors::standing;
use sb_engine::Engine;
use sb_engine::model::Profile;

use super::first::{self, Made};
use crate::environment::Environment;
use crate::home::Home;
use crate::output::quoted;
use crate::settings::Settings;

/// The lines. `pasted`: with lines to paste, as `up` prints them; without, `serve`'s one line.
pub fn start(
    home: &Home,
    environment: &Environment,
    url: &str,
    profiles: &[Profile],
    made: Option<&Made>,
    pasted: bool,
) -> Vec<String> {
    let program = program(home);
    let serving = format!(
        "Switchboard on {url} (POST /v1/profiles/<name>/messages, GET /v1/sessions/<id>, POST /v1/chat/completions, GET /v1/models, GET /openapi.json, GET /healthz)"
    );
    let usual = profiles.iter().find(|p| p.name.as_str() == first::NAME).or(profiles.first());
    let Some(profile) = usual else {
        let none = format!("There is no profile yet. Make one: {program} profile add NAME --model scripted");
        return vec![serving, none];
    };
    if !pasted {
        return vec![serving];
    }
    let model = profile.models.first().map(ToString::to_string).unwrap_or_default();
    let about = match made {
        Some(made) => format!(
            "Made the profile {}, answered by {model} ({}). What it writes and runs asks you first.",
            profile.name, made.why
        ),
        None => format!("The profile {} is answered by {model}.", profile.name),
    };
    let (token, how) = match made.and_then(|m| m.token.as_ref()) {
        Some(token) => (token.expose(), "Ask over HTTP, with a token that is shown this once:".to_owned()),
        None if environment.token.is_some() => ("$SWITCHBOARD_TOKEN", "Ask over HTTP:".to_owned()),
        None => (
            "$SWITCHBOARD_TOKEN",
            format!(
                "Ask over HTTP, with a token in SWITCHBOARD_TOKEN ({program} profile token add {} --approve makes one):",
                profile.name
            ),
        ),
    };
    let curl = format!(
        "curl -sS {url}/v1/profiles/{}/messages -H \"Authorization: Bearer {token}\" -d '{{\"text\": \"Hello\"}}'",
        profile.name
    );
    let whom = if profiles.len() == 1 || profile.name.as_str() == first::NAME {
        String::new()
    } else {
        format!(" {}", profile.name)
    };
    let talk = format!("{program} talk{whom}");
    let key = if token.starts_with('$') { token } else { "that token" };
    let apps =
        format!("In an app made for OpenAI's API: base URL {url}/v1, API key {key}, model {}", profile.name);
    let mut said = vec![serving, about, how, curl, apps, "Talk in the terminal:".to_owned(), talk];
    if profiles.len() > 1 {
        said.push(format!(
            "That is one of {} profiles. `{program} profile list` shows the others; talk to one with: {program} talk NAME",
            profiles.len()
        ));
    }
    said
}

/// The channels that start: a line for all, and one for each thing their operator should know.
pub async fn channels(engine: &Engine) -> sb_engine::Result<Vec<String>> {
    let (mut named, mut warned) = (Vec::new(), Vec::new());
    for view in engine.channels().await?.into_iter().filter(|c| c.config.enabled) {
        let channel = view.config;
        let people = engine.guests(Some(&channel.slug)).await?.len();
        warned.extend(standing::warnings(&channel, people).into_iter().map(|w| format!("Warning: {w}")));
        named.push(format!("{} ({}, answered by {})", channel.slug, channel.kind, channel.profile));
    }
    if named.is_empty() {
        return Ok(named);
    }
    let line = format!("Starting {}. `switchboard channel status` shows how they are.", named.join(", "));
    Ok(std::iter::once(line).chain(warned).collect())
}

/// The profiles that other agents may ask, and where the first one's card is.
pub fn agents(settings: &Settings, url: &str) -> Option<String> {
    let names: Vec<&str> = settings.a2a.iter().map(|name| name.0.as_str()).collect();
    let base = settings.public_url.as_deref().unwrap_or(url.trim_end_matches('/'));
    (!names.is_empty())
        .then(|| format!("Offering {} to other agents: {base}/.well-known/agent-card.json", names.join(", ")))
}

/// Where a client on this machine reaches the address.
pub fn url(address: SocketAddr, tls: bool) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("http{}://{}", if tls { "s" } else { "" }, SocketAddr::new(ip, address.port()))
}

/// This program as it is started anew, in this home.
pub fn program(home: &Home) -> String {
    let path = std::env::current_exe().ok();
    let path = path.as_deref().and_then(Path::to_str).unwrap_or("switchboard");
    if home.usual {
        return quoted(path);
    }
    format!("{} --home {}", quoted(path), quoted(&home.folder.display().to_string()))
}

//! `bridge`: one channel alone, in a home that no server holds.
//!
//! What it is given is kept under its slug before it starts. An error at the first start ends it, with what
//! to do; later ones are the engine's to get over. Commands reach it through the home's socket, and what
//! they change of its channel starts it anew.

use anyhow::{Result, anyhow};
use sb_doors::local::client::Desk;
use sb_doors::local::wire::{KindInfo, ServerInfo};
use sb_doors::{http, standing};
use sb_engine::Engine;
use sb_engine::channel::Account;
use sb_engine::model::{ChannelConfig, Fault, FaultKind, ProfileName, Secret, Slug};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Signals, end, files, first, lines, listen};
use crate::args::messenger::Bridge;
use crate::args::server::ServerFlags;
use crate::door::Serves;
use crate::environment::{Environment, variable};
use crate::home::Home;
use crate::settings::{Settings, address, public_url};
use crate::usage::usage;
use crate::{changes, door, logs, opening, output, reach};

/// Runs a bridge until it is told to end.
pub async fn run(home: &Home, environment: &Environment, args: Bridge) -> Result<()> {
    let kind = kind(&args.via)?;
    let (listens, reached) = outside(&args)?;
    let settings = Settings::find(ServerFlags::default(), environment, &home.settings())?;
    logs::begin(args.log.unwrap_or(settings.log), logs::SERVER, environment);
    let mut signals = Signals::new()?;
    if home.exists() {
        refuse_beside_others(home, &args, &kind).await?;
    }
    let store = reach::take(home, settings.durability).await?;
    let listener = match listens {
        Some(at) => Some(listen(at).await?),
        None => None,
    };
    let engine = opening::engine(home, environment, store, args.parallel, reached).await?;
    let closing = CancellationToken::new();
    let slug = Slug(args.slug.clone().unwrap_or_else(|| args.via.clone()));
    let at = listener.as_ref().and_then(|l| l.local_addr().ok());
    let serves =
        Serves { listen: at.map(|at| at.to_string()), channels: false, bridge: Some(slug.0.clone()) };
    let mut serving = JoinSet::new();
    let outcome = async {
        let local = door::open(home, &engine, serves, &closing)?;
        let (kept, known) = keep(home, environment, &settings, &engine, &args, &kind).await?;
        // Calls are answered from here on, since a platform may look whether we are there.
        if let Some(listener) = listener {
            let router = http::bridge_router(engine.clone(), closing.clone());
            serving.spawn(http::serve(listener, http::places(files::raise()), router, closing.clone()));
        }
        engine.take_up().await?;
        let (started, ended) = tokio::select! {
            started = engine.start_channel(&slug) => started.map_err(|why| not_started(&why, &kind))?,
            () = signals.next() => return Ok(()),
        };
        let mut lines = say(home, &engine, &kept, &kind, known, started.account.as_ref()).await?;
        lines.extend(at.map(|at| format!("Listening on {}/hooks/{slug}", lines::url(at, false))));
        for said in lines {
            // A bridge goes on also when nobody reads what it prints.
            drop(output::foreign(&said));
        }
        serving.spawn(local);
        tokio::select! {
            Some(ended) = serving.join_next() => ended?.map_err(|why| anyhow!("Serving failed: {why}.")),
            () = ended.cancelled() => Err(anyhow!("The channel {slug} was disabled or removed, so its bridge ends.")),
            () = signals.next() => Ok(()),
        }
    };
    let outcome = outcome.await;
    let ended = end(home, engine, closing, serving).await;
    outcome.and(ended)
}

fn kind(via: &str) -> Result<KindInfo> {
    let all: Vec<KindInfo> = sb_channels::kinds().iter().map(|k| KindInfo::of(&(k.manifest)())).collect();
    let known: Vec<&str> = all.iter().map(|k| k.id.as_str()).collect();
    let said = format!("There is no messenger of the kind {via:?}; --via takes {}.", known.join(", "));
    all.into_iter().find(|k| k.id == via).ok_or_else(|| usage(said))
}

/// Where it listens, and where it is reached there.
fn outside(args: &Bridge) -> Result<(Option<std::net::SocketAddr>, Option<String>)> {
    if args.parallel == 0 {
        return Err(usage("--parallel takes 1 or more, not 0."));
    }
    let listens = args.listen.as_deref().map(address).transpose()?;
    if listens.is_some_and(|at| http::check_address(at, args.behind_proxy).is_err()) {
        return Err(usage(
            "--listen names an address that other machines reach, and would speak plain HTTP to them. Listen on 127.0.0.1, or put a proxy that does TLS in front and say so with --behind-proxy.",
        ));
    }
    Ok((listens, args.public_url.as_deref().map(public_url).transpose()?))
}

/// Refuses to start where a server or another bridge has the home, and says what to type instead.
async fn refuse_beside_others(home: &Home, args: &Bridge, kind: &KindInfo) -> Result<()> {
    let Some(server) = reach::server(home).await? else { return Ok(()) };
    let (holder, then) = match &server {
        ServerInfo { bridge: Some(other), .. } => {
            let up = format!("then stop it with `kill {}` and start both with `switchboard up`", server.pid);
            (format!("The bridge {other}"), up)
        }
        ServerInfo { listen: Some(_), channels: true, .. } => ("A server".to_owned(), String::new()),
        ServerInfo { listen: Some(_), .. } => {
            let up =
                "and start it with `switchboard up`, which runs channels, instead of `switchboard serve`";
            ("A server".to_owned(), up.to_owned())
        }
        // A command, which will end; if it does not, taking the home says so.
        ServerInfo { listen: None, bridge: None, .. } => return Ok(()),
    };
    let slug = args.slug.as_deref().unwrap_or(&kind.id);
    let (program, words) = (lines::program(home), changes::words(&args.flags, kind));
    let known = Desk::at(&home.socket())?.channels().await?.iter().any(|c| c.config.slug.0 == slug);
    let mut line = match (known, &args.slug) {
        (true, _) if words.is_empty() => format!("{program} channel enable {slug}"),
        (true, _) => format!("{program} channel set {slug} {words} && {program} channel enable {slug}"),
        (false, Some(slug)) => format!("{program} channel add {} --slug {slug} {words}", kind.id),
        (false, None) => format!("{program} channel add {} {words}", kind.id),
    };
    line.truncate(line.trim_end().len());
    let then = if then.is_empty() { String::new() } else { format!("\n({then})") };
    Err(anyhow!(
        "{holder} holds this home: process {}. Give it the channel instead:\n{line}{then}",
        server.pid
    ))
}

/// Keeps what was given: the channel as it is now, and whether it was known.
async fn keep(
    home: &Home,
    environment: &Environment,
    settings: &Settings,
    engine: &Engine,
    args: &Bridge,
    kind: &KindInfo,
) -> Result<(ChannelConfig, bool)> {
    let slug = args.slug.as_deref().unwrap_or(&kind.id);
    let found = engine.channels().await?.into_iter().find(|c| c.config.slug.0 == slug);
    let known = found.is_some();
    let mut channel = match found {
        Some(found) if found.config.kind != kind.id => {
            return Err(usage(format!(
                "The channel {slug} is one of {}; give this one its own name with --slug.",
                found.config.kind
            )));
        }
        Some(found) => found.config,
        None => {
            let profile = answers(home, environment, settings, engine, args.flags.profile.as_deref()).await?;
            changes::fresh(&kind.id, args.slug.as_deref(), profile)
        }
    };
    let secrets = changes::apply(&args.flags, kind, true, &variable, &mut channel)?;
    let secrets = secrets.into_iter().map(|(key, value)| (key, Secret::new(value))).collect();
    engine.put_channel(channel.clone(), secrets).await?;
    Ok((channel, known))
}

/// Who answers a new channel: the profile named, else the only one, else the usual one. In a home without
/// any, the usual one is made.
async fn answers(
    home: &Home,
    environment: &Environment,
    settings: &Settings,
    engine: &Engine,
    named: Option<&str>,
) -> Result<ProfileName> {
    if named.is_none_or(|name| name == first::NAME)
        && let Some(made) = first::make(home, environment, settings, engine, false).await?
    {
        let said = format!("Made the profile {}, since there was none ({}).", first::NAME, made.why);
        drop(output::foreign(&said));
    }
    let named = named.map(ProfileName::from);
    let only = match engine.profiles().await?.as_slice() {
        [only] => Some(only.name.clone()),
        _ => None,
    };
    Ok(named.or(only).unwrap_or_else(|| first::NAME.into()))
}

/// Why it did not start, with what to do.
fn not_started(why: &Fault, kind: &KindInfo) -> anyhow::Error {
    let detail = output::sentence(&why.detail);
    let secrets = kind.fields.iter().filter(|f| f.secret);
    let mut needed: Vec<&str> = secrets.clone().filter(|f| f.required).map(|f| f.key.as_str()).collect();
    if needed.is_empty() {
        // There are several ways to log in: the first is the usual one.
        needed.extend(secrets.take(1).map(|f| f.key.as_str()));
    }
    anyhow!(match &why.kind {
        FaultKind::Auth => {
            let set =
                needed.iter().map(|key| format!("--set {key}=… or {}", changes::variable(&kind.id, key)));
            format!(
                "{} does not accept the credentials: {} Give the right ones with {}.",
                kind.label,
                detail,
                set.collect::<Vec<_>>().join(", ")
            )
        }
        FaultKind::Passing { .. } => format!(
            "{} cannot be reached ({}): {detail} What was given is kept; start the bridge again once it can be.",
            kind.label, why.doing
        ),
        _ => format!("The bridge cannot start: {detail}"),
    })
}

/// What is printed once it runs: who it is there, who answers, and what its operator should know.
async fn say(
    home: &Home,
    engine: &Engine,
    channel: &ChannelConfig,
    kind: &KindInfo,
    known: bool,
    account: Option<&Account>,
) -> Result<Vec<String>> {
    let name = account.map_or(kind.label.as_str(), |a| a.name.as_str());
    let link = account.and_then(|a| a.link.as_deref()).map(|l| format!(" ({l})")).unwrap_or_default();
    let people = engine.guests(Some(&channel.slug)).await?.len();
    let (allow, approvers) = (&channel.options.allow, &channel.options.approvers);
    let list = |ids: &[String], none: &str| if ids.is_empty() { none.to_owned() } else { ids.join(", ") };
    let mut said = vec![format!(
        "{} on {}{link} is answered by {}. Let in: {}; {people} by their code. Named to decide: {}.",
        name,
        kind.label,
        channel.profile,
        list(allow, "nobody by id"),
        list(approvers, "nobody")
    )];
    said.extend(standing::warnings(channel, people).into_iter().map(|w| format!("Warning: {w}")));
    said.extend(account.into_iter().flat_map(|a| a.notes.iter()).map(|note| format!("Note: {note}")));
    let slug = match channel.slug.0 == channel.kind {
        true => String::new(),
        false => format!(" --slug {}", channel.slug),
    };
    let kept = if known { "Kept as the channel" } else { "Kept as the new channel" };
    said.push(format!(
        "{kept} {}; start it again with: {} bridge --via {}{slug}",
        channel.slug,
        lines::program(home),
        channel.kind
    ));
    Ok(said)
}

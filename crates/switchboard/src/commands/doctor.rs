//! `doctor`: what is wrong with a home, and what to do about it.
//!
//! Where no server runs it only looks: nothing that is unfinished is taken up.

use sb_engine::model::text::counted;
use std::process::ExitCode;

use anyhow::Result;
use sb_doors::local::client::Desk;
use sb_doors::local::wire::{Doctor, ServerInfo};
use sb_engine::Agents;
use sb_engine::model::{ModelRef, Profile};
use sb_engine::store::{Counts, secret_name};
use serde::Serialize;

use super::profile::key_remedy;
use crate::args::server::Survives;
use crate::environment::Environment;
use crate::home::Home;
use crate::settings::Settings;
use crate::{opening, output, reach};

mod channels;
mod silent;

/// What to do about a database that cannot be read.
const RESTORE: &str = "The database is damaged: go back to a backup. End what uses this home and move its folder aside; make the folder anew, with the backup's FILE as switchboard.db in it, FILE.blobs as blobs, and your copies of machine.key and workspaces. Without a backup, keep the folder as it is and begin with another --home.";

/// What was found.
#[derive(Serialize)]
struct Report {
    home: String,
    /// The running server; null if none runs.
    server: Option<ServerInfo>,
    /// One sentence each, with what to do about it.
    problems: Vec<String>,
    /// Worth knowing, and no problem.
    notes: Vec<String>,
}

/// Looks, prints, and fails if there is a problem.
pub async fn run(home: &Home, environment: &Environment, json: bool) -> Result<ExitCode> {
    let mut report = Report {
        home: home.folder.display().to_string(),
        server: None,
        problems: Vec::new(),
        notes: Vec::new(),
    };
    if let Err(why) = Settings::find(Default::default(), environment, &home.settings()) {
        report.problems.push(output::sentence(&why.to_string()));
    }
    if home.exists() {
        match reach::server(home).await {
            Ok(Some(server)) => {
                if let Err(why) = through(home, environment, server, &mut report).await {
                    report.problems.push(output::sentence(&why.to_string()));
                }
            }
            Ok(None) => alone(home, environment, &mut report).await,
            Err(why) => report.problems.push(output::sentence(&why.to_string())),
        }
    } else {
        report.notes.push("There is no home there yet; `switchboard up` makes it.".to_owned());
    }
    if report.problems.iter().any(|problem| is_damage(problem)) {
        report.problems.push(RESTORE.to_owned());
    }
    print(&report, json)?;
    Ok(if report.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether a problem is that the database is damaged, in the store's words.
fn is_damage(problem: &str) -> bool {
    let problem = problem.to_lowercase();
    problem.starts_with("database: ")
        || ["what is stored cannot be read", "switchboard.db is empty"]
            .iter()
            .any(|says| problem.contains(says))
}

/// What the running server finds.
async fn through(
    home: &Home,
    environment: &Environment,
    server: ServerInfo,
    report: &mut Report,
) -> Result<()> {
    let desk = Desk::at(&home.socket())?;
    report.server = Some(server);
    let Doctor { problems, notes } = desk.doctor().await?;
    let problems = problems.iter().map(|problem| output::sentence(problem));
    report.problems.extend(problems);
    report.notes.extend(notes);
    for channel in desk.channels().await? {
        let state = channels::State::of(&channel);
        channels::report(&channel.config, state, channel.warnings, report);
    }
    let profiles = desk.profiles().await?;
    for info in &profiles {
        if info.key_is_sealed {
            report.problems.push(sealed(&info.profile));
        }
        // The server's environment may hold what this one does not, so it is only worth knowing.
        report.notes.extend(
            missing_keys(&info.profile, info.has_key, environment)
                .map(|why| format!("{why} In this environment, that is; the server has its own.")),
        );
    }
    report.notes.extend(silent::addresses(profiles.iter().map(|info| &info.profile)).await);
    Ok(())
}

/// What can be found without a server.
async fn alone(home: &Home, environment: &Environment, report: &mut Report) {
    let store = match opening::store(home, Survives::Power).await {
        Ok(store) => store,
        Err(why) => return report.problems.push(output::sentence(&why.to_string())),
    };
    let looked = async {
        let mut found = store.check().await?;
        let agents = opening::agents(home, environment, &store).await?;
        let profiles = store.profiles().await?;
        for profile in &profiles {
            if let Err(why) = agents.check(profile) {
                found.push(format!("Profile {} could not run: {why}", profile.name));
            }
            let own = store.secret(&secret_name(&profile.name, "api_key")).await;
            let has_key = match own {
                Ok(key) => key.is_some(),
                Err(_) => {
                    found.push(sealed(profile));
                    continue;
                }
            };
            found.extend(missing_keys(profile, has_key, environment));
        }
        channels::alone(&store, report).await?;
        let silent = silent::addresses(profiles.iter()).await;
        anyhow::Ok((found, silent, profiles.len(), store.counts().await?))
    };
    match looked.await {
        Ok((found, silent, profiles, counts)) => {
            report.problems.extend(found);
            report.notes.push(standing(profiles, &counts));
            report.notes.extend(silent);
        }
        Err(why) => report.problems.push(output::sentence(&why.to_string())),
    }
    // Nothing was changed, so there is nothing to lose.
    drop(store.close().await);
}

fn standing(profiles: usize, counts: &Counts) -> String {
    let many = |number: u64, what| counted(number, what);
    format!(
        "{}, {}, {}; {} {} for an answer.",
        many(u64::try_from(profiles).unwrap_or(u64::MAX), "profile"),
        many(counts.conversations, "conversation"),
        many(counts.sessions, "session"),
        many(counts.unfinished, "message"),
        if counts.unfinished == 1 { "waits" } else { "wait" }
    )
}

/// The problem of a profile whose own key does not open.
fn sealed(profile: &Profile) -> String {
    format!("The API key of profile {0} cannot be opened: {1}.", profile.name, key_remedy(&profile.name))
}

/// A sentence for every model of a profile that has no key where one is needed.
fn missing_keys(profile: &Profile, has_key: bool, environment: &Environment) -> impl Iterator<Item = String> {
    let first = profile.models.first().map(|m| m.provider.clone());
    let mut providers: Vec<&ModelRef> = Vec::new();
    for model in &profile.models {
        if !providers.iter().any(|m| m.provider == model.provider) {
            providers.push(model);
        }
    }
    let lacking = providers.into_iter().filter_map(|model| {
        let provider = sb_loop::providers().iter().find(|p| p.name == model.provider)?;
        let variable = provider.key_env.as_deref()?;
        let elsewhere = profile.base_url.is_some() || environment.base_urls.contains_key(&provider.name);
        let own = has_key && first.as_ref() == Some(&provider.name);
        let known = elsewhere || own || environment.keys.contains_key(&provider.name);
        (!known).then(|| {
            format!(
                "Profile {} has no key for {}: set {variable}, or give it one of its own with `switchboard profile set {} --api-key-stdin`.",
                profile.name, provider.name, profile.name
            )
        })
    });
    lacking.collect::<Vec<_>>().into_iter()
}

/// What whoever has the home does.
fn serves(server: &ServerInfo) -> String {
    match (&server.bridge, &server.listen) {
        (Some(bridge), _) => format!("the bridge {bridge}"),
        (None, Some(at)) => format!("on {at}"),
        (None, None) => "a command's".to_owned(),
    }
}

fn print(report: &Report, json: bool) -> Result<()> {
    if json {
        return output::json(report);
    }
    output::line(&format!("Home: {}", report.home))?;
    output::line(&match &report.server {
        Some(server) => format!(
            "Server: running (process {}, version {}, {})",
            server.pid,
            server.version,
            serves(server)
        ),
        None => "Server: none runs".to_owned(),
    })?;
    for note in &report.notes {
        output::foreign(&format!("Note: {note}"))?;
    }
    for problem in &report.problems {
        output::foreign(&format!("Problem: {problem}"))?;
    }
    if report.problems.is_empty() { output::line("No problem was found.") } else { Ok(()) }
}

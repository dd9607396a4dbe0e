//! `profile …`: how agents answer here.

use std::io::{IsTerminal, Read};
use std::path::Path;

use anyhow::{Result, anyhow};
use sb_doors::local::client::Desk;
use sb_doors::local::wire::{ProfileInfo, PutProfile};
use sb_engine::core::rules;
use sb_engine::model::{HarnessRef, Level, ModelRef, Profile, ProfileName, Rule, ToolSet};

use super::{mcp, token};
use crate::args::profile::{ProfileCommand, ProfileFlags};
use crate::home::{Home, shown};
use crate::keys::keyed_by;
use crate::usage::usage;
use crate::{environment, output};

/// Runs a command about profiles.
pub async fn run(command: ProfileCommand, home: &Home, desk: &Desk) -> Result<()> {
    match command {
        ProfileCommand::Add { name, flags, json } => {
            let mut profile = Profile::gone(ProfileName(name));
            (profile.autonomy, profile.tools) = (Level::L3, ToolSet::All);
            let of_its_own = flags.harness.as_deref().is_some_and(|h| h.trim() != "loop");
            if flags.models.is_empty() && !of_its_own {
                return Err(usage(
                    "A profile needs a model: --model anthropic:<id>, openai:<id> or scripted.",
                ));
            }
            let made = put(profile, &flags, true, home, desk).await?;
            told(&made, "Added", json)
        }
        ProfileCommand::Set { name, flags, json } => {
            if flags.is_empty() {
                return Err(usage(
                    "There is nothing to change: name at least one flag, such as --model or --autonomy. `switchboard profile set --help` lists them.",
                ));
            }
            let profile = desk.profile(&name).await?.profile;
            let made = put(profile, &flags, false, home, desk).await?;
            told(&made, "Changed", json)
        }
        ProfileCommand::Harnesses { json } => harnesses(json),
        ProfileCommand::List { json } => list(desk.profiles().await?, json),
        ProfileCommand::Show { name, json } => {
            let profile = desk.profile(&name).await?;
            if json { output::json(&profile) } else { show(&profile) }
        }
        ProfileCommand::Remove { name } => {
            desk.remove_profile(&name).await?;
            output::line(&format!("Removed the profile {name}, its tokens and its key. Its sessions stay."))
        }
        ProfileCommand::Mcp { command } => mcp::run(command, desk).await,
        ProfileCommand::Token { command } => token::run(command, desk).await,
    }
}

async fn put(
    mut profile: Profile,
    flags: &ProfileFlags,
    new: bool,
    home: &Home,
    desk: &Desk,
) -> Result<ProfileInfo> {
    apply(&mut profile, flags, home)?;
    if let Some(named) = &flags.agent {
        let key = desk.account(named).await?.account.key;
        profile.agent = Some(key.parse().map_err(|why| anyhow!("The server named no key: {why}."))?);
    }
    if flags.api_key_stdin || flags.api_key_env.is_some() {
        takes_a_key(&profile)?;
    }
    let (api_key, no_api_key) = (api_key(flags)?, flags.no_api_key);
    Ok(desk.put_profile(&PutProfile { profile, api_key, no_api_key, new }).await?)
}

/// Refuses a key that would not be used: one is for the provider of the first model.
fn takes_a_key(profile: &Profile) -> Result<()> {
    if matches!(profile.harness, HarnessRef::Acp(_) | HarnessRef::Pi(_)) && !is_keyed(profile) {
        return Err(usage(format!(
            "How {} takes a key is not known here: give it one in its own configuration.",
            profile.harness
        )));
    }
    if matches!(profile.harness, HarnessRef::A2a(_)) {
        return Ok(());
    }
    let first = profile.models.first();
    let provider = first.and_then(|m| sb_loop::providers().iter().find(|p| p.name == m.provider));
    match (first, provider) {
        (Some(model), Some(provider)) if provider.key_env.is_none() => Err(usage(format!(
            "{model} needs no API key, so this one would not be used: leave --api-key-stdin or --api-key-env out, or put another model first with --model."
        ))),
        _ => Ok(()),
    }
}

/// Whether its agent can be given a key of ours.
fn is_keyed(profile: &Profile) -> bool {
    let provider = keyed_by(profile);
    match profile.harness {
        HarnessRef::Pi(_) => provider.is_some_and(|name| sb_agents::key_variable(&name).is_some()),
        _ => provider.is_some(),
    }
}

/// Changes what the flags give, and nothing else.
fn apply(profile: &mut Profile, flags: &ProfileFlags, home: &Home) -> Result<()> {
    if let Some(harness) = &flags.harness {
        profile.harness = harness.parse().map_err(|why: String| usage(format!("{why}.")))?;
        if matches!(profile.harness, HarnessRef::OpenAi(_)) {
            profile.tools = ToolSet::Only(Vec::new());
        }
    }
    if let Some(mode) = &flags.harness_mode {
        profile.harness_mode = Some(mode.trim().to_owned()).filter(|mode| !mode.is_empty());
    }
    if !flags.models.is_empty() {
        let given = flags.models.iter().filter(|model| !model.trim().is_empty());
        profile.models = given.map(|m| model(m, &profile.harness)).collect::<Result<_>>()?;
    }
    if let Some(url) = &flags.base_url {
        profile.base_url = Some(url.trim().to_owned()).filter(|url| !url.is_empty());
    }
    if let Some(text) = &flags.instructions {
        profile.instructions = instructions(text)?;
    }
    if let Some(folder) = &flags.workspace {
        profile.workspace = workspace(folder, home)?;
    }
    if let Some(tools) = &flags.tools {
        profile.tools = tool_set(tools);
    }
    if let Some(level) = &flags.autonomy {
        profile.autonomy = level.parse().map_err(|why: String| usage(format!("{why}.")))?;
    }
    if !flags.allowed.is_empty() {
        let given = flags.allowed.iter().filter(|rule| !rule.trim().is_empty());
        profile.allowed = given.map(|rule| parsed(rule)).collect::<Result<_>>()?;
    }
    if let Some(text) = &flags.image_model {
        profile.image_model =
            if text.trim().is_empty() { None } else { Some(model(text.trim(), &HarnessRef::Loop)?) };
    }
    if !flags.web_hosts.is_empty() {
        let given = flags.web_hosts.iter().map(|host| host.trim()).filter(|host| !host.is_empty());
        profile.web_hosts = given.map(str::to_owned).collect();
    }
    let budgets = &mut profile.budgets;
    for (given, budget) in [
        (&flags.budget_run, &mut budgets.run),
        (&flags.budget_session, &mut budgets.session),
        (&flags.budget_sender, &mut budgets.sender),
    ] {
        if let Some(given) = given {
            *budget = given.parse().map_err(usage)?;
        }
    }
    if let Some(seconds) = flags.deadline {
        profile.deadline_s = seconds;
    }
    Ok(())
}

fn model(text: &str, harness: &HarnessRef) -> Result<ModelRef> {
    let model = text.parse().map_err(|why: String| usage(format!("{why}.")))?;
    if *harness == HarnessRef::Loop {
        sb_loop::check_model(&model).map_err(usage)?;
    }
    Ok(model)
}

fn parsed(rule: &str) -> Result<Rule> {
    rules::parse(rule).map_err(|why| usage(format!("--allow {rule:?}: {why}")))
}

/// The text, or what the file says that is named after an `@`.
fn instructions(text: &str) -> Result<String> {
    let Some(file) = text.strip_prefix('@') else { return Ok(text.to_owned()) };
    std::fs::read_to_string(file)
        .map(|text| text.trim_end().to_owned())
        .map_err(|why| anyhow!("The instructions in {file} cannot be read: {why}."))
}

/// As it is kept: whole, and marked if it goes with the home.
fn workspace(folder: &Path, home: &Home) -> Result<Option<String>> {
    if folder.as_os_str().is_empty() {
        return Ok(None);
    }
    let whole = std::path::absolute(folder)
        .map_err(|why| usage(format!("{} cannot be a folder: {why}.", folder.display())))?;
    let kept = home.kept(&whole);
    kept.to_str().map(|path| Some(path.to_owned())).ok_or_else(|| usage("A workspace's path must be text."))
}

fn tool_set(text: &str) -> ToolSet {
    match text.trim() {
        "all" => ToolSet::All,
        names => ToolSet::Only(
            names.split(',').map(str::trim).filter(|n| !n.is_empty()).map(str::to_owned).collect(),
        ),
    }
}

/// The profile's own key, from where the flags say; never from the command line, which others can see.
fn api_key(flags: &ProfileFlags) -> Result<Option<String>> {
    if let Some(name) = &flags.api_key_env {
        let key = environment::variable(name);
        let key = key.ok_or_else(|| anyhow!("{name} is not set, so there is no key to keep."))?;
        return whole_key(key).map(Some);
    }
    if !flags.api_key_stdin {
        return Ok(None);
    }
    let mut key = String::new();
    let mut input = std::io::stdin();
    let read = if input.is_terminal() {
        eprintln!("Paste the key and press Enter:");
        input.read_line(&mut key)
    } else {
        input.read_to_string(&mut key)
    };
    read.map_err(|why| anyhow!("The key cannot be read from the input: {why}."))?;
    let key = key.trim();
    if key.is_empty() {
        return Err(anyhow!("The input holds no key."));
    }
    whole_key(key.to_owned()).map(Some)
}

/// Refuses what cannot be a key, such as several lines; none of it is said again.
fn whole_key(key: String) -> Result<String> {
    if key.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(anyhow!(
            "That is no API key: it has spaces, lines or control characters in it. Give the key alone."
        ));
    }
    Ok(key)
}

fn told(profile: &ProfileInfo, what: &str, json: bool) -> Result<()> {
    if json {
        return output::json(profile);
    }
    output::foreign(&format!(
        "{what} the profile {}{}: {} at {}, {}.",
        profile.profile.name,
        profile.identity.as_ref().map(|a| format!(", agent {}", a.short())).unwrap_or_default(),
        runs_on(&profile.profile),
        profile.profile.autonomy,
        tools(profile)
    ))
}

/// The tools it gives its agent; if none for want of a folder, how to give it one.
fn tools(profile: &ProfileInfo) -> String {
    match (profile.available_tools.as_slice(), &profile.profile.workspace) {
        _ if profile.profile.harness != HarnessRef::Loop => "with the tools it brings".to_owned(),
        ([], None) => "without tools (give it a folder: --workspace DIR)".to_owned(),
        ([], Some(_)) => "without tools".to_owned(),
        (tools, None) => {
            format!("with {} (for files, give it a folder: --workspace DIR)", tools.join(", "))
        }
        (tools, Some(_)) => format!("with {}", tools.join(", ")),
    }
}

/// Its harness where that is not the built-in loop, and its models.
fn runs_on(profile: &Profile) -> String {
    match (&profile.harness, profile.models.is_empty()) {
        (HarnessRef::Loop, _) => models(profile),
        (harness, true) => harness.to_string(),
        (harness, false) => format!("{harness} on {}", models(profile)),
    }
}

fn models(profile: &Profile) -> String {
    profile.models.iter().map(ToString::to_string).collect::<Vec<_>>().join(", then ")
}

const PI_INSTALL: &str = "npm install -g @mariozechner/pi-coding-agent";

/// The agents known by name, and whether they were ever run with this program.
pub fn harnesses(json: bool) -> Result<()> {
    let all = sb_agents::presets();
    if json {
        let shown = all.iter().map(|p| {
            serde_json::json!({"harness": format!("acp:{}", p.name), "label": p.label, "program": p.program,
                "install": p.install, "ran": p.ran})
        });
        let pi = serde_json::json!({"harness": "pi", "label": "pi", "program": "pi", "install": PI_INSTALL, "ran": true});
        return output::json(&shown.chain([pi]).collect::<Vec<_>>());
    }
    let mut rows = vec![["harness", "agent", "ran here", "installed by"].map(str::to_owned).to_vec()];
    rows.extend(all.iter().map(|p| {
        let ran = if p.ran { "yes" } else { "never" };
        vec![format!("acp:{}", p.name), p.label.to_owned(), ran.to_owned(), p.install.to_owned()]
    }));
    rows.push(["pi", "pi (L5 and above)", "yes", PI_INSTALL].map(str::to_owned).to_vec());
    output::table(&rows)?;
    output::line(
        "Any other: acp:\"<command>\", openai:<base address>, or a2a:<address> for one that speaks Agent2Agent.",
    )
}

fn list(profiles: Vec<ProfileInfo>, json: bool) -> Result<()> {
    if json {
        return output::json(&profiles);
    }
    if profiles.is_empty() {
        return output::line("There is no profile. `switchboard profile add --help` shows how to make one.");
    }
    let mut rows = vec![["profile", "level", "runs on", "workspace"].map(str::to_owned).to_vec()];
    rows.extend(profiles.into_iter().map(|p| {
        let models = runs_on(&p.profile);
        vec![
            p.profile.name.0,
            p.profile.autonomy.to_string(),
            models,
            p.profile.workspace.as_deref().map(shown).unwrap_or_default(),
        ]
    }));
    output::table(&rows)
}

fn show(info: &ProfileInfo) -> Result<()> {
    let profile = &info.profile;
    let allowed: Vec<String> = profile.allowed.iter().map(rules::shown).collect();
    let rows = [
        ("profile", profile.name.0.clone()),
        ("harness", profile.harness.to_string()),
        ("asks in mode", profile.harness_mode.clone().unwrap_or_default()),
        (
            "agent",
            info.identity.as_ref().map_or_else(|| "none".to_owned(), |a| format!("{} {}", a.name, a.key)),
        ),
        ("models", models(profile)),
        ("base address", profile.base_url.clone().unwrap_or_else(|| "the provider's".to_owned())),
        (
            "API key",
            match (info.has_key, info.key_is_sealed) {
                (_, true) => format!("its own, which cannot be opened: {}", key_remedy(&profile.name)),
                (true, false) => "its own, sealed".to_owned(),
                (false, false) => "the server's environment's, if it needs one".to_owned(),
            },
        ),
        ("autonomy", profile.autonomy.to_string()),
        ("tools", info.available_tools.join(", ")),
        ("MCP servers", profile.mcp.iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join(", ")),
        ("allowed unasked", allowed.join(", ")),
        ("workspace", profile.workspace.as_deref().map_or_else(|| "none".to_owned(), shown)),
        ("picture model", profile.image_model.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("own web hosts", profile.web_hosts.join(", ")),
        ("budget of a run", profile.budgets.run.to_string()),
        ("budget of a session", profile.budgets.session.to_string()),
        ("budget of a person a day", profile.budgets.sender.to_string()),
        ("deadline", format!("{} s", profile.deadline_s)),
        ("instructions", profile.instructions.clone()),
    ];
    let shown = rows.into_iter().filter(|(_, value)| !value.is_empty());
    output::foreign(&shown.map(|(name, value)| format!("{name:16} {value}")).collect::<Vec<_>>().join("\n"))
}

/// What to do about a key that was sealed with another machine.key.
pub fn key_remedy(profile: &ProfileName) -> String {
    format!(
        "bring the machine.key it was sealed with into this home, or set the key again with `switchboard profile set {profile} --api-key-stdin`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> Home {
        Home { folder: "/nowhere/home".into(), usual: false }
    }

    #[test]
    fn only_what_is_given_changes() {
        let mut profile = Profile::gone("p".into());
        profile.models = vec!["scripted".parse().expect("a model")];
        profile.instructions = "Be kind.".into();
        let flags = ProfileFlags {
            autonomy: Some("l4".into()),
            tools: Some("read_file, shell".into()),
            allowed: vec!["shell(git status:*)".into()],
            ..ProfileFlags::default()
        };
        apply(&mut profile, &flags, &home()).expect("well formed");
        assert_eq!((profile.autonomy, profile.instructions.as_str()), (Level::L4, "Be kind."));
        assert_eq!(profile.tools, ToolSet::Only(vec!["read_file".into(), "shell".into()]));
        assert_eq!((profile.models.len(), profile.allowed.len(), profile.workspace.clone()), (1, 1, None));
        let back =
            ProfileFlags { allowed: vec![String::new()], tools: Some("all".into()), ..Default::default() };
        apply(&mut profile, &back, &home()).expect("well formed");
        assert_eq!((profile.allowed.len(), profile.tools), (0, ToolSet::All));
    }

    #[test]
    fn a_workspace_of_the_homes_own_is_kept_marked_and_a_key_nobody_needs_is_refused() {
        let mut profile = Profile::gone("p".into());
        let flags = ProfileFlags {
            models: vec!["scripted".into()],
            workspace: Some("/nowhere/home/workspaces/p".into()),
            ..ProfileFlags::default()
        };
        assert!(!flags.is_empty() && ProfileFlags::default().is_empty());
        apply(&mut profile, &flags, &home()).expect("well formed");
        assert_eq!(profile.workspace.as_deref(), Some("/nowhere/home/./workspaces/p"));
        let said = takes_a_key(&profile).expect_err("refused").to_string();
        assert!(said.contains("scripted needs no API key"), "{said}");
        profile.models.insert(0, "openai:m".parse().expect("a model"));
        takes_a_key(&profile).expect("taken");
    }

    #[test]
    fn what_cannot_be_is_told_before_anything_is_sent() {
        let flags = |change: fn(&mut ProfileFlags)| {
            let mut flags = ProfileFlags::default();
            change(&mut flags);
            apply(&mut Profile::gone("p".into()), &flags, &home()).expect_err("refused").to_string()
        };
        assert!(flags(|f| f.autonomy = Some("L9".into())).contains("L1 to L6"));
        assert!(flags(|f| f.models = vec!["nobody:x".into()]).contains("anthropic"));
        assert!(flags(|f| f.allowed = vec!["shell".into()]).contains("shell(git status:*)"));
        assert!(flags(|f| f.instructions = Some("@/nowhere/at/all".into())).contains("/nowhere/at/all"));
    }
}

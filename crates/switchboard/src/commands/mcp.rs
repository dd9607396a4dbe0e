//! `profile mcp …`: a profile's MCP servers.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::ValueEnum;
use sb_doors::local::client::Desk;
use sb_doors::local::wire::PutMcp;
use sb_engine::model::{McpAt, McpFound, McpServer, McpToolState, ToolClass};

use crate::args::mcp::{ClassFlag, McpCommand, McpFlags};
use crate::environment;
use crate::output::{self, quoted};
use crate::usage::usage;

/// Runs a command about MCP servers.
pub async fn run(command: McpCommand, desk: &Desk) -> Result<()> {
    match command {
        McpCommand::Add { profile, name, flags, json } => {
            let (server, values) = described(name, &flags, &environment::variable)?;
            let name = server.name.clone();
            let found = desk.put_mcp(&profile, &PutMcp { server, values, new: !flags.replace }).await?;
            if json {
                return output::json(&found);
            }
            output::foreign(&format!("Added the MCP server {name} to {profile}: {}.", facts(&found)))?;
            tools(&found)?;
            given(&profile, &found, desk).await
        }
        McpCommand::List { profile, json } => list(&profile, json, desk).await,
        McpCommand::Test { profile, name, accept, json } => {
            let found = desk.test_mcp(&profile, &name, accept).await?;
            if json {
                return output::json(&found);
            }
            output::foreign(&format!("The MCP server {name} works: {}.", facts(&found)))?;
            tools(&found)?;
            let held = found.tools.iter().filter(|t| t.given && t.state != McpToolState::Seen).count();
            if held > 0 {
                output::line(&format!(
                    "What is new or changed is held back. Take it with `switchboard profile mcp test {profile} {name} --accept`."
                ))?;
            }
            given(&profile, &found, desk).await
        }
        McpCommand::Remove { profile, name } => {
            desk.remove_mcp(&profile, &name).await?;
            output::line(&format!("Removed the MCP server {name} of {profile}, and what was sealed for it."))
        }
    }
}

type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The server that the flags describe, and the values it is given.
fn described(
    name: String,
    flags: &McpFlags,
    variables: Variables<'_>,
) -> Result<(McpServer, BTreeMap<String, String>)> {
    let at = match (&flags.url, flags.command.split_first()) {
        (Some(url), None) => McpAt::Url(url.trim().to_owned()),
        (None, Some((command, args))) => McpAt::Command { command: command.clone(), args: args.to_vec() },
        _ => {
            return Err(usage(
                "An MCP server is a command after --, or an address with --url: `switchboard profile mcp add --help` shows both.",
            ));
        }
    };
    let named = flags.variables.iter().chain(&flags.headers);
    let values: BTreeMap<String, String> =
        named.map(|given| value(given, variables)).collect::<Result<_>>()?;
    let mut server = McpServer {
        name,
        at,
        secrets: values.keys().cloned().collect(),
        only: flags.only.iter().map(|name| name.trim().to_owned()).collect(),
        without: flags.without.iter().map(|name| name.trim().to_owned()).collect(),
        overrides: BTreeMap::new(),
        untrusted: flags.untrusted,
        limit_s: flags.limit,
        seen: BTreeMap::new(),
    };
    for said in &flags.classes {
        let (tool, class) = pair(said, "--class takes TOOL=CLASS, such as git_commit=write")?;
        let class = ClassFlag::from_str(class, true).map_err(|_| {
            usage(format!(
                "{class:?} is no class; there are read, write, shell, outside, destructive and spend."
            ))
        })?;
        server.overrides.entry(tool.to_owned()).or_default().class = Some(class.into());
    }
    for said in &flags.taints {
        let (tool, taints) = pair(said, "--taints takes TOOL=true or TOOL=false")?;
        let taints = taints.parse().map_err(|_| usage("--taints takes TOOL=true or TOOL=false."))?;
        server.overrides.entry(tool.to_owned()).or_default().taints = Some(taints);
    }
    sb_mcp::check(&server).map_err(usage)?;
    Ok((server, values))
}

fn pair<'a>(text: &'a str, how: &str) -> Result<(&'a str, &'a str)> {
    let parts = text.rsplit_once('=').map(|(name, value)| (name.trim(), value.trim()));
    parts.filter(|(name, _)| !name.is_empty()).ok_or_else(|| usage(format!("{how}, not {text:?}.")))
}

/// A name and the value of its variable.
fn value(given: &str, variables: Variables<'_>) -> Result<(String, String)> {
    let (name, variable) = given.split_once('=').unwrap_or((given, given));
    let (name, variable) = (name.trim(), variable.trim());
    match variables(variable) {
        Some(value) => Ok((name.to_owned(), value)),
        // What stands there may be the value itself, so it is not said again.
        None if given.contains('=') => Err(usage(format!(
            "The value of {name} is to be in a variable of your environment: {name}=VARIABLE, where VARIABLE is set. Values themselves are not taken here, since others can see the command line."
        ))),
        None => Err(usage(format!("{name} is not set in your environment, so there is no value to keep."))),
    }
}

fn facts(found: &McpFound) -> String {
    let title = if found.title.is_empty() { "it does not say what it is" } else { found.title.as_str() };
    format!(
        "{title}, protocol {}, {}",
        found.protocol,
        sb_engine::model::text::counted(found.tools.len() as u64, "tool")
    )
}

fn tools(found: &McpFound) -> Result<()> {
    let mut rows = vec![["tool", "counts as", "its results", ""].map(str::to_owned).to_vec()];
    rows.extend(found.tools.iter().map(|tool| {
        let state = match (tool.given, tool.state) {
            (false, _) => "not given",
            (true, McpToolState::Seen) => "",
            (true, McpToolState::New) => "new",
            (true, McpToolState::Changed) => "changed",
        };
        let taints = if tool.taints { "taint" } else { "" };
        vec![tool.called.clone(), class(tool.class).to_owned(), taints.to_owned(), state.to_owned()]
    }));
    output::table(&rows)?;
    found.notes.iter().try_for_each(|note| output::foreign(note))
}

/// A class as people read it, with what it needs.
fn class(class: ToolClass) -> &'static str {
    match class {
        ToolClass::Read => "a read",
        ToolClass::Write => "a write",
        ToolClass::Shell => "a program",
        ToolClass::Outside => "a call outside",
        ToolClass::Destructive => "always asks",
        ToolClass::Spend => "spending",
    }
}

/// Says so where the profile's own list of tools leaves them out.
async fn given(profile: &str, found: &McpFound, desk: &Desk) -> Result<()> {
    let tools = desk.profile(profile).await?.profile.tools;
    let out = found.tools.iter().filter(|tool| tool.given && !tools.has(&tool.called)).count();
    if out == 0 {
        return Ok(());
    }
    output::line(&format!(
        "{out} of them are not among the profile's --tools, so its agent does not have them. Name them there too, or give it all: `switchboard profile set {profile} --tools all`."
    ))
}

async fn list(profile: &str, json: bool, desk: &Desk) -> Result<()> {
    let servers = desk.profile(profile).await?.profile.mcp;
    if json {
        return output::json(&servers);
    }
    if servers.is_empty() {
        return output::line(&format!(
            "The profile {profile} has no MCP server. `switchboard profile mcp add --help` shows how to add one."
        ));
    }
    let mut rows = vec![["server", "at", "tools seen", "trust"].map(str::to_owned).to_vec()];
    rows.extend(servers.into_iter().map(|server| {
        let at = match &server.at {
            McpAt::Url(url) => url.clone(),
            McpAt::Command { command, args } => {
                let words = std::iter::once(command).chain(args).map(|word| quoted(word));
                words.collect::<Vec<_>>().join(" ")
            }
        };
        let trust = if server.untrusted { "untrusted" } else { "as it says" };
        vec![server.name, at, server.seen.len().to_string(), trust.to_owned()]
    }));
    output::table(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(name: &str) -> Option<String> {
        (name == "AUTH").then(|| "Bearer xyz".to_owned())
    }

    #[test]
    fn values_come_from_variables_and_never_from_the_command_line() {
        let flags = McpFlags {
            url: Some("https://example.org/mcp".into()),
            headers: vec!["Authorization=AUTH".into()],
            classes: vec!["a=b=read".into()],
            taints: vec!["a=b=false".into()],
            limit: 60,
            ..McpFlags::default()
        };
        let (server, values) = described("far".into(), &flags, &variables).expect("described");
        assert_eq!(server.secrets, ["Authorization"]);
        assert_eq!(values["Authorization"], "Bearer xyz");
        let said = server.overrides["a=b"];
        assert_eq!((said.class, said.taints), (Some(ToolClass::Read), Some(false)));
        let typed = McpFlags { headers: vec!["Authorization=hunter2".into()], ..flags };
        let why = described("far".into(), &typed, &variables).expect_err("refused").to_string();
        assert!(why.contains("environment") && !why.contains("hunter2"), "{why}");
    }

    #[test]
    fn what_cannot_be_a_server_is_told_before_anything_is_begun() {
        let flags = |change: fn(&mut McpFlags)| {
            let mut flags = McpFlags { command: vec!["server".into()], limit: 60, ..McpFlags::default() };
            change(&mut flags);
            described("s".into(), &flags, &variables).expect_err("refused").to_string()
        };
        assert!(flags(|f| f.command.clear()).contains("--url"));
        assert!(flags(|f| f.classes = vec!["x=huge".into()]).contains("destructive"));
        assert!(flags(|f| f.taints = vec!["x".into()]).contains("TOOL=true"));
        assert!(flags(|f| f.variables = vec!["NOT_SET".into()]).contains("is not set"));
    }
}

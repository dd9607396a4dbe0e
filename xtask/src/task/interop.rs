//! `cargo xtask interop`: clients that were not written here, against our stand-ins.
//!
//! The official model SDKs speak to the stand-in model servers, libraries and clients of each messenger to its
//! imitation: if they understand the stand-ins, then what our own side was tested on is believed. And libraries for
//! OpenAI's chat API ask the program itself, agents made with the official A2A SDKs answer it and ask it, the
//! official ACP client drives our scripted agent, and reference MCP servers are given to an agent of ours. IRC is
//! also run for real, on servers of this machine. All are pinned and live below the target folder, servers come from
//! the system's packages. No provider and no platform is reached.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use anyhow::{Context, Result, bail};

use super::agents;
use crate::needs::{self, IRC_SERVERS, PYTHON};
use crate::{project, shell};

const SDKS: &[&str] = &["openai==3.57.0", "anthropic==2.14.0"];
const CHECK_MODELS: &str = "crates/sb-testkit/sdk/check_models.py";
const PYTHON_BOTS: &[&str] = &["python-telegram-bot==22.8"];
const CHECK_PYTHON_BOT: &str = "interop/telegram/check_ptb.py";
const NODE_BOTS: &[&str] = &["grammy@1.46.0"];
const CHECK_NODE_BOT: &str = "interop/telegram/check_grammy.cjs";
const PYTHON_NUMBERS: &[&str] = &["pywa==4.5.0"];
const CHECK_PYTHON_NUMBER: &str = "interop/whatsapp/check_pywa.py";
const NODE_NUMBERS: &[&str] = &["whatsapp-api-js@6.3.0"];
const CHECK_NODE_NUMBER: &str = "interop/whatsapp/check_whatsapp_api_js.mjs";
/// A client of IRC, for the people on real servers and on the imitated network.
const IRC_CLIENT: &[&str] = &["irc==20.5.0"];
const CHECK_IRC: &[&str] = &["interop/irc/check_standin.py", "interop/irc/check_servers.py"];
const PYTHON_DISCORD: &[&str] = &["discord.py==2.7.1"];
const CHECK_PYTHON_DISCORD: &str = "interop/discord/check_discordpy.py";
const NODE_DISCORD: &[&str] = &["discord.js@14.28.1"];
const CHECK_NODE_DISCORD: &str = "interop/discord/check_discordjs.cjs";
/// The official client of the Agent Client Protocol.
const ACP_CLIENT: &[&str] = &["agent-client-protocol==0.12.1"];
const CHECK_SCRIPTED: &str = "interop/agents/check_scripted.py";
/// Reference servers of the Model Context Protocol.
const MCP_SERVERS: &[&str] = &[
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
];
const CHECK_MCP: &str = "interop/mcp/check_mcp.py";
/// Clients of OpenAI's chat API.
const PYTHON_APPS: &[&str] = &["openai==3.57.0", "langchain-openai==1.7.4", "llm==0.36"];
const NODE_APPS: &[&str] =
    &["openai@6.49.0", "ai@6.0.326", "@ai-sdk/openai-compatible@2.0.92", "@ai-sdk/openai@3.0.141"];
const CHECK_APPS: &[&str] = &["interop/openai/check_sdk.py", "interop/openai/check_more.py"];
/// Both lines of the official SDK of Agent2Agent, which cannot be installed side by side.
const A2A_OLD: &[&str] = &["a2a-sdk[http-server]==0.3.26", "uvicorn==0.54.0"];
const A2A_NEW: &[&str] = &["a2a-sdk[http-server]==1.3.0", "uvicorn==0.54.0"];
const A2A_NODE: &[&str] = &["@a2a-js/sdk@1.3.0"];
const CHECK_A2A_DOOR: &str = "interop/a2a/check_door.py";
const CHECK_A2A_AGENTS: &str = "interop/a2a/check_agents.py";
const CHECK_MAIL_STANDIN: &str = "interop/email/check_standin.py";
/// Needs root, Dovecot and Postfix.
const CHECK_MAIL_SERVERS: &str = "interop/email/check_real.py";
const READY: &str = "listening on ";

/// Starts each stand-in, lets its clients speak to it, ends it.
pub fn run() -> Result<()> {
    let checks = [
        CHECK_MODELS,
        CHECK_PYTHON_BOT,
        CHECK_NODE_BOT,
        CHECK_PYTHON_NUMBER,
        CHECK_NODE_NUMBER,
        CHECK_PYTHON_DISCORD,
        CHECK_NODE_DISCORD,
        CHECK_SCRIPTED,
        CHECK_MCP,
        CHECK_A2A_AGENTS,
        CHECK_A2A_DOOR,
        CHECK_MAIL_STANDIN,
        CHECK_MAIL_SERVERS,
    ];
    for script in checks.into_iter().chain(CHECK_APPS.iter().copied()).chain(CHECK_IRC.iter().copied()) {
        if !project::root().join(script).exists() {
            bail!("there is no {script} to run");
        }
    }
    needs::ensure(&[PYTHON, IRC_SERVERS])?;
    for program in ["node", "npm"] {
        if !shell::succeeds(&mut shell::command(program, &["--version"])) {
            bail!(
                "this machine lacks {program}, with which bot libraries, agents and MCP servers are run; install Node.js 20 or newer first"
            );
        }
    }
    let folder = project::target_dir().join("interop");
    mcp(&folder)?;
    apps(&folder)?;
    models(&folder)?;
    irc(&folder)?;
    bots(&folder, "telegram", (PYTHON_BOTS, CHECK_PYTHON_BOT), (NODE_BOTS, CHECK_NODE_BOT))?;
    bots(&folder, "whatsapp", (PYTHON_NUMBERS, CHECK_PYTHON_NUMBER), (NODE_NUMBERS, CHECK_NODE_NUMBER))?;
    bots(&folder, "discord", (PYTHON_DISCORD, CHECK_PYTHON_DISCORD), (NODE_DISCORD, CHECK_NODE_DISCORD))?;
    email()?;
    a2a(&folder)?;
    scripted_agent(&folder)?;
    agents::run(false)
}

fn mcp(folder: &Path) -> Result<()> {
    let modules = node_modules(&folder.join("mcp"), MCP_SERVERS)?;
    shell::run(&mut shell::cargo(&["build", "--locked", "--package", "switchboard"]))?;
    let program = project::target_dir().join("debug/switchboard").display().to_string();
    shell::run(&mut shell::command("python3", &[CHECK_MCP, &program, &modules.display().to_string()]))
}

fn apps(folder: &Path) -> Result<()> {
    let python = python(&folder.join("apps"), PYTHON_APPS)?;
    let modules = node_modules(&folder.join("apps"), NODE_APPS)?.display().to_string();
    shell::run(&mut shell::cargo(&["build", "--locked", "--package", "switchboard"]))?;
    let program = project::target_dir().join("debug/switchboard").display().to_string();
    CHECK_APPS
        .iter()
        .try_for_each(|check| shell::run(&mut shell::command(&python, &[check, &program, &modules])))
}

fn models(folder: &Path) -> Result<()> {
    let python = python(folder, SDKS)?;
    let mut standin = StandIn::start(&["--package", "sb-testkit", "--example", "model_standin"])?;
    let address = format!("http://{}", standin.address()?);
    shell::run(shell::command(&python, &[CHECK_MODELS, &address]).env("MODEL_STANDIN", &address))
}

fn irc(folder: &Path) -> Result<()> {
    let python = python(&folder.join("irc"), IRC_CLIENT)?;
    shell::run(&mut shell::cargo(&["build", "--locked", "--package", "switchboard"]))?;
    let program = project::target_dir().join("debug/switchboard").display().to_string();
    CHECK_IRC.iter().try_for_each(|check| shell::run(&mut shell::command(&python, &[check, &program])))
}

/// A library in Python and one for Node, each with its check, against the stand-in of a messenger.
fn bots(folder: &Path, kind: &str, in_python: (&[&str], &str), in_node: (&[&str], &str)) -> Result<()> {
    let python = python(&folder.join(kind), in_python.0)?;
    let modules = node_modules(&folder.join(kind), in_node.0)?;
    let example = format!("{kind}_standin");
    let example = ["--package", "sb-channels", "--features", "standins", "--example", &example];
    // One each: a bot has one client at a time, and each begins with an empty platform.
    let mut standin = StandIn::start(&example)?;
    let address = format!("http://{}", standin.address()?);
    shell::run(&mut shell::command(&python, &[in_python.1, &address]))?;
    drop(standin);
    let mut standin = StandIn::start(&example)?;
    let address = format!("http://{}", standin.address()?);
    shell::run(shell::command("node", &[in_node.1, &address]).env("NODE_PATH", modules))
}

/// Python's own mail libraries, on the imitated provider, and on real servers where the machine has them.
fn email() -> Result<()> {
    shell::run(&mut shell::cargo(&["build", "--locked", "--package", "switchboard"]))?;
    let program = project::target_dir().join("debug/switchboard").display().to_string();
    shell::run(&mut shell::command("python3", &[CHECK_MAIL_STANDIN, &program]))?;
    if ["/usr/sbin/dovecot", "/usr/sbin/postfix"].iter().all(|server| Path::new(server).exists()) {
        return shell::run(&mut shell::command("python3", &[CHECK_MAIL_SERVERS, &program]));
    }
    println!(
        "not run: {CHECK_MAIL_SERVERS}, since this machine lacks Dovecot and Postfix (interop/email/README.md)"
    );
    Ok(())
}

fn a2a(folder: &Path) -> Result<()> {
    let old = python(&folder.join("a2a-0.3"), A2A_OLD)?;
    let new = python(&folder.join("a2a-1"), A2A_NEW)?;
    shell::run(&mut shell::cargo(&["build", "--locked", "--package", "switchboard"]))?;
    let program = project::target_dir().join("debug/switchboard").display().to_string();
    shell::run(&mut shell::command("python3", &[CHECK_A2A_AGENTS, &program, &old, &new]))?;
    let modules = node_modules(&folder.join("a2a-js"), A2A_NODE)?.display().to_string();
    shell::run(&mut shell::command("python3", &[CHECK_A2A_DOOR, &program, &old, &new, &modules]))
}

/// The agent our own tests are run on, by a client that is not ours.
fn scripted_agent(folder: &Path) -> Result<()> {
    let python = python(&folder.join("acp"), ACP_CLIENT)?;
    shell::run(&mut shell::cargo(&[
        "build",
        "--locked",
        "--package",
        "sb-agents",
        "--example",
        "acp_agent",
    ]))?;
    let program = project::target_dir().join("debug/examples/acp_agent").display().to_string();
    shell::run(&mut shell::command(&python, &[CHECK_SCRIPTED, &program]))
}

/// The Python of a virtual environment, with these packages installed.
fn python(folder: &Path, packages: &[&str]) -> Result<String> {
    let (folder, python) = (folder.display().to_string(), folder.join("bin/python").display().to_string());
    if !Path::new(&python).exists() {
        shell::run(&mut shell::command("python3", &["-m", "venv", &folder]))?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    shell::run(shell::command(&python, &install).args(packages))?;
    Ok(python)
}

/// The folder in which Node finds these packages.
fn node_modules(folder: &Path, packages: &[&str]) -> Result<PathBuf> {
    let prefix = folder.display().to_string();
    let install = ["install", "--silent", "--no-audit", "--no-fund", "--no-save", "--prefix", &prefix];
    shell::run(shell::command("npm", &install).args(packages))?;
    Ok(folder.join("node_modules"))
}

/// A running stand-in; it ends when this is dropped.
struct StandIn(Child);

impl StandIn {
    fn start(example: &[&str]) -> Result<StandIn> {
        shell::run(shell::cargo(&["build", "--locked"]).args(example))?;
        let mut run = shell::cargo(&["run", "--quiet", "--locked"]);
        run.args(example).args(["--", "--port", "0"]).stdin(Stdio::null()).stdout(Stdio::piped());
        Ok(StandIn(run.spawn().context("cannot start the stand-in")?))
    }

    /// `127.0.0.1:PORT`, out of the line it prints when it is ready.
    fn address(&mut self) -> Result<String> {
        let output = self.0.stdout.take().context("the stand-in has no output")?;
        let mut lines = BufReader::new(output).lines();
        while let Some(line) = lines.next().transpose()? {
            if let Some((_, address)) = line.split_once(READY) {
                let address = address.trim().trim_start_matches("http://").to_owned();
                // What it prints later must still be read, or it would block.
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(address);
            }
        }
        bail!("the stand-in ended without printing `{READY}127.0.0.1:PORT`")
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printing(script: &str) -> StandIn {
        let mut shell = shell::command("sh", &["-c", script]);
        StandIn(shell.stdout(Stdio::piped()).spawn().expect("sh"))
    }

    #[test]
    fn the_address_is_read_from_the_line_that_says_it_is_ready() {
        let mut ready = printing("echo warming up; echo listening on http://127.0.0.1:4711; exec sleep 60");
        assert_eq!(ready.address().expect("an address"), "127.0.0.1:4711");
        assert!(printing("echo oh no").address().is_err());
    }
}

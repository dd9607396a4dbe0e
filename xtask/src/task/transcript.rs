//! `cargo xtask transcript`: a real run of the program, kept as a page of the docs.
//!
//! `docs/transcript.sh` does the talking and prints Markdown. It gets `SWITCHBOARD`, the program, and
//! `SWITCHBOARD_HOME`, an empty folder that is removed afterwards; no key of a real provider reaches it.

use anyhow::{Result, bail};

use crate::needs::{self, CURL};
use crate::{project, shell};

const SCRIPT: &str = "docs/transcript.sh";
const PAGE: &str = "docs/transcript.md";

/// Runs the script and writes the page.
pub fn run() -> Result<()> {
    if !project::root().join(SCRIPT).exists() {
        bail!("there is no {SCRIPT} to run");
    }
    needs::ensure(&[CURL])?;
    shell::run(&mut shell::cargo(&["build", "--locked", "--package", "switchboard"]))?;
    let home = project::target_dir().join("transcript-home");
    let _ = std::fs::remove_dir_all(&home);
    let mut script = shell::command("sh", &[SCRIPT]);
    script.env("SWITCHBOARD", project::target_dir().join("debug/switchboard")).env("SWITCHBOARD_HOME", &home);
    for name in
        ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "SWITCHBOARD_TOKEN", "SWITCHBOARD_MODEL"]
    {
        script.env_remove(name);
    }
    let printed = shell::output(&mut script);
    let _ = std::fs::remove_dir_all(&home);
    std::fs::write(project::root().join(PAGE), printed?)?;
    println!("wrote {PAGE}");
    Ok(())
}

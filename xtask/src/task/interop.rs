//! `cargo xtask interop`: the official model SDKs, as clients of the stand-in model servers.
//!
//! If the SDKs understand the stand-ins, then what the built-in loop was tested on is believed. The
//! SDKs are pinned and live in a virtual environment below the target folder. No provider is reached.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use anyhow::{Context, Result, bail};

use crate::needs::{self, PYTHON};
use crate::{project, shell};

const SDKS: [&str; 2] = ["openai==3.57.0", "anthropic==2.14.0"];
const CHECK: &str = "crates/sb-testkit/sdk/check_models.py";
const READY: &str = "listening on ";

/// Starts the stand-in, lets the SDKs speak to it, ends it.
pub fn run() -> Result<()> {
    if !project::root().join(CHECK).exists() {
        bail!("there is no {CHECK} to run");
    }
    needs::ensure(&[PYTHON])?;
    let python = environment()?;
    let mut standin = StandIn::start()?;
    let address = format!("http://{}", standin.address()?);
    shell::run(shell::command(&python, &[CHECK, &address]).env("MODEL_STANDIN", &address))
}

/// The virtual environment's Python, with the SDKs installed.
fn environment() -> Result<String> {
    let folder = project::target_dir().join("interop");
    let (folder, python) = (folder.display().to_string(), folder.join("bin/python").display().to_string());
    if !std::path::Path::new(&python).exists() {
        shell::run(&mut shell::command("python3", &["-m", "venv", &folder]))?;
    }
    let mut install = vec!["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    install.extend(SDKS);
    shell::run(&mut shell::command(&python, &install))?;
    Ok(python)
}

/// The running stand-in; it ends when this is dropped.
struct StandIn(Child);

impl StandIn {
    fn start() -> Result<StandIn> {
        let example = ["--locked", "--package", "sb-testkit", "--example", "model_standin"];
        shell::run(shell::cargo(&["build"]).args(example))?;
        let mut run = shell::cargo(&["run", "--quiet"]);
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

//! `switchboard read-sheets`: the text of a spreadsheet, made by a process that little is given to.

use std::io::Read;

use anyhow::{Context, Result, anyhow};
use nix::sys::resource::{Resource, setrlimit};

use crate::output;

/// What it may take of the machine's memory: a file may unfold to far more than itself.
const MEMORY: u64 = 1024 * 1024 * 1024;

/// Reads the file that comes in and prints what its sheets say.
pub fn read() -> Result<()> {
    setrlimit(Resource::RLIMIT_AS, MEMORY, MEMORY).context("Its memory cannot be bounded")?;
    let mut file = Vec::new();
    std::io::stdin().read_to_end(&mut file)?;
    let text = sb_loop::sheets::text(file).map_err(|why| anyhow!("{}", output::sentence(&why)))?;
    output::line(&text)
}

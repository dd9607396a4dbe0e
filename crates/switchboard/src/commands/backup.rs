//! `backup`: a copy of the home, made while it is in use.

use std::path::Path;

use anyhow::Result;
use sb_doors::local::client::Desk;
use sb_doors::local::wire::Backup;

use crate::output;
use crate::usage::usage;

/// Makes it. The server does the work, so the path is told it whole.
pub async fn run(file: &Path, json: bool, desk: &Desk) -> Result<()> {
    let to = std::path::absolute(file)
        .map_err(|why| usage(format!("{} cannot be a file: {why}.", file.display())))?;
    let to = to.to_str().ok_or_else(|| usage("A backup's path must be text."))?;
    let made = desk.backup(&Backup { to: to.to_owned() }).await?;
    if json {
        return output::json(&made);
    }
    output::line(&format!("Copied the home into {0} (sent and shared files: {0}.blobs).", made.to))?;
    output::line(
        "Not in it are workspaces, and machine.key, which opens the sealed API keys: keep copies of both elsewhere.",
    )
}

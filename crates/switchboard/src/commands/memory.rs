//! `memory …`: look at what agents noted, and forget it.

use anyhow::Result;
use sb_doors::local::client::Desk;

use crate::args::memory::MemoryCommand;
use crate::output;

/// Runs a command about notes.
pub async fn run(command: MemoryCommand, desk: &Desk) -> Result<()> {
    match command {
        MemoryCommand::List { profile, json } => {
            let all = desk.memos(&profile).await?;
            if json {
                return output::json(&all);
            }
            if all.is_empty() {
                return output::line(&format!("{profile} has noted nothing."));
            }
            let told = all.iter().map(|memo| {
                let from = if memo.outside { "  (from outside)" } else { "" };
                format!("{}  {}{from}\n{}", memo.id, memo.at, indented(&memo.words))
            });
            output::foreign(&told.collect::<Vec<_>>().join("\n"))
        }
        MemoryCommand::Forget { profile, number, .. } => {
            desk.forget(&profile, number).await?;
            output::line(&match number {
                Some(number) => format!("Forgot note {number} of {profile}."),
                None => format!("Forgot all that {profile} had noted."),
            })
        }
    }
}

fn indented(words: &str) -> String {
    words.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

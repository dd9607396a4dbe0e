//! Kills the program at random moments under load and judges what it answered.
//! `soak BINARY KILLS SEED [--messenger]`; exits 1 if anything was lost, doubled or wrong.

use anyhow::{Context, Result, ensure};
use sb_testkit::soak::{Plan, messenger, run};

#[tokio::main]
async fn main() -> Result<()> {
    let usage = "soak BINARY KILLS SEED [--messenger]";
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [binary, kills, seed, more @ ..] = &args[..] else { anyhow::bail!(usage) };
    let (binary, kills, seed) = (binary.into(), kills.parse().context(usage)?, seed.parse().context(usage)?);
    match more.first().map(String::as_str) {
        Some("--messenger") => {
            let verdict = messenger::run(messenger::Plan { binary, kills, chats: 12, seed }).await?;
            print!("{verdict}");
            ensure!(verdict.wrong.is_empty(), "{} things are wrong", verdict.wrong.len());
            ensure!(verdict.at_work * 2 > verdict.kills, "most kills met an idle program");
            println!("every message was answered, in order, and said twice only where a kill lay between");
        }
        _ => {
            let report = run(Plan { binary, kills, conversations: 12, seed }).await?;
            print!("{report}");
            ensure!(report.wrong.is_empty(), "{} things are wrong", report.wrong.len());
            ensure!(report.at_work * 2 > report.kills, "most kills met an idle program");
            println!("every acknowledged message was answered once");
        }
    }
    Ok(())
}

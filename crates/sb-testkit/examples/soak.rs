//! Kills the program at random moments under load and judges what it answered.
//! `soak BINARY KILLS [SEED]`; exits 1 if anything was lost, doubled or wrong.

use sb_testkit::soak::{Plan, run};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let binary = args.next().ok_or_else(|| anyhow::anyhow!("soak BINARY KILLS [SEED]"))?.into();
    let kills = args.next().map_or(Ok(200), |n| n.parse())?;
    let seed = args.next().map_or(Ok(1), |n| n.parse())?;
    let report = run(Plan { binary, kills, conversations: 12, seed }).await?;
    print!("{report}");
    anyhow::ensure!(report.wrong.is_empty(), "{} things are wrong", report.wrong.len());
    anyhow::ensure!(report.at_work * 2 > report.kills, "most kills met an idle program");
    println!("every acknowledged message was answered once");
    Ok(())
}

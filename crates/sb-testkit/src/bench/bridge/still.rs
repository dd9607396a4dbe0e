//! A bridge that has nothing to do, and one that starts.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::super::Plan;
use super::super::figures::{Spread, Table, cell, ms};
use super::super::machine::{cpu_ms, resident};
use super::super::model::Model;
use super::running::{bridge, command, home, plain, started};
use super::watch::until;
use super::{Messenger, platform};

const PATIENCE: Duration = Duration::from_secs(20);
/// It has come to rest by then.
const SETTLING: Duration = Duration::from_secs(3);

pub async fn measure(plan: &Plan, messenger: &Messenger, model: &Model) -> Result<String> {
    let (idle, starts) = if plan.quick { (5, 5) } else { (60, 20) };
    let mut table = Table::new(&["idle", "resident MB", "of it anonymous MB", "CPU ms in a minute"]);
    for (name, is_plain) in [("a plain bot (floor)", true), ("`bridge`", false)] {
        eprintln!("a messenger: {idle} s of idleness, {name}");
        let on = platform(messenger).await?;
        let bot = match is_plain {
            true => plain(plan, model, messenger, &on)?,
            false => bridge(plan, model, messenger, &on, &[])?,
        };
        until("a poll", PATIENCE, || on.is_polled().then_some(())).await?;
        tokio::time::sleep(SETTLING).await;
        let before = cpu_ms(bot.pid());
        tokio::time::sleep(Duration::from_secs(idle)).await;
        let cpu = (cpu_ms(bot.pid()) - before) * 60.0 / idle as f64;
        let (all, anonymous) = resident(bot.pid());
        table.row(&[cell(name), format!("{all:.1}"), format!("{anonymous:.1}"), format!("{cpu:.0}")]);
    }
    eprintln!("a messenger: {starts} starts");
    let mut cold = Table::new(&["start", "least ms", "median", "most"]);
    let home = home(plan, model)?;
    let mut times = Vec::new();
    for _ in 0..starts {
        let on = platform(messenger).await?;
        let begun = Instant::now();
        let bot = started(command(&home, messenger, &on, &[])?)?;
        let polled = until("a poll", PATIENCE, || on.first_poll()).await?;
        times.push(polled.saturating_duration_since(begun));
        bot.stop()?;
    }
    // The first makes the channel.
    let times = Spread::of(times.split_off(1));
    cold.row(&[cell("to the first poll"), ms(times.least()), ms(times.p50()), ms(times.most())]);
    Ok(format!(
        "{}From the start of the process to its first poll at the platform, {} starts.\n\n{}",
        table.text(),
        starts - 1,
        cold.text()
    ))
}

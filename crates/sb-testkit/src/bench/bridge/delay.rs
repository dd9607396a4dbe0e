//! What a bridge adds to one answer: from the update handed out to the model being asked, and from the
//! model's last words to the platform being told. One message at a time, each in a chat of its own.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::super::Plan;
use super::super::append::Disk;
use super::super::figures::{Spread, Table, cell, ms};
use super::super::model::Model;
use super::running::{Bot, bridge, plain};
use super::watch::{Watched, until};
use super::{Messenger, platform};

const PATIENCE: Duration = Duration::from_secs(20);
const ABOUT: &str = "Milliseconds, one message after another, each in a new chat, with `--debounce 0`; from the answer of the poll to the model's request, and from the model's last words to the platform's call that says them.";

pub async fn measure(plan: &Plan, messenger: &Messenger, model: &Model) -> Result<String> {
    let count = if plan.quick { 50 } else { 400 };
    let mut table = Table::new(&[
        "one after another",
        "in → model p50",
        "p99",
        "model → out p50",
        "p99",
        "both p50",
        "added to the floor",
        "the disk's commit p50",
    ]);
    let mut floor = None;
    for (name, flags) in [
        ("a plain bot (floor)", None),
        ("`bridge`", Some(&["--debounce", "0"][..])),
        (
            "`bridge`, nothing shown before the answer",
            Some(&["--debounce", "0", "--stream", "off", "--no-typing", "--no-reactions"]),
        ),
    ] {
        eprintln!("a messenger: delay, {name}");
        let on = platform(messenger).await?;
        let bot = match flags {
            None => plain(plan, model, messenger, &on)?,
            Some(flags) => bridge(plan, model, messenger, &on, flags)?,
        };
        let scratch = tempfile::tempdir_in(&plan.folder)?;
        let mut disk = Disk::open(scratch.path())?;
        let (to, from) = rounds(&on, model, &bot, &mut disk, count).await?;
        let both = to.p50() + from.p50();
        let added = both - *floor.get_or_insert(both);
        let (added, commit) = match flags {
            None => (cell("–"), cell("–")),
            Some(_) => (ms(added), ms(disk.commit_ms())),
        };
        table.row(&[
            cell(name),
            ms(to.p50()),
            ms(to.p99()),
            ms(from.p50()),
            ms(from.p99()),
            ms(both),
            added,
            commit,
        ]);
    }
    Ok(format!("{ABOUT}\n\n{}", table.text()))
}

async fn rounds(
    on: &Watched,
    model: &Model,
    _bot: &Bot,
    disk: &mut Disk,
    count: usize,
) -> Result<(Spread, Spread)> {
    let (mut to, mut from) = (Vec::new(), Vec::new());
    for n in 0..count + 30 {
        let person = on.platform.person();
        until("a poll", PATIENCE, || on.is_polled().then_some(())).await?;
        // What went before, such as a mark taken away, has its time to end.
        tokio::time::sleep(Duration::from_millis(15)).await;
        disk.try_once()?;
        on.forget();
        drop(model.take());
        let said = Instant::now();
        on.platform.say(&person, "Tell me about the garden, please.");
        let (given, told) =
            until("an answer", PATIENCE, || on.round().filter(|(given, _)| *given >= said)).await?;
        let (asked, answered) = model.take()?;
        if n >= 30 {
            to.push(asked.saturating_duration_since(given));
            from.push(told.saturating_duration_since(answered));
        }
    }
    Ok((Spread::of(to), Spread::of(from)))
}

//! The ledger: entries a second, signed and appended durably, one after another and many at once; and the
//! chain verified from its first entry, and taken up at a start.

use std::time::{Duration, Instant};

use anyhow::Result;
use sb_store::ledgers::Act;
use sb_store::model::{AccountKey, Timestamp};
use sb_store::{Durability, NewAccount, Store};

use super::Plan;
use super::figures::{Table, cell, ms, whole};
use crate::suites::store::samples::Seeded;

const NOON: Timestamp = Timestamp(1_800_000_000_000);
/// Who pay at once.
const PAYERS: u64 = 64;

pub(super) async fn measure(plan: &Plan) -> Result<String> {
    let (alone, entries) = if plan.quick { (100, 2_000) } else { (1_000, 20_000) };
    let folder = plan.folder.join("ledger");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let dice = Seeded::new(1);
    let store = Store::open(&folder, Durability::Power).await?;
    let open = |name: &str| NewAccount {
        name: name.to_owned(),
        parent: None,
        budget: "1000000".parse().unwrap_or_default(),
    };
    let mut keys = Vec::new();
    for name in ["ann", "ben"] {
        let opened = store.open_account(open(name), NOON, &dice).await?;
        keys.extend(opened.first().map(|entry| entry.by));
    }
    let [ann, ben] = keys[..] else { anyhow::bail!("two accounts were opened") };
    eprintln!("ledger: {alone} entries one after another, {entries} by {PAYERS} at once");
    let began = Instant::now();
    for _ in 0..alone {
        store.sign(ann, pays(ben), NOON).await?;
    }
    let one_by_one = began.elapsed();
    let began = Instant::now();
    let payers = (0..PAYERS).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            for _ in 0..entries / PAYERS {
                store.sign(ann, pays(ben), NOON).await?;
            }
            Ok::<_, anyhow::Error>(())
        })
    });
    for payer in payers.collect::<Vec<_>>() {
        payer.await??;
    }
    let at_once = began.elapsed();
    let began = Instant::now();
    let length = store.verify_ledger().await?;
    let verified = began.elapsed();
    store.close().await?;
    let began = Instant::now();
    let store = Store::open(&folder, Durability::Power).await?;
    let opened = began.elapsed();
    store.close().await?;
    let mut table = Table::new(&["what", "entries", "ms", "entries/s"]);
    let mut row = |what: &str, entries: u64, took: Duration| {
        table.row(&[
            cell(what),
            whole(entries as f64),
            ms(took.as_secs_f64() * 1000.0),
            whole(entries as f64 / took.as_secs_f64()),
        ]);
    };
    row("signed and appended, one after another", alone, one_by_one);
    row("signed and appended, 64 at once", entries / PAYERS * PAYERS, at_once);
    row("verified from the first, every signature", length, verified);
    row("taken up at a start, by their digests", length, opened);
    Ok(format!(
        "## The ledger\n\nEach append is durable when it returns; the file is on the disk that is measured.\n\n{}\n",
        table.text()
    ))
}

fn pays(to: AccountKey) -> Act {
    Act::Paid { to, amount: "0.01".parse().unwrap_or_default(), purpose: "bench".into(), once: None }
}

//! What finding a talk's session costs: beside few sessions and many, and for short histories and long ones.
//!
//! The scripted model answers, so that nothing but this server is timed. Sessions are written by the store
//! itself, as messages that were taken and answered.

use std::path::Path;

use anyhow::Result;
use sb_store::model::{Asked, Digest, Timestamp};
use sb_store::{Durability, Store, Version};

use super::super::Plan;
use super::super::figures::{Spread, Table, cell, ms, whole};
use super::super::server::{Home, Server};
use super::super::start::{exchange, inbound, of};
use super::{COMPLETIONS, Talk, words};

const NOON: Timestamp = Timestamp(1_800_000_000_000);
/// Sessions written at once.
const BATCH: u64 = 2_000;

pub(super) async fn measure(plan: &Plan) -> Result<String> {
    let (sizes, count) = match plan.quick {
        true => ([10, 1_000, 10_000], 50),
        false => ([10, 10_000, 1_000_000], 300),
    };
    let mut found =
        Table::new(&["sessions", "history of 2 messages p50 ms", "p99", "history of 20 p50 ms", "p99"]);
    let mut long = Table::new(&["messages before the last", "p50 ms", "p99", "KB of request"]);
    for size in sizes {
        let home = Home::make(plan, "scripted", None)?;
        eprintln!("openai: writing {size} sessions");
        fill(home.path(), size).await?;
        let (server, _) = home.start_with(&["--durability", "process"])?;
        let mut cells = vec![whole(size as f64)];
        for history in [2, 20] {
            let (times, _) = ask(&server, history, count).await?;
            cells.extend([ms(times.p50()), ms(times.p99())]);
        }
        found.row(&cells);
        if size == sizes[1] {
            for history in [2, 200, 2_000] {
                let (times, bytes) = ask(&server, history, count.min(100)).await?;
                long.row(&[
                    whole(history as f64),
                    ms(times.p50()),
                    ms(times.p99()),
                    cell(format!("{}", bytes / 1024)),
                ]);
            }
        }
        server.stop()?;
    }
    Ok(format!(
        "### Finding the session\n\nThe scripted model, `--durability process`, one request after another; each goes on from a talk that is known, and a history is as long as said when it is asked.\n\n{}{}",
        found.text(),
        long.text()
    ))
}

/// Goes on so many times from a talk with so many messages before the last; the times, and the request's size.
async fn ask(server: &Server, history: usize, count: usize) -> Result<(Spread, usize)> {
    let mut connection = server.connect().await?;
    let (mut times, mut bytes) = (Vec::new(), 0);
    for n in 0..count {
        let mut talk = Talk::of(&format!("h{history}n{n}"), history.saturating_sub(2));
        let body = talk.ask("bench", "Good morning.", false);
        let reply = connection.post(COMPLETIONS, &body).await?;
        talk.hear(&words(&reply.body, false)?);
        let body = talk.ask("bench", "And what of the garden?", false);
        bytes = body.len();
        let reply = connection.post(COMPLETIONS, &body).await?;
        times.push(reply.done - reply.sent);
    }
    Ok((Spread::of(times), bytes))
}

/// Writes so many sessions of one exchange each, each to be found by what was said in it.
async fn fill(home: &Path, sessions: u64) -> Result<()> {
    let store = Store::open(home, Durability::Process).await?;
    for from in (0..sessions).step_by(usize::try_from(BATCH)?) {
        let writes = (from..sessions.min(from + BATCH)).map(|n| {
            let store = store.clone();
            async move {
                let digest = Digest::of(&n.to_le_bytes());
                let message = inbound(&of(n));
                let asked = Asked {
                    owner: message.from.clone(),
                    others: false,
                    before: None,
                    whole: digest,
                    body: digest,
                    retried: false,
                    command: false,
                    named: false,
                    told: None,
                    system: None,
                };
                let session = sb_store::model::SessionId(n + 1);
                let placed = store.take_asked(message, asked, session, true, NOON).await?;
                store.commit(&placed.conversation, Version(0), exchange(&placed.taken, n)).await
            }
        });
        futures_util::future::try_join_all(writes).await?;
    }
    store.close().await?;
    Ok(())
}

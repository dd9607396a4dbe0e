//! Cold start: from the process's start to the first 200 of `/readyz`, in an empty and in a full home.
//!
//! The floor is the same program started for nothing (`--version`): what the system needs for a process.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use sb_store::model::{
    Busy, Change, ConversationId, EndKind, Ending, Entry, Inbound, Manner, Principal, Record, Rights, Seq,
    SessionId, Task, Timestamp, TurnId,
};
use sb_store::{Durability, Store, Taken, Version};

use super::Plan;
use super::figures::{Spread, Table, cell, ms, whole};
use super::server::Home;

const NOON: Timestamp = Timestamp(1_800_000_000_000);
/// Conversations prepared at once.
const BATCH: u64 = 1_000;

pub(super) async fn measure(plan: &Plan) -> Result<String> {
    let (starts, sessions) = if plan.quick { (5, 5_000) } else { (20, 100_000) };
    let mut table = Table::new(&["start", "least ms", "median", "most"]);
    let mut row = |name: &str, times: Vec<Duration>| {
        let times = Spread::of(times);
        table.row(&[cell(name), ms(times.least()), ms(times.p50()), ms(times.most())]);
    };
    let empty = Home::make(plan, "scripted", None)?;
    let full = Home::make(plan, "scripted", None)?;
    eprintln!("start: preparing {sessions} sessions");
    fill(full.path(), sessions).await?;
    eprintln!("start: {starts} starts each");
    row("`--version` (floor)", (0..starts).map(|_| version(&plan.binary)).collect::<Result<_>>()?);
    for (name, home) in [("no sessions", &empty), ("full", &full)] {
        let name = if name == "full" { format!("{} sessions", whole(sessions as f64)) } else { cell(name) };
        let mut times = Vec::new();
        for _ in 0..starts {
            let (server, time) = home.start("power")?;
            server.stop()?;
            times.push(time);
        }
        row(&name, times);
    }
    Ok(format!(
        "## Cold start\n\nFrom the start of the process to the first 200 of `/readyz`, {starts} starts each, after a clean end.\n\n{}",
        table.text()
    ))
}

fn version(binary: &Path) -> Result<Duration> {
    let begin = Instant::now();
    let status = Command::new(binary).arg("--version").stdout(Stdio::null()).status()?;
    ensure!(status.success(), "--version: {status}");
    Ok(begin.elapsed())
}

/// Writes so many conversations of one exchange each, as the engine would have left them.
async fn fill(home: &Path, sessions: u64) -> Result<()> {
    let store = Store::open(home, Durability::Process).await?;
    for from in (0..sessions).step_by(BATCH as usize) {
        let batch = (from..sessions.min(from + BATCH)).map(|n| inbound(&of(n))).collect();
        let taken = store.take_in(batch, NOON).await?;
        let commits = taken.into_iter().zip(from..).map(|(taken, n)| {
            let store = store.clone();
            async move { store.commit(&of(n), Version(0), exchange(&taken, n)).await }
        });
        futures_util::future::try_join_all(commits).await?;
    }
    store.close().await?;
    Ok(())
}

pub(super) fn of(n: u64) -> ConversationId {
    ConversationId::new("http", &"bench".into(), &format!("c{n}"))
}

pub(super) fn inbound(to: &ConversationId) -> Inbound {
    let manner = Manner {
        busy: Busy::Steer,
        debounce_ms: 0,
        commands_wait: true,
        stop_words: false,
        names_writers: false,
        ask_expiry_ms: None,
    };
    Inbound {
        conversation: to.clone(),
        profile: "bench".into(),
        session: None,
        key: None,
        from: Principal("http:machine".into()),
        rights: Rights::TALK,
        text: "Good morning.".into(),
        files: Vec::new(),
        manner,
        origin: None,
    }
}

pub(super) fn exchange(taken: &Taken, n: u64) -> Vec<Change> {
    let Taken::New(message) = taken else { return Vec::new() };
    let (session, turn) = (SessionId(n + 1), TurnId(n + 1));
    let logged = |seq, record| Change::Logged {
        session,
        entry: Entry { seq: Seq(seq), at: NOON, turn: Some(turn), record },
    };
    let said = Record::Said {
        message: message.id,
        from: message.from.clone(),
        text: message.text.clone(),
        files: Vec::new(),
        steered: false,
    };
    let ending = Ending::plain(EndKind::Replied, "Good morning to you.", Some(session));
    vec![
        Change::SessionBegan { id: session, at: NOON },
        Change::TurnBegan {
            turn,
            session,
            task: Task::Answer,
            messages: vec![message.id],
            from: Seq(1),
            rights: message.rights,
            at: NOON,
        },
        logged(1, said),
        logged(2, Record::Ended { how: EndKind::Replied, fault: None, declined: false }),
        Change::Ended { message: message.id, ending },
        Change::TurnEnded { turn, exchange: true },
    ]
}

//! Resident memory: idle, with ten thousand conversations awake, asleep, some at work, and started anew.
//!
//! A second ten thousand tells what grows with conversations from what the allocator merely keeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::task::JoinHandle;

use super::Plan;
use super::figures::{Table, cell};
use super::machine::resident;
use super::server::{Home, MESSAGES, Server};

/// Turns at work while memory is read.
const ACTIVE: usize = 100;
/// The longest that actors may take to leave.
const LEAVING: Duration = Duration::from_secs(150);

pub(super) async fn measure(plan: &Plan) -> Result<String> {
    let count = if plan.quick { 1_000 } else { 10_000 };
    let home = Home::make(plan, "scripted", None)?;
    let (server, _) = home.start("power")?;
    let mut table = Table::new(&["state", "conversations awake", "resident MB", "of it anonymous MB"]);
    let note = async |table: &mut Table, state: &str, server: &Server| -> Result<()> {
        let (all, anonymous) = resident(server.pid());
        let awake = server.awake().await?;
        table.row(&[cell(state), awake.to_string(), format!("{all:.1}"), format!("{anonymous:.1}")]);
        Ok(())
    };
    tokio::time::sleep(Duration::from_secs(2)).await;
    note(&mut table, "idle after the start", &server).await?;
    for wave in ["first", "second"] {
        eprintln!("memory: the {wave} {count} conversations, then until all sleep");
        create(&server, wave, count).await?;
        note(&mut table, &format!("the {wave} {count} conversations, a message each"), &server).await?;
        let begin = Instant::now();
        while begin.elapsed() < LEAVING && server.awake().await? > 0 {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        note(&mut table, "once they sleep", &server).await?;
    }
    let working = work(&server).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    note(&mut table, &format!("{ACTIVE} of them at work (in `!wait`)"), &server).await?;
    for turn in working {
        turn.await??;
    }
    server.stop()?;
    let (server, _) = home.start("power")?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    note(&mut table, &format!("started anew, {} conversations asleep", 2 * count), &server).await?;
    server.stop()?;
    Ok(format!("## Memory\n\n{}", table.text()))
}

/// A message to each of so many conversations, from 32 clients.
async fn create(server: &Server, wave: &'static str, count: u32) -> Result<()> {
    let next = Arc::new(AtomicU32::new(0));
    let mut clients = Vec::new();
    for _ in 0..32 {
        let (mut connection, next) = (server.connect().await?, next.clone());
        clients.push(tokio::spawn(async move {
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= count {
                    return anyhow::Ok(());
                }
                let body = format!(r#"{{"text":"Good morning.","conversation":"{wave}{n}"}}"#);
                connection.post(MESSAGES, &body).await?;
            }
        }));
    }
    for client in clients {
        client.await??;
    }
    Ok(())
}

async fn work(server: &Server) -> Result<Vec<JoinHandle<Result<()>>>> {
    let mut working = Vec::new();
    for n in 0..ACTIVE {
        let mut connection = server.connect().await?;
        let body = format!(r#"{{"text":"!wait 8","conversation":"first{n}"}}"#);
        working.push(tokio::spawn(async move { connection.post(MESSAGES, &body).await.map(drop) }));
    }
    Ok(working)
}

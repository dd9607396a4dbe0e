//! Turns a second: whole durable turns over HTTP, beside an echo server and beside the bare disk.
//!
//! Each client is one connection that writes to one conversation at a time and waits for each answer;
//! after a few turns it takes another conversation, as no person's has thousands.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::Plan;
use super::append;
use super::client::Connection;
use super::echo::Echo;
use super::figures::{Spread, Table, whole};
use super::machine::cpu_ms;
use super::server::{Home, MESSAGES, Server};

/// Turns before a client takes another conversation.
const TURNS: u32 = 20;

/// One measured rate, and the processor time of the server for each.
struct Rate {
    per_second: f64,
    cpu_us: f64,
}

/// All of one number of clients, a value each round.
#[derive(Default)]
struct Row {
    turns: Vec<f64>,
    cpu: Vec<f64>,
    fast: Vec<f64>,
    echoes: Vec<f64>,
    echo_cpu: Vec<f64>,
    appends: Vec<f64>,
}

pub(super) async fn measure(plan: &Plan) -> Result<String> {
    let (rounds, warm, time) = match plan.quick {
        true => (1, Duration::from_millis(300), Duration::from_secs(1)),
        false => (3, Duration::from_secs(1), Duration::from_secs(5)),
    };
    let (home, fast_home) = (Home::make(plan, "scripted", None)?, Home::make(plan, "scripted", None)?);
    let (server, _) = home.start("power")?;
    let (fast, _) = fast_home.start("process")?;
    let size = server.connect().await?.post(MESSAGES, &body("size", 0)).await?.body.len();
    let echo = Echo::start(&plan.own, size)?;
    let clients = [1, 16, 64];
    let mut rows: Vec<Row> = clients.iter().map(|_| Row::default()).collect();
    for round in 0..rounds {
        for (row, &n) in rows.iter_mut().zip(&clients) {
            eprintln!("turns: round {}, {n} at once", round + 1);
            let told = drive(&server.address, server.pid(), &server, n, warm, time, round).await?;
            row.turns.push(told.per_second);
            row.cpu.push(told.cpu_us);
            let told = drive(&fast.address, fast.pid(), &fast, n, warm, time / 2, round).await?;
            row.fast.push(told.per_second);
            let told = drive(&echo.address, echo.pid(), &server, n, warm / 2, time / 2, round).await?;
            row.echoes.push(told.per_second);
            row.echo_cpu.push(told.cpu_us);
            row.appends.push(append::rate(home.path(), n, time / 2).await?);
        }
    }
    server.stop()?;
    fast.stop()?;
    Ok(told(&clients, rows, rounds, size))
}

fn told(clients: &[usize], rows: Vec<Row>, rounds: usize, size: usize) -> String {
    let mut table = Table::new(&[
        "at once",
        "turns/s (least–most)",
        "echo/s",
        "turn : echo",
        "appends/s",
        "appends a turn",
        "turns/s, `process`",
        "CPU µs a turn",
        "CPU µs an echo",
    ]);
    let ratio = |over: &[f64], under: &[f64]| {
        Spread::of_numbers(over.iter().zip(under).map(|(o, u)| o / u).collect()).p50()
    };
    for (n, row) in clients.iter().zip(rows) {
        let (to_echo, to_append) = (ratio(&row.turns, &row.echoes), ratio(&row.appends, &row.turns));
        let turns = Spread::of_numbers(row.turns);
        let p50 = |numbers| whole(Spread::of_numbers(numbers).p50());
        table.row(&[
            n.to_string(),
            format!("{} ({}–{})", whole(turns.p50()), whole(turns.least()), whole(turns.most())),
            p50(row.echoes),
            format!("1 : {:.1}", 1.0 / to_echo),
            p50(row.appends),
            format!("{to_append:.1}"),
            p50(row.fast),
            p50(row.cpu),
            p50(row.echo_cpu),
        ]);
    }
    format!(
        "## Turns\n\nThe scripted model, one message and its answer ({size} bytes) each; medians of {rounds} rounds, in which program and floors take turns. Floors: an axum server that echoes as many bytes to the same client, and durable appends of 200 bytes to one file for as many callers, committed in groups.\n\n{}",
        table.text()
    )
}

fn body(conversation: &str, n: u32) -> String {
    format!(r#"{{"text":"Tell me about the garden, message {n}.","conversation":"{conversation}"}}"#)
}

/// Writes from `n` clients at once for `time`, after warming up. `like` lends its token.
async fn drive(
    address: &str,
    pid: u32,
    like: &Server,
    n: usize,
    warm: Duration,
    time: Duration,
    round: usize,
) -> Result<Rate> {
    let begin = Instant::now() + warm;
    let clients: Vec<_> = (0..n)
        .map(|client| {
            let (address, token) = (address.to_owned(), like.token());
            let name = format!("r{round}n{n}c{client}");
            tokio::spawn(
                async move { talk(Connection::open(&address, token).await?, &name, begin, time).await },
            )
        })
        .collect();
    tokio::time::sleep_until(begin.into()).await;
    let before = cpu_ms(pid);
    tokio::time::sleep(time).await;
    let cpu = cpu_ms(pid) - before;
    let mut turns = 0;
    for client in clients {
        turns += client.await??;
    }
    let turns = f64::from(turns);
    Ok(Rate { per_second: turns / time.as_secs_f64(), cpu_us: cpu * 1000.0 / turns.max(1.0) })
}

/// One client; how many turns it had answered between `begin` and the end of `time`.
async fn talk(mut connection: Connection, name: &str, begin: Instant, time: Duration) -> Result<u32> {
    let (end, mut counted) = (begin + time, 0);
    for n in 0.. {
        let reply = connection.post(MESSAGES, &body(&format!("{name}k{}", n / TURNS), n)).await?;
        if reply.done > end {
            break;
        }
        counted += u32::from(reply.done >= begin);
    }
    Ok(counted)
}

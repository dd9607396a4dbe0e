//! Requests a second of many talks at once, and what one alone waits for, whole and streamed.
//!
//! A talk begins with ten messages that nobody has heard and ends with thirty, so a history has twenty on
//! average; one request in eleven begins a talk. All three are asked the same.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::super::Plan;
use super::super::append::Disk;
use super::super::client::Connection;
use super::super::echo::Echo;
use super::super::figures::{Spread, Table, cell, ms, whole};
use super::super::machine::cpu_ms;
use super::super::model::Model;
use super::super::server::Home;
use super::{COMPLETIONS, Talk, words};

const AT_ONCE: usize = 32;
const FIRST: usize = 10;
const LAST: usize = 30;
/// The first words of any answer, in a chunk.
const MARK: &str = "\"content\":\"You";
/// The commits that an answer waits for: taken, turn begun, turn ended, answer noted.
const COMMITS: f64 = 4.0;

/// One that is asked.
struct Asked {
    name: &'static str,
    address: String,
    token: &'static str,
    model: &'static str,
    pid: Option<u32>,
}

/// What was found of it, whole and streamed.
#[derive(Default)]
struct Found {
    rates: [Vec<f64>; 2],
    cpu: [Vec<f64>; 2],
    alone: [Vec<Duration>; 2],
    first_words: Vec<Duration>,
}

pub(super) async fn measure(plan: &Plan) -> Result<String> {
    let (rounds, time, alone) = match plan.quick {
        true => (1, Duration::from_secs(1), 50),
        false => (3, Duration::from_secs(4), 200),
    };
    let model = Arc::new(Model::serve().await?);
    let base = format!("http://{}/v1", model.address);
    let home = Home::make(plan, "openai:small", Some(&base))?;
    let (server, _) = home.start_with(&["--parallel", "64"])?;
    let pass = Echo::start_as(&plan.own, &["--pass", &base])?;
    let token = server.token();
    let asked = [
        Asked {
            name: "the model directly",
            address: model.address.clone(),
            token,
            model: "small",
            pid: None,
        },
        Asked {
            name: "a pass-through (floor)",
            address: pass.address.clone(),
            token,
            model: "small",
            pid: Some(pass.pid()),
        },
        Asked {
            name: "Switchboard",
            address: server.address.clone(),
            token,
            model: "bench",
            pid: Some(server.pid()),
        },
    ];
    let mut found: Vec<Found> = asked.iter().map(|_| Found::default()).collect();
    let mut disk = Disk::open(home.path())?;
    let forgetting = tokio::spawn(forget(model.clone()));
    for round in 0..rounds {
        for streams in [false, true] {
            for (asked, found) in asked.iter().zip(&mut found) {
                eprintln!("openai: round {}, {}, streamed: {streams}", round + 1, asked.name);
                let (rate, cpu) = many(asked, round, streams, time).await?;
                found.rates[usize::from(streams)].push(rate);
                found.cpu[usize::from(streams)].push(cpu);
                one(asked, found, &mut disk, round, streams, alone).await?;
            }
        }
    }
    forgetting.abort();
    server.stop()?;
    Ok(told(&asked, found, rounds, disk.commit_ms()))
}

/// The model keeps what it was asked, and nobody here wants to know.
async fn forget(model: Arc<Model>) {
    loop {
        tokio::time::sleep(Duration::from_millis(50)).await;
        model.forget();
    }
}

async fn many(asked: &Asked, round: usize, streams: bool, time: Duration) -> Result<(f64, f64)> {
    let begin = Instant::now() + time / 4;
    let end = begin + time;
    let mut clients = Vec::new();
    for client in 0..AT_ONCE {
        let mut connection = Connection::open(&asked.address, asked.token).await?;
        let (model, name) = (asked.model, format!("r{round}{streams}c{client}"));
        clients.push(tokio::spawn(async move {
            let mut counted = 0_u32;
            for talk in 0.. {
                let mut talk = Talk::of(&format!("{name}t{talk}"), FIRST);
                while talk.messages.len() <= LAST {
                    let body = talk.ask(model, "And what of the garden?", streams);
                    let reply = connection.post(COMPLETIONS, &body).await?;
                    if reply.done > end {
                        return anyhow::Ok(counted);
                    }
                    counted += u32::from(reply.done >= begin);
                    talk.hear(&words(&reply.body, streams)?);
                }
            }
            Ok(counted)
        }));
    }
    tokio::time::sleep_until(begin.into()).await;
    let cpu = || asked.pid.map_or(0.0, cpu_ms);
    let before = cpu();
    tokio::time::sleep_until(end.into()).await;
    let used = cpu() - before;
    let mut all = 0;
    for client in clients {
        all += client.await??;
    }
    let all = f64::from(all);
    Ok((all / time.as_secs_f64(), used * 1000.0 / all.max(1.0)))
}

/// One request after another.
async fn one(
    asked: &Asked,
    found: &mut Found,
    disk: &mut Disk,
    round: usize,
    streams: bool,
    count: usize,
) -> Result<()> {
    let mut connection = Connection::open(&asked.address, asked.token).await?;
    let mut talk = Talk::of(&format!("alone{round}{streams}0"), FIRST);
    for n in 0..count {
        if talk.messages.len() > LAST {
            talk = Talk::of(&format!("alone{round}{streams}{n}"), FIRST);
        }
        let body = talk.ask(asked.model, "And what of the garden?", streams);
        let reply = if streams {
            let (reply, first) = connection.stream(COMPLETIONS, &body, MARK).await?;
            found.first_words.push(first - reply.sent);
            reply
        } else {
            connection.post(COMPLETIONS, &body).await?
        };
        found.alone[usize::from(streams)].push(reply.done - reply.sent);
        talk.hear(&words(&reply.body, streams)?);
        disk.try_once()?;
    }
    Ok(())
}

fn told(asked: &[Asked], found: Vec<Found>, rounds: usize, commit: f64) -> String {
    let mut rates = Table::new(&[
        "32 talks at once",
        "whole/s (least–most)",
        "of the floor",
        "CPU µs each",
        "streamed/s (least–most)",
        "of the floor",
        "CPU µs each",
    ]);
    let mut alone = Table::new(&[
        "one after another, ms",
        "whole p50",
        "p99",
        "first words p50",
        "p99",
        "streamed p50",
        "p99",
        "added to the floor, whole",
        "beyond the disk's commits",
    ]);
    let floor: Vec<Vec<f64>> = found.get(1).map(|f| f.rates.to_vec()).unwrap_or_default();
    let floor_ms = found.get(1).map_or(f64::NAN, |f| Spread::of(f.alone[0].clone()).p50());
    for (asked, found) in asked.iter().zip(found) {
        let is_ours = asked.name == "Switchboard";
        let mut cells = vec![cell(asked.name)];
        for streams in [0, 1] {
            let share: Vec<f64> =
                found.rates[streams].iter().zip(&floor[streams]).map(|(ours, floor)| ours / floor).collect();
            let rate = Spread::of_numbers(found.rates[streams].clone());
            cells.push(format!("{} ({}–{})", whole(rate.p50()), whole(rate.least()), whole(rate.most())));
            cells.push(format!("{:.2}", Spread::of_numbers(share).p50()));
            cells.push(match asked.pid {
                Some(_) => whole(Spread::of_numbers(found.cpu[streams].clone()).p50()),
                None => cell("–"),
            });
        }
        rates.row(&cells);
        let [total, streamed] = found.alone.map(Spread::of);
        let first = Spread::of(found.first_words);
        let mut cells = vec![cell(asked.name)];
        for spread in [&total, &first, &streamed] {
            cells.extend([ms(spread.p50()), ms(spread.p99())]);
        }
        let added = total.p50() - floor_ms;
        cells.push(if is_ours { ms(added) } else { cell("–") });
        cells.push(if is_ours { ms(added - COMMITS * commit) } else { cell("–") });
        alone.row(&cells);
    }
    format!(
        "Histories of ten to thirty messages, twenty on average; one request in eleven begins a talk that was held elsewhere. Medians of {rounds} rounds, in which all three take turns. Client and model share one process, and the two cores with what is measured. An answer waits for four commits (taken, turn begun, turn ended, answer noted), each {} ms on this disk.\n\n{}{}",
        ms(commit),
        rates.text(),
        alone.text()
    )
}

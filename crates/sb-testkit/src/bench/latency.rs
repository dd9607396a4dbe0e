//! Latency the program adds around a model's answer, beside calling the model directly.
//!
//! Two stretches are timed: from the request's first byte at the client to the request's arrival at the
//! model, and from the model's last words to the answer's last byte at the client. All instants are of one
//! clock, as client and model live in this process. A plain turn commits three times: the message before
//! it is acknowledged and the turn before the model is asked, then its end before it is told.

use anyhow::Result;
use serde_json::json;
use std::time::Duration;

use super::Plan;
use super::append::Disk;
use super::client::{Connection, Reply};
use super::figures::{Spread, Table, cell, ms};
use super::model::Model;
use super::server::{Home, MESSAGES};

const WORDS: &str = "Tell me about the garden, please.";
const ABOUT: &str = "Milliseconds, over OpenAI's dialect, streamed. The disk's own commit (write and fdatasync of 200 bytes appended or 16 KiB written over, whichever is cheaper) is timed between the requests; a turn waits for three, two of them before the model is asked. With `process` it waits for none.";
const COMPLETIONS: &str = "/v1/chat/completions";
/// Of a plain turn: two before the model is asked, one after.
const COMMITS: f64 = 3.0;

/// The two stretches, a time for each request, and the disk's own commit in between.
#[derive(Default)]
struct Times {
    to_model: Vec<Duration>,
    from_model: Vec<Duration>,
    commit_ms: f64,
}

impl Times {
    fn add(&mut self, reply: &Reply, model: &Model) -> Result<()> {
        let (arrived, answered) = model.take()?;
        self.to_model.push(arrived - reply.sent);
        self.from_model.push(reply.done.saturating_duration_since(answered));
        Ok(())
    }
    fn part(&self, from: usize, to: usize) -> (Spread, Spread) {
        let of = |times: &[Duration]| Spread::of(times[from..to.min(times.len())].to_vec());
        (of(&self.to_model), of(&self.from_model))
    }
    fn all(&self) -> (Spread, Spread) {
        self.part(0, self.to_model.len())
    }
}

pub(super) async fn measure(plan: &Plan) -> Result<String> {
    let count = if plan.quick { 100 } else { 600 };
    let model = Model::serve().await?;
    eprintln!("latency: the model directly");
    let direct = directly(&model, count).await?;
    let mut power = Vec::new();
    let mut process = Vec::new();
    for (durability, found) in [("power", &mut power), ("process", &mut process)] {
        for one in [false, true] {
            eprintln!(
                "latency: {durability}, {}",
                if one { "one conversation" } else { "a conversation each" }
            );
            found.push(through(plan, &model, durability, one, count).await?);
        }
    }
    Ok(told(&direct, &power, &process))
}

/// The same words to the model itself.
async fn directly(model: &Model, count: usize) -> Result<Times> {
    let mut connection = Connection::open(&model.address, "bench-key").await?;
    let body = json!({"model": "small", "stream": true, "stream_options": {"include_usage": true},
                      "messages": [{"role": "user", "content": WORDS}]});
    let body = body.to_string();
    let mut times = Times::default();
    for n in 0..count + 50 {
        let reply = connection.post(COMPLETIONS, &body).await?;
        match n < 50 {
            true => drop(model.take()?),
            false => times.add(&reply, model)?,
        }
    }
    Ok(times)
}

/// Through the program; after warming up, in one conversation or in one each.
async fn through(plan: &Plan, model: &Model, durability: &str, one: bool, count: usize) -> Result<Times> {
    let base = format!("http://{}/v1", model.address);
    let home = Home::make(plan, "openai:small", Some(&base))?;
    let (server, _) = home.start(durability)?;
    let mut connection = server.connect().await?;
    let mut disk = Disk::open(home.path())?;
    let mut times = Times::default();
    for n in 0..count + 50 {
        let name = if n < 50 {
            format!("warm{n}")
        } else if one {
            "one".to_owned()
        } else {
            format!("c{n}")
        };
        let body = json!({"text": WORDS, "conversation": name}).to_string();
        let reply = connection.post(MESSAGES, &body).await?;
        match n < 50 {
            true => drop(model.take()?),
            false => times.add(&reply, model)?,
        }
        disk.try_once()?;
    }
    times.commit_ms = disk.commit_ms();
    server.stop()?;
    Ok(times)
}

fn told(direct: &Times, power: &[Times], process: &[Times]) -> String {
    let mut table = Table::new(&[
        "requests one after another",
        "in → model p50",
        "p99",
        "model → out p50",
        "p99",
        "added p50",
        "the disk's commit p50",
        "added beyond the disk's commits",
    ]);
    let floor = direct.all();
    let mut row = |name: &str, (to, from): (Spread, Spread), commit: Option<f64>| {
        let added = to.p50() - floor.0.p50() + from.p50() - floor.1.p50();
        let (added, commit, beyond) = match commit {
            None => (cell("–"), cell("–"), cell("–")),
            Some(commit) => (ms(added), ms(commit), ms(added - COMMITS * commit)),
        };
        table.row(&[
            cell(name),
            ms(to.p50()),
            ms(to.p99()),
            ms(from.p50()),
            ms(from.p99()),
            added,
            commit,
            beyond,
        ]);
    };
    row("the model directly (floor)", direct.all(), None);
    for (durability, found, waits) in [("power", power, true), ("process", process, false)] {
        let [fresh, one] = found else { continue };
        let last = one.to_model.len();
        let commit = |times: &Times| Some(if waits { times.commit_ms } else { 0.0 });
        row(&format!("`{durability}`, a conversation each"), fresh.all(), commit(fresh));
        row(&format!("`{durability}`, one conversation, first 100"), one.part(0, 100), commit(one));
        let end = one.part(last.saturating_sub(100), last);
        row(&format!("`{durability}`, one conversation, last 100 of {last}"), end, commit(one));
    }
    format!("## Added latency\n\n{ABOUT}\n\n{}", table.text())
}

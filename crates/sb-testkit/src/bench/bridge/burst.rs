//! Many people at once: how long until all are answered, what was lost or doubled, and what it took.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::super::Plan;
use super::super::figures::{Spread, Table, cell, ms, whole};
use super::super::machine::{cpu_ms, field};
use super::super::model::Model;
use super::running::{bridge, plain};
use super::watch::{Watched, until};
use super::{Messenger, platform};

const CHATS: usize = 200;
const EACH: usize = 5;
const PATIENCE: Duration = Duration::from_secs(60);
/// What is said twice would be there by then.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// One round.
struct Round {
    seconds: f64,
    answers: usize,
    lost: usize,
    doubled: usize,
    cpu_ms: f64,
    peak_mb: f64,
    calls: Vec<(String, usize)>,
}

pub async fn measure(plan: &Plan, messenger: &Messenger, model: &Model) -> Result<String> {
    let rounds = if plan.quick { 1 } else { 3 };
    let mut table = Table::new(&[
        "200 chats × 5 messages at once",
        "seconds until all are answered (least–most)",
        "answers",
        "lost",
        "doubled",
        "CPU ms a message",
        "peak resident MB",
        "calls an answer",
    ]);
    let variants = [
        ("a plain bot (floor)", None),
        ("`bridge`, default settings", Some(&[][..])),
        (
            "`bridge`, an answer each (`--debounce 0 --busy queue`)",
            Some(&["--debounce", "0", "--busy", "queue"][..]),
        ),
        (
            "the same, 16 chats side by side (`--parallel 16`)",
            Some(&["--debounce", "0", "--busy", "queue", "--parallel", "16"][..]),
        ),
    ];
    let mut found: Vec<Vec<Round>> = variants.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for (at, (name, flags)) in variants.iter().enumerate() {
            eprintln!("a messenger: 1,000 messages, {name}, round {}", round + 1);
            found[at].push(once(plan, messenger, model, *flags).await?);
        }
    }
    for ((name, _), rounds) in variants.iter().zip(&found) {
        table.row(&row(name, rounds));
    }
    Ok(format!(
        "{} messages at once, {rounds} rounds in which bot and floor take turns; medians. A message counts as lost if no answer repeats it, as doubled if two do. With default settings the messages of a chat are joined, so there are fewer answers than messages.\n\n{}",
        whole((CHATS * EACH) as f64),
        table.text()
    ))
}

fn row(name: &str, rounds: &[Round]) -> Vec<String> {
    let middle = |of: fn(&Round) -> f64| Spread::of_numbers(rounds.iter().map(of).collect());
    let seconds = middle(|r| r.seconds);
    let calls = rounds.first().map(|round| {
        let each = |(name, count): &(String, usize)| {
            format!("{name} {:.2}", *count as f64 / round.answers.max(1) as f64)
        };
        round.calls.iter().map(each).collect::<Vec<_>>().join(", ")
    });
    vec![
        cell(name),
        format!("{} ({}–{})", ms(seconds.p50()), ms(seconds.least()), ms(seconds.most())),
        whole(middle(|r| r.answers as f64).p50()),
        rounds.iter().map(|r| r.lost).sum::<usize>().to_string(),
        rounds.iter().map(|r| r.doubled).sum::<usize>().to_string(),
        ms(middle(|r| r.cpu_ms).p50()),
        format!("{:.1}", middle(|r| r.peak_mb).p50()),
        calls.unwrap_or_default(),
    ]
}

async fn once(plan: &Plan, messenger: &Messenger, model: &Model, flags: Option<&[&str]>) -> Result<Round> {
    let on = platform(messenger).await?;
    let bot = match flags {
        None => plain(plan, model, messenger, &on)?,
        Some(flags) => bridge(plan, model, messenger, &on, flags)?,
    };
    until("a poll", PATIENCE, || on.is_polled().then_some(())).await?;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let people: Vec<String> = (0..CHATS).map(|_| on.platform.person()).collect();
    on.forget();
    let (before, begun) = (cpu_ms(bot.pid()), Instant::now());
    for n in 0..EACH {
        for (at, person) in people.iter().enumerate() {
            on.platform.say(person, &format!("About {} please", word(at, n)));
        }
    }
    let mut open: Vec<usize> = (0..CHATS).collect();
    while !open.is_empty() && begun.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(20)).await;
        open.retain(|at| (0..EACH).any(|n| times(&on, &people[*at], &word(*at, n)) == 0));
    }
    let seconds = on.last_said().map_or(f64::NAN, |at| (at - begun).as_secs_f64());
    let cpu = cpu_ms(bot.pid()) - before;
    tokio::time::sleep(AFTERWARDS).await;
    let counts: Vec<usize> = (0..CHATS)
        .flat_map(|at| (0..EACH).map(move |n| (at, n)))
        .map(|(at, n)| times(&on, &people[at], &word(at, n)))
        .collect();
    let round = Round {
        seconds,
        answers: people.iter().map(|person| on.platform.answers(person).len()).sum(),
        lost: counts.iter().filter(|count| **count == 0).count(),
        doubled: counts.iter().filter(|count| **count > 1).count(),
        cpu_ms: cpu / (CHATS * EACH) as f64,
        peak_mb: field(format!("/proc/{}/status", bot.pid()), "VmHWM:")
            .map_or(f64::NAN, |kb| kb as f64 / 1024.0),
        calls: on.counts(),
    };
    bot.stop()?;
    model.forget();
    Ok(round)
}

fn word(chat: usize, n: usize) -> String {
    format!("m{chat}x{n}")
}

fn times(on: &Watched, person: &str, word: &str) -> usize {
    on.platform.answers(person).iter().filter(|text| text.split_whitespace().any(|w| w == word)).count()
}

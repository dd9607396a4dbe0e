//! The verdict: the clients' book against what the program says now.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use anyhow::Result;
use sb_core::model::{Entry, Record};
use serde::Deserialize;

use super::book::{Book, Page};
use super::client;
use super::server::Server;

/// What came of a soak.
#[derive(Debug, Default)]
pub struct Report {
    pub kills: u32,
    /// Kills that fell while at least one acknowledged message was unanswered.
    pub at_work: u32,
    /// Messages acknowledged to a client.
    pub acknowledged: usize,
    /// Of those, answered by a card that says the turn was cut off too often.
    pub given_up: usize,
    /// Deeds asked for, done, and told as perhaps done.
    pub deeds: usize,
    pub deeds_done: usize,
    /// Everything that must not be; empty is a pass.
    pub wrong: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} kills, {} of them on turns at work; {} messages acknowledged, {} given up after three crashes; {} deeds asked for, {} done",
            self.kills, self.at_work, self.acknowledged, self.given_up, self.deeds, self.deeds_done
        )?;
        self.wrong.iter().try_for_each(|w| writeln!(f, "WRONG: {w}"))
    }
}

#[derive(Deserialize)]
struct Trace {
    entries: Vec<Entry>,
}

pub(super) async fn judge(server: &Server, book: &Book, kills: u32, at_work: u32) -> Result<Report> {
    let mut report = Report { kills, at_work, ..Report::default() };
    let pages = book.pages();
    let told: BTreeMap<&String, &Page> = pages.iter().filter(|(_, p)| p.acknowledged).collect();
    report.acknowledged = told.len();
    for (name, page) in &told {
        ask_again(server, book, name, page, &mut report).await?;
    }
    let logs = logs(server, &told).await?;
    let acts = std::fs::read_to_string(server.workspace().join("acts")).unwrap_or_default();
    let mut done: HashMap<&str, usize> = HashMap::new();
    acts.lines().for_each(|line| *done.entry(line.trim()).or_default() += 1);
    for (name, page) in &told {
        let given_up = page.answered.as_ref().is_some_and(|a| a.contains("⚠️"));
        report.given_up += usize::from(given_up);
        let words = logs.get(&format!("done-{name}")).copied().unwrap_or(0);
        if words != 1 && !(given_up && words == 0) {
            report.wrong.push(format!("{name}: its answer is {words} times in the log"));
        }
        if page.acts {
            let times = done.get(name.as_str()).copied().unwrap_or(0);
            report.deeds += 1;
            report.deeds_done += usize::from(times == 1);
            if times > 1 {
                report.wrong.push(format!("{name}: its deed was done {times} times"));
            }
        }
    }
    Ok(report)
}

/// The same key must give the same answer, and that answer must be this message's.
async fn ask_again(server: &Server, book: &Book, name: &str, page: &Page, report: &mut Report) -> Result<()> {
    let Some(first) = &page.answered else {
        report.wrong.push(format!("{name}: acknowledged, never answered"));
        return Ok(());
    };
    let right = first.ends_with(&format!("done-{name}")) || first.contains("⚠️");
    if !right {
        report.wrong.push(format!("{name}: answered with {first:?}"));
    }
    if !client::attempt(&server.client(), book, name).await? {
        report.wrong.push(format!("{name}: not answered when asked again"));
    }
    let again = book.pages().remove(name).and_then(|p| p.answered);
    if again.as_ref() != Some(first) {
        report.wrong.push(format!("{name}: first answered {first:?}, then {again:?}"));
    }
    Ok(())
}

/// How often each answer's words stand in the logs of all sessions.
async fn logs(server: &Server, told: &BTreeMap<&String, &Page>) -> Result<HashMap<String, usize>> {
    let sessions: BTreeSet<&String> = told.values().filter_map(|p| p.session.as_ref()).collect();
    let mut words = HashMap::new();
    for session in sessions {
        let trace: Trace = serde_json::from_str(&server.command(&["trace", session, "--json"]).await?)?;
        for entry in trace.entries {
            if let Record::Answered { text, .. } = entry.record {
                text.split_whitespace()
                    .filter(|w| w.starts_with("done-"))
                    .for_each(|w| *words.entry(w.to_owned()).or_default() += 1);
            }
        }
    }
    Ok(words)
}

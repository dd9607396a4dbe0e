//! What the imitated network keeps of what was said, and how far it was read.

use sb_channel::model::Timestamp;

use super::super::line::{Line, write};
use super::super::parse::{time, written};
use super::HOST;
use super::server::answer;
use super::state::{Said, State, fold};

const MOST: usize = 100;

/// Answers a question for history.
pub(super) fn tell(state: &mut State, id: u64, me: &str, line: &Line) {
    let what = line.param(0).to_ascii_uppercase();
    let most = line.words().parse().map_or(MOST, |most: usize| most.min(MOST));
    if what == "TARGETS" {
        return targets(state, id, me, line, most);
    }
    let target = line.param(1).to_owned();
    let at = point(state, line.param(2));
    let all: Vec<Said> = state.talk(me, &target).cloned().collect();
    let told: Vec<Said> = match what.as_str() {
        "AFTER" => all.into_iter().filter(|said| Some(said.at) > at).take(most).collect(),
        "BEFORE" | "LATEST" => {
            let before = |said: &Said| what == "LATEST" || Some(said.at) < at;
            let after = |said: &Said| what != "LATEST" || Some(said.at) > at;
            let mut told: Vec<Said> =
                all.into_iter().rev().filter(|said| before(said) && after(said)).take(most).collect();
            told.reverse();
            told
        }
        other => {
            let words = ["CHATHISTORY", "INVALID_PARAMS", other, "Only AFTER, BEFORE, LATEST and TARGETS"];
            return state.tell(id, &format!(":{HOST} {}", write(&[], "FAIL", &words)));
        }
    };
    let batch = batch(state);
    state.tell(id, &format!(":{HOST} BATCH +{batch} chathistory {target}"));
    for said in &told {
        state.tell_said(id, said, &[("batch", &batch)]);
    }
    state.tell(id, &format!(":{HOST} BATCH -{batch}"));
}

fn targets(state: &mut State, id: u64, me: &str, line: &Line, most: usize) {
    let (from, to) = (point(state, line.param(1)), point(state, line.param(2)));
    let us = fold(me);
    let mut last: Vec<(String, Timestamp)> = Vec::new();
    for said in &state.said {
        let there = match (fold(&said.target) == us, fold(&said.from) == us) {
            (true, _) => said.from.clone(),
            (false, true) => said.target.clone(),
            _ if state.channels.get(&fold(&said.target)).is_some_and(|c| c.members.contains(&us)) => {
                said.target.clone()
            }
            _ => continue,
        };
        last.retain(|(name, _)| fold(name) != fold(&there));
        last.push((there, said.at));
    }
    let batch = batch(state);
    state.tell(id, &format!(":{HOST} BATCH +{batch} draft/chathistory-targets"));
    let within = |at: Timestamp| Some(at) > from && to.is_none_or(|to| at < to);
    for (name, at) in last.into_iter().filter(|(_, at)| within(*at)).take(most) {
        let told = write(&[], "CHATHISTORY", &["TARGETS", &name, &written(at)]);
        let head = write(&[("batch", &batch)], "", &[]);
        state.tell(id, &format!("{head}:{HOST} {told}"));
    }
    state.tell(id, &format!(":{HOST} BATCH -{batch}"));
}

fn batch(state: &mut State) -> String {
    state.ids += 1;
    format!("b{}", state.ids)
}

/// `timestamp=…` or `msgid=…`.
fn point(state: &State, text: &str) -> Option<Timestamp> {
    let (how, value) = text.split_once('=')?;
    match how {
        "timestamp" => time(value),
        _ => state.said.iter().find(|said| said.id == value).map(|said| said.at),
    }
}

/// Notes how far somebody read, or tells it.
pub(super) fn mark(state: &mut State, id: u64, me: &str, line: &Line) {
    let there = (fold(me), fold(line.param(0)));
    if let Some(at) = point(state, line.param(1)) {
        let read = state.read.entry(there.clone()).or_insert(at);
        *read = at.max(*read);
    }
    match state.read.get(&there).map(|at| written(*at)) {
        Some(at) => {
            let words = ["MARKREAD", line.param(0)];
            state.tell(id, &format!(":{HOST} {} {} timestamp={at}", words[0], words[1]));
        }
        None if line.params.len() == 1 => {
            state.tell(id, &format!(":{HOST} MARKREAD {} *", line.param(0)));
        }
        None => answer(state, id, line, "461", &["MARKREAD"], "Not enough parameters"),
    }
}

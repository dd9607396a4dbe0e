//! `trace`: everything that happened in a session, in order, with who said and decided what.

use sb_engine::model::text::counted;
use std::collections::HashMap;

use anyhow::Result;
use sb_doors::local::client::Desk;
use sb_doors::local::wire;
use sb_engine::core::rules;
use sb_engine::model::{Attachment, Call, CallId, EndKind, Entry, Record, Timestamp, Usage};

use super::session;
use crate::args::Trace;
use crate::output;

/// Lines of a change that are shown.
const LINES_SHOWN: usize = 200;

/// Shows one.
pub async fn run(args: Trace, desk: &Desk) -> Result<()> {
    let trace = desk.trace(session::id(&args.session)?).await?;
    if args.json {
        return output::json(&trace);
    }
    output::foreign(&page(&trace))
}

/// The whole trace as text.
fn page(trace: &wire::Trace) -> String {
    let session = &trace.session;
    let title = session.title.as_ref().map_or_else(String::new, |title| format!(" \"{title}\""));
    let mut lines = vec![format!(
        "session {}{title}: profile {}, conversation {}, {}, begun {}",
        session.id,
        session.profile,
        session::conversation(&session.conversation),
        session.state,
        session.began
    )];
    let mut calls = Calls::of(&trace.entries);
    for entry in &trace.entries {
        for said in told(entry, &mut calls) {
            lines.push(format!("{}  {}", time(entry.at), indented(&said)));
        }
    }
    if let Some(waiting) = &trace.waiting {
        let text = |name: &str| waiting.get(name).and_then(|v| v.as_str()).unwrap_or_default();
        lines.push(format!(
            "It waits for a person: request {} ({}). Decide with: switchboard continue {} --approve, or --decline WHY",
            text("request"),
            text("reason"),
            session.id
        ));
    }
    lines.join("\n")
}

fn time(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.0).map_or_else(|_| at.0.to_string(), |at| format!("{at:.3}"))
}

/// How calls are told apart: by their tool, and by a number where a turn has several.
#[derive(Default)]
struct Calls {
    names: HashMap<CallId, String>,
    numbers: HashMap<CallId, usize>,
}

impl Calls {
    /// Numbers the calls of every turn that has more than one.
    fn of(entries: &[Entry]) -> Self {
        let mut turns: HashMap<_, Vec<&CallId>> = HashMap::new();
        for entry in entries {
            if let Record::Answered { calls, .. } = &entry.record {
                turns.entry(entry.turn).or_default().extend(calls.iter().map(|call| &call.id));
            }
        }
        let several = turns.into_values().filter(|calls| calls.len() > 1);
        let numbers = several.flat_map(|calls| (1..).zip(calls).map(|(n, id)| (id.clone(), n)));
        Self { numbers: numbers.collect(), names: HashMap::new() }
    }

    /// `text` about a call, with its number before it.
    fn numbered(&self, id: &CallId, text: &str) -> String {
        self.numbers.get(id).map_or_else(|| text.to_owned(), |number| format!("#{number} {text}"))
    }

    fn named(&self, id: &CallId) -> String {
        self.names.get(id).map_or_else(|| format!("call {id}"), |tool| self.numbered(id, tool))
    }
}

/// What one entry says, a line each.
fn told(entry: &Entry, calls: &mut Calls) -> Vec<String> {
    vec![match &entry.record {
        Record::Said { from, text, files, steered, .. } => {
            let how = if *steered { " says meanwhile" } else { " says" };
            format!("{}{how}: {text}{}", from.0, listed(files))
        }
        Record::Answered { text, calls: made, model, usage, cut, .. } => {
            return answered(text, made, (model, usage, *cut), calls);
        }
        Record::Asked { request, call, reason } => {
            format!("asks for approval: {} ({reason}; request {})", calls.named(call), request.short())
        }
        Record::Decided { request, call, by, allowed, why, always } => {
            let what = if *allowed { "approved" } else { "declined" };
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            let always =
                always.as_ref().map_or_else(String::new, |rule| format!("; always: {}", rules::shown(rule)));
            let call = calls.numbered(&call.id, &call.shown());
            format!("{what} by {}: {call} (request {}){why}{always}", by.0, request.short())
        }
        Record::Acting { call } => format!("runs {}", calls.named(call)),
        Record::Result { call, ok, text, files, outside } => {
            let how = if *ok { "gave" } else { "failed" };
            let whence = if *outside { " (content from outside)" } else { "" };
            format!("{} {how}{whence}: {text}{}", calls.named(call), listed(files))
        }
        Record::Shared { file } => format!("shares a file{}", listed(std::slice::from_ref(file))),
        Record::Undone { turn } => format!("the exchange of turn {turn} is forgotten"),
        Record::Summary { text, covers } => format!("everything up to entry {} is kept as: {text}", covers.0),
        Record::Restarted { starts } => format!("taken up again after a restart (start {starts})"),
        Record::Opened { id } => format!("the agent keeps this as its own session {id}"),
        Record::Ended { how, fault, .. } => {
            let why = fault.as_ref().map_or_else(String::new, |f| format!(" ({}): {f}", f.kind.word()));
            format!("the turn ends: {}{why}", ending(*how))
        }
        Record::Noted { text, by, .. } => format!("{}: {text}", by.0),
    }]
}

/// An answer of the model: its words, then its calls.
fn answered(
    text: &str,
    made: &[Call],
    (model, usage, cut): (&str, &Usage, bool),
    calls: &mut Calls,
) -> Vec<String> {
    let cut = if cut { ", cut off" } else { "" };
    let facts = format!("({model}, {} in, {} out{cut})", counted(usage.input, "token"), usage.output);
    let mut lines = vec![match text.trim() {
        "" => format!("agent {facts}"),
        words => format!("agent {facts}: {words}"),
    }];
    for call in made {
        let change = call.lines().map_or_else(String::new, |(_, text)| format!("\n{}", shortened(text)));
        lines.push(format!("calls {}{change}", calls.numbered(&call.id, &call.shown())));
        calls.names.insert(call.id.clone(), call.tool.clone());
    }
    lines
}

/// The beginning of a text in many lines.
fn shortened(text: &str) -> String {
    let text = text.trim_end();
    let all = text.lines().count();
    match all > LINES_SHOWN {
        true => {
            let shown: Vec<&str> = text.lines().take(LINES_SHOWN).collect();
            format!(
                "{}\n(… {} more; --json shows all of it)",
                shown.join("\n"),
                counted((all - LINES_SHOWN) as u64, "line")
            )
        }
        false => text.to_owned(),
    }
}

fn listed(files: &[Attachment]) -> String {
    let file = |f: &Attachment| format!(" [{}, {}, {}]", f.name, f.media_type, counted(f.size, "byte"));
    files.iter().map(file).collect()
}

fn ending(how: EndKind) -> &'static str {
    match how {
        EndKind::Replied => "answered",
        EndKind::Waiting => "waiting for a person",
        EndKind::Failed => "failed",
        EndKind::Stopped => "stopped",
        EndKind::Silent => "nothing said",
        EndKind::Dropped => "dropped",
        EndKind::Refused => "refused",
    }
}

/// Further lines of a text, set in, so that no text can pass for an entry.
fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n    ")
}

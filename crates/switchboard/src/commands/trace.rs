//! `trace`: everything that happened in a session, in order, with who said and decided what.

use std::collections::HashMap;

use anyhow::Result;
use sb_doors::local::client::Desk;
use sb_doors::local::wire;
use sb_engine::core::rules;
use sb_engine::model::{Attachment, Call, CallId, EndKind, Entry, Record, Timestamp, Usage};

use super::session;
use crate::args::Trace;
use crate::output;

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
        session.id, session.profile, session.conversation, session.state, session.began
    )];
    let mut calls = HashMap::new();
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

/// What one entry says, a line each.
fn told(entry: &Entry, calls: &mut HashMap<CallId, String>) -> Vec<String> {
    let named = |calls: &HashMap<CallId, String>, id: &CallId| {
        calls.get(id).cloned().unwrap_or_else(|| format!("call {id}"))
    };
    vec![match &entry.record {
        Record::Said { from, text, files, steered, .. } => {
            let how = if *steered { " says meanwhile" } else { " says" };
            format!("{}{how}: {text}{}", from.0, listed(files))
        }
        Record::Answered { text, calls: made, model, usage, cut, .. } => {
            return answered(text, made, (model, usage, *cut), calls);
        }
        Record::Asked { request, call, reason } => {
            format!("asks for approval: {} ({reason}; request {})", named(calls, call), request.short())
        }
        Record::Decided { request, call, by, allowed, why, always } => {
            let what = if *allowed { "approved" } else { "declined" };
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            let always =
                always.as_ref().map_or_else(String::new, |rule| format!("; always: {}", rules::shown(rule)));
            format!("{what} by {}: {} (request {}){why}{always}", by.0, call.shown(), request.short())
        }
        Record::Acting { call } => format!("runs {}", named(calls, call)),
        Record::Result { call, ok, text, files, outside } => {
            let how = if *ok { "gave" } else { "failed" };
            let whence = if *outside { " (content from outside)" } else { "" };
            format!("{} {how}{whence}: {text}{}", named(calls, call), listed(files))
        }
        Record::Shared { file } => format!("shares a file{}", listed(std::slice::from_ref(file))),
        Record::Undone { turn } => format!("the exchange of turn {turn} is forgotten"),
        Record::Summary { text, covers } => format!("everything up to entry {} is kept as: {text}", covers.0),
        Record::Restarted { starts } => format!("taken up again after a restart (start {starts})"),
        Record::Ended { how, fault } => {
            let why = fault.as_ref().map_or_else(String::new, |fault| format!(": {fault}"));
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
    calls: &mut HashMap<CallId, String>,
) -> Vec<String> {
    let cut = if cut { ", cut off" } else { "" };
    let facts = format!("({model}, {} tokens in, {} out{cut})", usage.input, usage.output);
    let mut lines = vec![match text.trim() {
        "" => format!("agent {facts}"),
        words => format!("agent {facts}: {words}"),
    }];
    for call in made {
        lines.push(format!("calls {}", call.shown()));
        calls.insert(call.id.clone(), call.tool.clone());
    }
    lines
}

fn listed(files: &[Attachment]) -> String {
    files.iter().map(|f| format!(" [{}, {}, {} bytes]", f.name, f.media_type, f.size)).collect()
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

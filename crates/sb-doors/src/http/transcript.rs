//! A session's log as callers of this door see it.
//!
//! A view only. It leaves out what is ours (the mark before an acting call, what providers want kept),
//! and what calls were made with where the caller may not decide.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::rfc3339;
use crate::model::{Attachment, Call, EndKind, Entry, Record};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Line {
    /// RFC 3339.
    pub at: String,
    /// Who did it: a principal, `agent`, `tool` or `switchboard`.
    pub who: String,
    #[serde(flatten)]
    pub what: What,
}

/// A file named in a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FileNamed {
    pub name: String,
    pub media_type: String,
    pub size: u64,
}

/// A call an answer made.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CallShown {
    pub call: String,
    pub tool: String,
    /// Only for tokens that may decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub input: Option<Value>,
}

/// The sorts of thing that happen.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum What {
    /// Somebody's words.
    Said { text: String, files: Vec<FileNamed>, steered: bool },
    /// An answer of the model.
    Answered { text: String, calls: Vec<CallShown>, model: String, cut: bool },
    /// A call waits for a person.
    Asked { request: String, call: String, reason: String },
    /// A person decided.
    Decided { request: String, call: String, allowed: bool, why: String },
    /// What came of a call.
    Result { call: String, ok: bool, text: String },
    /// A file for the person.
    Shared { file: FileNamed },
    /// The exchange of a turn was forgotten.
    Undone { turn: String },
    /// What came before is remembered as these words.
    Summary { text: String },
    /// A turn was cut off by a restart and begun again.
    Restarted { starts: u32 },
    /// A turn ended.
    Ended { state: String, fault: Option<String> },
    /// A command changed something.
    Noted { text: String },
}

/// The lines of a log, in order.
pub(crate) fn lines(log: Vec<Entry>, decides: bool) -> Vec<Line> {
    log.into_iter().filter_map(|entry| line(entry, decides)).collect()
}

fn line(entry: Entry, decides: bool) -> Option<Line> {
    let (agent, ours) = ("agent".to_owned(), "switchboard".to_owned());
    let (who, what) = match entry.record {
        Record::Said { from, text, files, steered, .. } => {
            (from.0, What::Said { text, files: files.into_iter().map(named).collect(), steered })
        }
        Record::Answered { text, calls, model, cut, .. } => {
            let calls = calls.into_iter().map(|c| call(c, decides)).collect();
            (agent, What::Answered { text, calls, model, cut })
        }
        Record::Asked { request, call, reason } => {
            (agent, What::Asked { request: request.short(), call: call.0, reason })
        }
        Record::Decided { request, call, by, allowed, why, .. } => {
            (by.0, What::Decided { request: request.short(), call: call.id.0, allowed, why })
        }
        Record::Result { call, ok, text, .. } => ("tool".to_owned(), What::Result { call: call.0, ok, text }),
        Record::Shared { file } => (agent, What::Shared { file: named(file) }),
        Record::Undone { turn } => (ours, What::Undone { turn: turn.to_string() }),
        Record::Summary { text, .. } => (ours, What::Summary { text }),
        Record::Restarted { starts } => (ours, What::Restarted { starts }),
        Record::Ended { how, fault, .. } => {
            (ours, What::Ended { state: ended(how).to_owned(), fault: fault.map(|f| f.detail) })
        }
        Record::Noted { text, by, .. } => (by.0, What::Noted { text }),
        Record::Acting { .. } | Record::Opened { .. } => return None,
    };
    Some(Line { at: rfc3339(entry.at), who, what })
}

fn named(file: Attachment) -> FileNamed {
    FileNamed { name: file.name, media_type: file.media_type, size: file.size }
}

fn call(call: Call, decides: bool) -> CallShown {
    CallShown { call: call.id.0, tool: call.tool, input: decides.then_some(call.input) }
}

fn ended(how: EndKind) -> &'static str {
    match how {
        EndKind::Replied => "done",
        EndKind::Waiting => "waiting",
        EndKind::Failed => "failed",
        EndKind::Stopped => "stopped",
        EndKind::Silent => "silent",
        EndKind::Dropped => "dropped",
        EndKind::Refused => "refused",
    }
}

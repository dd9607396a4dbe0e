//! The answer to a message: what every way of asking ends in, at once or at the end of a stream.
//!
//! It is made from the message's ending and its stretch of the log, so a repeat of a request, a stream
//! and a later look say the same.

use serde::Serialize;
use utoipa::ToSchema;

use super::Door;
use super::error::{HttpError, Result};
use super::sending::Sending;
use crate::engine::Follow;
use crate::engine::core::lines;
use crate::model::{EndKind, Ending, SessionId};

/// Bytes of shared files that one answer carries.
const MOST_SHARED: u64 = 32 * 1024 * 1024;

/// How the answer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Answered.
    Done,
    /// A person must decide; `request` names what.
    Waiting,
    /// The turn failed; `said` says what failed and what to do.
    Failed,
    /// A person stopped it; `said` is what was written so far.
    Stopped,
    /// The agent chose to say nothing.
    Silent,
    /// A `/stop` came before its turn.
    Dropped,
}

/// A file the agent shared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FileOut {
    pub name: String,
    pub media_type: String,
    /// Bytes.
    pub size: u64,
    /// The bytes; null where the answer's files together are over 32 MB.
    pub base64: Option<String>,
}

/// The answer to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Answer {
    /// The conversation's name.
    pub conversation: String,
    /// 16 hex digits; null before the conversation's first turn.
    #[schema(pattern = "^[0-9a-f]{16}$")]
    pub session: Option<String>,
    /// What is said back, Markdown.
    pub said: String,
    /// The run in order: calls, results, words, and how it ended.
    pub lines: Vec<String>,
    /// Files the agent shared.
    pub files: Vec<FileOut>,
    pub state: State,
    /// The request that waits, as `/approve` and `/decline` take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

impl Answer {
    /// Of a session in which nothing was said yet.
    pub(crate) fn empty(conversation: String, session: SessionId) -> Self {
        Self {
            conversation,
            session: Some(session.to_string()),
            said: String::new(),
            lines: Vec::new(),
            files: Vec::new(),
            state: State::Done,
            request: None,
        }
    }
}

/// An answer, and how it is sent.
pub(crate) struct Told {
    pub said: String,
    pub sending: Sending,
}

/// Makes the answer of an ending; a message that was not taken up is an error instead.
pub(crate) async fn answer(door: &Door, follow: &Follow, conversation: &str, ending: Ending) -> Result<Told> {
    let state = match ending.kind {
        EndKind::Replied => State::Done,
        EndKind::Waiting => State::Waiting,
        EndKind::Failed => State::Failed,
        EndKind::Stopped => State::Stopped,
        EndKind::Silent => State::Silent,
        EndKind::Dropped => State::Dropped,
        EndKind::Refused => return Err(HttpError::refused(ending.refusal, ending.said)),
    };
    let entries = follow.stretch(&ending).await?;
    let mut files = Vec::with_capacity(ending.files.len());
    let (mut room, mut carried) = (MOST_SHARED, Vec::new());
    for file in &ending.files {
        let is_carried = file.size <= room;
        if is_carried {
            room -= file.size;
            carried.push(file.clone());
        }
        files.push(FileOut {
            name: file.name.clone(),
            media_type: file.media_type.clone(),
            size: file.size,
            // Its bytes are put in as they are sent.
            base64: is_carried.then(String::new),
        });
    }
    let answer = Answer {
        conversation: conversation.to_owned(),
        session: ending.session.map(|s| s.to_string()),
        lines: lines::lines(&entries, &ending),
        files,
        state,
        request: ending.waiting.map(|r| r.short()),
        said: ending.said,
    };
    let sending = Sending::new(&door.engine, &answer, carried).await?;
    Ok(Told { said: answer.said, sending })
}

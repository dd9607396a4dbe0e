//! Files the agent shares: links in its answer, and `GET /v1/files/{id}`, which needs the token too.
//!
//! An id names a place in a session's log, so nothing else can be asked for, and only by who reaches the
//! session. What is given is to be kept, not shown: a page an agent wrote must not run here.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::{IntoResponse, Response};

use super::error::{Fault, Result};
use crate::http::{Door, Segments, Who, find_session, is_loopback};
use crate::model::{Attachment, Entry, Record, Seq, SessionId};

/// Bytes of a file in memory at once.
const PIECE: u32 = 64 * 1024;

/// Where links lead: the server, as whoever asks reaches it.
#[derive(Debug, Clone)]
pub(super) struct Links(String);

impl Links {
    /// By the server's address outside if it has one, else by the host that was asked for.
    pub fn of(door: &Door, headers: &HeaderMap) -> Self {
        if let Some(url) = door.engine.public_url() {
            return Self(url.to_owned());
        }
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
        // Whoever is reached from elsewhere speaks TLS, or a proxy in front does.
        let scheme = if is_loopback(host) { "http" } else { "https" };
        Self(format!("{scheme}://{host}"))
    }

    /// A line for each file that was shared.
    pub fn lines(&self, session: SessionId, entries: &[Entry]) -> Vec<String> {
        let shared = entries.iter().filter_map(|entry| match &entry.record {
            Record::Shared { file } => Some((entry.seq, file)),
            _ => None,
        });
        shared
            .map(|(seq, file)| format!("[{}]({}/v1/files/{})", plain(&file.name), self.0, id(session, seq)))
            .collect()
    }
}

fn id(session: SessionId, seq: Seq) -> String {
    format!("file-{session}-{}", seq.0)
}

/// A name that closes no link.
fn plain(name: &str) -> String {
    name.chars().map(|c| if "[]\\`<>".contains(c) || c.is_control() { '_' } else { c }).collect()
}

/// `GET /v1/files/{id}`
pub(super) async fn show(
    State(door): State<Arc<Door>>,
    Extension(who): Extension<Who>,
    Segments(id): Segments<String>,
) -> Result<Response> {
    give(&door, &who, &id).await
}

/// `GET /v1/files/{id}/content`, as OpenAI's clients ask.
pub(super) async fn content(
    State(door): State<Arc<Door>>,
    Extension(who): Extension<Who>,
    Segments(id): Segments<String>,
) -> Result<Response> {
    give(&door, &who, &id).await
}

async fn give(door: &Arc<Door>, who: &Who, id: &str) -> Result<Response> {
    let none = || Fault::not_found("There is no such file for this token. The link of an answer names one.");
    let (session, seq) = id.strip_prefix("file-").and_then(|rest| rest.split_once('-')).ok_or_else(none)?;
    let seq: i64 = seq.parse().map_err(|_| none())?;
    let view = find_session(door, who, session).await.map_err(|_| none())?;
    let file = view.log.into_iter().find(|entry| entry.seq.0 == seq).and_then(|entry| match entry.record {
        Record::Shared { file } => Some(file),
        _ => None,
    });
    let file = file.ok_or_else(none)?;
    let name: String = file
        .name
        .chars()
        .map(|c| if c.is_ascii_graphic() && !"\"\\".contains(c) { c } else { '_' })
        .collect();
    let headers = [
        (header::CONTENT_TYPE, file.media_type.clone()),
        (header::CONTENT_LENGTH, file.size.to_string()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (header::CACHE_CONTROL, "private".to_owned()),
        (HeaderName::from_static("x-content-type-options"), "nosniff".to_owned()),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'".to_owned()),
    ];
    Ok((headers, Body::from_stream(pieces(door.clone(), file))).into_response())
}

fn pieces(
    door: Arc<Door>,
    file: Attachment,
) -> impl futures_util::Stream<Item = std::result::Result<axum::body::Bytes, crate::engine::EngineError>> {
    futures_util::stream::try_unfold((door, file, 0), |(door, file, at)| async move {
        if at >= file.size {
            return Ok(None);
        }
        let piece = door.engine.blob_piece(&file, at, PIECE).await?;
        let next = at + piece.len() as u64;
        Ok(Some((piece, (door, file, next))))
    })
}

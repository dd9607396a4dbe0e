//! Files the agent shares: links in its answer, and `GET /v1/files/{id}`, which needs the token too.
//!
//! An id names a place in a session's log, so nothing else can be asked for, and only by who reaches the
//! session. What is given is to be kept, not shown: a page an agent wrote must not run here.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};

use super::error::{Fault, Result};
use crate::http::{Door, OverTls, Segments, Who, find_session, is_loopback};
use crate::model::{Attachment, Entry, Record, Seq, SessionId};

/// Bytes of a file in memory at once.
const PIECE: u32 = 64 * 1024;

/// Where links lead: the server, as whoever asks reaches it.
#[derive(Debug, Clone)]
pub(super) struct Links(String);

impl Links {
    /// By the server's address outside if it has one, else as this request came: to its host, and over TLS if
    /// it did. Where a proxy stands in front, that is what the proxy says of it.
    pub fn of(door: &Door, head: &Parts) -> Self {
        if let Some(url) = door.engine.public_url() {
            return Self(url.to_owned());
        }
        let said = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
        let proxied = |name| said(name).filter(|_| door.behind_proxy);
        let host = proxied("x-forwarded-host").filter(|host| is_host(host)).or_else(|| said("host"));
        let host = host.unwrap_or("localhost");
        let over_tls = head.extensions.get::<OverTls>().is_some();
        let scheme = match proxied("x-forwarded-proto") {
            _ if over_tls => "https",
            Some(scheme @ ("http" | "https")) => scheme,
            // Without its word: a proxy is there to do TLS, and only this machine is reached around it.
            _ if door.behind_proxy && !is_loopback(host) => "https",
            _ => "http",
        };
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

/// A name or an address, perhaps with a port: nothing that would end a link, or lead elsewhere within it.
fn is_host(host: &str) -> bool {
    !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_:[]".contains(&b))
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

//! An answer as it is written: server-sent events from the beginning of a turn to its end.
//!
//! `session`, then `delta` and `tool` as they come, then `done` or `error`, once, and last. What the
//! answer says beyond the words that came is one more `delta` before `done`, so that the words alone are
//! the answer. Whoever stops reading changes nothing about the turn.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::answer::{Answer, Told};
use super::error::{Code, HttpError, Result};
use super::sending::Sending;
use super::who::Who;
use super::{Door, answer, unsaid};
use crate::engine::{Follow, ReplyEvent};
use crate::model::EndKind;

/// A refusal comes at once; what has not come by then is not one, and the stream begins.
const REFUSED_WITHIN: Duration = Duration::from_secs(1);
/// A comment this often keeps proxies from closing a quiet stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The data of a `session` event.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionEvent {
    /// 16 hex digits.
    pub session: String,
}

/// The data of a `delta` event.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeltaEvent {
    /// What was written since the last one; every answer of the run is a paragraph.
    pub text: String,
}

/// The data of a `tool` event.
#[derive(Debug, Serialize, ToSchema)]
pub struct ToolEvent {
    pub tool: String,
    /// The call's id, to tell two calls of one tool apart.
    pub call: String,
    /// `calling`, `running` or `waiting`.
    pub state: String,
}

/// Whether what was not streamed of an answer comes as a last `delta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    Streamed,
    /// The home's own terminal shows it its own way: a failure on a line, a request as a question.
    Left,
}

impl Rest {
    pub fn of(who: &Who) -> Self {
        if who.types { Self::Left } else { Self::Streamed }
    }
}

/// Streams a message's answer. One that is refused before anything began is a plain error.
pub(crate) async fn respond(
    door: Arc<Door>,
    mut follow: Follow,
    shown: String,
    rest: Rest,
) -> Result<Response> {
    let first = tokio::select! {
        first = tokio::time::timeout(REFUSED_WITHIN, follow.next()) => first.ok().transpose()?.flatten(),
        () = door.closing.cancelled() => return Err(HttpError::closing()),
    };
    if let Some(ReplyEvent::Ended(ending)) = &first
        && ending.kind == EndKind::Refused
    {
        return Err(HttpError::refused(ending.refusal, ending.said.clone()));
    }
    Ok(events(Source { door, follow, shown, first, rest, sent: String::new(), last: None, over: false }))
}

/// A stream of an answer that is there already.
pub(crate) fn only_done(answer: &Answer) -> Response {
    response(named("done", answer).into())
}

/// What a stream is made from.
struct Source {
    door: Arc<Door>,
    follow: Follow,
    shown: String,
    first: Option<ReplyEvent>,
    rest: Rest,
    /// The words streamed so far.
    sent: String,
    /// What comes after the last words.
    last: Option<Sending>,
    over: bool,
}

fn events(source: Source) -> Response {
    let pieces = futures_util::stream::unfold(source, |mut source| async {
        let piece = source.next().await?;
        Some((piece, source))
    });
    response(Body::from_stream(pieces))
}

fn response(events: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        // For proxies that would hold the words back.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, events).into_response()
}

impl Source {
    /// The next event; the last one in pieces.
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        while !self.over {
            let event = match self.first.take() {
                Some(event) => Ok(Some(event)),
                None => tokio::select! {
                    event = self.follow.next() => event.map_err(HttpError::from),
                    () = self.door.closing.cancelled() => Err(HttpError::closing()),
                    () = tokio::time::sleep(KEEP_ALIVE) => return Some(Ok(Bytes::from_static(b":\n\n"))),
                },
            };
            match event {
                Ok(Some(event)) => {
                    if let Some(event) = self.written(event).await {
                        return Some(Ok(event));
                    }
                }
                Ok(None) => {
                    let error = HttpError::new(Code::Internal, "The message has no ending.");
                    return Some(Ok(self.failed(&error)));
                }
                Err(error) => return Some(Ok(self.failed(&error))),
            }
        }
        self.last.as_mut()?.next().await
    }

    async fn written(&mut self, event: ReplyEvent) -> Option<Bytes> {
        match event {
            ReplyEvent::Session(id) => Some(named("session", &SessionEvent { session: id.to_string() })),
            ReplyEvent::Delta(text) => {
                self.sent.push_str(&text);
                Some(named("delta", &DeltaEvent { text }))
            }
            // That a call is done shows in the lines.
            ReplyEvent::Tool(update) if update.state == "done" => None,
            ReplyEvent::Tool(update) => Some(named(
                "tool",
                &ToolEvent { tool: update.tool, call: update.call.0, state: update.state.to_owned() },
            )),
            ReplyEvent::Ended(ending) => {
                self.over = true;
                match answer::answer(&self.door, &self.follow, &self.shown, ending).await {
                    Ok(told) => self.done(told),
                    Err(error) => Some(self.failed(&error)),
                }
            }
        }
    }

    /// The answer is whole: first what it says that was not streamed.
    fn done(&mut self, told: Told) -> Option<Bytes> {
        // Its data is one line, as that of every event.
        self.last = Some(told.sending.within("event: done\ndata: ", "\n\n"));
        let unsaid = (self.rest == Rest::Streamed).then(|| unsaid::unsaid(&self.sent, &told.said)).flatten();
        unsaid.map(|text| named("delta", &DeltaEvent { text }))
    }

    fn failed(&mut self, error: &HttpError) -> Bytes {
        self.over = true;
        named("error", &error.problem())
    }
}

/// One event. Its data is one line: JSON has its line breaks escaped.
fn named(name: &str, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_else(|_| {
        json!({"error": "The event could not be written.", "code": "internal"}).to_string()
    });
    format!("event: {name}\ndata: {data}\n\n").into()
}

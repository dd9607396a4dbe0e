//! An answer as it is written: server-sent events from the beginning of a turn to its end.
//!
//! `session`, then `delta` and `tool` as they come, then `done` or `error`, once, and last. What the
//! answer says beyond the words that came is one more `delta` before `done`, so that the words alone are
//! the answer. Whoever stops reading changes nothing about the turn.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::answer::Answer;
use super::error::{Code, HttpError, Result};
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
    let event = Ok::<_, Infallible>(named("done", answer));
    Sse::new(futures_util::stream::iter([event])).into_response()
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
    last: Option<Event>,
    over: bool,
}

fn events(source: Source) -> Response {
    let events = futures_util::stream::unfold(source, |mut source| async {
        let event = source.next().await?;
        Some((Ok::<_, Infallible>(event), source))
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response();
    // For proxies that would hold the words back.
    let name = HeaderName::from_static("x-accel-buffering");
    response.headers_mut().insert(name, HeaderValue::from_static("no"));
    response
}

impl Source {
    async fn next(&mut self) -> Option<Event> {
        while !self.over {
            let event = match self.first.take() {
                Some(event) => Ok(Some(event)),
                None => tokio::select! {
                    event = self.follow.next() => event.map_err(HttpError::from),
                    () = self.door.closing.cancelled() => Err(HttpError::closing()),
                },
            };
            match event {
                Ok(Some(event)) => {
                    if let Some(event) = self.written(event).await {
                        return Some(event);
                    }
                }
                Ok(None) => {
                    return Some(self.failed(&HttpError::new(Code::Internal, "The message has no ending.")));
                }
                Err(error) => return Some(self.failed(&error)),
            }
        }
        self.last.take()
    }

    async fn written(&mut self, event: ReplyEvent) -> Option<Event> {
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
                    Ok(answer) => Some(self.done(&answer)),
                    Err(error) => Some(self.failed(&error)),
                }
            }
        }
    }

    /// The answer is whole: first what it says that was not streamed.
    fn done(&mut self, answer: &Answer) -> Event {
        let done = named("done", answer);
        let unsaid =
            (self.rest == Rest::Streamed).then(|| unsaid::unsaid(&self.sent, &answer.said)).flatten();
        match unsaid {
            Some(text) => {
                self.last = Some(done);
                named("delta", &DeltaEvent { text })
            }
            None => done,
        }
    }

    fn failed(&mut self, error: &HttpError) -> Event {
        self.over = true;
        named("error", &error.problem())
    }
}

/// One event. Its data is one line: JSON has its line breaks escaped.
fn named(name: &str, data: &impl Serialize) -> Event {
    let data = serde_json::to_string(data).unwrap_or_else(|_| {
        json!({"error": "The event could not be written.", "code": "internal"}).to_string()
    });
    Event::default().event(name).data(data)
}

//! A task as it is done: the task first, then its words and states, and its end.
//!
//! Nothing is queued: a slow reader is told more at once, since a live view only grows. Whoever goes away
//! changes nothing about the task.

use std::collections::VecDeque;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use sb_wire::a2a::{Code, Event, Query, State, Status};
use sb_wire::jsonrpc::{self, Failure, Message};
use sb_wire::sse;

use super::ending::{self, reply};
use super::rpc::{Asked, engine_failed};
use super::taking;
use super::tasks::{last_events, look, remark};
use crate::engine::{Follow, ReplyEvent};
use crate::model::MessageId;

/// A comment this often keeps proxies from closing a quiet stream.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

struct Source {
    asked: Asked,
    task: MessageId,
    context: String,
    goes_on: bool,
    follow: Follow,
    history: Option<u64>,
    /// Events that are due.
    ready: VecDeque<Event>,
    /// The words of the reply that were sent.
    sent: String,
    /// Bytes of words that were sent already, with the task.
    skip: usize,
    works: bool,
    over: bool,
}

/// `message/stream`, `SendStreamingMessage`
pub(super) async fn send(asked: Asked) -> Result<Response, Failure> {
    let (taken, send) = taking::take(&asked).await?;
    let looked = look(&asked, taken.task).await?;
    let mut task = ending::task(&asked.shared.door.engine, &looked, None, send.history).await;
    if !taken.goes_on {
        // It is told from its beginning, whatever came of it by now.
        (task.status.state, task.status.message) = (State::Submitted, None);
        task.artifacts.clear();
    }
    let sent = task.artifacts.iter().find(|a| a.id == ending::REPLY).map(|a| a.said()).unwrap_or_default();
    if taken.goes_on {
        task.status = Status::of(State::Working);
    }
    Ok(respond(Source {
        asked,
        task: taken.task,
        context: task.context.clone(),
        goes_on: taken.goes_on,
        follow: taken.follow,
        history: send.history,
        ready: [Event::Task(task)].into(),
        sent,
        skip: 0,
        works: taken.goes_on,
        over: false,
    }))
}

/// `tasks/resubscribe`, `SubscribeToTask`
pub(super) async fn follow(asked: Asked) -> Result<Response, Failure> {
    let query = Query::read(&asked.params).map_err(|why| asked.wrong(&why))?;
    let looked = taking::find(&asked, &query.task).await?;
    let engine = asked.shared.door.engine.clone();
    let task = ending::task(&engine, &looked, None, query.history).await;
    if task.status.state.is_terminal() {
        let said = "This task has ended: look at it with tasks/get or GetTask.";
        return Err(asked.fails(Code::UnsupportedOperation, said, &[("taskId", &query.task)]));
    }
    let sent = task.artifacts.iter().find(|a| a.id == ending::REPLY).map(|a| a.said()).unwrap_or_default();
    let (over, works) = (task.status.state.is_interrupted(), task.status.state == State::Working);
    Ok(respond(Source {
        task: looked.stored.message.id,
        context: task.context.clone(),
        goes_on: false,
        follow: engine.follow_message(looked.stored.message.id),
        history: query.history,
        ready: [Event::Task(task)].into(),
        skip: sent.len(),
        sent,
        works,
        over,
        asked,
    }))
}

fn respond(source: Source) -> Response {
    let pieces = futures_util::stream::unfold(source, |mut source| async {
        let piece = source.next().await?;
        Some((Ok::<_, std::io::Error>(piece), source))
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(pieces)).into_response()
}

impl Source {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(self.line(Ok(event.write(self.asked.version))));
            }
            if self.over {
                return None;
            }
            let closing = self.asked.shared.door.closing.clone();
            let event = tokio::select! {
                event = tokio::time::timeout(KEEP_ALIVE, self.follow.next()) => event,
                () = closing.cancelled() => {
                    // The task is kept, and can be followed again.
                    return None;
                }
            };
            match event {
                Err(_) => return Some(sse::comment("still at work").into()),
                Ok(Ok(Some(event))) => {
                    if let Err(why) = self.take(event).await {
                        self.over = true;
                        return Some(self.line(Err(why)));
                    }
                }
                Ok(Ok(None)) => self.over = true,
                Ok(Err(why)) => {
                    self.over = true;
                    return Some(self.line(Err(engine_failed(why))));
                }
            }
        }
    }

    fn line(&self, result: Result<serde_json::Value, Failure>) -> Bytes {
        let answer = Message::Answer { id: self.asked.id.clone(), result };
        sse::encode("", &jsonrpc::line(&answer)).into()
    }

    async fn take(&mut self, event: ReplyEvent) -> Result<(), Failure> {
        let (task, context) = (ending::id_of(self.task), self.context.clone());
        match event {
            ReplyEvent::Session(_) if !std::mem::replace(&mut self.works, true) => {
                self.ready.push_back(Event::Status { task, context, status: Status::of(State::Working) });
            }
            ReplyEvent::Delta(words) => {
                let skipped = self.skip.min(words.len());
                self.skip -= skipped;
                let Some(words) = words.get(skipped..).filter(|words| !words.is_empty()) else {
                    return Ok(());
                };
                let append = !self.sent.is_empty();
                self.sent.push_str(words);
                let artifact = reply(words);
                self.ready.push_back(Event::Artifact { task, context, artifact, append, last: false });
            }
            ReplyEvent::Session(_) | ReplyEvent::Tool(_) => {}
            ReplyEvent::Ended(ending) => {
                let said = remark(self.goes_on, &ending);
                let looked = look(&self.asked, self.task).await?;
                let engine = &self.asked.shared.door.engine;
                let task = ending::task(engine, &looked, said, self.history).await;
                self.ready.extend(last_events(&task, &self.sent));
                self.over = true;
            }
        }
        Ok(())
    }
}

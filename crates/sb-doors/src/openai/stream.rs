//! An answer as it is written: chunks, one for the role, then the words, then why it ends.
//!
//! Pulled by its reader: a slow one gets more at once, and nothing waits in between. Where an error ends it,
//! that is said in a chunk of its own, since the status is gone.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use sb_wire::openai::{Chunk, ChunkChoice, Delta, FinishReason, Role, Usage};
use serde::Serialize;

use super::answer::{self, Told};
use super::ask::Taken;
use super::chat::{self, Head};
use super::error::{Fault, Result};
use super::readers::Reader;
use super::shared::Links;
use crate::engine::{Follow, ReplyEvent};
use crate::http::{Door, HttpError, unsaid};
use crate::model::EndKind;

/// A refusal comes at once; what has not come by then is not one, and the stream begins.
const REFUSED_WITHIN: Duration = Duration::from_millis(300);
/// A comment this often keeps proxies and apps from giving up on a quiet stream.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// How an answer is written, whichever API it is asked by.
pub(super) trait Form: Send + 'static {
    /// All that comes before the first words.
    fn begin(&mut self) -> String;
    fn words(&mut self, text: &str) -> String;
    /// All that comes after the last words; `text` is all of them.
    fn end(&mut self, text: &str, finish: FinishReason, usage: Usage) -> String;
    /// Ends it with an error.
    fn fault(&mut self, fault: &Fault) -> String;
}

/// Streams an answer. One that is refused before anything began is a plain error.
pub(super) async fn respond(door: Arc<Door>, taken: Taken, form: impl Form) -> Result<Response> {
    let Taken { mut follow, reading, left_out, links, .. } = taken;
    let mut reader = Reader::new(door.clone(), reading);
    let mut first = tokio::select! {
        first = tokio::time::timeout(REFUSED_WITHIN, follow.next()) => first.ok().transpose()?.flatten(),
        () = door.closing.cancelled() => return Err(HttpError::closing().into()),
    };
    if let Some(ReplyEvent::Session(_)) = first {
        // What has its ending already says the session first.
        first = follow.next().now_or_never().transpose()?.flatten();
    }
    if let Some(ReplyEvent::Ended(ending)) = &first
        && ending.kind == EndKind::Refused
        && let Err(fault) = answer::told(&follow, ending.clone(), &[], &links).await
    {
        chat::note(&door, &mut reader, ending, "").await?;
        return Err(fault);
    }
    let source = Source {
        form,
        door,
        follow,
        reader,
        left_out,
        links,
        first,
        sent: String::new(),
        state: State::Begin,
    };
    Ok(events(Body::from_stream(futures_util::stream::unfold(source, |mut source| async {
        let piece = source.next().await?;
        Some((Ok::<_, std::convert::Infallible>(piece), source))
    }))))
}

/// A stream of an answer that is there already.
pub(super) fn only(mut form: impl Form, text: &str) -> Response {
    let mut all = form.begin();
    all.push_str(&form.words(text));
    all.push_str(&form.end(text, FinishReason::Stop, Usage::default()));
    events(all.into())
}

/// The headers of a stream.
fn events(body: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        // For proxies that would hold the words back.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, body).into_response()
}

/// Writes chunks of a chat completion.
pub(super) struct Chunks {
    pub head: Head,
    pub include_usage: bool,
}

impl Form for Chunks {
    fn begin(&mut self) -> String {
        let delta = Delta { role: Some(Role::Assistant), content: Some(String::new()) };
        self.choice(delta, None)
    }
    fn words(&mut self, text: &str) -> String {
        self.choice(Delta { role: None, content: Some(text.to_owned()) }, None)
    }
    fn end(&mut self, _: &str, finish: FinishReason, usage: Usage) -> String {
        let mut end = self.choice(Delta::default(), Some(finish));
        if self.include_usage {
            end.push_str(&event(&self.chunk(Vec::new(), Some(usage))));
        }
        end.push_str("data: [DONE]\n\n");
        end
    }
    fn fault(&mut self, fault: &Fault) -> String {
        event(&fault.body())
    }
}

impl Chunks {
    fn choice(&self, delta: Delta, finish_reason: Option<FinishReason>) -> String {
        event(&self.chunk(vec![ChunkChoice { index: 0, delta, logprobs: None, finish_reason }], None))
    }
    fn chunk(&self, choices: Vec<ChunkChoice>, usage: Option<Usage>) -> Chunk {
        Chunk {
            id: self.head.id.clone(),
            object: "chat.completion.chunk".to_owned(),
            created: self.head.created,
            model: self.head.model.clone(),
            choices,
            system_fingerprint: None,
            usage: self.include_usage.then_some(usage),
        }
    }
}

/// One event. Its data is one line: JSON has its line breaks escaped.
fn event(data: &impl Serialize) -> String {
    match serde_json::to_string(data) {
        Ok(data) => format!("data: {data}\n\n"),
        // None of these types can fail to be written.
        Err(_) => String::new(),
    }
}

enum State {
    Begin,
    Words,
    Over,
}

struct Source<F> {
    form: F,
    door: Arc<Door>,
    follow: Follow,
    reader: Reader,
    left_out: Vec<String>,
    links: Links,
    first: Option<ReplyEvent>,
    /// The words so far.
    sent: String,
    state: State,
}

impl<F: Form> Source<F> {
    async fn next(&mut self) -> Option<Bytes> {
        match self.state {
            State::Over => return None,
            State::Begin => {
                self.state = State::Words;
                return Some(self.form.begin().into());
            }
            State::Words => {}
        }
        loop {
            let event = match self.first.take() {
                Some(event) => Ok(Some(event)),
                None => tokio::select! {
                    event = self.follow.next() => event.map_err(Fault::from),
                    () = self.door.closing.cancelled() => Err(HttpError::closing().into()),
                    () = tokio::time::sleep(KEEP_ALIVE) => return Some(Bytes::from_static(b": at work\n\n")),
                },
            };
            match event {
                Ok(Some(ReplyEvent::Delta(text))) => {
                    self.sent.push_str(&text);
                    return Some(self.form.words(&text).into());
                }
                Ok(Some(ReplyEvent::Ended(ending))) => {
                    self.state = State::Over;
                    let told = answer::told(&self.follow, ending.clone(), &self.left_out, &self.links).await;
                    return Some(match told {
                        Ok(told) => self.done(told).await,
                        Err(fault) => {
                            let sent = std::mem::take(&mut self.sent);
                            let noted = chat::note(&self.door, &mut self.reader, &ending, &sent).await;
                            self.failed(&noted.err().unwrap_or(fault))
                        }
                    });
                }
                Ok(Some(_)) => {}
                Ok(None) => return Some(self.failed(&Fault::failed("The message has no ending.", None))),
                Err(fault) => return Some(self.failed(&fault)),
            }
        }
    }

    /// The answer is whole: what was not streamed of it, then its end. It is noted before its reader has it, so
    /// that the next message finds it.
    async fn done(&mut self, told: Told) -> Bytes {
        let mut end = String::new();
        if let Some(text) = unsaid(&self.sent, &told.text) {
            self.sent.push_str(&text);
            end = self.form.words(&text);
        }
        let sent = std::mem::take(&mut self.sent);
        if let Err(fault) = chat::note(&self.door, &mut self.reader, &told.ending, &sent).await {
            return self.failed(&fault);
        }
        end.push_str(&self.form.end(&sent, told.finish, told.usage));
        end.into()
    }

    fn failed(&mut self, fault: &Fault) -> Bytes {
        self.state = State::Over;
        self.form.fault(fault).into()
    }
}

//! `POST /v1/chat/completions`: the answer whole, or as a stream.

use std::sync::Arc;

use axum::extract::{Request as HttpRequest, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use sb_wire::openai::{Completion, FinishReason, Usage};

use super::answer::{self, Told};
use super::aside;
use super::ask::{self, Taken};
use super::error::{Fault, Result};
use super::models;
use super::readers::{self, Reader};
use super::request::{self, Request};
use super::stream::{self, Chunks};
use crate::engine::ReplyEvent;
use crate::http::{self, Door, Who};

/// What all of an answer's pieces share.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub id: String,
    /// Seconds since 1970.
    pub created: i64,
    /// As the request named it.
    pub model: String,
}

/// `POST /v1/chat/completions`
pub(super) async fn completions(
    State(door): State<Arc<Door>>,
    Extension(who): Extension<Who>,
    request: HttpRequest,
) -> Result<Response> {
    let (head, held) = ask::received(&door, request).await?;
    let fields = request::fields(&held.bytes)?;
    let model = request::model(&fields)?;
    let (profile, is_aside) = models::named(&door, &who, &model)?;
    let request = Request::read(&fields)?;
    let (streams, include_usage) = (request.streams, request.include_usage);
    let created = door.engine.now().0 / 1000;
    if let Some(text) = aside::answer(&request, &head.headers, is_aside) {
        let head = Head { id: format!("chatcmpl-aside-{}", door.engine.now().0), created, model };
        return Ok(match streams {
            true => stream::only(Chunks { head, include_usage }, &text),
            false => whole(head, text, FinishReason::Stop, Usage::default()),
        });
    }
    let taken = ask::take(&door, &who, profile, &head, request.talk, None, streams).await?;
    drop(held);
    let id = format!("chatcmpl-{}-{}", taken.session, taken.reading.message.0);
    let head = Head { id, created, model };
    if streams {
        return stream::respond(door, taken, Chunks { head, include_usage }).await;
    }
    let told = read(&door, taken).await?;
    Ok(whole(head, told.text, told.finish, told.usage))
}

fn whole(head: Head, text: String, finish: FinishReason, usage: Usage) -> Response {
    Json(Completion::new(head.id, head.created, head.model, text, finish, usage)).into_response()
}

/// Waits for the answer, and notes it as its reader will have it.
pub(super) async fn read(door: &Arc<Door>, taken: Taken) -> Result<Told> {
    let Taken { mut follow, reading, left_out, links, .. } = taken;
    let mut reader = Reader::new(door.clone(), reading);
    loop {
        let event = tokio::select! {
            event = follow.next() => event?,
            () = door.closing.cancelled() => return Err(http::HttpError::closing().into()),
        };
        match event {
            Some(ReplyEvent::Ended(ending)) => {
                let told = match answer::told(&follow, ending.clone(), &left_out, &links).await {
                    Ok(told) => told,
                    Err(fault) => {
                        note(door, &mut reader, &ending, "").await?;
                        return Err(fault);
                    }
                };
                note(door, &mut reader, &told.ending, &told.text).await?;
                return Ok(told);
            }
            Some(_) => {}
            None => return Err(Fault::failed("The message has no ending.", None)),
        }
    }
}

/// What its reader has of an answer is where its next message goes on.
pub(super) async fn note(
    door: &Door,
    reader: &mut Reader,
    ending: &crate::model::Ending,
    text: &str,
) -> Result<()> {
    reader.done();
    Ok(readers::note(&door.engine, &reader.of, ending, text).await?)
}

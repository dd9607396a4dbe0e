//! The `/desk` routes about who is let in, and about what lies in outbox and inbox.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use serde::Deserialize;

use super::{Here, body};
use crate::engine::Replayed;
use crate::engine::store::{InboxItem, KeptWhy, PairingAnswer, PartState, PostState, StoredPost};
use crate::http::{Code, HttpError, Parameters, Result, Segments, rfc3339};
use crate::local::Desk;
use crate::local::wire::{ApprovePairing, InboxInfo, PairingInfo, PersonInfo, PostInfo, ReplayedInfo};
use crate::model::{Guest, Pairing, Slug};

pub(super) fn routes() -> Router<Arc<Desk>> {
    Router::new()
        .route("/desk/pairings", get(pairings))
        .route("/desk/pairings/{code}", post(approve).delete(revoke))
        .route("/desk/people", get(people))
        .route("/desk/people/{channel}/{id}", delete(let_out))
        .route("/desk/outbox", get(outbox))
        .route("/desk/outbox/{number}", post(retry).delete(drop_post))
        .route("/desk/inbox", get(inbox))
        .route("/desk/inbox/{number}", post(replay))
}

async fn pairings(State(desk): Here) -> Result<Json<Vec<PairingInfo>>> {
    let all = desk.door.engine.pairings().await?;
    Ok(Json(all.into_iter().map(pairing).collect()))
}

fn pairing(of: Pairing) -> PairingInfo {
    PairingInfo {
        channel: of.channel.0,
        code: of.code,
        id: of.id,
        name: of.name,
        asked: rfc3339(of.asked),
        until: rfc3339(of.until),
    }
}

fn person(of: Guest) -> PersonInfo {
    PersonInfo { channel: of.channel.0, id: of.id, name: of.name, since: rfc3339(of.since) }
}

async fn approve(
    State(desk): Here,
    Segments(code): Segments<String>,
    request: Request,
) -> Result<Json<PersonInfo>> {
    let ApprovePairing { channel } = body(request).await?;
    let channel = known_channel(&desk, channel).await?;
    match desk.door.engine.approve_pairing(&code, channel.as_ref()).await? {
        PairingAnswer::LetIn(guest) => Ok(Json(person(guest))),
        PairingAnswer::NoSuchCode { left } => Err(HttpError::new(
            Code::Unknown,
            format!(
                "Nobody was shown the code {code:?}, or it is too old; nobody was let in. `switchboard pairing list` shows who asks. {left} more wrong codes are looked at in this hour."
            ),
        )),
        PairingAnswer::Closed { until } => Err(HttpError::new(
            Code::TooManyGuesses,
            format!("Too many wrong codes were tried: none is looked at until {}.", rfc3339(until)),
        )),
    }
}

async fn revoke(State(desk): Here, Segments(code): Segments<String>) -> Result<StatusCode> {
    let said = || format!("Nobody was shown the code {code:?}, or it is too old.");
    done(desk.door.engine.revoke_pairing(&code).await?, said)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Of {
    channel: Option<String>,
}

/// A channel by its slug; one that is not there is said to be so.
async fn known_channel(desk: &Desk, named: Option<String>) -> Result<Option<Slug>> {
    let Some(slug) = named.map(Slug) else { return Ok(None) };
    desk.door.engine.channel(&slug).await?;
    Ok(Some(slug))
}

async fn people(State(desk): Here, Parameters(of): Parameters<Of>) -> Result<Json<Vec<PersonInfo>>> {
    let channel = known_channel(&desk, of.channel).await?;
    let all = desk.door.engine.guests(channel.as_ref()).await?;
    Ok(Json(all.into_iter().map(person).collect()))
}

async fn let_out(
    State(desk): Here,
    Segments((channel, id)): Segments<(String, String)>,
) -> Result<StatusCode> {
    let channel = Slug(channel);
    let said = || {
        format!("{channel} has let in nobody with the id {id:?}; `switchboard people` lists those let in.")
    };
    done(desk.door.engine.let_out(&channel, &id).await?, said)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Posts {
    channel: Option<String>,
    #[serde(default)]
    all: bool,
}

/// What of a removed channel is left there is shown too, so its slug need not be known.
async fn outbox(State(desk): Here, Parameters(of): Parameters<Posts>) -> Result<Json<Vec<PostInfo>>> {
    let all = desk.door.engine.outbox(of.channel.map(Slug).as_ref(), of.all).await?;
    Ok(Json(all.into_iter().map(post_info).collect()))
}

fn post_info(of: StoredPost) -> PostInfo {
    let state = match of.state {
        PostState::Open => "open",
        PostState::Done => "done",
        PostState::Refused => "refused",
        PostState::Perhaps => "perhaps",
        PostState::Dropped => "dropped",
    };
    PostInfo {
        number: of.number,
        channel: of.post.to.channel.0,
        chat: of.post.to.chat.id,
        thread: of.post.to.chat.thread,
        conversation: of.conversation.0,
        state: state.to_owned(),
        at: rfc3339(of.at),
        due: rfc3339(of.due),
        tries: of.tries,
        why: of.why,
        text: of.post.text,
        files: of.post.files.into_iter().map(|f| f.name).collect(),
        sent: of.parts.iter().filter(|p| p.state == PartState::Sent).count(),
        parts: of.parts.len(),
    }
}

async fn retry(State(desk): Here, Segments(number): Segments<i64>) -> Result<StatusCode> {
    let said = || not_there("outbox", number);
    done(desk.door.engine.retry_post(number).await?, said)
}

async fn drop_post(State(desk): Here, Segments(number): Segments<i64>) -> Result<StatusCode> {
    let said = || not_there("outbox", number);
    done(desk.door.engine.drop_post(number).await?, said)
}

async fn inbox(State(desk): Here, Parameters(of): Parameters<Of>) -> Result<Json<Vec<InboxInfo>>> {
    let all = desk.door.engine.inbox(of.channel.map(Slug).as_ref()).await?;
    Ok(Json(all.into_iter().map(inbox_info).collect()))
}

fn inbox_info(of: InboxItem) -> InboxInfo {
    let why = match of.why {
        KeptWhy::Unknown => "unknown",
        KeptWhy::NotLetIn => "not_let_in",
        KeptWhy::Failed => "failed",
        KeptWhy::Held => "held",
    };
    InboxInfo {
        number: of.number,
        channel: of.channel.0,
        at: rfc3339(of.at),
        why: why.to_owned(),
        detail: of.detail,
        conversation: of.conversation.map(|c| c.0),
    }
}

async fn replay(State(desk): Here, Segments(number): Segments<i64>) -> Result<Json<ReplayedInfo>> {
    let outcome = match desk.door.engine.replay(number).await? {
        Replayed::Taken => "taken",
        Replayed::Unknown => "unknown",
        Replayed::Held => "held",
        Replayed::NotRunning => "not_running",
    };
    Ok(Json(ReplayedInfo { outcome: outcome.to_owned() }))
}

fn not_there(box_: &str, number: i64) -> String {
    format!(
        "The {box_} has nothing numbered {number} that can still be changed; `switchboard {box_} list --all` shows it."
    )
}

fn done(done: bool, said: impl FnOnce() -> String) -> Result<StatusCode> {
    match done {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(HttpError::new(Code::Unknown, said())),
    }
}

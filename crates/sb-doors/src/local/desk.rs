//! The `/desk` routes: profiles, tokens, sessions, backup and check-up. What they change holds at once.

mod channels;
mod jobs;
mod ledger;
mod mcp;
mod memos;
mod people;

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Extension, Json, Router};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::Desk;
use super::wire::{
    AddToken, AgentInfo, Backup, Doctor, NewToken, ProfileInfo, PutProfile, ServerInfo, SessionInfo,
    TokenInfo, Trace,
};
use crate::engine::store::TokenRecord;
use crate::engine::store::secret_name;
use crate::engine::{EngineError, EngineErrorKind};
use crate::http::{Code, HttpError, Parameters, Result, Segments, Target, Who, find_session, rfc3339, take};
use crate::model::{
    ConversationId, Pending, Profile, ProfileName, Rights, Secret, Session, SessionBrief, TokenId,
};

/// Largest body of a desk route; messages have their own limit.
const LARGEST: usize = 1024 * 1024;
const SESSIONS: usize = 50;
const MOST_SESSIONS: usize = 10_000;

type Here = State<Arc<Desk>>;

pub(super) fn routes(desk: Arc<Desk>) -> Router {
    Router::new()
        .route("/desk/server", get(server))
        .route("/desk/profiles", get(profiles))
        .route("/desk/profiles/{name}", get(profile).put(put_profile).delete(remove_profile))
        .route("/desk/tokens", get(tokens))
        .route("/desk/profiles/{name}/tokens", post(add_token))
        .route("/desk/profiles/{name}/tokens/{id}", delete(remove_token))
        .route("/desk/sessions", get(sessions))
        .route("/desk/sessions/{id}", get(trace))
        .route("/desk/sessions/{id}/messages", post(say))
        .route("/desk/backup", post(backup))
        .route("/desk/doctor", get(doctor))
        .merge(channels::routes())
        .merge(mcp::routes())
        .merge(memos::routes())
        .merge(people::routes())
        .merge(ledger::routes())
        .merge(jobs::routes())
        .with_state(desk)
}

async fn server(State(desk): Here) -> Json<ServerInfo> {
    Json(desk.server.clone())
}

async fn profiles(State(desk): Here) -> Result<Json<Vec<ProfileInfo>>> {
    let mut all = Vec::new();
    for profile in desk.door.engine.profiles().await? {
        all.push(info(&desk, profile).await?);
    }
    Ok(Json(all))
}

async fn profile(State(desk): Here, Segments(name): Segments<String>) -> Result<Json<ProfileInfo>> {
    let profile = desk.door.engine.profile(&ProfileName(name)).await?;
    Ok(Json(info(&desk, profile).await?))
}

async fn info(desk: &Desk, profile: Profile) -> Result<ProfileInfo> {
    let (has_key, key_is_sealed) = match desk.door.engine.has_key(&profile.name).await {
        Ok(has_key) => (has_key, false),
        // There is one that cannot be opened. The profile must be seen all the same, to be put right.
        Err(why) if why.kind == EngineErrorKind::Store => (true, true),
        Err(why) => return Err(why.into()),
    };
    let available_tools = desk.door.engine.tools_of(&profile);
    let identity = identity(desk, &profile);
    Ok(ProfileInfo { has_key, key_is_sealed, available_tools, identity, profile })
}

/// The agent behind a profile.
fn identity(desk: &Desk, profile: &Profile) -> Option<AgentInfo> {
    profile.agent.and_then(|key| desk.door.engine.account_of(key)).as_ref().map(ledger::agent_info)
}

async fn put_profile(
    State(desk): Here,
    Segments(name): Segments<String>,
    request: Request,
) -> Result<Json<ProfileInfo>> {
    let put: PutProfile = body(request).await?;
    if put.profile.name.0 != name {
        return Err(HttpError::new(
            Code::BadField,
            format!("The profile in the body is called {:?}, the address says {name:?}.", put.profile.name.0),
        ));
    }
    if put.new && desk.door.engine.has_profile(&put.profile.name) {
        return Err(HttpError::new(
            Code::ProfileExists,
            format!("There is a profile {name} already. `switchboard profile set {name}` changes it."),
        ));
    }
    let key = put.api_key.filter(|key| !key.trim().is_empty()).map(Secret::new);
    let (engine, profile) = (desk.door.engine.clone(), put.profile.clone());
    whole(async move {
        if put.no_api_key {
            engine.store().remove_secret(&secret_name(&profile.name, "api_key")).await?;
        }
        engine.put_profile(profile, key).await
    })
    .await?;
    // As it is kept: one that named no agent has got its own.
    let kept = desk.door.engine.profile(&put.profile.name).await?;
    Ok(Json(info(&desk, kept).await?))
}

async fn remove_profile(State(desk): Here, Segments(name): Segments<String>) -> Result<StatusCode> {
    let engine = desk.door.engine.clone();
    whole(async move { engine.remove_profile(&ProfileName(name)).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Does a change to its end, also where the command that asked for it was ended meanwhile.
async fn whole(
    change: impl Future<Output = std::result::Result<(), EngineError>> + Send + 'static,
) -> Result<()> {
    let done = tokio::spawn(change).await;
    Ok(done.map_err(|_| HttpError::new(Code::Internal, "The change failed. The server's log says more."))??)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    profile: Option<String>,
    most: Option<usize>,
}

async fn tokens(State(desk): Here, Parameters(which): Parameters<Which>) -> Result<Json<Vec<TokenInfo>>> {
    let profile = which.profile.map(ProfileName);
    if let Some(name) = &profile {
        desk.door.engine.profile(name).await?;
    }
    let all = desk.door.engine.tokens(profile.as_ref()).await?;
    let mut shown = Vec::new();
    for token in all {
        shown.push(token_info(&desk, token).await?);
    }
    Ok(Json(shown))
}

async fn add_token(
    State(desk): Here,
    Segments(name): Segments<String>,
    request: Request,
) -> Result<Json<NewToken>> {
    let add: AddToken = body(request).await?;
    let rights = Rights { decide: add.approve, instruct: add.approve || add.instruct };
    let (record, secret) = desk.door.engine.add_token(&ProfileName(name), rights).await?;
    Ok(Json(NewToken { token: secret.expose().to_owned(), info: token_info(&desk, record).await? }))
}

async fn token_info(desk: &Desk, token: TokenRecord) -> Result<TokenInfo> {
    let profile = desk.door.engine.profile(&token.profile).await?;
    Ok(TokenInfo {
        agent: identity(desk, &profile),
        id: token.id.0,
        profile: token.profile.0,
        approve: token.decide,
        instruct: token.instruct,
        created: rfc3339(token.created),
    })
}

async fn remove_token(
    State(desk): Here,
    Segments((name, id)): Segments<(String, String)>,
) -> Result<StatusCode> {
    desk.door.engine.remove_token(&ProfileName(name), &TokenId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn sessions(State(desk): Here, Parameters(which): Parameters<Which>) -> Result<Json<Vec<SessionInfo>>> {
    let profile = which.profile.map(ProfileName);
    let most = which.most.unwrap_or(SESSIONS).min(MOST_SESSIONS);
    let all = desk.door.engine.sessions(profile.as_ref(), most).await?;
    if let Some(name) = profile.filter(|_| all.is_empty()) {
        // One that was removed keeps its sessions, so only one without any is asked for.
        desk.door.engine.profile(&name).await?;
    }
    Ok(Json(all.into_iter().map(brief).collect()))
}

fn brief(session: SessionBrief) -> SessionInfo {
    SessionInfo {
        id: session.id.to_string(),
        profile: session.profile.0,
        conversation: session.conversation.0,
        title: session.title,
        began: rfc3339(session.began),
        last_active: rfc3339(session.last_active),
        state: session.state,
        current: session.current,
        turns: session.usage.turns,
    }
}

async fn trace(
    State(desk): Here,
    Extension(who): Extension<Who>,
    Segments(id): Segments<String>,
) -> Result<Json<Trace>> {
    let view = find_session(&desk.door, &who, &id).await?;
    let last_active = view.log.last().map_or(view.session.began, |entry| entry.at);
    let facts = (view.state, view.current, rfc3339(last_active));
    Ok(Json(Trace {
        session: traced(view.session, view.conversation, view.profile, facts),
        waiting: view.pending.map(waiting),
        entries: view.log,
    }))
}

fn traced(
    session: Session,
    conversation: ConversationId,
    profile: ProfileName,
    (state, current, last_active): (&str, bool, String),
) -> SessionInfo {
    SessionInfo {
        id: session.id.to_string(),
        profile: profile.0,
        conversation: conversation.0,
        title: session.title,
        began: rfc3339(session.began),
        last_active,
        state: state.to_owned(),
        current,
        turns: session.usage.turns,
    }
}

fn waiting(pending: Pending) -> serde_json::Value {
    let ways = if pending.ways.are_several() { pending.ways.allow } else { Vec::new() };
    json!({
        "ways": ways,
        "id": pending.request,
        "request": pending.request.short(),
        "call": pending.call,
        "reason": pending.reason,
        "since": rfc3339(pending.since),
    })
}

async fn say(
    State(desk): Here,
    Extension(who): Extension<Who>,
    Segments(id): Segments<String>,
    request: Request,
) -> Result<Response> {
    let view = find_session(&desk.door, &who, &id).await?;
    let target = Target::Session(view.session.id, view.conversation, view.profile);
    let (head, body) = request.into_parts();
    take(desk.door.clone(), who, target, &head.headers, body).await
}

async fn backup(State(desk): Here, request: Request) -> Result<Json<Backup>> {
    let backup: Backup = body(request).await?;
    let to = PathBuf::from(&backup.to);
    if !to.is_absolute() {
        return Err(HttpError::new(Code::BadField, "\"to\" must be an absolute path."));
    }
    desk.door.engine.backup(&to).await.map_err(|e| match e.kind {
        EngineErrorKind::DiskFull => e.into(),
        _ => {
            // Whoever asked for it knows what was being done.
            let doing = format!("making the backup {}: ", to.display());
            let said = e.said.strip_prefix(&doing).unwrap_or(&e.said);
            HttpError::new(Code::Bad, format!("No backup was made: {}.", said.trim_end_matches('.')))
        }
    })?;
    Ok(Json(backup))
}

async fn doctor(State(desk): Here) -> Result<Response> {
    let found = match desk.door.engine.checkup().await {
        Ok(found) => Doctor { problems: found.problems, notes: found.notes },
        // A store that cannot be read is what was to be found out.
        Err(why) if why.kind == EngineErrorKind::Store => {
            Doctor { problems: vec![why.said], notes: Vec::new() }
        }
        Err(why) => return Err(why.into()),
    };
    Ok(Json(found).into_response())
}

/// A desk route's JSON body, whatever its content type says; an empty one is an empty object.
async fn body<T: DeserializeOwned>(request: Request) -> Result<T> {
    let bytes = axum::body::to_bytes(request.into_body(), LARGEST)
        .await
        .map_err(|_| HttpError::new(Code::TooLarge, "The body is larger than 1 MB."))?;
    let bytes = if bytes.trim_ascii().is_empty() { b"{}".as_slice() } else { &bytes };
    serde_json::from_slice(bytes).map_err(|e| match e.classify() {
        serde_json::error::Category::Data => {
            HttpError::new(Code::BadField, format!("The body does not fit: {e}."))
        }
        _ => HttpError::new(Code::NotJson, format!("The body is not the JSON it should be: {e}.")),
    })
}

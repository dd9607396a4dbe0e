//! `GET /v1/sessions/{id}`: a session as it stands, and what runs or waits in it, as a stream.
//!
//! What calls were made with is shown only to those who may decide about them.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::answer::Answer;
use super::error::{Code, HttpError, Result};
use super::transcript::{self, Line};
use super::who::{Who, shown_name};
use super::{Door, Parameters, Segments, rfc3339, stream};
use crate::engine::{EngineErrorKind, SessionView};
use crate::model::{Pending, SessionId, Usage};

/// What a session has used.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct UsageShown {
    pub turns: u64,
    pub messages: u64,
    /// Times a model was asked.
    pub model_calls: u64,
    /// Tokens read, cached ones included.
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// Millionths of a US dollar, as far as prices are known.
    pub cost_micro_usd: u64,
}

/// The request that waits for a person.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct WaitingShown {
    /// As `/approve` and `/decline` take it.
    pub request: String,
    pub tool: String,
    /// Why it is asked.
    pub reason: String,
    /// RFC 3339.
    pub since: String,
    /// What it would be called with; only for tokens that may decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub input: Option<serde_json::Value>,
    /// The agent's own ways of allowing it, where there are several: `/approve` takes the number of one, from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<String>,
}

/// A session.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SessionShown {
    /// 16 hex digits.
    pub session: String,
    pub profile: String,
    /// The conversation's name.
    pub conversation: String,
    pub title: Option<String>,
    /// `idle`, `running` or `waiting`.
    pub state: String,
    /// It is its conversation's current session.
    pub current: bool,
    /// RFC 3339.
    pub began: String,
    /// The profile's models; the first is the default.
    pub models: Vec<String>,
    /// The one this conversation chose, if it did.
    pub model: Option<String>,
    pub usage: UsageShown,
    pub waiting: Option<WaitingShown>,
    /// Everything that happened, in order.
    pub transcript: Vec<Line>,
}

/// What a look at a session can ask for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct SessionQuery {
    /// Follow what runs or waits in it now, as server-sent events that end with `done`.
    #[serde(default)]
    pub stream: bool,
}

/// `GET /v1/sessions/{id}`
pub(crate) async fn show(
    State(door): State<Arc<Door>>,
    Extension(who): Extension<Who>,
    Segments(id): Segments<String>,
    Parameters(query): Parameters<SessionQuery>,
) -> Result<Response> {
    let view = find(&door, &who, &id).await?;
    if query.stream {
        // What runs or waits; else what was said last, so that whoever went away still gets its end.
        let shown = shown_name(&view.conversation);
        return match view.following.or(view.last) {
            Some(message) => {
                let follow = door.engine.follow_message(message);
                stream::respond(door, follow, shown, stream::Rest::of(&who)).await
            }
            None => Ok(stream::only_done(&Answer::empty(shown, view.session.id))),
        };
    }
    let models = match door.engine.profile(&view.profile).await {
        Ok(profile) => profile.models.iter().map(ToString::to_string).collect(),
        // Removed meanwhile: its sessions stay.
        Err(e) if e.kind == EngineErrorKind::NoProfile => Vec::new(),
        Err(e) => return Err(e.into()),
    };
    Ok(Json(shown(view, models, who.rights.decide)).into_response())
}

/// A session by what was typed, if this caller reaches its profile.
pub(crate) async fn find(door: &Door, who: &Who, typed: &str) -> Result<SessionView> {
    let id: SessionId = typed.parse().map_err(|_| {
        HttpError::new(Code::UnknownSession, "That is no session's id: it has 16 hex digits, in lower case.")
    })?;
    let view = door.engine.session(id).await.map_err(|e| match e.kind {
        EngineErrorKind::NotFound => HttpError::new(Code::UnknownSession, e.said),
        _ => e.into(),
    })?;
    who.reaches(&view.profile, true)?;
    Ok(view)
}

fn shown(view: SessionView, models: Vec<String>, decides: bool) -> SessionShown {
    SessionShown {
        session: view.session.id.to_string(),
        profile: view.profile.0,
        conversation: shown_name(&view.conversation),
        title: view.session.title,
        state: view.state.to_owned(),
        current: view.current,
        began: rfc3339(view.session.began),
        models,
        model: view.choices.model,
        usage: usage(view.session.usage),
        waiting: view.pending.map(|p| waiting(p, decides)),
        transcript: transcript::lines(view.log, decides),
    }
}

fn usage(used: Usage) -> UsageShown {
    UsageShown {
        turns: used.turns,
        messages: used.messages,
        model_calls: used.calls,
        input_tokens: used.input,
        cached_tokens: used.cached,
        output_tokens: used.output,
        cost_micro_usd: used.cost_micros,
    }
}

fn waiting(pending: Pending, decides: bool) -> WaitingShown {
    WaitingShown {
        request: pending.request.short(),
        tool: pending.call.tool,
        reason: pending.reason,
        since: rfc3339(pending.since),
        input: decides.then_some(pending.call.input),
        ways: if decides && pending.ways.are_several() { pending.ways.allow } else { Vec::new() },
    }
}

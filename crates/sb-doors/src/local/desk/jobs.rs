//! The `/desk` routes about jobs.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};

use super::{Here, body};
use crate::engine::{JobTime, JobView, JobWish, ReplyEvent, RunState, RunView, schedule_shown};
use crate::http::{Result, Segments, rfc3339};
use crate::local::Desk;
use crate::local::wire::{AddJob, JobInfo, JobTimeInfo, RunInfo};
use crate::model::ProfileName;

pub(super) fn routes() -> Router<Arc<Desk>> {
    Router::new()
        .route("/desk/jobs", get(list).post(add))
        .route("/desk/jobs/{name}", get(show).delete(remove))
        .route("/desk/jobs/{name}/runs", post(run))
}

async fn list(State(desk): Here) -> Result<Json<Vec<JobInfo>>> {
    Ok(Json(desk.door.engine.jobs().await?.into_iter().map(info).collect()))
}

async fn show(State(desk): Here, Segments(name): Segments<String>) -> Result<Json<JobInfo>> {
    Ok(Json(info(desk.door.engine.job(&name).await?)))
}

async fn add(State(desk): Here, request: Request) -> Result<Json<JobInfo>> {
    let add: AddJob = body(request).await?;
    let time = match add.time {
        JobTimeInfo::Cron(text) => JobTime::Cron(text),
        JobTimeInfo::Every(text) => JobTime::Every(text),
        JobTimeInfo::At(text) => JobTime::At(text),
    };
    let wish = JobWish {
        name: add.name,
        profile: ProfileName(add.profile),
        conversation: add.conversation,
        prompt: add.prompt,
        time,
        zone: add.zone,
    };
    Ok(Json(info(desk.door.engine.add_job(wish).await?)))
}

/// Runs it and waits for what comes of it; whoever hangs up meanwhile finds it in the list of its runs.
async fn run(State(desk): Here, Segments(name): Segments<String>) -> Result<Json<JobInfo>> {
    let engine = &desk.door.engine;
    let message = engine.run_job(&name).await?;
    let mut follow = engine.follow_message(message);
    while let Some(event) = follow.next().await? {
        if matches!(event, ReplyEvent::Ended(_)) {
            break;
        }
    }
    Ok(Json(info(engine.job(&name).await?)))
}

async fn remove(State(desk): Here, Segments(name): Segments<String>) -> Result<StatusCode> {
    desk.door.engine.remove_job(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn info(view: JobView) -> JobInfo {
    let JobView { job, next, runs, notes } = view;
    JobInfo {
        name: job.name,
        profile: job.profile.0,
        conversation: job.conversation.0,
        prompt: job.prompt,
        schedule: schedule_shown(&job.schedule),
        next: job.next.map(rfc3339),
        next_shown: next,
        runs: runs.into_iter().map(run_info).collect(),
        notes,
    }
}

fn run_info(run: RunView) -> RunInfo {
    let (state, delivered_as, why) = match run.state {
        RunState::Unfinished => ("unfinished", None, None),
        RunState::Answered => ("answered", None, None),
        RunState::Sending => ("sending", None, None),
        RunState::Delivered(message) => ("delivered", Some(message), None),
        RunState::NotSent(why) => ("not_sent", None, Some(why)),
        RunState::Failed => ("failed", None, None),
    };
    RunInfo { due: rfc3339(run.due), state: state.to_owned(), delivered_as, why, said: run.said }
}

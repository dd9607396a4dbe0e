//! The `/desk` routes about channels: what kinds there are, what is configured, and how it is.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;

use super::{Here, body, whole};
use crate::engine::channel::{Account, Manifest};
use crate::engine::{BridgeState, BridgeStatus, ChannelView, Engine};
use crate::http::{Code, HttpError, Parameters, Result, Segments, rfc3339};
use crate::local::Desk;
use crate::local::wire::{
    AccountInfo, ChannelInfo, EnableChannel, KindInfo, LineInfo, PutChannel, StatusInfo, TrustInfo,
};
use crate::model::{Secret, Slug, Timestamp};
use crate::{standing, trust};

/// So long a channel that was just switched on may take to say how it went.
const STARTING: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

pub(super) fn routes() -> Router<Arc<Desk>> {
    Router::new()
        .route("/desk/kinds", get(kinds))
        .route("/desk/channels", get(channels))
        .route("/desk/channels/{slug}", get(channel).put(put_channel).delete(remove_channel))
        .route("/desk/channels/{slug}/enabled", post(enable))
        .route("/desk/trust", get(trust))
}

async fn kinds(State(desk): Here) -> Json<Vec<KindInfo>> {
    Json(desk.door.engine.kinds().iter().map(KindInfo::of).collect())
}

async fn channels(State(desk): Here) -> Result<Json<Vec<ChannelInfo>>> {
    let mut all = Vec::new();
    for view in desk.door.engine.channels().await? {
        all.push(info(&desk.door.engine, view).await?);
    }
    Ok(Json(all))
}

async fn channel(State(desk): Here, Segments(slug): Segments<String>) -> Result<Json<ChannelInfo>> {
    Ok(Json(shown(&desk.door.engine, &Slug(slug)).await?))
}

async fn shown(engine: &Engine, slug: &Slug) -> Result<ChannelInfo> {
    info(engine, engine.channel(slug).await?).await
}

async fn info(engine: &Engine, view: ChannelView) -> Result<ChannelInfo> {
    let people = engine.guests(Some(&view.config.slug)).await?.len();
    Ok(ChannelInfo {
        warnings: standing::warnings(&view.config, people),
        runs_here: engine.runs_channels(),
        status: status(view.status),
        secrets: view.secrets,
        config: view.config,
    })
}

/// A channel's status as it is told.
fn status(of: BridgeStatus) -> StatusInfo {
    let (state, why, again) = match of.state {
        BridgeState::Off => ("off", None, None),
        BridgeState::Starting => ("starting", None, None),
        BridgeState::Running => ("running", None, None),
        BridgeState::Failed { why, again } => ("failed", Some(why), again),
    };
    let time = |at: Option<Timestamp>| at.map(rfc3339);
    StatusInfo {
        state: state.to_owned(),
        why,
        again: time(again),
        account: of.account.map(account),
        connected: time(of.connected),
        received: time(of.received),
        sent: time(of.sent),
        paused_until: time(of.paused_until),
        trouble: of.trouble,
        lines: of.lines.into_iter().map(|l| LineInfo { at: rfc3339(l.at), said: l.said }).collect(),
    }
}

fn account(of: Account) -> AccountInfo {
    AccountInfo { id: of.id, name: of.name, link: of.link, notes: of.notes }
}

async fn put_channel(
    State(desk): Here,
    Segments(slug): Segments<String>,
    request: Request,
) -> Result<Json<ChannelInfo>> {
    let put: PutChannel = body(request).await?;
    let engine = desk.door.engine.clone();
    if put.channel.slug.0 != slug {
        let said =
            format!("The channel in the body is called {:?}, the address says {slug:?}.", put.channel.slug.0);
        return Err(HttpError::new(Code::BadField, said));
    }
    no_secret_in_the_open(&engine.kind(&put.channel.kind)?, &put)?;
    let slug = Slug(slug);
    if put.new && engine.channels().await?.iter().any(|c| c.config.slug == slug) {
        let said = format!(
            "There is a channel {slug} already: `switchboard channel set {slug}` changes it, and --slug gives another one its own name."
        );
        return Err(HttpError::new(Code::Bad, said));
    }
    let secrets = put.secrets.into_iter().map(|(key, value)| (key, Secret::new(value))).collect();
    let (changing, changed) = (engine.clone(), put.channel);
    whole(async move { changing.put_channel(changed, secrets).await }).await?;
    Ok(Json(settled(&engine, &slug).await?))
}

/// Settings are shown to whoever looks, so a secret among them is refused.
fn no_secret_in_the_open(kind: &Manifest, put: &PutChannel) -> Result<()> {
    let open = kind.fields.iter().find(|f| f.secret && put.channel.settings.contains_key(f.key));
    match open {
        None => Ok(()),
        Some(field) => Err(HttpError::new(
            Code::BadField,
            format!("{:?} is a secret: it goes into \"secrets\", not into \"settings\".", field.key),
        )),
    }
}

async fn enable(
    State(desk): Here,
    Segments(slug): Segments<String>,
    request: Request,
) -> Result<Json<ChannelInfo>> {
    let EnableChannel { enabled } = body(request).await?;
    let (engine, slug) = (desk.door.engine.clone(), Slug(slug));
    let (changing, changed) = (engine.clone(), slug.clone());
    whole(async move { changing.enable_channel(&changed, enabled).await }).await?;
    Ok(Json(settled(&engine, &slug).await?))
}

/// The channel, once its start came to something, or a while later.
async fn settled(engine: &Engine, slug: &Slug) -> Result<ChannelInfo> {
    let began = tokio::time::Instant::now();
    loop {
        let found = shown(engine, slug).await?;
        let starts = found.config.enabled && found.runs_here;
        let under_way = starts && matches!(found.status.state.as_str(), "off" | "starting");
        if !under_way || began.elapsed() >= STARTING {
            return Ok(found);
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

async fn remove_channel(State(desk): Here, Segments(slug): Segments<String>) -> Result<StatusCode> {
    let engine = desk.door.engine.clone();
    whole(async move { engine.remove_channel(&Slug(slug)).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct All {
    #[serde(default)]
    all: bool,
}

async fn trust(State(desk): Here, Parameters(which): Parameters<All>) -> Result<Json<Vec<TrustInfo>>> {
    let kinds = desk.door.engine.kinds();
    if which.all {
        return Ok(Json(trust::of_all(&kinds)));
    }
    let channels: Vec<_> = desk.door.engine.channels().await?.into_iter().map(|c| c.config).collect();
    Ok(Json(trust::in_force(&kinds, &channels)))
}

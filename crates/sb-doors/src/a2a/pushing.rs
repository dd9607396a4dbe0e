//! Telling webhooks how their tasks stand: whenever a state is another than was told last.
//!
//! What was told is stored, so a restart goes on where it was, and a failed try is made again, later and later.
//! A name is looked up for every try and the connection goes to the addresses that were judged; redirects are
//! not followed, and nobody is told what the other side answers.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use sb_wire::a2a::{Event, Push, Version};
use tokio_util::sync::CancellationToken;

use super::{A2aOffer, ending, hooks};
use crate::engine::harness::net::Ask;
use crate::engine::store::TaskHook;
use crate::engine::{Engine, Looked};
use crate::model::{MessageId, Secret};

/// How often it is looked whether a state has changed.
const EVERY: Duration = Duration::from_secs(1);
/// How long another side may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// Posted at once.
const AT_ONCE: usize = 16;
/// Tries of one state; then it is given up.
const MOST_TRIES: u32 = 12;
/// The wait after the first failure, doubled each time.
const FIRST_WAIT_MS: i64 = 2_000;

/// Tells webhooks until the server closes. Where none is open, nothing is looked at until one is set.
pub async fn run(engine: Engine, offer: Arc<A2aOffer>, closing: CancellationToken) {
    loop {
        let any = tokio::select! {
            () = closing.cancelled() => return,
            any = pass(&engine, &offer) => any,
        };
        let again = async {
            match any {
                true => tokio::time::sleep(EVERY).await,
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            () = closing.cancelled() => return,
            () = offer.stirred.notified() => {}
            () = again => {}
        }
    }
}

/// Looks at every open webhook once; whether there is any.
async fn pass(engine: &Engine, offer: &A2aOffer) -> bool {
    let mut after = (MessageId(0), String::new());
    let mut any = false;
    loop {
        let open = match engine.open_task_hooks((after.0, &after.1)).await {
            Ok(open) => open,
            Err(why) => {
                tracing::warn!(error = %why, "webhooks cannot be read");
                return true;
            }
        };
        let Some(last) = open.last() else { return any };
        (any, after) = (true, (last.task, last.id.clone()));
        let now = engine.now();
        let due = open.into_iter().filter(|hook| hook.tries == 0 || hook.due.is_some_and(|due| due <= now));
        futures_util::stream::iter(due).for_each_concurrent(AT_ONCE, |hook| look(engine, offer, hook)).await;
    }
}

/// Tells one webhook, if there is something to tell.
async fn look(engine: &Engine, offer: &A2aOffer, hook: TaskHook) {
    let Ok(Some(looked)) = engine.look(hook.task).await else {
        return note(engine, TaskHook { due: None, ..hook }).await;
    };
    let state = ending::state_of(looked.ending.as_ref(), looked.began);
    let word = word(&looked);
    if word == hook.told {
        return;
    }
    let address = engine.task_hook_address(&hook).await;
    let Some(push) = address.as_ref().and_then(hooks::opened) else {
        return note(engine, TaskHook { due: None, ..hook }).await;
    };
    match tell(engine, offer, &hook, &push, &looked).await {
        Ok(()) => {
            metrics::counter!("switchboard_a2a_pushes_total", "outcome" => "told").increment(1);
            let due = (!state.is_terminal()).then(|| engine.now());
            note(engine, TaskHook { told: word, tries: 0, due, ..hook }).await;
        }
        Err(why) => {
            metrics::counter!("switchboard_a2a_pushes_total", "outcome" => "failed").increment(1);
            tracing::debug!(task = hook.task.0, why, "a webhook could not be told");
            let tries = hook.tries + 1;
            let wait = FIRST_WAIT_MS << hook.tries.min(8);
            let due = (tries < MOST_TRIES).then(|| engine.now().plus_ms(wait));
            note(engine, TaskHook { tries, due, ..hook }).await;
        }
    }
}

async fn note(engine: &Engine, hook: TaskHook) {
    if let Err(why) = engine.note_task_hook(hook).await {
        tracing::warn!(error = %why, "what a webhook was told cannot be noted");
    }
}

/// What tells one state from another; each question is one of its own.
fn word(looked: &Looked) -> String {
    let state = ending::state_of(looked.ending.as_ref(), looked.began).write(Version::V1_0);
    match looked.ending.as_ref().and_then(|ending| ending.waiting.as_ref()) {
        Some(request) => format!("{state} {}", request.short()),
        None => state.to_owned(),
    }
}

async fn tell(
    engine: &Engine,
    offer: &A2aOffer,
    hook: &TaskHook,
    push: &Push,
    looked: &Looked,
) -> Result<(), String> {
    let let_in = hooks::read(offer, &push.url).map_err(|why| why.0)?;
    let place = offer.away.clear(&push.url, &let_in).await.map_err(|why| why.0)?;
    let version = Version::read(&hook.version).unwrap_or(Version::V1_0);
    let task = ending::task(engine, looked, None, Some(0)).await;
    let (body, media_type) = match version {
        Version::V0_3 => (task.write(version), "application/json"),
        Version::V1_0 => (Event::Task(task).write(version), "application/a2a+json"),
    };
    let secret = |text: &String| Secret::new(text.clone());
    let token = push.token.as_ref().map(|token| ("x-a2a-notification-token", "", secret(token)));
    let bearer = push.credentials.as_ref().map(|bearer| ("authorization", "Bearer ", secret(bearer)));
    let ask = Ask {
        url: place.url().to_owned(),
        headers: vec![("content-type", media_type.to_owned())],
        secret_headers: token.into_iter().chain(bearer).collect(),
        body: body.to_string().into(),
        idle: PATIENCE,
    };
    let http = place.http().map_err(|why| why.0)?;
    http.post(ask).await.map(drop).map_err(|why| why.to_string())
}

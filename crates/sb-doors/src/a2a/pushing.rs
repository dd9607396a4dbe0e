//! Telling webhooks how their tasks stand: whenever a state is another than was told last.
//!
//! A post of the outbox is decided once and goes as it is; here only the newest state counts, so what is stored is
//! what was told, not what is to be. The promises are the outbox's: it is stored before it is tried and after, a failed
//! try is made again, later and later, a restart goes on where it was, and one side's slowness holds up no other.
//! Nothing is looked at but what was touched or is due. A webhook goes, with its address, once its task has ended and it
//! was told so, or when it was tried too often.
//!
//! A name is looked up for every try and the connection goes to the addresses that were judged; redirects are
//! not followed, and nobody is told what the other side answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use sb_wire::a2a::{Event, Push, Version};
use tokio_util::sync::CancellationToken;

use super::{A2aOffer, ending, hooks};
use crate::engine::harness::net::Ask;
use crate::engine::store::TaskHook;
use crate::engine::{self, Engine, Looked, Touched};
use crate::model::{MessageId, Secret};

/// What is due is looked at this long after the last look, at the earliest.
const SHORTEST: Duration = Duration::from_secs(1);
/// When webhooks cannot be read, all are looked at again after this long.
const AFTER_TROUBLE: Duration = Duration::from_secs(10);
/// How long another side may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// Posted at once.
const AT_ONCE: usize = 16;
/// Tries of one state; then it is given up.
const MOST_TRIES: u32 = 12;
/// The wait after the first failure, doubled each time.
const FIRST_WAIT_MS: i64 = 2_000;

/// Tells webhooks until the server closes.
pub async fn run(engine: Engine, offer: Arc<A2aOffer>, closing: CancellationToken) {
    let mut telling = Telling { engine, offer, busy: HashMap::new(), running: FuturesUnordered::new() };
    tokio::select! {
        () = closing.cancelled() => {}
        () = telling.run() => {}
    }
}

/// Names a webhook.
type Name = (MessageId, String);

struct Telling {
    engine: Engine,
    offer: Arc<A2aOffer>,
    /// Those being told, and whether to look at them again then.
    busy: HashMap<Name, bool>,
    running: FuturesUnordered<BoxFuture<'static, Name>>,
}

impl Telling {
    async fn run(&mut self) {
        let mut all = true;
        if let Err(why) = self.engine.remove_told_task_hooks().await {
            tracing::warn!(error = %why, "webhooks that were told all cannot be removed");
        }
        loop {
            let wait = match self.look(all).await {
                Ok(wait) => {
                    all = false;
                    wait
                }
                Err(why) => {
                    tracing::warn!(error = %why, "webhooks cannot be read");
                    all = true;
                    Some(AFTER_TROUBLE)
                }
            };
            let again = async {
                match wait {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => std::future::pending().await,
                }
            };
            let engine = self.engine.clone();
            let touched = tokio::select! {
                touched = engine.stirred() => touched,
                Some(name) = self.running.next() => {
                    self.ended(&name);
                    continue;
                }
                () = again => continue,
            };
            match touched {
                Touched::All => all = true,
                Touched::These(tasks) => {
                    for task in tasks {
                        match self.engine.task_hooks_to_tell(task).await {
                            Ok(hooks) => self.start_all(hooks).await,
                            Err(_) => all = true,
                        }
                    }
                }
            }
        }
    }

    /// Looks at what is due of what failed, or at everything; how long until the next is due.
    async fn look(&mut self, all: bool) -> engine::Result<Option<Duration>> {
        let next = self.engine.next_task_hook().await?;
        if all || next.is_some_and(|due| due <= self.engine.now()) {
            let mut after = (MessageId(0), String::new());
            loop {
                let open = self.engine.open_task_hooks((after.0, &after.1)).await?;
                let Some(last) = open.last() else { break };
                after = (last.task, last.id.clone());
                self.start_all(open.into_iter().filter(|hook| all || hook.tries > 0).collect()).await;
            }
        }
        let now = self.engine.now();
        Ok(next.map(|due| {
            let wait = u64::try_from(due.0.saturating_sub(now.0)).unwrap_or_default();
            Duration::from_millis(wait).max(SHORTEST)
        }))
    }

    /// Begins to tell those that may be told now, as many at once as may be.
    async fn start_all(&mut self, hooks: Vec<TaskHook>) {
        let now = self.engine.now();
        for hook in hooks {
            if hook.tries > 0 && hook.due.is_none_or(|due| due > now) {
                continue;
            }
            let name = (hook.task, hook.id.clone());
            if let Some(again) = self.busy.get_mut(&name) {
                *again = true;
                continue;
            }
            while self.running.len() >= AT_ONCE {
                if let Some(name) = self.running.next().await {
                    self.ended(&name);
                }
            }
            self.busy.insert(name.clone(), false);
            let (engine, offer) = (self.engine.clone(), self.offer.clone());
            self.running.push(Box::pin(async move {
                look(&engine, &offer, hook).await;
                name
            }));
        }
    }

    fn ended(&mut self, name: &Name) {
        if self.busy.remove(name) == Some(true) {
            self.engine.stir(name.0);
        }
    }
}

/// Tells one webhook, if there is something to tell.
async fn look(engine: &Engine, offer: &A2aOffer, hook: TaskHook) {
    let looked = match engine.look(hook.task).await {
        Ok(Some(looked)) => looked,
        Ok(None) => return note(engine, &hook, None).await,
        Err(why) => return tracing::warn!(error = %why, "a task cannot be read for its webhook"),
    };
    let state = ending::state_of(looked.ending.as_ref(), looked.began);
    let word = word(&looked);
    if word == hook.told {
        return;
    }
    let address = engine.task_hook_address(&hook).await;
    let Some(push) = address.as_ref().and_then(hooks::opened) else {
        return note(engine, &hook, None).await;
    };
    match tell(engine, offer, &hook, &push, &looked).await {
        Ok(()) => {
            metrics::counter!("switchboard_a2a_pushes_total", "outcome" => "told").increment(1);
            let told = TaskHook { told: word, tries: 0, due: Some(engine.now()), ..hook.clone() };
            note(engine, &hook, (!state.is_terminal()).then_some(told)).await;
        }
        Err(why) => {
            metrics::counter!("switchboard_a2a_pushes_total", "outcome" => "failed").increment(1);
            tracing::debug!(task = hook.task.0, why, "a webhook could not be told");
            let tries = hook.tries + 1;
            if tries >= MOST_TRIES {
                tracing::warn!(task = hook.task.0, tries, "a webhook is given up");
                return note(engine, &hook, None).await;
            }
            let due = Some(engine.now().plus_ms(FIRST_WAIT_MS << hook.tries.min(8)));
            note(engine, &hook, Some(TaskHook { tries, due, ..hook.clone() })).await;
        }
    }
}

async fn note(engine: &Engine, read: &TaskHook, now: Option<TaskHook>) {
    if let Err(why) = engine.note_task_hook(read, now).await {
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

//! Webhooks of tasks: set, looked at and forgotten. Where one leads is judged before it is kept, and again,
//! with its name looked up, each time something is told.

use sb_wire::a2a::{Code, Push, Unreadable, Version};
use sb_wire::jsonrpc::Failure;
use serde_json::{Value, json};

use super::rpc::{Asked, engine_failed};
use super::{A2aOffer, MOST_HOOKS, taking};
use crate::engine::harness::net::guard;
use crate::engine::store::TaskHook;
use crate::model::{MessageId, Secret};

/// The one webhook of a task's that was given no id.
const UNNAMED: &str = "default";
const LONGEST_ID: usize = 128;
const LONGEST_URL: usize = 2_000;

/// Refuses a webhook that leads where nobody else may send us.
pub(super) fn judge(asked: &Asked, push: &Push) -> Result<(), Failure> {
    let wrong = |field: &str, why: &str| {
        Err(asked
            .wrong(&Unreadable { field: format!("pushNotificationConfig.{field}"), why: why.to_owned() }))
    };
    let bearer = push.scheme.as_deref().is_none_or(|scheme| scheme.eq_ignore_ascii_case("bearer"));
    if !bearer {
        return wrong("authentication", "only Bearer is offered");
    }
    let sendable = |text: &Option<String>| {
        text.as_ref().is_none_or(|t| t.len() <= LONGEST_URL && t.bytes().all(|b| b.is_ascii_graphic()))
    };
    if !sendable(&push.token) || !sendable(&push.credentials) {
        return wrong("token", "it is visible ASCII characters without spaces, as headers hold them");
    }
    let named = push.id.as_deref().unwrap_or(UNNAMED);
    if named.len() > LONGEST_ID || !named.bytes().all(|b| b.is_ascii_graphic()) {
        return wrong("id", "it is at most 128 visible ASCII characters");
    }
    if push.url.len() > LONGEST_URL {
        return wrong("url", "it is too long");
    }
    match read(&asked.shared.offer, &push.url) {
        Ok(_) => Ok(()),
        Err(why) => wrong("url", why.0.trim_end_matches('.')),
    }
}

/// The address of a webhook, if we may post there as far as its letters tell; and what lets it in.
pub(super) fn read(offer: &A2aOffer, url: &str) -> Result<Vec<String>, guard::Refused> {
    if !offer.push_private && !url.trim_start().to_ascii_lowercase().starts_with("https://") {
        return Err(guard::Refused("Only https:// addresses are told.".to_owned()));
    }
    let let_in: Vec<String> = match offer.push_private {
        true => place(url).into_iter().collect(),
        false => Vec::new(),
    };
    guard::read(url, &let_in)?;
    Ok(let_in)
}

/// `host:port` of an address, or the host where no port is told.
fn place(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    rest.split(['/', '?', '#']).next().map(str::to_owned).filter(|host| !host.is_empty())
}

/// Keeps a webhook that was judged; its id.
pub(super) async fn keep(asked: &Asked, task: MessageId, push: Push) -> Result<Push, Failure> {
    let push = Push { id: Some(push.id.unwrap_or_else(|| UNNAMED.to_owned())), ..push };
    let engine = &asked.shared.door.engine;
    let hook = TaskHook {
        task,
        id: push.id.clone().unwrap_or_default(),
        profile: asked.profile.clone(),
        version: asked.version.name().to_owned(),
        told: String::new(),
        tries: 0,
        due: Some(engine.now()),
    };
    let address = Secret::new(push.write_bare(Version::V1_0).to_string());
    let kept = engine.put_task_hook(hook, address, MOST_HOOKS).await.map_err(engine_failed)?;
    match kept {
        true => Ok(push),
        false => Err(too_many(asked)),
    }
}

fn too_many(asked: &Asked) -> Failure {
    let said = format!("A task has at most {MOST_HOOKS} webhooks. Delete one first.");
    asked.fails(Code::UnsupportedOperation, &said, &[])
}

async fn ids(asked: &Asked, task: MessageId) -> Result<Vec<String>, Failure> {
    let all = asked.shared.door.engine.task_hooks(task).await.map_err(engine_failed)?;
    Ok(all.into_iter().map(|(hook, _)| hook.id).collect())
}

/// Whether a task has a webhook of this one's id.
pub(super) async fn is_kept(asked: &Asked, task: MessageId, push: &Push) -> Result<bool, Failure> {
    let id = push.id.as_deref().unwrap_or(UNNAMED);
    Ok(ids(asked, task).await?.iter().any(|kept| kept == id))
}

/// Refuses one more webhook than a task may have, before the message it comes with is taken.
pub(super) async fn has_room(asked: &Asked, task: MessageId, push: &Push) -> Result<(), Failure> {
    let id = push.id.as_deref().unwrap_or(UNNAMED);
    let others = ids(asked, task).await?.iter().filter(|kept| *kept != id).count();
    if others < MOST_HOOKS { Ok(()) } else { Err(too_many(asked)) }
}

/// What was kept sealed.
pub(super) fn opened(address: &Secret) -> Option<Push> {
    let value: Value = serde_json::from_str(address.expose()).ok()?;
    Push::read(&value).ok()
}

async fn of_task(asked: &Asked, id: &str) -> Result<Vec<(TaskHook, Push)>, Failure> {
    let looked = taking::find(asked, id).await?;
    let all = asked.shared.door.engine.task_hooks(looked.stored.message.id).await.map_err(engine_failed)?;
    Ok(all.into_iter().filter_map(|(hook, address)| Some((hook, opened(&address)?))).collect())
}

/// Sets one.
pub(super) async fn set(asked: &Asked) -> Result<Value, Failure> {
    let (id, push) = Push::read_set(&asked.params).map_err(|why| asked.wrong(&why))?;
    judge(asked, &push)?;
    let looked = taking::find(asked, &id).await?;
    let push = keep(asked, looked.stored.message.id, push).await?;
    Ok(push.write(&id, asked.version))
}

/// One of them.
pub(super) async fn get(asked: &Asked) -> Result<Value, Failure> {
    let (id, named) = Push::read_named(&asked.params, asked.version).map_err(|why| asked.wrong(&why))?;
    let all = of_task(asked, &id).await?;
    let found = match &named {
        Some(named) => all.iter().find(|(hook, _)| hook.id == *named),
        None => all.iter().find(|(hook, _)| hook.id == UNNAMED).or(all.first()),
    };
    let none = || asked.fails(Code::TaskNotFound, "This task has no such webhook.", &[("taskId", &id)]);
    found.map(|(_, push)| push.write(&id, asked.version)).ok_or_else(none)
}

/// All of a task's.
pub(super) async fn list(asked: &Asked) -> Result<Value, Failure> {
    let (id, _) = Push::read_named(&asked.params, asked.version).map_err(|why| asked.wrong(&why))?;
    let all = of_task(asked, &id).await?;
    let shown: Vec<Value> = all.iter().map(|(_, push)| push.write(&id, asked.version)).collect();
    Ok(match asked.version {
        Version::V0_3 => shown.into(),
        Version::V1_0 => json!({"configs": shown, "nextPageToken": ""}),
    })
}

/// Forgets one; that it is not there is no error.
pub(super) async fn delete(asked: &Asked) -> Result<Value, Failure> {
    let (id, named) = Push::read_named(&asked.params, asked.version).map_err(|why| asked.wrong(&why))?;
    let named = named.unwrap_or_else(|| UNNAMED.to_owned());
    for (hook, _) in of_task(asked, &id).await?.iter().filter(|(hook, _)| hook.id == named) {
        asked.shared.door.engine.remove_task_hook(hook).await.map_err(engine_failed)?;
    }
    Ok(match asked.version {
        Version::V0_3 => Value::Null,
        Version::V1_0 => json!({}),
    })
}

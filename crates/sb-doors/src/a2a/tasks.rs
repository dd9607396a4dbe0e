//! Tasks, as they are sent, looked at, listed and cancelled.

use std::time::Duration;

use sb_wire::a2a::{Code, Event, ListTasks, Query, State, Task, Unreadable, Version};
use sb_wire::jsonrpc::{Failure, INTERNAL};
use serde_json::{Value, json};

use super::ending::{self, id_of};
use super::rpc::{Asked, engine_failed};
use super::taking::{self, Taken};
use crate::engine::{Follow, Looked, ReplyEvent};
use crate::http::HttpError;
use crate::model::{ConversationId, EndKind, Ending, MessageId};

/// Tasks of which a list is made: the newest.
const MOST_LISTED: usize = 1_000;
/// How long a cancelled task may take to end.
const CANCELLING: Duration = Duration::from_secs(15);

/// Sends a message, and waits for its task to end or to want something, unless asked not to.
pub(super) async fn send(asked: &Asked) -> Result<Value, Failure> {
    let (taken, send) = taking::take(asked).await?;
    let Taken { task, goes_on, follow } = taken;
    let said = match send.at_once {
        true => None,
        false => remark(goes_on, &ended(asked, follow).await?),
    };
    let looked = look(asked, task).await?;
    let task = ending::task(&asked.shared.door.engine, &looked, said, send.history).await;
    Ok(Event::Task(task).write(asked.version))
}

/// What an answer to a task's question comes to, where the question stays.
pub(super) fn remark(goes_on: bool, ending: &Ending) -> Option<String> {
    let stays = matches!(ending.kind, EndKind::Refused);
    (goes_on && stays).then(|| ending.said.clone())
}

/// Waits for a message's ending.
async fn ended(asked: &Asked, mut follow: Follow) -> Result<Ending, Failure> {
    let door = &asked.shared.door;
    loop {
        let event = tokio::select! {
            event = follow.next() => event.map_err(engine_failed)?,
            () = door.closing.cancelled() => return Err(Failure::new(INTERNAL, HttpError::closing().said)),
        };
        match event {
            Some(ReplyEvent::Ended(ending)) => return Ok(ending),
            Some(_) => {}
            None => return Err(Failure::new(INTERNAL, "The message has no ending.")),
        }
    }
}

/// How a task stands that is known to be there.
pub(super) async fn look(asked: &Asked, task: MessageId) -> Result<Looked, Failure> {
    let looked = asked.shared.door.engine.look(task).await.map_err(engine_failed)?;
    looked.ok_or_else(|| asked.no_task(&id_of(task)))
}

/// One task as it stands.
pub(super) async fn get(asked: &Asked) -> Result<Value, Failure> {
    let query = Query::read(&asked.params).map_err(|why| asked.wrong(&why))?;
    let looked = taking::find(asked, &query.task).await?;
    Ok(ending::task(&asked.shared.door.engine, &looked, None, query.history).await.write(asked.version))
}

/// Tells a task to end. What waits in its conversation goes with it, as `/stop` does everywhere.
pub(super) async fn cancel(asked: &Asked) -> Result<Value, Failure> {
    let query = Query::read(&asked.params).map_err(|why| asked.wrong(&why))?;
    let looked = taking::find(asked, &query.task).await?;
    let engine = &asked.shared.door.engine;
    let not_cancelable = || {
        let said = "This task has ended already.";
        asked.fails(Code::TaskNotCancelable, said, &[("taskId", &query.task)])
    };
    if ending::state_of(looked.ending.as_ref(), looked.began).is_terminal() {
        return Err(not_cancelable());
    }
    let (id, conversation) = (looked.stored.message.id, looked.stored.conversation.clone());
    let stop = taking::inbound(asked, conversation, "/stop".to_owned(), Vec::new());
    let submitted = engine.submit(stop).await.map_err(engine_failed)?;
    drop(tokio::time::timeout(CANCELLING, ended(asked, engine.follow(submitted.receipt))).await);
    drop(tokio::time::timeout(CANCELLING, ended(asked, engine.follow_message(id))).await);
    let looked = look(asked, id).await?;
    let task = ending::task(engine, &looked, None, query.history).await;
    match task.status.state {
        State::Canceled => Ok(task.write(asked.version)),
        _ => Err(not_cancelable()),
    }
}

/// The newest tasks of the profile's, a page at a time.
pub(super) async fn list(asked: &Asked) -> Result<Value, Failure> {
    let wanted = ListTasks::read(&asked.params).map_err(|why| asked.wrong(&why))?;
    let wrong = |field: &str, why: &str| asked.wrong(&Unreadable { field: field.into(), why: why.into() });
    let after = match wanted.page_token.as_str() {
        "" => None,
        token => Some(ending::message_of(token).ok_or_else(|| wrong("pageToken", "it is none of ours"))?),
    };
    let since = wanted.since.as_deref().map(|text| text.parse::<jiff::Timestamp>()).transpose();
    let since = since.map_err(|_| wrong("statusTimestampAfter", "it is a time as RFC 3339 writes it"))?;
    let engine = &asked.shared.door.engine;
    let conversation = wanted.context.as_ref().map(|c| ConversationId::new("a2a", &asked.profile, c));
    let all = engine.agents_messages(&asked.profile, conversation.as_ref(), MOST_LISTED).await;
    let mut found = Vec::new();
    for message in all.map_err(engine_failed)? {
        let Some(looked) = engine.look(message).await.map_err(engine_failed)? else { continue };
        let state = ending::state_of(looked.ending.as_ref(), looked.began);
        let fits = wanted.state.as_ref().is_none_or(|wanted| *wanted == state)
            && since.is_none_or(|since| looked.at.0 >= since.as_millisecond());
        if fits {
            found.push(looked);
        }
    }
    found.sort_by_key(|looked| std::cmp::Reverse((looked.at, looked.stored.message.id)));
    let total = found.len();
    let from = after
        .and_then(|after| found.iter().position(|l| l.stored.message.id == after))
        .map_or(0, |at| at + 1);
    let size = usize::try_from(wanted.page_size).unwrap_or(50);
    let mut page = Vec::new();
    for looked in found.iter().skip(from).take(size) {
        let mut task = ending::task(engine, looked, None, wanted.history.or(Some(0))).await;
        if !wanted.artifacts {
            task.artifacts.clear();
        }
        page.push(task.write(Version::V1_0));
    }
    let last = found.get((from + size).saturating_sub(1)).filter(|_| from + size < total);
    let next = last.map(|looked| id_of(looked.stored.message.id)).unwrap_or_default();
    Ok(json!({"tasks": page, "nextPageToken": next, "pageSize": wanted.page_size, "totalSize": total}))
}

/// The events that tell a task's end: its last words, its files, its state.
pub(super) fn last_events(task: &Task, sent: &str) -> Vec<Event> {
    let (id, context) = (task.id.clone(), task.context.clone());
    let mut events = Vec::new();
    for artifact in &task.artifacts {
        let words = artifact.said();
        let (artifact, append) = match artifact.id.as_str() {
            // All of it came: only that nothing more does is still to be said.
            ending::REPLY if !sent.is_empty() && words == sent => (ending::reply(""), true),
            ending::REPLY if !sent.is_empty() && words.starts_with(sent) => {
                (ending::reply(&words[sent.len()..]), true)
            }
            _ => (artifact.clone(), false),
        };
        events.push(Event::Artifact {
            task: id.clone(),
            context: context.clone(),
            artifact,
            append,
            last: true,
        });
    }
    events.push(Event::Status { task: id, context, status: task.status.clone() });
    events
}

#[cfg(test)]
mod tests {
    use sb_wire::a2a::Status;

    use super::*;

    #[test]
    fn what_was_streamed_is_not_said_again_and_the_last_piece_says_so() {
        let task = Task {
            id: "t".into(),
            context: "c".into(),
            status: Status::of(State::Completed),
            artifacts: vec![ending::reply("one two")],
            history: vec![],
            metadata: None,
        };
        for (sent, words, appends) in [
            ("", "one two", false),
            ("one ", "two", true),
            ("one two", "", true),
            ("other", "one two", false),
        ] {
            let events = last_events(&task, sent);
            let Event::Artifact { artifact, append, last, .. } = &events[0] else { panic!("an artifact") };
            assert_eq!((artifact.said().as_str(), *append, *last), (words, appends, true), "{sent}");
            assert!(matches!(&events[1], Event::Status { .. }));
        }
    }
}

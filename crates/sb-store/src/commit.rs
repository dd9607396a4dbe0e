//! Committing a decision: its changes as rows, all or none, fenced by the conversation's version.
//!
//! The law: loading after a commit gives what folding the changes over the snapshot gives. What the
//! fold would quietly pass over (a message that ends twice, a turn that ends with messages unanswered,
//! a gap in a log) is refused here, because once stored it could not be put right.

use rusqlite::{Connection, params};
use sb_model::{Change, ConversationId, Entry, MessageId, Record, SessionId};

use crate::error::{Result, StoreError, StoreErrorKind};
use crate::house::{self, HouseCall};
use crate::ledger::Books;
use crate::plan::{Logged, Plan, SessionEdit};
use crate::rows::{self, json};
use crate::store::Store;
use crate::turns::Turns;
use crate::{posting, spent};

/// Counts a conversation's commits: what a decision was based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(pub i64);

impl Store {
    /// Records all changes of one decision, or none: `Stale` if the conversation has moved on from
    /// `at`, `Contradiction` if they cannot follow what is stored. Durable once it returns; dropping
    /// the future does not undo it.
    pub async fn commit(&self, of: &ConversationId, at: Version, changes: Vec<Change>) -> Result<Version> {
        let (of, books) = (of.clone(), self.books().clone());
        self.write("committing a decision", move |db| commit(db, &books, &of, at, &changes)).await
    }
}

fn commit(
    db: &Connection,
    books: &Books,
    of: &ConversationId,
    at: Version,
    changes: &[Change],
) -> Result<Version> {
    let plan = Plan::of(changes)?;
    let next = move_on(db, of, at, &plan)?;
    for edit in &plan.sessions {
        write_session(db, of, edit)?;
    }
    let mut turns = Turns::new(db, of, &plan.first_entries);
    for change in changes {
        match change {
            Change::Logged { session, entry } => append(db, *session, entry)?,
            Change::House { session, seq, at, turn, agent, call } => {
                let call = HouseCall { now: *at, conversation: of, turn: *turn, agent: *agent, call };
                let record = house::perform(db, books, &call)?;
                append(db, *session, &Entry { seq: *seq, at: *at, turn: Some(*turn), record })?;
            }
            Change::Spent { by, at, used } => spent::add(db, of, by, *at, used)?,
            Change::Ended { message, ending } => end_message(db, of, *message, &json(ending)?)?,
            Change::Edited { message, text } => edit_message(db, of, *message, text)?,
            Change::Posted(post) => posting::post(db, of, post, plan.at)?,
            Change::Reposted { key, text } => posting::repost(db, of, key, text)?,
            _ => turns.apply(change)?,
        }
    }
    turns.finish()?;
    Ok(next)
}

/// The fence, and the conversation's own columns with it.
fn move_on(db: &Connection, of: &ConversationId, at: Version, plan: &Plan) -> Result<Version> {
    let moved = db
        .prepare_cached(
            "update conversations set version = version + 1, session = coalesce($1, session),
                 choices = coalesce($2, choices), wake_at = case when $3 = 1 then $4 else wake_at end,
                 ask_closed = coalesce($5, ask_closed)
             where id = $6 and version = $7",
        )?
        .execute(params![
            plan.session.map(|s| s.to_string()),
            plan.choices,
            plan.wake.is_some(),
            plan.wake.flatten().map(|t| t.0),
            plan.ask_closed,
            of.as_str(),
            at.0,
        ])?;
    match moved {
        1 => Ok(Version(at.0 + 1)),
        _ => Err(StoreError { kind: StoreErrorKind::Stale, doing: String::new(), source: None }),
    }
}

fn write_session(db: &Connection, of: &ConversationId, edit: &SessionEdit) -> Result<()> {
    let id = edit.id.to_string();
    if let Some(began) = edit.began {
        db.prepare_cached(
            "insert into sessions (id, conversation, began, last_active) values ($1, $2, $3, $3)",
        )?
        .execute(params![id, of.as_str(), began.0])?;
    }
    let Logged { first, last, at } = match edit.logged {
        Some(logged) => logged,
        // Nothing is appended: the log ends where it ends.
        None => return set_session(db, of, &id, edit),
    };
    let changed = db
        .prepare_cached(
            "update sessions set last_seq = $1, last_active = $2, title = coalesce($3, title),
                 tainted = coalesce($4, tainted), allowed = coalesce($5, allowed), usage = coalesce($6, usage)
             where id = $7 and conversation = $8 and last_seq = $9",
        )?
        .execute(params![
            last.0,
            at.0,
            edit.title,
            edit.tainted,
            edit.allowed,
            edit.usage,
            id,
            of.as_str(),
            first.0 - 1,
        ])?;
    expect_one(changed, || format!("entry {} is not the next of session {id}", first.0))
}

fn set_session(db: &Connection, of: &ConversationId, id: &str, edit: &SessionEdit) -> Result<()> {
    let changed = db
        .prepare_cached(
            "update sessions set title = coalesce($1, title), tainted = coalesce($2, tainted),
                 allowed = coalesce($3, allowed), usage = coalesce($4, usage)
             where id = $5 and conversation = $6",
        )?
        .execute(params![edit.title, edit.tainted, edit.allowed, edit.usage, id, of.as_str()])?;
    expect_one(changed, || format!("session {id} is not one of this conversation"))
}

pub(crate) fn append(db: &Connection, session: SessionId, entry: &Entry) -> Result<()> {
    db.prepare_cached(
        "insert into records (session, seq, at, turn, kind, body) values ($1, $2, $3, $4, $5, $6)",
    )?
    .execute(params![
        session.to_string(),
        entry.seq.0,
        entry.at.0,
        entry.turn.map(|t| t.to_string()),
        kind(&entry.record),
        json(&entry.record)?,
    ])?;
    Ok(())
}

/// The sorts of record that statements tell apart; the full one is in the body.
fn kind(record: &Record) -> &'static str {
    match record {
        Record::Said { .. } => "said",
        Record::Summary { .. } => "summary",
        Record::Undone { .. } => "undone",
        Record::Opened { .. } => "opened",
        Record::Result { outside: true, .. } => "outside",
        _ => "other",
    }
}

fn end_message(db: &Connection, of: &ConversationId, message: MessageId, ending: &str) -> Result<()> {
    let changed = db
        .prepare_cached(
            "update messages set ending = $1 where id = $2 and conversation = $3 and ending is null",
        )?
        .execute(params![ending, message.0, of.as_str()])?;
    expect_one(changed, || format!("message {} has its ending, or is another conversation's", message.0))
}

/// Only what waits can be changed: once a turn has it, the agent has read it.
fn edit_message(db: &Connection, of: &ConversationId, message: MessageId, text: &str) -> Result<()> {
    let mut found = db.prepare_cached(
        "select body from messages
         where id = $1 and conversation = $2 and turn is null and ending is null",
    )?;
    let body = rows::first(&mut found, params![message.0, of.as_str()], |row| {
        rows::parsed::<rows::MessageBody>(row, 0)
    })?;
    let Some(body) = body else {
        return Err(StoreError::contradiction(format!("message {} does not wait here", message.0)));
    };
    db.prepare_cached("update messages set body = $1 where id = $2")?
        .execute(params![json(&body.with_text(text))?, message.0])?;
    Ok(())
}

/// One row was meant, so one row must have changed.
pub(crate) fn expect_one(changed: usize, otherwise: impl FnOnce() -> String) -> Result<()> {
    match changed {
        1 => Ok(()),
        _ => Err(StoreError::contradiction(otherwise())),
    }
}

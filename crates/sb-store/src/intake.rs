//! Taking messages in: the moment from which one is never lost.
//!
//! Invariants: a batch is taken whole or not at all. A known key gives the first message again and
//! changes nothing, however often and whenever it is repeated, until it is forgotten.

use rusqlite::{Connection, params};
use sb_model::{ConversationId, Inbound, Key, Message, MessageId, ProfileName, Timestamp, TurnId};

use crate::error::Result;
use crate::house;
use crate::rows::{self, MessageBody};
use crate::store::Store;

/// Messages without an ending that one conversation may hold; further ones are `Full`.
pub const MOST_WAITING: i64 = 1000;

/// What became of one message of a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum Taken {
    /// It is durable, under this id.
    New(Message),
    /// Its key is known: this message stands for it.
    Known(MessageId),
    /// Its key is known, for other content.
    OtherBody(MessageId),
    /// Too many messages wait in that conversation; it was not taken.
    Full,
    /// Too many messages wait in that conversation; it is kept until there is room again.
    Held {
        /// Nothing of the conversation was held before.
        first: bool,
    },
}

/// One message as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMessage {
    pub conversation: ConversationId,
    pub profile: ProfileName,
    pub message: Message,
    /// The turn that takes it up, or did.
    pub turn: Option<TurnId>,
    /// None while it waits or its turn runs.
    pub ending: Option<sb_model::Ending>,
}

impl Store {
    /// Makes a batch durable in one transaction; one answer for each, in order. A conversation that
    /// does not exist begins; one that does keeps its profile.
    pub async fn take_in(&self, batch: Vec<Inbound>, now: Timestamp) -> Result<Vec<Taken>> {
        self.write("taking in messages", move |db| {
            batch.into_iter().map(|inbound| take_one(db, inbound, now, MOST_WAITING)).collect()
        })
        .await
    }

    /// As [`take_in`](Self::take_in), of one that never waits (`/stop`, a decision): it is taken however
    /// much waits, since it may be what ends the waiting.
    pub async fn take_in_at_once(&self, inbound: Inbound, now: Timestamp) -> Result<Taken> {
        self.write("taking in a command", move |db| take_one(db, inbound, now, i64::MAX)).await
    }

    /// One message by its receipt.
    pub async fn message(&self, id: MessageId) -> Result<Option<StoredMessage>> {
        self.read("reading a message", move |db| {
            rows::first(&mut *db.prepare_cached(&stored("m.id = $1"))?, [id.0], stored_message)
        })
        .await
    }

    /// The message that a way in's key stands for; none once the key is forgotten.
    pub async fn message_by_key(&self, key: &str, now: Timestamp) -> Result<Option<StoredMessage>> {
        let key = key.to_owned();
        self.read("reading a message by its key", move |db| {
            let sql = stored("m.id = (select message from keys where key = $1 and until > $2)");
            rows::first(&mut *db.prepare_cached(&sql)?, params![key, now.0], stored_message)
        })
        .await
    }
}

fn stored(condition: &str) -> String {
    format!(
        "select m.id, m.at, m.body, m.conversation, c.profile, m.turn, m.ending
         from messages m join conversations c on c.id = m.conversation where {condition}"
    )
}

fn stored_message(row: &rusqlite::Row<'_>) -> Result<StoredMessage> {
    Ok(StoredMessage {
        message: rows::message(row, 0)?,
        conversation: ConversationId(row.get(3)?),
        profile: ProfileName(row.get(4)?),
        turn: rows::id_or_none(row, 5)?,
        ending: rows::ending(row, 6)?,
    })
}

fn take_one(db: &Connection, inbound: Inbound, now: Timestamp, most_waiting: i64) -> Result<Taken> {
    if let Some(known) = known(db, inbound.key.as_ref(), now)? {
        return Ok(known);
    }
    if unfinished(db, &inbound.conversation)? >= most_waiting {
        return Ok(Taken::Full);
    }
    Ok(Taken::New(insert(db, inbound, now)?))
}

/// Makes a message of what came, whatever waits; its key is known from then on.
pub(crate) fn insert(db: &Connection, mut inbound: Inbound, now: Timestamp) -> Result<Message> {
    let key = inbound.key.take();
    db.prepare_cached("insert into conversations (id, profile) values ($1, $2) on conflict (id) do nothing")?
        .execute([inbound.conversation.as_str(), inbound.profile.as_str()])?;
    let conversation = inbound.conversation.clone();
    if let Some(origin) = inbound.origin.as_deref_mut().filter(|_| !inbound.text.starts_with('/')) {
        house::told_with(db, &conversation, origin)?;
    }
    let body = MessageBody::of(inbound);
    let id: i64 = db
        .prepare_cached("insert into messages (conversation, at, body) values ($1, $2, $3) returning id")?
        .query_row(params![conversation.as_str(), now.0, rows::json(&body)?], |row| row.get(0))?;
    db.prepare_cached("update conversations set newest = $1 where id = $2")?
        .execute(params![id, conversation.as_str()])?;
    if let Some(key) = &key {
        remember(db, key, id, now)?;
    }
    Ok(body.message(MessageId(id), now))
}

/// What a key stands for, if it is known and not yet forgotten.
pub(crate) fn known(db: &Connection, key: Option<&Key>, now: Timestamp) -> Result<Option<Taken>> {
    let Some(key) = key else { return Ok(None) };
    let mut found = db.prepare_cached("select message, body from keys where key = $1 and until > $2")?;
    rows::first(&mut found, params![key.text, now.0], |row| {
        let id = MessageId(row.get(0)?);
        let same = row.get_ref(1)?.as_str().is_ok_and(|body| body == key.body.to_string());
        Ok(if same { Taken::Known(id) } else { Taken::OtherBody(id) })
    })
}

fn remember(db: &Connection, key: &Key, message: i64, now: Timestamp) -> Result<()> {
    db.prepare_cached(
        "insert into keys (key, body, message, until) values ($1, $2, $3, $4)
         on conflict (key) do update
         set body = excluded.body, message = excluded.message, until = excluded.until",
    )?
    .execute(params![key.text, key.body.to_string(), message, now.plus_ms(key.kept_ms).0])?;
    Ok(())
}

/// How many messages of a conversation have no ending.
pub(crate) fn unfinished(db: &Connection, conversation: &ConversationId) -> Result<i64> {
    Ok(db
        .prepare_cached("select count(*) from messages where conversation = $1 and ending is null")?
        .query_row([conversation.as_str()], |row| row.get(0))?)
}

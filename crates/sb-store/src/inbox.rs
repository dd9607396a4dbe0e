//! The operator's inbox: what came by a messenger and is not a message, and messages held back.
//!
//! Invariants: of what is only there to be looked at the newest [`MOST_KEPT`] of each channel stay, so
//! that a flood fills no disk. What is held is a message that a person waits for: it goes only by being
//! taken in, or by an operator's word.

use rusqlite::{Connection, Row, params};
use sb_model::{ConversationId, Digest, Inbound, Key, ProfileName, Slug, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::{Result, StoreError};
use crate::rows::{self, MessageBody, Word, json};
use crate::store::Store;

/// Rows kept of one channel, besides those that are held.
pub const MOST_KEPT: i64 = 10_000;
/// Bytes kept of one payload.
const MOST_BYTES: usize = 64 * 1024;

/// Something that came and is not a message: kept for the operator.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Never `Held`: what is held, the store holds by itself.
    pub why: KeptWhy,
    /// The way in's own key for it, if it has one: what is there already is not kept again.
    pub key: Option<String>,
    pub conversation: Option<ConversationId>,
    /// A line for the operator.
    pub detail: String,
    /// The payload; what is longer than 64 KiB is cut.
    pub raw: String,
}

/// Why something lies in the inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeptWhy {
    /// Nobody here knows what it is.
    Unknown,
    /// Whoever wrote it is not let in.
    NotLetIn,
    /// Reading it failed.
    Failed,
    /// Its conversation is full; it is taken in when there is room.
    Held,
}

impl Word for KeptWhy {
    const WORDS: &'static [(Self, &'static str)] = &[
        (Self::Unknown, "unknown"),
        (Self::NotLetIn, "not_let_in"),
        (Self::Failed, "failed"),
        (Self::Held, "held"),
    ];
}

/// One row of the inbox.
#[derive(Debug, Clone, PartialEq)]
pub struct InboxItem {
    pub number: i64,
    pub channel: Slug,
    pub at: Timestamp,
    pub why: KeptWhy,
    pub detail: String,
    pub conversation: Option<ConversationId>,
    /// The payload; of what is held, the message as JSON.
    pub raw: String,
}

/// The JSON of a message that is held.
#[derive(Serialize, Deserialize)]
struct Held {
    profile: ProfileName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<HeldKey>,
    message: MessageBody,
}

#[derive(Serialize, Deserialize)]
struct HeldKey {
    text: String,
    body: Digest,
    kept_ms: i64,
}

const COLUMNS: &str = "number, channel, at, why, detail, conversation, raw";

impl Store {
    /// At most `most` rows of one channel's inbox or of all, the newest first.
    pub async fn inbox(&self, channel: Option<&Slug>, most: usize) -> Result<Vec<InboxItem>> {
        let (channel, most) = (channel.map(|c| c.0.clone()), i64::try_from(most).unwrap_or(i64::MAX));
        self.read("listing the inbox", move |db| {
            let sql = format!(
                "select {COLUMNS} from inbox where ($1 is null or channel = $1)
                 order by number desc limit $2"
            );
            rows::collect(&mut *db.prepare_cached(&sql)?, params![channel, most], item)
        })
        .await
    }

    /// One row of the inbox.
    pub async fn inbox_item(&self, number: i64) -> Result<Option<InboxItem>> {
        self.read("reading the inbox", move |db| {
            let sql = format!("select {COLUMNS} from inbox where number = $1");
            rows::first(&mut *db.prepare_cached(&sql)?, [number], item)
        })
        .await
    }

    /// Removes a row of the inbox, also one that is held; whether it was there.
    pub async fn drop_inbox(&self, number: i64) -> Result<bool> {
        self.write("removing from the inbox", move |db| forget(db, number)).await
    }
}

/// Keeps what is not a message, and lets the oldest of the channel go.
pub(crate) fn keep(db: &Connection, channel: &Slug, kept: &[Kept], now: Timestamp) -> Result<()> {
    if kept.is_empty() {
        return Ok(());
    }
    for one in kept {
        if one.why == KeptWhy::Held {
            return Err(StoreError::contradiction("what is held is held by the store alone"));
        }
        if !is_there(db, one.key.as_deref())? {
            add(db, channel, one, now)?;
        }
    }
    db.prepare_cached(
        "delete from inbox where channel = $1 and why <> 'held' and number <=
             (select number from inbox where channel = $1 and why <> 'held'
              order by number desc limit 1 offset $2)",
    )?
    .execute(params![channel.as_str(), MOST_KEPT])?;
    Ok(())
}

/// Holds a message back.
pub(crate) fn hold(db: &Connection, channel: &Slug, inbound: Inbound, now: Timestamp) -> Result<()> {
    let (conversation, profile) = (inbound.conversation.clone(), inbound.profile.clone());
    let (key, detail) = (inbound.key.clone(), format!("from {}", inbound.from.0));
    let named = key.as_ref().map(|key| key.text.clone());
    let key = key.map(|Key { text, body, kept_ms }| HeldKey { text, body, kept_ms });
    let held = Held { profile, key, message: MessageBody::of(inbound) };
    insert(db, channel, (KeptWhy::Held, named.as_deref(), Some(&conversation)), (&detail, &json(&held)?), now)
}

/// The oldest message that is held of a conversation.
pub(crate) fn first_held(db: &Connection, of: &ConversationId) -> Result<Option<(i64, Inbound)>> {
    let mut found = db.prepare_cached(
        "select number, raw from inbox where conversation = $1 and why = 'held' order by number limit 1",
    )?;
    rows::first(&mut found, [of.as_str()], |row| {
        let Held { profile, key, message } = rows::parsed(row, 1)?;
        let key = key.map(|HeldKey { text, body, kept_ms }| Key { text, body, kept_ms });
        Ok((row.get(0)?, message.inbound(of.clone(), profile, key)))
    })
}

/// Whether a message of this key is held.
pub(crate) fn is_held(db: &Connection, key: Option<&Key>) -> Result<bool> {
    let Some(key) = key else { return Ok(false) };
    let mut found = db.prepare_cached("select 1 from inbox where key = $1 and why = 'held'")?;
    Ok(found.exists([&key.text])?)
}

/// Whether anything of a conversation is held.
pub(crate) fn holds_any(db: &Connection, of: &ConversationId) -> Result<bool> {
    let mut found = db.prepare_cached("select 1 from inbox where conversation = $1 and why = 'held'")?;
    Ok(found.exists([of.as_str()])?)
}

/// Removes a row; whether it was there.
pub(crate) fn forget(db: &Connection, number: i64) -> Result<bool> {
    Ok(db.prepare_cached("delete from inbox where number = $1")?.execute([number])? > 0)
}

fn is_there(db: &Connection, key: Option<&str>) -> Result<bool> {
    let Some(key) = key else { return Ok(false) };
    Ok(db.prepare_cached("select 1 from inbox where key = $1")?.exists([key])?)
}

fn add(db: &Connection, channel: &Slug, kept: &Kept, now: Timestamp) -> Result<()> {
    let named = (kept.why, kept.key.as_deref(), kept.conversation.as_ref());
    insert(db, channel, named, (cut(&kept.detail), cut(&kept.raw)), now)
}

fn insert(
    db: &Connection,
    channel: &Slug,
    (why, key, conversation): (KeptWhy, Option<&str>, Option<&ConversationId>),
    (detail, raw): (&str, &str),
    now: Timestamp,
) -> Result<()> {
    db.prepare_cached(
        "insert into inbox (channel, at, why, key, conversation, detail, raw)
         values ($1, $2, $3, $4, $5, $6, $7)",
    )?
    .execute(params![
        channel.as_str(),
        now.0,
        why.word(),
        key,
        conversation.map(ConversationId::as_str),
        detail,
        raw,
    ])?;
    Ok(())
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MOST_BYTES)]
}

fn item(row: &Row<'_>) -> Result<InboxItem> {
    Ok(InboxItem {
        number: row.get(0)?,
        channel: Slug(row.get(1)?),
        at: Timestamp(row.get(2)?),
        why: rows::word(row, 3)?,
        detail: row.get(4)?,
        conversation: row.get::<_, Option<String>>(5)?.map(ConversationId),
        raw: row.get(6)?,
    })
}

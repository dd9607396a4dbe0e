//! Parts: the platform's messages that a post became, or a reply becomes while it is written.
//!
//! Written by whoever sends, and only over what they know themselves; nothing here decides. Parts live
//! under a post's key whether the post exists or not, because a reply is shown before it has ended.

use rusqlite::{Connection, params};
use sb_model::{MessageRef, PostKey, Timestamp};

use crate::error::Result;
use crate::rows::{self, Word};
use crate::store::Store;

/// One message of the platform: what was shown, or is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPart {
    /// Its place in the post.
    pub part: u32,
    /// The Markdown it held last; of a file, its name.
    pub text: String,
    pub state: PartState,
    /// What the platform calls it, once it said.
    pub message: Option<MessageRef>,
    pub tries: u32,
    pub at: Timestamp,
    /// Which revision of the post it shows.
    pub revised: u32,
}

/// How a part stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartState {
    /// Shown while it grows.
    Live,
    /// Claimed: perhaps sent.
    Trying,
    Sent,
    Refused,
    /// Sent, and the answer was lost.
    Perhaps,
}

impl Word for PartState {
    const WORDS: &'static [(Self, &'static str)] = &[
        (Self::Live, "live"),
        (Self::Trying, "trying"),
        (Self::Sent, "sent"),
        (Self::Refused, "refused"),
        (Self::Perhaps, "perhaps"),
    ];
}

impl Store {
    /// The parts under a key in their order, whether its post exists or not.
    pub async fn parts(&self, key: &PostKey) -> Result<Vec<StoredPart>> {
        let key = key.clone();
        self.read("reading the parts of a post", move |db| of(db, &key)).await
    }
}

pub(crate) fn of(db: &Connection, key: &PostKey) -> Result<Vec<StoredPart>> {
    let mut found = db.prepare_cached(
        "select part, text, state, message, tries, at, revised from parts where key = $1 order by part",
    )?;
    rows::collect(&mut found, [&key.0], |row| {
        Ok(StoredPart {
            part: row.get(0)?,
            text: row.get(1)?,
            state: rows::word(row, 2)?,
            message: row.get::<_, Option<String>>(3)?.map(MessageRef),
            tries: row.get(4)?,
            at: Timestamp(row.get(5)?),
            revised: row.get(6)?,
        })
    })
}

pub(crate) fn write(db: &Connection, key: &PostKey, part: &StoredPart) -> Result<()> {
    db.prepare_cached(
        "insert into parts (key, part, text, state, message, tries, at, revised)
         values ($1, $2, $3, $4, $5, $6, $7, $8)
         on conflict (key, part) do update
         set text = excluded.text, state = excluded.state, message = excluded.message,
             tries = excluded.tries, at = excluded.at, revised = excluded.revised",
    )?
    .execute(params![
        key.0,
        part.part,
        part.text,
        part.state.word(),
        part.message.as_ref().map(MessageRef::as_str),
        part.tries,
        part.at.0,
        part.revised,
    ])?;
    Ok(())
}

/// What was given up is claimed once more.
pub(crate) fn try_again(db: &Connection, key: &str) -> Result<()> {
    db.prepare_cached(
        "update parts set state = 'trying', tries = 0 where key = $1 and state in ('refused', 'perhaps')",
    )?
    .execute([key])?;
    Ok(())
}

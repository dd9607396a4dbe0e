//! From values to columns and back, in one place for all statements.
//!
//! Ids and digests are text, structures are JSON, flags and times are integers. Whatever cannot be
//! read back is `Corrupt`, never a default.

use std::str::FromStr;

use rusqlite::Row;
use sb_model::{
    Attachment, BadId, Ending, Entry, Manner, Message, MessageId, Principal, Rights, Seq, Session, SessionId,
    Timestamp, TurnId, Usage,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Result, StoreError, StoreErrorKind};

/// The columns that [`session`] reads, in its order.
pub(crate) const SESSION: &str = "s.id, s.title, s.began, s.tainted, s.allowed, s.usage, s.last_seq";

impl From<BadId> for StoreError {
    fn from(e: BadId) -> Self {
        Self::new(StoreErrorKind::Corrupt, e)
    }
}

/// A value as its JSON column.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string(value)?)
}

/// An id column.
pub(crate) fn id<T: FromStr<Err = BadId>>(row: &Row<'_>, at: usize) -> Result<T> {
    Ok(text(row, at)?.parse()?)
}

/// An id column that may be null.
pub(crate) fn id_or_none<T: FromStr<Err = BadId>>(row: &Row<'_>, at: usize) -> Result<Option<T>> {
    Ok(text_or_none(row, at)?.map(str::parse).transpose()?)
}

/// A JSON column.
pub(crate) fn parsed<T: DeserializeOwned>(row: &Row<'_>, at: usize) -> Result<T> {
    Ok(serde_json::from_str(text(row, at)?)?)
}

/// A JSON column whose null stands for the empty value.
pub(crate) fn parsed_or_default<T: DeserializeOwned + Default>(row: &Row<'_>, at: usize) -> Result<T> {
    Ok(parsed_or_none(row, at)?.unwrap_or_default())
}

/// A JSON column that may be null.
pub(crate) fn parsed_or_none<T: DeserializeOwned>(row: &Row<'_>, at: usize) -> Result<Option<T>> {
    Ok(text_or_none(row, at)?.map(serde_json::from_str).transpose()?)
}

/// A value that is one word in its column.
pub(crate) trait Word: Copy + PartialEq + 'static {
    /// Every value with its word.
    const WORDS: &'static [(Self, &'static str)];
    /// The word for the column.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(value, _)| *value == self).map_or("", |(_, word)| word)
    }
}

/// A column that holds a word.
pub(crate) fn word<T: Word>(row: &Row<'_>, at: usize) -> Result<T> {
    let word = text(row, at)?;
    let found = T::WORDS.iter().find(|(_, known)| *known == word).map(|(value, _)| *value);
    found.ok_or_else(|| {
        StoreError::new(StoreErrorKind::Corrupt, format!("{word:?} is no word of this column"))
    })
}

fn text<'a>(row: &'a Row<'_>, at: usize) -> Result<&'a str> {
    row.get_ref(at)?.as_str().map_err(|e| StoreError::new(StoreErrorKind::Corrupt, e))
}

fn text_or_none<'a>(row: &'a Row<'_>, at: usize) -> Result<Option<&'a str>> {
    row.get_ref(at)?.as_str_or_null().map_err(|e| StoreError::new(StoreErrorKind::Corrupt, e))
}

/// The JSON of a message: all of it that has no column.
#[derive(Serialize, Deserialize)]
pub(crate) struct MessageBody {
    from: Principal,
    rights: Rights,
    text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<Attachment>,
    manner: Manner,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Box<sb_model::Origin>>,
}

impl MessageBody {
    pub(crate) fn of(inbound: sb_model::Inbound) -> Self {
        let sb_model::Inbound { session, from, rights, text, files, manner, origin, .. } = inbound;
        Self { from, rights, text, files, manner, session, origin }
    }
    pub(crate) fn inbound(
        self,
        conversation: sb_model::ConversationId,
        profile: sb_model::ProfileName,
        key: Option<sb_model::Key>,
    ) -> sb_model::Inbound {
        let Self { from, rights, text, files, manner, session, origin } = self;
        sb_model::Inbound { conversation, profile, session, key, from, rights, text, files, manner, origin }
    }
    pub(crate) fn origin(self) -> Option<Box<sb_model::Origin>> {
        self.origin
    }
    pub(crate) fn with_text(self, text: &str) -> Self {
        Self { text: text.to_owned(), ..self }
    }
    pub(crate) fn message(self, id: MessageId, at: Timestamp) -> Message {
        let Self { from, rights, text, files, manner, session, origin } = self;
        Message { id, at, from, rights, text, files, manner, session, origin }
    }
}

/// The columns `id, at, body`, from `at` on, as a message.
pub(crate) fn message(row: &Row<'_>, at: usize) -> Result<Message> {
    let body: MessageBody = parsed(row, at + 2)?;
    Ok(body.message(MessageId(row.get(at)?), Timestamp(row.get(at + 1)?)))
}

/// A JSON ending that may be null.
pub(crate) fn ending(row: &Row<'_>, at: usize) -> Result<Option<Ending>> {
    parsed_or_none(row, at)
}

/// The columns [`SESSION`], from `at` on.
pub(crate) fn session(row: &Row<'_>, at: usize) -> Result<Session> {
    Ok(Session {
        id: id(row, at)?,
        title: row.get(at + 1)?,
        began: Timestamp(row.get(at + 2)?),
        tainted: row.get(at + 3)?,
        allowed: parsed_or_default(row, at + 4)?,
        usage: parsed_or_default::<Usage>(row, at + 5)?,
        last: Seq(row.get(at + 6)?),
    })
}

/// The columns `seq, at, turn, body` as an entry of a log.
pub(crate) fn entry(row: &Row<'_>) -> Result<Entry> {
    Ok(Entry {
        seq: Seq(row.get(0)?),
        at: Timestamp(row.get(1)?),
        turn: id_or_none::<TurnId>(row, 2)?,
        record: parsed(row, 3)?,
    })
}

/// All rows of a statement, each turned into a value by `read`.
pub(crate) fn collect<T>(
    statement: &mut rusqlite::Statement<'_>,
    params: impl rusqlite::Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// The first row of a statement, if any.
pub(crate) fn first<T>(
    statement: &mut rusqlite::Statement<'_>,
    params: impl rusqlite::Params,
    read: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let mut rows = statement.query(params)?;
    rows.next()?.map(read).transpose()
}

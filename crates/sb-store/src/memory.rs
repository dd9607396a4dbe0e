//! What agents note for themselves, by profile; and what a home draws by lot once.
//!
//! Bounded: so many notes for each profile, each so long. What is full refuses, and forgets nothing by itself.

use rusqlite::{Row, params};
use sb_model::{Dice, Memo, ProfileName, SessionId, Timestamp};

use crate::dialect;
use crate::error::{Result, StoreError, StoreErrorKind};
use crate::rows;
use crate::store::Store;

/// As many words of a question are looked for.
const MOST_WORDS: usize = 32;

impl Store {
    /// Notes some words for a profile. `TooLong` if they are, or if the profile has as many notes as it may.
    pub async fn remember(
        &self,
        profile: &ProfileName,
        words: &str,
        outside: bool,
        at: Timestamp,
    ) -> Result<Memo> {
        let (profile, words) = (profile.clone(), words.to_owned());
        self.write("noting something", move |db| {
            let too_long = |what: &str| StoreError::new(StoreErrorKind::TooLong, what.to_owned());
            if words.len() > Memo::LONGEST {
                return Err(too_long("a note is longer than is kept"));
            }
            let count: i64 = db
                .prepare_cached("select count(*) from memos where profile = $1")?
                .query_row([profile.as_str()], |row| row.get(0))?;
            if usize::try_from(count).unwrap_or(usize::MAX) >= Memo::MOST {
                return Err(too_long("the profile has as many notes as are kept"));
            }
            let id = db
                .prepare_cached(
                    "insert into memos (profile, at, words, outside) values ($1, $2, $3, $4) returning number",
                )?
                .query_row(params![profile.as_str(), at.0, words, outside], |row| row.get(0))?;
            Ok(Memo { id, at, words, outside })
        })
        .await
    }

    /// The notes of a profile that hold any of these words, the best fit first.
    pub async fn recall(&self, profile: &ProfileName, words: &str, most: usize) -> Result<Vec<Memo>> {
        let Some(asked) = dialect::any_of(words, MOST_WORDS) else { return Ok(Vec::new()) };
        let (profile, most) = (profile.clone(), i64::try_from(most).unwrap_or(i64::MAX));
        self.read("looking for notes", move |db| {
            let mut found = db.prepare_cached(dialect::FIND_MEMOS)?;
            rows::collect(&mut found, params![asked, profile.as_str(), most], memo)
        })
        .await
    }

    /// All notes of a profile, newest first.
    pub async fn memos(&self, profile: &ProfileName) -> Result<Vec<Memo>> {
        let profile = profile.clone();
        self.read("listing notes", move |db| {
            let mut found = db.prepare_cached(
                "select number, at, words, outside from memos where profile = $1 order by number desc",
            )?;
            rows::collect(&mut found, [profile.as_str()], memo)
        })
        .await
    }

    /// Forgets one note of a profile, or all: how many.
    pub async fn forget(&self, profile: &ProfileName, id: Option<i64>) -> Result<usize> {
        let profile = profile.clone();
        self.write("forgetting notes", move |db| {
            Ok(db
                .prepare_cached("delete from memos where profile = $1 and number = coalesce($2, number)")?
                .execute(params![profile.as_str(), id])?)
        })
        .await
    }

    /// A value drawn by lot when it was first asked for, and the same ever after: 64 hex digits.
    pub async fn drawn(&self, name: &str, dice: &dyn Dice) -> Result<String> {
        let mut bytes = [0; 32];
        dice.fill(&mut bytes);
        let (name, value) = (name.to_owned(), hex::encode(bytes));
        self.write("drawing by lot", move |db| {
            db.prepare_cached(
                "insert into draws (name, value) values ($1, $2) on conflict (name) do nothing",
            )?
            .execute([&name, &value])?;
            let mut found = db.prepare_cached("select value from draws where name = $1")?;
            Ok(found.query_row([&name], |row| row.get(0))?)
        })
        .await
    }

    /// Gives each result of a session that came from outside to `look`, in order: as stored, one at a time.
    pub async fn each_from_outside<T: Send + 'static>(
        &self,
        session: SessionId,
        mut into: T,
        look: impl Fn(&mut T, sb_model::Entry) + Send + 'static,
    ) -> Result<T> {
        self.read("reading what came from outside", move |db| {
            let mut found = db.prepare_cached(
                "select seq, at, turn, body from records where session = $1 and kind = 'outside' order by seq",
            )?;
            let mut rows = found.query([session.to_string()])?;
            while let Some(row) = rows.next()? {
                look(&mut into, rows::entry(row)?);
            }
            Ok(into)
        })
        .await
    }
}

fn memo(row: &Row<'_>) -> Result<Memo> {
    Ok(Memo { id: row.get(0)?, at: Timestamp(row.get(1)?), words: row.get(2)?, outside: row.get(3)? })
}

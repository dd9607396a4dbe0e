//! Loading a conversation, and finding those that have something to do.
//!
//! Invariant: a conversation that is dormant costs nothing here. What is unfinished and what wants to
//! be woken is found through indexes that hold only those.

use rusqlite::Connection;
use sb_model::{
    ConversationId, Message, MessageId, ProfileName, Seq, SessionId, Snapshot, Timestamp, Turn, TurnId,
};

use crate::commit::Version;
use crate::error::Result;
use crate::rows;
use crate::store::Store;
use crate::turns::TurnBody;

const UNFINISHED: &str = "select conversation from messages where ending is null
    union select conversation from turns where ended = 0";
const DUE: &str = "select id from conversations where wake_at <= $1 order by wake_at";
const NEXT_WAKE: &str = "select min(wake_at) from conversations where wake_at is not null";

impl Store {
    /// A conversation as its actor knows it, and the version to commit against; none if nothing was
    /// ever taken in for it.
    pub async fn load(&self, of: &ConversationId) -> Result<Option<(Snapshot, Version)>> {
        let of = of.clone();
        self.read("loading a conversation", move |db| load(db, of)).await
    }

    /// Conversations with a message that has no ending or a turn that has not ended: what a start
    /// takes up again.
    pub async fn unfinished(&self) -> Result<Vec<ConversationId>> {
        self.read("finding unfinished conversations", |db| {
            rows::collect(&mut *db.prepare_cached(UNFINISHED)?, [], |row| Ok(ConversationId(row.get(0)?)))
        })
        .await
    }

    /// Conversations that wanted to be woken by `now`, the longest due first.
    pub async fn due(&self, now: Timestamp) -> Result<Vec<ConversationId>> {
        self.read("finding conversations to wake", move |db| {
            rows::collect(&mut *db.prepare_cached(DUE)?, [now.0], |row| Ok(ConversationId(row.get(0)?)))
        })
        .await
    }

    /// When the next conversation wants to be woken.
    pub async fn next_wake(&self) -> Result<Option<Timestamp>> {
        self.read("finding the next time to wake", |db| {
            let at: Option<i64> = db.prepare_cached(NEXT_WAKE)?.query_row([], |row| row.get(0))?;
            Ok(at.map(Timestamp))
        })
        .await
    }
}

fn load(db: &Connection, of: ConversationId) -> Result<Option<(Snapshot, Version)>> {
    let sql = conversation_and_session();
    let mut found = db.prepare_cached(&sql)?;
    let row = rows::first(&mut found, [of.as_str()], |row| {
        let current: Option<SessionId> = rows::id_or_none(row, 5)?;
        let snapshot = Snapshot {
            id: of.clone(),
            profile: ProfileName(row.get(0)?),
            choices: rows::parsed_or_default(row, 2)?,
            session: current.map(|_| rows::session(row, 5)).transpose()?,
            waiting: Vec::new(),
            turn: None,
            newest: MessageId(row.get(3)?),
            ask_closed: row.get(4)?,
        };
        Ok((snapshot, Version(row.get(1)?)))
    })?;
    let Some((mut snapshot, version)) = row else { return Ok(None) };
    let mut of_turn = Vec::new();
    for (message, turn) in unended(db, &of)? {
        match turn {
            None => snapshot.waiting.push(message),
            Some(from) => of_turn.push((message, from)),
        }
    }
    snapshot.turn = turn(db, &of, of_turn)?;
    Ok(Some((snapshot, version)))
}

fn conversation_and_session() -> String {
    format!(
        "select c.profile, c.version, c.choices, c.newest, c.ask_closed, {} from conversations c
         left join sessions s on s.id = c.session where c.id = $1",
        rows::SESSION
    )
}

/// Messages without an ending in the order of taking; with their place in the log if they are a turn's.
fn unended(db: &Connection, of: &ConversationId) -> Result<Vec<(Message, Option<Seq>)>> {
    let mut found = db.prepare_cached(
        "select id, at, body, turn_from from messages
         where conversation = $1 and ending is null order by id",
    )?;
    rows::collect(&mut found, [of.as_str()], |row| {
        Ok((rows::message(row, 0)?, row.get::<_, Option<i64>>(3)?.map(Seq)))
    })
}

fn turn(db: &Connection, of: &ConversationId, messages: Vec<(Message, Seq)>) -> Result<Option<Turn>> {
    let mut found =
        db.prepare_cached("select id, session, body from turns where conversation = $1 and ended = 0")?;
    rows::first(&mut found, [of.as_str()], |row| {
        let body: TurnBody = rows::parsed(row, 2)?;
        Ok(body.turn(rows::id::<TurnId>(row, 0)?, rows::id::<SessionId>(row, 1)?, messages))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Durability, dialect, home::Home, migrate::migrate};

    fn plan(db: &Connection, sql: &str) -> Vec<String> {
        let mut found = db.prepare(&format!("explain query plan {sql}")).unwrap();
        let params = vec![rusqlite::types::Value::Integer(1); found.parameter_count()];
        let steps = found.query_map(rusqlite::params_from_iter(params), |row| row.get(3)).unwrap();
        steps.collect::<rusqlite::Result<_>>().unwrap()
    }

    #[test]
    fn dormant_conversations_are_never_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::make(folder.path()).unwrap();
        home.make_database().unwrap();
        let mut db = dialect::open_writer(&home.database(), Durability::Process).unwrap();
        migrate(&mut db).unwrap();
        for (sql, indexes) in [
            (UNFINISHED, ["messages_unfinished", "turns_unfinished"].as_slice()),
            (DUE, &["conversations_to_wake"]),
            (NEXT_WAKE, &["conversations_to_wake"]),
        ] {
            let steps: Vec<_> = plan(&db, sql)
                .into_iter()
                .filter(|s| s.starts_with("SCAN") || s.starts_with("SEARCH"))
                .collect();
            assert_eq!(steps.len(), indexes.len(), "{steps:?}");
            for (step, index) in steps.iter().zip(indexes) {
                assert!(step.contains(&format!("INDEX {index}")), "{step}");
            }
        }
    }
}

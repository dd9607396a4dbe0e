//! Places in talks, by a digest of what was said up to there: looked up, added, answered.
//!
//! Invariant: a look-up reads one row of an index, however many talks begin alike. At the tip of a
//! conversation stand its newest message and, once there, its answer.

use rusqlite::{Connection, params};
use sb_model::{
    ConversationId, Digest, Ending, MessageId, Principal, ProfileName, Seq, SessionId, Timestamp,
};

use crate::error::Result;
use crate::rows;
use crate::store::Store;

/// One place.
pub(crate) struct Point {
    pub conversation: ConversationId,
    pub message: MessageId,
    pub session: SessionId,
    /// None: its message has no answer there.
    pub seq: Option<Seq>,
    pub body: Option<String>,
    pub ended: Option<Timestamp>,
    pub tip: bool,
}

const COLUMNS: &str = "conversation, message, session, seq, body, ended, tip";

pub(crate) const OWN: &str = "where digest = $1 and owner = $2 order by tip desc, number desc limit 1";
pub(crate) const ALL: &str = "where digest = $1 order by tip desc, number desc limit 1";

/// The place with this digest: one where nothing was said after it if there is one, else the newest. The
/// owner's own go first; `others`: those of everybody else count too.
pub(crate) fn find(
    db: &Connection,
    digest: &Digest,
    owner: &Principal,
    others: bool,
) -> Result<Option<Point>> {
    let mut own = db.prepare_cached(&format!("select {COLUMNS} from points {OWN}"))?;
    let found = rows::first(&mut own, [digest.to_string(), owner.0.clone()], point)?;
    if found.is_some() || !others {
        return Ok(found);
    }
    let mut all = db.prepare_cached(&format!("select {COLUMNS} from points {ALL}"))?;
    rows::first(&mut all, [digest.to_string()], point)
}

/// The place of one message.
pub(crate) fn of_message(db: &Connection, message: MessageId) -> Result<Option<Point>> {
    let mut found =
        db.prepare_cached(&format!("select {COLUMNS} from points where message = $1 and body is not null"))?;
    rows::first(&mut found, [message.0], point)
}

fn point(row: &rusqlite::Row<'_>) -> Result<Point> {
    Ok(Point {
        conversation: ConversationId(row.get(0)?),
        message: MessageId(row.get(1)?),
        session: rows::id(row, 2)?,
        seq: row.get::<_, Option<i64>>(3)?.map(Seq),
        body: row.get(4)?,
        ended: row.get::<_, Option<i64>>(5)?.map(Timestamp),
        tip: row.get(6)?,
    })
}

/// A place that somebody names by its message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerPlace {
    pub digest: Digest,
    pub owner: Principal,
    pub profile: ProfileName,
}

/// A message's place, and the tip of its conversation from now on.
pub(crate) fn add(
    db: &Connection,
    digest: &Digest,
    owner: &Principal,
    conversation: &ConversationId,
    message: MessageId,
    session: SessionId,
    body: &Digest,
) -> Result<()> {
    db.prepare_cached("update points set tip = 0 where conversation = $1 and tip = 1")?
        .execute([conversation.as_str()])?;
    db.prepare_cached(
        "insert into points (digest, owner, conversation, message, session, body, tip)
         values ($1, $2, $3, $4, $5, $6, 1)",
    )?
    .execute(params![
        digest.to_string(),
        owner.0,
        conversation.as_str(),
        message.0,
        session.to_string(),
        body.to_string()
    ])?;
    Ok(())
}

impl Store {
    /// The place of a message's answer; as long as it has none, the message's own.
    pub async fn answered_at(&self, message: MessageId) -> Result<Option<AnswerPlace>> {
        self.read("finding an answer's place", move |db| {
            let mut found = db.prepare_cached(
                "select p.digest, p.owner, c.profile from points p join conversations c on c.id = p.conversation
                 where p.message = $1 order by case when p.body is null then 0 else 1 end, p.number desc limit 1",
            )?;
            rows::first(&mut found, [message.0], |row| {
                let digest = rows::id(row, 0)?;
                Ok(AnswerPlace { digest, owner: Principal(row.get(1)?), profile: ProfileName(row.get(2)?) })
            })
        })
        .await
    }

    /// The answer to a message that was taken with all that was said before is whole: `digest` stands for the
    /// talk with it, as its reader has it. Telling it again changes nothing.
    pub async fn note_answer(
        &self,
        message: MessageId,
        digest: Digest,
        ending: &Ending,
        now: Timestamp,
    ) -> Result<()> {
        let (session, to) = (ending.session, ending.turn.map(|_| ending.to));
        self.write("noting an answer", move |db| answered(db, message, &digest, session, to, now)).await
    }
}

fn answered(
    db: &Connection,
    message: MessageId,
    digest: &Digest,
    session: Option<SessionId>,
    to: Option<Seq>,
    now: Timestamp,
) -> Result<()> {
    let Some(asked) = of_message(db, message)? else { return Ok(()) };
    let session = session.unwrap_or(asked.session).to_string();
    db.prepare_cached("update points set ended = $1 where message = $2 and ended is null")?
        .execute([now.0, message.0])?;
    db.prepare_cached(
        "insert into points (digest, owner, conversation, message, session, seq, ended, tip)
         select $1, owner, conversation, message, $2,
             coalesce($3, (select last_seq from sessions where id = $2), 0), $4, tip
         from points where message = $5 and body is not null and not exists
             (select 1 from points where message = $5 and digest = $1 and body is null)",
    )?
    .execute(params![digest.to_string(), session, to.map(|s| s.0), now.0, message.0])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::types::Value;

    use super::*;
    use crate::{Durability, dialect, home::Home, migrate::migrate};

    #[test]
    fn a_place_is_found_in_an_index_that_is_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::make(folder.path()).unwrap();
        home.make_database().unwrap();
        let mut db = dialect::open_writer(&home.database(), Durability::Process).unwrap();
        migrate(&mut db).unwrap();
        for (condition, index) in [(OWN, "points_own"), (ALL, "points_all")] {
            let sql = format!("explain query plan select {COLUMNS} from points {condition}");
            let mut plan = db.prepare(&sql).unwrap();
            let params = vec![Value::Integer(1); plan.parameter_count()];
            let steps =
                plan.query_map(rusqlite::params_from_iter(params), |row| row.get::<_, String>(3)).unwrap();
            let steps: Vec<String> = steps.collect::<rusqlite::Result<_>>().unwrap();
            assert!(steps.len() == 1 && steps[0].contains(&format!("INDEX {index}")), "{steps:?}");
        }
    }
}

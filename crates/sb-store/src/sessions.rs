//! Sessions as lists and commands want them: one by its id or a prefix, the newest, their exchanges.

use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};
use sb_model::{
    ConversationId, Exchange, ProfileName, Record, Session, SessionBrief, SessionId, Timestamp, TurnId,
};

use crate::error::{Result, StoreError, StoreErrorKind};
use crate::rows;
use crate::store::Store;

/// Lists `from`, a table or a query of sessions, with what belongs to them; the last active first.
fn briefs(from: &str, condition: &str, most: &str) -> String {
    format!(
        "select s.id, s.conversation, c.profile, s.title, s.began, s.last_active,
             case when c.session = s.id then 1 else 0 end, s.usage, t.phase
         from {from} s join conversations c on c.id = s.conversation
         left join turns t on t.conversation = c.id and t.ended = 0 and t.session = s.id
         where {condition} order by s.last_active desc, s.id limit {most}"
    )
}

/// Which sessions are listed: a statement for each, so that none joins more than it shows.
fn listing(of: bool, profile: bool) -> String {
    match (of, profile) {
        (false, false) => {
            let newest = "(select * from sessions order by last_active desc, id limit $1)";
            briefs(newest, "true", "$1")
        }
        (false, true) => briefs("sessions", "c.profile = $1", "$2"),
        (true, false) => briefs("sessions", "s.conversation = $1", "$2"),
        (true, true) => briefs("sessions", "s.conversation = $1 and c.profile = $2", "$3"),
    }
}

impl Store {
    /// A session, with the conversation and the profile it belongs to.
    pub async fn session(&self, id: SessionId) -> Result<Option<(Session, ConversationId, ProfileName)>> {
        self.read("reading a session", move |db| {
            let sql = format!(
                "select {}, s.conversation, c.profile from sessions s
                 join conversations c on c.id = s.conversation where s.id = $1",
                rows::SESSION
            );
            let mut found = db.prepare_cached(&sql)?;
            rows::first(&mut found, [id.to_string()], |row| {
                Ok((rows::session(row, 0)?, ConversationId(row.get(7)?), ProfileName(row.get(8)?)))
            })
        })
        .await
    }

    /// At most `most` sessions, of one conversation, of one profile, or of all; the last active first.
    pub async fn sessions(
        &self,
        of: Option<&ConversationId>,
        profile: Option<&ProfileName>,
        most: usize,
    ) -> Result<Vec<SessionBrief>> {
        let (of, profile) = (of.map(|c| c.0.clone()), profile.map(|p| p.0.clone()));
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.read("listing sessions", move |db| {
            let sql = listing(of.is_some(), profile.is_some());
            let filters = of.into_iter().chain(profile).map(Value::from);
            let params = filters.chain([Value::from(most)]);
            rows::collect(&mut *db.prepare_cached(&sql)?, params_from_iter(params), brief)
        })
        .await
    }

    /// The sessions of a conversation whose id begins with `prefix`, the last active first.
    pub async fn session_by_prefix(&self, of: &ConversationId, prefix: &str) -> Result<Vec<SessionId>> {
        let (of, prefix) = (of.0.clone(), prefix.to_ascii_lowercase());
        self.read("finding a session", move |db| {
            let mut found = db.prepare_cached(
                "select id from sessions where conversation = $1 and substr(id, 1, length($2)) = $2
                 order by last_active desc, id",
            )?;
            rows::collect(&mut found, [of, prefix], |row| rows::id(row, 0))
        })
        .await
    }

    /// At most `most` exchanges of a session that can be undone or run again, the newest first: turns
    /// that ended, count as exchanges, and were not undone.
    pub async fn exchanges(&self, session: SessionId, most: usize) -> Result<Vec<Exchange>> {
        self.read("reading exchanges", move |db| exchanges(db, session, most)).await
    }
}

fn brief(row: &rusqlite::Row<'_>) -> Result<SessionBrief> {
    let current: bool = row.get(6)?;
    let phase: Option<String> = row.get(8)?;
    let state = match (current, phase.as_deref()) {
        (true, Some("parked")) => "waiting",
        (true, Some(_)) => "running",
        _ => "idle",
    };
    Ok(SessionBrief {
        id: rows::id(row, 0)?,
        conversation: ConversationId(row.get(1)?),
        profile: ProfileName(row.get(2)?),
        title: row.get(3)?,
        began: Timestamp(row.get(4)?),
        last_active: Timestamp(row.get(5)?),
        current,
        usage: rows::parsed_or_default(row, 7)?,
        state: state.to_owned(),
    })
}

/// Follows the session's exchanges backwards, no further than is wanted.
fn exchanges(db: &Connection, session: SessionId, most: usize) -> Result<Vec<Exchange>> {
    let mut newest = db.prepare_cached("select newest_exchange from sessions where id = $1")?;
    let mut next: Option<i64> =
        rows::first(&mut newest, [session.to_string()], |row| Ok(row.get(0)?))?.flatten();
    let mut turn = db.prepare_cached(
        "select t.previous, t.undone, t.id, t.first_seq, t.last_seq, m.ending from turns t
         left join messages m on m.id = t.first_message where t.number = $1",
    )?;
    let mut found = Vec::new();
    while let Some(number) = next.filter(|_| found.len() < most) {
        let step = rows::first(&mut turn, [number], |row| Ok((row.get(0)?, exchange(db, session, row)?)))?;
        let (previous, exchange) = step.ok_or_else(|| {
            StoreError::new(StoreErrorKind::Corrupt, format!("turn number {number} of {session} is missing"))
        })?;
        found.extend(exchange);
        next = previous;
    }
    Ok(found)
}

/// The exchange of one turn, unless it was undone.
fn exchange(db: &Connection, session: SessionId, row: &rusqlite::Row<'_>) -> Result<Option<Exchange>> {
    if row.get(1)? {
        return Ok(None);
    }
    let turn: TurnId = rows::id(row, 2)?;
    let said = rows::ending(row, 5)?.map(|e| e.said).unwrap_or_default();
    Ok(Some(Exchange { turn, prompts: prompts(db, session, turn, (row.get(3)?, row.get(4)?))?, said }))
}

/// What was said in a turn, in order.
fn prompts(db: &Connection, session: SessionId, turn: TurnId, within: (i64, i64)) -> Result<Vec<Record>> {
    let mut found = db.prepare_cached(
        "select body from records
         where session = $1 and seq >= $2 and seq <= $3 and turn = $4 and kind = 'said' order by seq",
    )?;
    let params = params![session.to_string(), within.0, within.1, turn.to_string()];
    rows::collect(&mut found, params, |row| rows::parsed(row, 0))
}

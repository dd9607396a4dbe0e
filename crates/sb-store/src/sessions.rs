//! Sessions as lists and commands want them: one by its id or a prefix, the newest, their exchanges.

use rusqlite::{Connection, params};
use sb_model::{
    ConversationId, Exchange, ProfileName, Record, Session, SessionBrief, SessionId, Timestamp, TurnId,
};

use crate::error::Result;
use crate::rows;
use crate::store::Store;

const BRIEFS: &str = "select s.id, s.conversation, c.profile, s.title, s.began, s.last_active,
        case when c.session = s.id then 1 else 0 end, s.usage, t.phase
    from sessions s join conversations c on c.id = s.conversation
    left join turns t on t.conversation = c.id and t.ended = 0 and t.session = s.id
    where ($1 is null or s.conversation = $1) and ($2 is null or c.profile = $2)
    order by s.last_active desc, s.id limit $3";
const BRIEFS_OF_ONE: &str = "select s.id, s.conversation, c.profile, s.title, s.began, s.last_active,
        case when c.session = s.id then 1 else 0 end, s.usage, t.phase
    from sessions s join conversations c on c.id = s.conversation
    left join turns t on t.conversation = c.id and t.ended = 0 and t.session = s.id
    where s.conversation = $1 and ($2 is null or c.profile = $2)
    order by s.last_active desc, s.id limit $3";

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
            // Its own statement, so that the index on conversations is used.
            let sql = if of.is_some() { BRIEFS_OF_ONE } else { BRIEFS };
            rows::collect(&mut *db.prepare_cached(sql)?, params![of, profile, most], brief)
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
        let most = i64::try_from(most).unwrap_or(i64::MAX);
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

fn exchanges(db: &Connection, session: SessionId, most: i64) -> Result<Vec<Exchange>> {
    let mut found = db.prepare_cached(
        "select t.id, t.first_seq, t.last_seq, m.ending from turns t
         left join messages m on m.id = t.first_message
         where t.session = $1 and t.exchange = 1 and t.ended = 1 and t.undone = 0
         order by t.first_seq desc limit $2",
    )?;
    rows::collect(&mut found, params![session.to_string(), most], |row| {
        let turn: TurnId = rows::id(row, 0)?;
        let stretch: (i64, i64) = (row.get(1)?, row.get(2)?);
        let said = rows::ending(row, 3)?.map(|e| e.said).unwrap_or_default();
        Ok(Exchange { turn, prompts: prompts(db, session, turn, stretch)?, said })
    })
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

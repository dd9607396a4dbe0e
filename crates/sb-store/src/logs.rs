//! Reading logs: a stretch of one, or what the agent's view is made from.
//!
//! What the agent is to remember is decided elsewhere, by pure code over the entries; here only the
//! part of the log that code cannot need is left unread.

use std::collections::HashSet;

use rusqlite::{Connection, params};
use sb_model::{Decision, Entry, Record, Seq, SessionId, TurnId};

use crate::error::Result;
use crate::rows;
use crate::store::Store;

/// Decisions are looked for among so many records.
const DECISIONS_WITHIN: i64 = 256;

impl Store {
    /// The last decisions of a session, the newest first, as far as its latest records have them.
    pub async fn decisions(&self, of: SessionId) -> Result<Vec<Decision>> {
        self.read("reading decisions", move |db| {
            let mut found = db.prepare_cached(
                "select body from records where session = $1 and kind = 'other' order by seq desc limit $2",
            )?;
            let records = rows::collect(&mut found, (of.to_string(), DECISIONS_WITHIN), |row| {
                rows::parsed::<Record>(row, 0)
            })?;
            let decision = |record| match record {
                Record::Decided { request, by, allowed, .. } => Some(Decision { request, allowed, by }),
                _ => None,
            };
            Ok(records.into_iter().filter_map(decision).collect())
        })
        .await
    }

    /// The entries of a session from `from` to `to`, both included.
    pub async fn log(&self, session: SessionId, from: Seq, to: Seq) -> Result<Vec<Entry>> {
        self.read("reading a log", move |db| stretch(db, session, from, to)).await
    }

    /// The entries that the agent's view can depend on: all after what the newest usable summary
    /// covers, that summary among them; the whole log if there is none. A summary is usable unless it
    /// covers an entry of a turn that was undone.
    pub async fn view_log(&self, session: SessionId) -> Result<Vec<Entry>> {
        self.read("reading what an agent remembers", move |db| {
            let covered = covered(db, session)?;
            stretch(db, session, covered.next(), Seq(i64::MAX))
        })
        .await
    }
}

fn stretch(db: &Connection, session: SessionId, from: Seq, to: Seq) -> Result<Vec<Entry>> {
    let mut found = db.prepare_cached(
        "select seq, at, turn, body from records
         where session = $1 and seq >= $2 and seq <= $3 order by seq",
    )?;
    rows::collect(&mut found, params![session.to_string(), from.0, to.0], rows::entry)
}

/// How far the newest usable summary reaches; 0 without one.
fn covered(db: &Connection, session: SessionId) -> Result<Seq> {
    let mut found = db.prepare_cached(
        "select seq, at, turn, body from records
         where session = $1 and kind in ('summary', 'undone') order by seq desc",
    )?;
    let marks = rows::collect(&mut found, [session.to_string()], rows::entry)?;
    let undone: HashSet<TurnId> = marks
        .iter()
        .filter_map(|e| match e.record {
            Record::Undone { turn } => Some(turn),
            _ => None,
        })
        .collect();
    let mut limit = Seq(i64::MAX);
    for turn in undone {
        if let Some(first) = first_entry(db, session, turn)? {
            limit = limit.min(first);
        }
    }
    let usable = marks.iter().find_map(|e| match e.record {
        Record::Summary { covers, .. } if covers < limit => Some(covers),
        _ => None,
    });
    Ok(usable.unwrap_or_default())
}

/// Where a turn's entries begin.
fn first_entry(db: &Connection, session: SessionId, turn: TurnId) -> Result<Option<Seq>> {
    // In the order of the key, so that reading stops at the first one.
    let mut found =
        db.prepare_cached("select seq from records where session = $1 and turn = $2 order by seq limit 1")?;
    rows::first(&mut found, [session.to_string(), turn.to_string()], |row| Ok(Seq(row.get(0)?)))
}

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

/// So many records before a turn are what was said lately.
const RECENT: i64 = 400;
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

    /// What an agent with a memory of its own needs of a session's log for a turn that begins at `from`: the turn, what
    /// was said lately, and how far its memory goes: the last session it opened before, what was undone and summed up,
    /// and what it had opened before the last undoing. However long the log is, that is about so much.
    pub async fn recent_log(&self, session: SessionId, from: Seq) -> Result<Vec<Entry>> {
        self.read("reading what an agent elsewhere must be told", move |db| {
            let covered = covered(db, session)?;
            let recent = Seq(from.0.saturating_sub(RECENT).max(covered.next().0));
            let marks = marks(db, session)?;
            let last_undone = marks.iter().find(|e| matches!(e.record, Record::Undone { .. })).map(|e| e.seq);
            let of_view = |e: &Entry| match e.record {
                Record::Summary { covers, .. } => covers == covered,
                _ => true,
            };
            let mut entries = marks;
            entries.extend(opened_before(db, session, from)?);
            if let Some(undone) = last_undone {
                entries.extend(opened_before(db, session, undone)?);
            }
            entries.extend(stretch(db, session, recent, Seq(i64::MAX))?);
            entries.sort_by_key(|e| e.seq);
            entries.dedup_by_key(|e| e.seq);
            // Whether another may be used cannot be told without what it covers.
            entries.retain(of_view);
            Ok(entries)
        })
        .await
    }
}

/// The newest session of its own that an agent elsewhere opened before this place.
fn opened_before(db: &Connection, session: SessionId, before: Seq) -> Result<Option<Entry>> {
    let mut found = db.prepare_cached(
        "select seq, at, turn, body from records
         where session = $1 and seq < $2 and kind = 'opened' order by seq desc limit 1",
    )?;
    rows::first(&mut found, params![session.to_string(), before.0], rows::entry)
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
    let marks = marks(db, session)?;
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

/// Summaries, and that something was undone, the newest first.
fn marks(db: &Connection, session: SessionId) -> Result<Vec<Entry>> {
    let mut found = db.prepare_cached(
        "select seq, at, turn, body from records
         where session = $1 and kind in ('summary', 'undone') order by seq desc",
    )?;
    rows::collect(&mut found, [session.to_string()], rows::entry)
}

/// Where a turn's entries begin.
fn first_entry(db: &Connection, session: SessionId, turn: TurnId) -> Result<Option<Seq>> {
    // In the order of the key, so that reading stops at the first one.
    let mut found =
        db.prepare_cached("select seq from records where session = $1 and turn = $2 order by seq limit 1")?;
    rows::first(&mut found, [session.to_string(), turn.to_string()], |row| Ok(Seq(row.get(0)?)))
}

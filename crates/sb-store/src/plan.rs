//! What a list of changes comes to: one edit of the conversation's row and one of each session's.
//!
//! Pure. A decision often touches the same row several times (a log entry, usage, a title); joined
//! beforehand each row is written once. What is written row by row anyway (log entries, turns,
//! messages) is left to `commit.rs`, in its order.

use std::collections::HashMap;

use sb_model::{Change, Record, Rule, Seq, SessionId, Timestamp, TurnId, Usage};

use crate::error::{Result, StoreError};
use crate::rows::json;

/// The joined edits.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) choices: Option<String>,
    /// The session that is current from now on.
    pub(crate) session: Option<SessionId>,
    /// `Some(None)`: not to be woken.
    pub(crate) wake: Option<Option<Timestamp>>,
    pub(crate) ask_closed: Option<bool>,
    /// The latest time that any of the changes names.
    pub(crate) at: Option<Timestamp>,
    /// In the order in which they are first named.
    pub(crate) sessions: Vec<SessionEdit>,
    /// Where each turn's entries among these changes begin.
    pub(crate) first_entries: HashMap<TurnId, Seq>,
}

/// What changes of one session. A `None` leaves the column as it is.
pub(crate) struct SessionEdit {
    pub(crate) id: SessionId,
    /// Set if the session begins here.
    pub(crate) began: Option<Timestamp>,
    pub(crate) title: Option<String>,
    pub(crate) tainted: Option<bool>,
    pub(crate) allowed: Option<String>,
    pub(crate) usage: Option<String>,
    pub(crate) logged: Option<Logged>,
}

/// The stretch of a log that is appended: without gaps, right after what is there.
#[derive(Clone, Copy)]
pub(crate) struct Logged {
    pub(crate) first: Seq,
    pub(crate) last: Seq,
    pub(crate) at: Timestamp,
}

impl Plan {
    /// Joins the edits of `changes`.
    pub(crate) fn of(changes: &[Change]) -> Result<Self> {
        let mut plan = Self::default();
        for change in changes {
            plan.add(change)?;
        }
        Ok(plan)
    }

    fn add(&mut self, change: &Change) -> Result<()> {
        match change {
            Change::SessionBegan { id, at } => {
                self.session = Some(*id);
                self.at = self.at.max(Some(*at));
                self.edit(*id).began = Some(*at);
            }
            Change::SessionResumed(session) => {
                self.session = Some(session.id);
                // Named, so that it is checked to be this conversation's.
                self.edit(session.id);
            }
            Change::Titled { session, title } => self.edit(*session).title = Some(title.clone()),
            Change::Chose(choices) => self.choices = Some(json(choices)?),
            Change::Allowed { session, rules } => self.edit(*session).allowed = Some(allowed(rules)?),
            Change::Tainted { session, tainted } => self.edit(*session).tainted = Some(*tainted),
            Change::Used { session, usage } => self.edit(*session).usage = Some(used(usage)?),
            Change::WakeAt(at) => self.wake = Some(*at),
            Change::AskClosed(closed) => self.ask_closed = Some(*closed),
            Change::TurnBegan { at, .. } => self.at = self.at.max(Some(*at)),
            Change::Logged { session, entry } => {
                self.at = self.at.max(Some(entry.at));
                if let Some(turn) = entry.turn
                    && !matches!(entry.record, Record::Undone { .. })
                {
                    self.first_entries.entry(turn).or_insert(entry.seq);
                }
                return self.edit(*session).append(entry.seq, entry.at);
            }
            Change::House { session, seq, at, turn, .. } => {
                self.at = self.at.max(Some(*at));
                self.first_entries.entry(*turn).or_insert(*seq);
                return self.edit(*session).append(*seq, *at);
            }
            _ => {}
        }
        Ok(())
    }

    fn edit(&mut self, id: SessionId) -> &mut SessionEdit {
        let at = self.sessions.iter().position(|s| s.id == id).unwrap_or_else(|| {
            self.sessions.push(SessionEdit::new(id));
            self.sessions.len() - 1
        });
        &mut self.sessions[at]
    }
}

impl SessionEdit {
    fn new(id: SessionId) -> Self {
        Self { id, began: None, title: None, tainted: None, allowed: None, usage: None, logged: None }
    }

    fn append(&mut self, seq: Seq, at: Timestamp) -> Result<()> {
        match &mut self.logged {
            None => self.logged = Some(Logged { first: seq, last: seq, at }),
            Some(stretch) if stretch.last.next() == seq => {
                stretch.last = seq;
                stretch.at = at;
            }
            Some(stretch) => {
                let (last, id) = (stretch.last.0, self.id);
                let what = format!("entry {} of session {id} does not follow entry {last}", seq.0);
                return Err(StoreError::contradiction(what));
            }
        }
        Ok(())
    }
}

fn allowed(rules: &[Rule]) -> Result<String> {
    json(&rules)
}

fn used(usage: &Usage) -> Result<String> {
    json(usage)
}

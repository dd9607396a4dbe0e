//! Turns as rows: the state of the one that has not ended, and which messages belong to it.
//!
//! The running turn's state is one JSON column, read when the first change names it and written once,
//! however many changes do. Invariants: a conversation has one turn at a time; a message joins a turn
//! only from waiting; a turn ends only after all its messages have.

use std::collections::HashMap;

use rusqlite::{Connection, params};
use sb_model::{
    Change, ConversationId, Digest, Message, MessageId, Pending, Phase, Principal, Rights, Seq, SessionId,
    Task, Timestamp, Turn, TurnId,
};
use serde::{Deserialize, Serialize};

use crate::commit::expect_one;
use crate::error::{Result, StoreError};
use crate::rows::{self, json};

/// The JSON of a turn: all of it that has no column.
#[derive(Serialize, Deserialize)]
pub(crate) struct TurnBody {
    task: Task,
    phase: Phase,
    starts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pending: Option<Pending>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    granted: Vec<(Digest, Principal)>,
    rights: Rights,
    began: Timestamp,
    worked_ms: i64,
}

impl TurnBody {
    /// A turn as it begins.
    fn begun(task: Task, rights: Rights, began: Timestamp) -> Self {
        let (pending, granted) = (None, Vec::new());
        Self { task, phase: Phase::Running, starts: 1, pending, granted, rights, began, worked_ms: 0 }
    }

    pub(crate) fn turn(self, id: TurnId, session: SessionId, messages: Vec<(Message, Seq)>) -> Turn {
        let Self { task, phase, starts, pending, granted, rights, began, worked_ms } = self;
        Turn { id, session, task, phase, messages, starts, pending, granted, rights, began, worked_ms }
    }
    /// The phase as its column holds it, for lists.
    fn phase(&self) -> &'static str {
        match self.phase {
            Phase::Running => "running",
            Phase::Parked => "parked",
            Phase::Stopping => "stopping",
        }
    }
}

/// The turns of one conversation while one list of changes is written.
pub(crate) struct Turns<'a> {
    db: &'a Connection,
    of: &'a ConversationId,
    first_entries: &'a HashMap<TurnId, Seq>,
    /// The turn that has not ended, once something named it.
    open: Option<(TurnId, TurnBody)>,
    ended: Vec<TurnId>,
}

impl<'a> Turns<'a> {
    pub(crate) fn new(
        db: &'a Connection,
        of: &'a ConversationId,
        first_entries: &'a HashMap<TurnId, Seq>,
    ) -> Self {
        Self { db, of, first_entries, open: None, ended: Vec::new() }
    }

    /// One change, if it is about a turn.
    pub(crate) fn apply(&mut self, change: &Change) -> Result<()> {
        match change {
            Change::TurnBegan { turn, session, task, messages, from, rights, at } => {
                let body = TurnBody::begun(*task, *rights, *at);
                self.begin(*turn, *session, messages, *from, &body)
            }
            Change::Joined { turn, message, from, rights } => self.join(*turn, *message, *from, *rights),
            Change::TurnRestarted { turn } => self.change(*turn, |t| t.starts += 1),
            Change::TurnLaidDown { turn } => self.change(*turn, |t| t.starts = t.starts.saturating_sub(1)),
            Change::Asks { turn, pending } => self.change(*turn, |t| t.pending.clone_from(pending)),
            Change::Granted { turn, granted } => self.change(*turn, |t| t.granted.clone_from(granted)),
            Change::Entered { turn, phase, worked_ms } => self.change(*turn, |t| {
                t.phase = *phase;
                t.worked_ms = *worked_ms;
            }),
            Change::TurnEnded { turn, exchange } => self.end(*turn, *exchange),
            Change::Undone { turn } => self.undo(*turn),
            _ => Ok(()),
        }
    }

    /// Writes what is still unwritten and checks that no ended turn left a message unanswered.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()?;
        for turn in &self.ended {
            let left: i64 = self
                .db
                .prepare_cached(
                    "select count(*) from messages where conversation = $1 and ending is null and turn = $2",
                )?
                .query_row(params![self.of.as_str(), turn.to_string()], |row| row.get(0))?;
            if left > 0 {
                let what = format!("turn {turn} ended with {left} of its messages unanswered");
                return Err(StoreError::contradiction(what));
            }
        }
        Ok(())
    }

    fn begin(
        &mut self,
        turn: TurnId,
        session: SessionId,
        messages: &[MessageId],
        from: Seq,
        body: &TurnBody,
    ) -> Result<()> {
        self.flush()?;
        for message in messages {
            self.take_waiting(turn, *message, from)?;
        }
        let first_seq = self.first_entries.get(&turn).map_or(from, |first| from.min(*first));
        self.db
            .prepare_cached(
                "insert into turns (id, conversation, session, phase, body, first_seq, first_message)
                 values ($1, $2, $3, $4, $5, $6, $7)",
            )?
            .execute(params![
                turn.to_string(),
                self.of.as_str(),
                session.to_string(),
                body.phase(),
                json(body)?,
                first_seq.0,
                messages.iter().min().map(|m| m.0),
            ])?;
        Ok(())
    }

    /// A waiting message becomes the turn's.
    fn take_waiting(&self, turn: TurnId, message: MessageId, from: Seq) -> Result<()> {
        let mut taken = self.db.prepare_cached(
            "update messages set turn = $1, turn_from = $2
             where id = $3 and conversation = $4 and turn is null and ending is null",
        )?;
        match taken.execute(params![turn.to_string(), from.0, message.0, self.of.as_str()])? {
            0 => Err(StoreError::contradiction(format!("message {} does not wait here", message.0))),
            _ => Ok(()),
        }
    }

    fn join(&mut self, turn: TurnId, message: MessageId, from: Seq, rights: Rights) -> Result<()> {
        self.take_waiting(turn, message, from)?;
        match self.open(turn)?.rights == rights {
            true => Ok(()),
            false => self.change(turn, |t| t.rights = rights),
        }
    }

    fn change(&mut self, turn: TurnId, change: impl FnOnce(&mut TurnBody)) -> Result<()> {
        change(self.open(turn)?);
        Ok(())
    }

    /// The turn's state, read at its first mention.
    fn open(&mut self, turn: TurnId) -> Result<&mut TurnBody> {
        if self.open.as_ref().is_none_or(|(id, _)| *id != turn) {
            self.flush()?;
            let mut found = self
                .db
                .prepare_cached("select body from turns where conversation = $1 and id = $2 and ended = 0")?;
            let body = rows::first(&mut found, [self.of.as_str(), turn.to_string().as_str()], |row| {
                rows::parsed(row, 0)
            })?;
            self.open = body.map(|body| (turn, body));
        }
        let found = self.open.as_mut().map(|(_, body)| body);
        found.ok_or_else(|| StoreError::contradiction(format!("turn {turn} is not under way here")))
    }

    fn flush(&mut self) -> Result<()> {
        let Some((id, body)) = self.open.take() else { return Ok(()) };
        let changed = self
            .db
            .prepare_cached(
                "update turns set phase = $1, body = $2 where conversation = $3 and id = $4 and ended = 0",
            )?
            .execute(params![body.phase(), json(&body)?, self.of.as_str(), id.to_string()])?;
        expect_one(changed, || format!("turn {id} is gone"))
    }

    fn end(&mut self, turn: TurnId, exchange: bool) -> Result<()> {
        self.flush()?;
        let mut ended = self.db.prepare_cached(
            "update turns set ended = 1,
                 last_seq = (select last_seq from sessions where sessions.id = turns.session),
                 previous = (select newest_exchange from sessions where sessions.id = turns.session)
             where conversation = $1 and id = $2 and ended = 0 returning number, session",
        )?;
        let ended = rows::first(&mut ended, [self.of.as_str(), turn.to_string().as_str()], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
        })?;
        let (number, session) =
            ended.ok_or_else(|| StoreError::contradiction(format!("turn {turn} is not under way here")))?;
        self.ended.push(turn);
        if exchange {
            self.db
                .prepare_cached("update sessions set newest_exchange = $1 where id = $2")?
                .execute(params![number, session])?;
        }
        Ok(())
    }

    /// The turn is no exchange any more that could be taken up again.
    fn undo(&self, turn: TurnId) -> Result<()> {
        let changed = self
            .db
            .prepare_cached(
                "with recursive exchanges (number) as (
                     select newest_exchange from sessions
                     where conversation = $1 and newest_exchange is not null
                     union all
                     select t.previous from turns t join exchanges e on t.number = e.number
                     where t.previous is not null)
                 update turns set undone = 1 where number in (select number from exchanges) and id = $2",
            )?
            .execute([self.of.as_str(), turn.to_string().as_str()])?;
        expect_one(changed, || format!("turn {turn} is no exchange of this conversation"))
    }
}

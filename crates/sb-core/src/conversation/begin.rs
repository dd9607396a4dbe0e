//! From waiting messages to a turn at work: who is next, when they have settled, and its first commit.

use sb_model::{
    Busy, Change, Entry, Exchange, Message, MessageId, Record, Rights, SessionId, Task, Timestamp, TurnId,
};

use super::run::{Plan, Run, Slot};
use super::{Conversation, Effect, Show};
use crate::{commands, reply};

/// A chat that never pauses is answered after this many debounce times.
const DEBOUNCES_AT_MOST: i64 = 10;

impl Conversation {
    /// Nothing runs, is planned or wanted.
    pub(super) fn is_free(&self) -> bool {
        self.state.turn.is_none() && self.plan.is_none() && self.run.is_none()
    }

    /// Takes up what waits longest, if nothing else is at work.
    pub(super) fn next(&mut self) {
        if !self.is_free() {
            return;
        }
        let Some(first) = self.state.waiting.first() else { return };
        if is_command(first) {
            let id = first.id;
            self.plan = Some(Plan::Recall(id));
            self.perform(Effect::Recall(id));
        } else if self.settles_at().is_none_or(|at| at <= self.now)
            && self.group().iter().all(|id| self.is_ready(*id))
        {
            self.plan = Some(Plan::Answer);
            self.want_slot(false);
        }
    }

    pub(super) fn want_slot(&mut self, urgent: bool) {
        match self.slot {
            Slot::None => {
                self.slot = Slot::Wanted;
                self.perform(Effect::WantSlot { urgent });
            }
            Slot::Wanted => {}
            Slot::Held => self.granted(),
        }
    }

    pub(super) fn free_slot(&mut self) {
        if self.slot != Slot::None {
            self.slot = Slot::None;
            self.perform(Effect::FreeSlot);
        }
    }

    /// When the messages that wait first have settled: no other of theirs came for the debounce time.
    pub(super) fn settles_at(&self) -> Option<Timestamp> {
        let first = self.state.waiting.first().filter(|m| !is_command(m) && m.manner.debounce_ms > 0)?;
        let wait = i64::from(first.manner.debounce_ms);
        let last = self.group().last().and_then(|id| self.state.waiting.iter().find(|m| m.id == *id))?;
        Some(last.at.plus_ms(wait).min(first.at.plus_ms(wait * DEBOUNCES_AT_MOST)))
    }

    /// The waiting messages that are one turn: the first, and those that join it.
    pub(super) fn group(&self) -> Vec<MessageId> {
        let mut group: Vec<&Message> = Vec::new();
        for message in &self.state.waiting {
            let joins = match group.last() {
                None => true,
                Some(last) => joins(last, message),
            };
            if is_command(message) || !joins {
                break;
            }
            group.push(message);
        }
        group.iter().map(|m| m.id).collect()
    }

    /// Of those, the first ones whose files are ready; what is not ready yet is a later turn's.
    fn ready_group(&self) -> Vec<MessageId> {
        self.group().into_iter().take_while(|id| self.is_ready(*id)).collect()
    }

    /// Its files are where the agent can open them.
    pub(super) fn is_ready(&self, id: MessageId) -> bool {
        self.prepared.get(&id).is_none_or(Option::is_some)
    }

    pub(super) fn ready(&mut self, id: MessageId, lines: Vec<String>) {
        if self.prepared.contains_key(&id) {
            self.prepared.insert(id, Some(lines));
        }
        let steers = self.state.waiting.iter().any(|m| m.id == id && m.manner.busy == Busy::Steer);
        if steers && self.state.turn.as_ref().is_some_and(|t| t.task == Task::Answer) {
            self.steer(id);
        }
        self.next();
    }

    /// A place is ours: begin what was planned.
    pub(super) fn granted(&mut self) {
        self.slot = Slot::Held;
        match self.plan.take() {
            Some(Plan::Answer) if !self.ready_group().is_empty() => self.begin_answer(),
            Some(Plan::Redo(message, exchange)) if self.waits(message) => self.begin_again(message, exchange),
            Some(Plan::Compact(message)) if self.waits(message) => {
                self.begin_turn(Task::Compact, vec![message], Vec::new())
            }
            Some(Plan::GoOn) if self.state.turn.is_some() => self.go_on(),
            other => {
                self.plan = other.filter(|p| matches!(p, Plan::Recall(_)));
                self.free_slot();
                self.next();
            }
        }
    }

    fn waits(&self, id: MessageId) -> bool {
        self.state.waiting.iter().any(|m| m.id == id)
    }

    fn begin_answer(&mut self) {
        let group = self.ready_group();
        let said = group.iter().filter_map(|id| self.said(*id, false)).collect();
        self.begin_turn(Task::Answer, group, said);
    }

    /// `/retry`: the last exchange is forgotten, and its words are said again.
    fn begin_again(&mut self, message: MessageId, exchange: Exchange) {
        self.record(Change::Undone { turn: exchange.turn });
        self.log(None, Record::Undone { turn: exchange.turn });
        self.begin_turn(Task::Answer, vec![message], exchange.prompts);
    }

    fn begin_turn(&mut self, task: Task, messages: Vec<MessageId>, said: Vec<Record>) {
        let session = self.ensure_session();
        let turn = TurnId(self.ids.next());
        let from = self.state.session.as_ref().map(|s| s.last.next()).unwrap_or_default();
        for id in &messages {
            self.prepared.remove(id);
        }
        self.run = Some(Run::new(turn, self.now, 0));
        let waiting = self.state.waiting.iter().filter(|m| messages.contains(&m.id));
        let rights = waiting.map(|m| m.rights).reduce(Rights::least).unwrap_or_default();
        let (began, at) = (messages.clone(), self.now);
        self.record(Change::TurnBegan { turn, session, task, messages: began, from, rights, at });
        for record in said {
            self.log(Some(turn), record);
        }
        self.perform(Effect::Show(Show::Began(session, messages)));
        self.perform(Effect::Run(turn));
    }

    /// Goes on with the turn that is stored: after a decision, or a restart.
    fn go_on(&mut self) {
        let Some(turn) = &self.state.turn else { return };
        let (id, session) = (turn.id, turn.session);
        let messages = turn.messages.iter().map(|(m, _)| m.id).collect();
        self.run = Some(Run::new(id, self.now, turn.worked_ms));
        self.perform(Effect::Show(Show::Began(session, messages)));
        self.perform(Effect::Run(id));
    }

    pub(super) fn opened(&mut self, turn: TurnId, entries: &[Entry]) {
        let Some(run) = self.run.as_mut().filter(|r| r.turn == turn) else { return };
        let of_turn: Vec<Entry> = entries.iter().filter(|e| e.turn == Some(turn)).cloned().collect();
        run.pieces = reply::pieces(&of_turn);
        let words: Vec<MessageId> = self
            .state
            .waiting
            .iter()
            .filter(|m| m.manner.busy == Busy::Steer && !is_command(m))
            .map(|m| m.id)
            .collect();
        if self.state.turn.as_ref().is_some_and(|t| t.task == Task::Answer) {
            words.into_iter().for_each(|id| self.steer(id));
        }
    }

    pub(super) fn ensure_session(&mut self) -> SessionId {
        match self.session_id() {
            Some(id) => id,
            None => self.begin_session(),
        }
    }

    pub(super) fn begin_session(&mut self) -> SessionId {
        let id = SessionId(self.ids.next());
        self.record(Change::SessionBegan { id, at: self.now });
        id
    }
}

pub(super) fn is_command(message: &Message) -> bool {
    !matches!(commands::read(message), Ok(None))
}

/// Whether `next` is answered in one turn with `last`, which came right before it.
fn joins(last: &Message, next: &Message) -> bool {
    if last.manner.busy != next.manner.busy {
        return false;
    }
    let together = matches!(next.manner.busy, Busy::Collect | Busy::Steer);
    let debounce = i64::from(last.manner.debounce_ms);
    together || (debounce > 0 && next.at.ms_since(last.at) <= debounce)
}

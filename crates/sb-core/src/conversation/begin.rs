//! From waiting messages to a turn at work: who is next, when they have settled, and its first commit.

use sb_model::{
    Busy, Change, EndKind, Ending, Entry, Exchange, Message, MessageId, Record, Rights, SessionId, Task,
    Timestamp, TurnId,
};

use super::run::{Plan, Run, Slot};
use super::{Conversation, Effect, Prepared, Show};
use crate::commands;

/// An album is whole when nothing of it came for this long.
const ALBUM_MS: i64 = 1_000;
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
            return;
        }
        if self.settles_at().is_some_and(|at| at > self.now) {
            return;
        }
        if self.drop_unaddressed() {
            return self.next();
        }
        let group = self.group();
        if self.refuse_suspended(&group) || self.drop_spent(&group) {
            return self.next();
        }
        if group.iter().all(|id| self.is_ready(*id)) {
            self.plan = Some(Plan::Answer);
            self.want_slot(false);
        }
    }

    /// Messages that were taken only because one of their album might have been meant for us, and none was.
    fn drop_unaddressed(&mut self) -> bool {
        let group = self.group();
        let of_group = |m: &&Message| group.contains(&m.id);
        if group.is_empty() || self.state.waiting.iter().filter(of_group).any(is_addressed) {
            return false;
        }
        for message in group {
            self.end_message(
                message,
                Ending::plain(EndKind::Dropped, "It was not meant for us.", self.session_id()),
            );
        }
        true
    }

    /// Whoever wrote it changed it: what the agent will be told is changed, if it was not told yet.
    pub(super) fn edited(&mut self, message: MessageId, text: String) {
        let told = self.run.as_ref().is_some_and(|r| r.steering.contains(&message));
        let waiting = self.state.waiting.iter().find(|m| m.id == message);
        // What was words does not become a command by being changed.
        let words = |m: &Message| {
            !is_command(m) && matches!(commands::read_text(&text, m.manner.stop_words), Ok(None))
        };
        if waiting.is_some_and(|m| words(m) && m.text != text) && !told {
            self.record(Change::Edited { message, text });
        }
    }

    /// Whoever wrote it took it back.
    pub(super) fn unsent(&mut self, message: MessageId) {
        let told = self.run.as_ref().is_some_and(|r| r.steering.contains(&message));
        if self.waits(message) && !told {
            let said = "Taken back by whoever wrote it.";
            self.end_message(message, Ending::plain(EndKind::Dropped, said, self.session_id()));
            self.next();
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
        let first = self.state.waiting.first().filter(|m| !is_command(m))?;
        // The pieces of an album come one by one, and nothing marks the last.
        let album = if is_in_album(first) { ALBUM_MS } else { 0 };
        let wait = i64::from(first.manner.debounce_ms).max(album);
        if wait == 0 {
            return None;
        }
        let last = self.group().last().and_then(|id| self.state.waiting.iter().find(|m| m.id == *id))?;
        if last.at > self.now {
            // The clock was set back while we were down: nobody can say how long ago it was.
            return None;
        }
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

    pub(super) fn ready(&mut self, id: MessageId, prepared: Prepared) {
        if self.prepared.contains_key(&id) {
            self.prepared.insert(id, Some(prepared));
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
        let plan = match self.context.suspended.is_some() {
            true => self.give_up_suspended(),
            false => self.plan.take(),
        };
        match plan {
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

    /// What was planned is not begun: the agent was suspended meanwhile.
    fn give_up_suspended(&mut self) -> Option<Plan> {
        match self.plan.take() {
            Some(Plan::Redo(message, _) | Plan::Compact(message)) if self.waits(message) => {
                self.refuse_suspended(&[message]);
                None
            }
            // A harness that holds its turn open is told by the gate.
            Some(Plan::GoOn) if self.run.is_some() => Some(Plan::GoOn),
            Some(Plan::GoOn) if self.state.turn.is_some() => {
                let why = self.context.suspended.as_ref().map(ToString::to_string);
                self.close_without_run(EndKind::Refused, why, None);
                None
            }
            // Messages that wait are told by `next`.
            Some(recall @ Plan::Recall(_)) => Some(recall),
            _ => None,
        }
    }

    fn waits(&self, id: MessageId) -> bool {
        self.state.waiting.iter().any(|m| m.id == id)
    }

    fn begin_answer(&mut self) {
        let group = self.ready_group();
        if self.state.ask_closed {
            self.record(Change::AskClosed(false));
        }
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
        let from_agent = |r: &Record| matches!(r, Record::Said { from, .. } if from.is_agent());
        let tainted = said.iter().any(from_agent);
        for record in said {
            self.log(Some(turn), record);
        }
        if tainted {
            self.set_tainted(true);
        }
        self.perform(Effect::Show(Show::Began(session, messages)));
        self.perform(Effect::Run(turn));
    }

    /// Goes on with the turn that is stored: after a decision, or a restart.
    fn go_on(&mut self) {
        let Some(turn) = &self.state.turn else { return };
        let id = turn.id;
        if let Some(open) = self.run.as_mut().and_then(|run| run.open.take()) {
            return self.release(id, open);
        }
        self.run = Some(Run { resumed: true, ..Run::new(id, self.now, turn.worked_ms) });
        self.perform(Effect::Run(id));
    }

    pub(super) fn opened(&mut self, turn: TurnId, entries: &[Entry]) {
        let Some(run) = self.run.as_mut().filter(|r| r.turn == turn) else { return };
        let of_turn: Vec<Entry> = entries.iter().filter(|e| e.turn == Some(turn)).cloned().collect();
        of_turn.iter().for_each(|e| run.note(e.seq, &e.record));
        run.spent = Self::spent_before(&of_turn);
        // Only now it is known what of its reply was said before, and so where it goes on.
        if std::mem::take(&mut run.resumed)
            && let Some(stored) = &self.state.turn
        {
            let messages = stored.messages.iter().map(|(m, _)| m.id).collect();
            self.perform(Effect::Show(Show::Began(stored.session, messages)));
        }
        let words: Vec<MessageId> = self
            .state
            .waiting
            .iter()
            .filter(|m| m.manner.busy == Busy::Steer && !is_command(m) && self.is_for_turn(m))
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
        self.outside = Some((id, crate::outside::Prints::default()));
        self.record(Change::SessionBegan { id, at: self.now });
        id
    }
}

pub(super) fn is_command(message: &Message) -> bool {
    !matches!(commands::read(message), Ok(None))
}

/// Whether `next` is answered in one turn with `last`, which came right before it.
fn joins(last: &Message, next: &Message) -> bool {
    if is_of_album(last, next) {
        return true;
    }
    if last.manner.busy != next.manner.busy || !super::posting::is_same_place(last, next) {
        return false;
    }
    let together = matches!(next.manner.busy, Busy::Collect | Busy::Steer);
    let debounce = i64::from(last.manner.debounce_ms);
    together || (debounce > 0 && next.at.ms_since(last.at) <= debounce)
}

/// Whether both belong to one album, which is never cut.
fn is_of_album(last: &Message, next: &Message) -> bool {
    let album = |m: &Message| m.origin.as_deref().and_then(|o| o.album.clone());
    album(last).is_some_and(|a| album(next) == Some(a)) && super::posting::is_same_place(last, next)
}

fn is_in_album(message: &Message) -> bool {
    message.origin.as_deref().is_some_and(|o| o.album.is_some())
}

/// Whether it was meant for us, as far as it says.
pub(super) fn is_addressed(message: &Message) -> bool {
    message.origin.as_deref().is_none_or(|o| o.addressed)
}

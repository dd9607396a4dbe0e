//! What the harness says during a turn: words are shown, calls are judged, records are kept.

use sb_model::{
    Call, CallId, Change, HarnessEvent, HarnessInput, MessageId, Pending, Phase, Record, RequestId,
    ToolUpdate, TurnId, Verdict, Ways,
};

use super::house::{classed, is_house};
use super::run::Open;
use super::{Conversation, Effect, Show};
use crate::permit::{Standing, permit};

/// Uncommitted records of calls that only read are committed at this many, so that memory stays bounded.
const BUFFERED_AT_MOST: usize = 64;

impl Conversation {
    pub(super) fn hear(&mut self, turn: TurnId, event: HarnessEvent) {
        let Some(run) = self.run.as_mut().filter(|r| r.turn == turn) else { return };
        match event {
            HarnessEvent::Text(text) => {
                run.growing.push_str(&text);
                self.perform(Effect::Show(Show::Text(text)));
            }
            HarnessEvent::Break => self.perform(Effect::Show(Show::Break)),
            HarnessEvent::Void => {
                run.growing.clear();
                self.perform(Effect::Show(Show::Void));
            }
            HarnessEvent::Took(message) => self.took(turn, message),
            HarnessEvent::Call(call) => self.judge(turn, call, Ways::default()),
            HarnessEvent::CallBy(call, ways) => self.judge(turn, call, ways),
            HarnessEvent::Tool(update) => self.perform(Effect::Show(Show::Tool(update))),
            HarnessEvent::Usage(usage) => self.spend(usage),
            HarnessEvent::Log(record) => self.keep(turn, record),
            // Reasoning is never part of a reply; a shared file is in the log.
            HarnessEvent::Thought(_) | HarnessEvent::File(_) => {}
        }
    }

    fn keep(&mut self, turn: TurnId, record: Record) {
        let Some(run) = &mut self.run else { return };
        let mut due = run.buffer.len() >= BUFFERED_AT_MOST;
        match &record {
            Record::Answered { calls, .. } => {
                run.growing.clear();
                run.calls = calls.clone();
            }
            Record::Result { call, outside, .. } => {
                due |= run.acting.contains(call) || *outside;
                run.acting.retain(|c| c != call);
            }
            Record::Summary { .. } => due = true,
            _ => {}
        }
        let taints = matches!(&record, Record::Result { outside: true, .. });
        if let (Record::Result { call, .. }, Some((_, prints))) = (&record, &mut self.outside) {
            prints.note(&record, run.calls.iter().find(|c| c.id == *call));
        }
        run.buffer.push(record);
        if due {
            self.flush(turn);
        }
        if taints {
            self.set_tainted(true);
        }
    }

    /// Commits what the harness logged, in order, and what it used.
    pub(super) fn flush(&mut self, turn: TurnId) {
        let Some(run) = &mut self.run else { return };
        let (records, used) = (std::mem::take(&mut run.buffer), std::mem::take(&mut run.used));
        for record in records {
            self.log(Some(turn), record);
        }
        if used != Default::default() {
            self.add_usage(used);
        }
    }

    pub(super) fn add_usage(&mut self, more: sb_model::Usage) {
        let Some(session) = &self.state.session else { return };
        let mut usage = session.usage;
        usage += more;
        let session = session.id;
        self.record(Change::Used { session, usage });
        self.record_spent(more);
    }

    pub(super) fn set_tainted(&mut self, tainted: bool) {
        let Some(session) = self.state.session.as_ref().filter(|s| s.tainted != tainted) else { return };
        let session = session.id;
        self.record(Change::Tainted { session, tainted });
    }

    fn took(&mut self, turn: TurnId, message: MessageId) {
        let Some(record) = self.said(message, true) else { return };
        if let Some(run) = &mut self.run {
            run.steering.retain(|m| *m != message);
        }
        self.flush(turn);
        self.prepared.remove(&message);
        let from = self.log(Some(turn), record);
        self.join(turn, message, from, true);
        if let Some(session) = self.session_id() {
            self.perform(Effect::Show(Show::Began(session, vec![message])));
        }
    }

    fn judge(&mut self, turn: TurnId, call: Call, ways: Ways) {
        // Told to stop: nothing new begins.
        if self.run.as_ref().is_some_and(|r| r.stop.is_some()) {
            return;
        }
        let call = classed(call);
        self.show_tool(&call, "calling");
        if !ways.are_several() && self.take_grant(turn, &call) {
            return self.let_go(turn, &call, None);
        }
        if self.is_refused_for_budget(&call) {
            return;
        }
        let carries = self.carried(&call);
        let verdict = match self.permit(&call, carries.as_deref()) {
            // Which of several is meant no level and no rule can say.
            Verdict::Go if ways.are_several() => Verdict::Ask("it may be done in several ways".to_owned()),
            verdict => verdict,
        };
        match verdict {
            Verdict::Go if is_house(&call) => self.do_for_harness(turn, &call),
            Verdict::Go => self.let_go(turn, &call, None),
            Verdict::No(why) => self.perform(Effect::Tell(HarnessInput::No(call.id, why))),
            Verdict::Ask(_) if self.run.as_ref().is_some_and(|r| r.open.is_some()) => {
                let why = "Another call waits for a person; ask again once that is decided.".to_owned();
                self.perform(Effect::Tell(HarnessInput::No(call.id, why)));
            }
            Verdict::Ask(reason) => self.ask(turn, call, (reason, carries.is_some()), ways),
        }
    }

    pub(super) fn show_tool(&mut self, call: &Call, state: &'static str) {
        let update = ToolUpdate { call: call.id.clone(), tool: call.tool.clone(), state };
        self.perform(Effect::Show(Show::Tool(update)));
    }

    /// What a call's arguments carry from outside.
    fn carried(&self, call: &Call) -> Option<String> {
        self.outside.as_ref().and_then(|(_, prints)| prints.carried(call))
    }

    pub(super) fn permit(&self, call: &Call, carries: Option<&str>) -> Verdict {
        if let Some(why) = &self.context.suspended {
            return Verdict::No(why.to_string());
        }
        let session = self.state.session.as_ref();
        let standing = Standing {
            tools: self.state.choices.tools.as_deref(),
            allowed: session.map(|s| s.allowed.as_slice()).unwrap_or_default(),
            tainted: session.is_some_and(|s| s.tainted),
            carries,
        };
        permit(&self.context.profile, standing, call)
    }

    /// Uses up the approval that holds this very call's digest, unless the gate refuses it by now.
    fn take_grant(&mut self, turn: TurnId, call: &Call) -> bool {
        let digest = call.digest();
        let Some(stored) = &self.state.turn else { return false };
        if matches!(self.permit(call, None), Verdict::No(_))
            || !stored.granted.iter().any(|(d, _)| *d == digest)
        {
            return false;
        }
        let granted = stored.granted.iter().filter(|(d, _)| *d != digest).cloned().collect();
        self.record(Change::Granted { turn, granted });
        true
    }

    /// A call that was held open is let go, or not.
    pub(super) fn release(&mut self, turn: TurnId, open: Open) {
        let Open { call, way, refused, done } = open;
        if let Some((session, seq)) = done {
            return self.perform(Effect::TellDone(call.id, session, seq));
        }
        let why = match refused {
            None if self.take_grant(turn, &call) => return self.let_go(turn, &call, way),
            None => "It is not allowed any more.".to_owned(),
            Some(why) => why,
        };
        self.perform(Effect::Tell(HarnessInput::No(call.id, why)));
    }

    /// A call that acts is committed as acting before it is told to go.
    fn let_go(&mut self, turn: TurnId, call: &Call, way: Option<usize>) {
        if call.class.acts() {
            self.flush(turn);
            self.log(Some(turn), Record::Acting { call: call.id.clone() });
            if let Some(run) = &mut self.run {
                run.acting.push(call.id.clone());
            }
        }
        let id = call.id.clone();
        self.perform(Effect::Tell(
            way.map_or(HarnessInput::Go(id.clone()), |way| HarnessInput::GoBy(id, way)),
        ));
    }

    /// A person must decide: the turn parks, and everything it needs is stored. A harness that cannot go on from its
    /// log stays as it is, without a place, until it is told.
    fn ask(&mut self, turn: TurnId, call: Call, (reason, carries): (String, bool), ways: Ways) {
        self.flush(turn);
        self.show_tool(&call, "waiting");
        let request = RequestId(self.ids.next());
        let id: CallId = call.id.clone();
        let pending = Pending { request, call: call.clone(), reason, carries, ways, since: self.now };
        self.post_question(turn, &pending);
        self.log(Some(turn), Record::Asked { request, call: id.clone(), reason: pending.reason.clone() });
        self.record(Change::Asks { turn, pending: Some(pending) });
        if let Some(at) = self.expires_at() {
            self.record(Change::WakeAt(Some(at)));
        }
        self.enter(Phase::Parked);
        let patience = self.now.plus_ms(super::stop::PATIENCE_MS);
        if let Some(run) = &mut self.run {
            match self.context.parks {
                true => run.drop_at = Some(patience),
                false => run.open = Some(Open { call, way: None, refused: None, done: None }),
            }
        }
        self.perform(Effect::Tell(HarnessInput::Wait(id)));
        if !self.context.parks {
            self.show_waiting();
            self.free_slot();
        }
    }

    /// Moves the stored turn to a phase; time that waits for people does not count as work.
    pub(super) fn enter(&mut self, phase: Phase) {
        let Some(turn) = &self.state.turn else { return };
        let id = turn.id;
        let worked_ms = match (&self.run, turn.phase) {
            (Some(run), Phase::Running | Phase::Stopping) => run.worked_ms(self.now),
            _ => turn.worked_ms,
        };
        self.record(Change::Entered { turn: id, phase, worked_ms });
    }
}

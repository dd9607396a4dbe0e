//! `/stop`, interruption and deadlines: a turn is told to end, and is dropped if it does not.

use sb_model::text::counted;
use sb_model::{
    CallId, Change, EndKind, Ending, HarnessInput, MessageId, Phase, Record, Seq, StopReason, TurnFault,
    TurnFaultKind, TurnId,
};

use super::run::{Plan, StopCause};
use super::{Conversation, Effect};

/// How long a harness may take to stop, in milliseconds.
pub(super) const PATIENCE_MS: i64 = 10_000;

impl Conversation {
    /// `/stop` overtakes everything: what runs is stopped, what waited is dropped, in one commit.
    pub(super) fn stop(&mut self, id: MessageId) {
        let dropped = self.drop_waiting(id);
        let Some(turn) = &self.state.turn else {
            self.plan = None;
            self.free_slot_wish();
            let said =
                if dropped > 0 { "Stopped. What waited here was dropped." } else { "Nothing is running." };
            return self.answer(id, said);
        };
        let (turn_id, parked) = (turn.id, turn.phase == Phase::Parked);
        // The command is answered with the turn, so that "Stopped." is true when it is said; of what the
        // turn wrote, nothing is the command's.
        self.join(turn_id, id, Seq::NEVER, false);
        if parked && self.run.is_none() {
            self.withdraw(turn_id, "The turn was stopped before anybody decided.", "the turn was stopped");
            self.close_without_run(EndKind::Stopped, Some("Stopped.".to_owned()), None);
        } else if let Some(run) = &mut self.run {
            if run.open.take().is_some() {
                self.withdraw(
                    turn_id,
                    "The turn was stopped before anybody decided.",
                    "the turn was stopped",
                );
            }
            self.stop_run(StopCause::Asked);
        } else {
            // It wanted a place to go on; nothing is at work.
            self.plan = None;
            self.free_slot_wish();
            self.close_without_run(EndKind::Stopped, Some("Stopped.".to_owned()), None);
        }
    }

    /// Tells the harness at work to stop, for this cause; the first cause counts.
    pub(super) fn stop_run(&mut self, cause: StopCause) {
        let patience = self.now.plus_ms(PATIENCE_MS);
        let Some(run) = &mut self.run else { return };
        if run.stop.is_some() {
            // Somebody's word outranks an interruption under way.
            if cause == StopCause::Asked {
                run.stop = Some(cause);
            }
            return;
        }
        run.stop = Some(cause);
        run.drop_at = Some(patience);
        self.enter(Phase::Stopping);
        self.perform(Effect::Tell(HarnessInput::Stop));
    }

    fn drop_waiting(&mut self, stop: MessageId) -> usize {
        let dropped: Vec<MessageId> = self.state.waiting.iter().map(|m| m.id).filter(|m| *m < stop).collect();
        for message in &dropped {
            let ending =
                Ending::plain(EndKind::Dropped, "Dropped by /stop before its turn.", self.session_id());
            self.end_message(*message, ending);
        }
        dropped.len()
    }

    /// The request is no longer open; the agent, if it ever goes on, reads why.
    pub(super) fn withdraw(&mut self, turn: TurnId, why: &str, shown: &str) {
        let Some(pending) = self.state.turn.as_ref().and_then(|t| t.pending.clone()) else { return };
        let call: CallId = pending.call.id.clone();
        self.close_question(&pending, &format!("This question is closed: {shown}."));
        self.record(Change::Asks { turn, pending: None });
        self.log(
            Some(turn),
            Record::Result { call, ok: false, text: why.to_owned(), files: Vec::new(), outside: false },
        );
    }

    /// Gives up a place that is wanted or held for nothing.
    fn free_slot_wish(&mut self) {
        if self.plan.is_none() && self.run.is_none() {
            self.free_slot();
        }
    }

    /// The time asked for has come: a deadline, the end of patience, or messages that have settled.
    pub(super) fn wake(&mut self) {
        if let Some(run) = &self.run {
            let (turn, phase) = (run.turn, self.state.turn.as_ref().map(|t| t.phase));
            let due = run
                .wake_at(phase == Some(Phase::Running), self.deadline_ms())
                .is_some_and(|at| at <= self.now);
            match (due, run.drop_at) {
                (true, Some(_)) => {
                    self.perform(Effect::Abandon(turn));
                    let parked = phase == Some(Phase::Parked);
                    self.harness_ended(
                        turn,
                        Ok(if parked { StopReason::Parked } else { StopReason::Stopped }),
                    );
                }
                (true, None) => {
                    let limit = counted(self.context.profile.deadline_s.into(), "second");
                    let detail = format!("The turn took longer than its {limit} and was stopped");
                    self.stop_run(StopCause::Fault(TurnFault::new(TurnFaultKind::Deadline, detail)));
                }
                (false, _) => {}
            }
        }
        if self.state.turn.as_ref().is_some_and(|t| t.phase == Phase::Parked) {
            self.expire();
        }
        if !matches!(self.plan, Some(Plan::GoOn)) {
            self.next();
        }
    }
}

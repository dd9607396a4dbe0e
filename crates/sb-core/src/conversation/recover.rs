//! Loaded anew: every effect is derived again from what is stored.

use sb_model::{Change, EndKind, Phase, Record, TurnFault, TurnFaultKind};

use super::run::Plan;
use super::{Conversation, Effect};
use crate::reply::failure_card;

/// A turn that was begun this often and never ended is failed, so that it cannot crash us for ever.
const STARTS_AT_MOST: u32 = 3;

impl Conversation {
    pub(super) fn recover(&mut self) {
        let unprepared: Vec<_> =
            self.state.waiting.iter().filter(|m| super::arrived::has_files(m)).map(|m| m.id).collect();
        for id in unprepared {
            self.prepared.insert(id, None);
            self.perform(Effect::Prepare(id));
        }
        // A command or decision that was taken but not acted on yet is handed in again.
        let commands: Vec<_> =
            self.state.waiting.iter().filter(|m| super::begin::is_command(m)).map(|m| m.id).collect();
        commands.into_iter().for_each(|id| self.perform(Effect::Recall(id)));
        let Some(turn) = &self.state.turn else { return self.next() };
        let (id, starts) = (turn.id, turn.starts);
        if turn.phase == Phase::Parked && !self.context.parks {
            // What it asked for died with it; it begins again and may ask anew.
            self.withdraw(
                id,
                "The agent was cut off by a restart before anybody decided.",
                "we were restarted",
            );
            self.record(Change::WakeAt(None));
            self.enter(Phase::Running);
        }
        match self.state.turn.as_ref().map_or(Phase::Running, |t| t.phase) {
            Phase::Parked => self.expire(),
            Phase::Stopping => self.close_without_run(EndKind::Stopped, Some("Stopped.".to_owned()), None),
            Phase::Running if starts >= STARTS_AT_MOST => {
                let detail = format!(
                    "The agent was cut off {starts} times while it worked on this, so it was given up"
                );
                let fault = TurnFault::new(TurnFaultKind::Crashed, detail);
                self.close_without_run(EndKind::Failed, Some(failure_card(&fault)), Some(fault));
            }
            Phase::Running => {
                self.post_restarted();
                self.record(Change::TurnRestarted { turn: id });
                self.log(Some(id), Record::Restarted { starts: starts + 1 });
                self.plan = Some(Plan::GoOn);
                self.want_slot(true);
            }
        }
    }

    /// What the agent did so far is kept, and this start does not count as one that crashed.
    pub(super) fn lay_down(&mut self) {
        let Some(turn) = self.run.as_ref().map(|r| r.turn) else { return };
        self.flush(turn);
        let waits = |phase| phase == Phase::Parked && !self.context.parks;
        if self.state.turn.as_ref().is_some_and(|t| t.phase == Phase::Running || waits(t.phase)) {
            self.record(Change::TurnLaidDown { turn });
        }
    }
}

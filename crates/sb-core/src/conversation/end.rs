//! A turn ends: every message it answers gets its ending, in the commit that ends it.

use sb_model::text::add_paragraph;
use sb_model::{
    Change, EndKind, Ending, Phase, Record, Refusal, RequestId, Seq, StopReason, Task, TurnFault,
    TurnFaultKind, TurnId, Usage,
};

use super::run::{Run, StopCause};
use super::{Conversation, Effect, Show};
use crate::reply::{self, change_block, failure_card, waiting_line};

/// What is told where the model will not answer.
const DECLINED_TO: &str =
    "(The model declined to say more. Say it another way, or pick another model with /model.)";
/// What is told where an answer is longer than a model may give.
const CUT_SHORT: &str = "(Cut short here: the model's limit was reached. Say \"go on\" for the rest.)";

/// How a turn ended, before each message's own words are put together.
struct Close {
    kind: EndKind,
    /// A last paragraph of our own.
    remark: Option<String>,
    fault: Option<TurnFault>,
    /// The model, or its provider's filter, declined to answer.
    declined: bool,
}

impl Conversation {
    /// The harness returned, or was dropped.
    pub(super) fn harness_ended(&mut self, turn: TurnId, how: Result<StopReason, TurnFault>) {
        if self.run.as_ref().is_none_or(|r| r.turn != turn) {
            return;
        }
        self.flush(turn);
        self.keep_unfinished(turn);
        let parked = self.state.turn.as_ref().is_some_and(|t| t.phase == Phase::Parked);
        let decided = self
            .state
            .turn
            .as_ref()
            .is_some_and(|t| t.phase == Phase::Running && how == Ok(StopReason::Parked));
        if decided && self.run.as_ref().is_some_and(|r| r.stop.is_none()) {
            // Somebody decided before the harness had wound down: it goes on at once.
            self.run = None;
            self.plan = Some(super::run::Plan::GoOn);
            return self.want_slot(true);
        }
        if parked && how == Ok(StopReason::Parked) {
            self.show_waiting();
            self.run = None;
            self.free_slot();
            return;
        }
        let stop = self.run.as_ref().and_then(|r| r.stop.clone());
        self.close_turn(close(how, stop));
    }

    /// Words of an answer that was never logged as whole (its harness crashed, or was dropped) stay in the
    /// session, as a cut answer.
    fn keep_unfinished(&mut self, turn: TurnId) {
        let answering = self.state.turn.as_ref().is_some_and(|t| t.task == Task::Answer);
        let Some(run) = self.run.as_mut().filter(|r| answering && !r.growing.trim().is_empty()) else {
            return;
        };
        let text = std::mem::take(&mut run.growing);
        let model = self.context.profile.models.first().map(ToString::to_string).unwrap_or_default();
        let (calls, usage) = (Vec::new(), Usage::default());
        self.log(Some(turn), Record::Answered { text, calls, model, kept: None, usage, cut: true });
    }

    /// Ends the stored turn and all its messages, and takes up what is next.
    fn close_turn(&mut self, mut close: Close) {
        let Some(turn) = self.state.turn.clone() else { return };
        if let Some(pending) = &turn.pending {
            self.close_question(pending, "This question is closed: the turn is over.");
            self.record(Change::Asks { turn: turn.id, pending: None });
        }
        let silent = turn.messages.iter().all(|(_, from)| !self.has_answered(*from));
        if close.kind == EndKind::Replied && silent && close.remark.is_none() {
            close.kind = EndKind::Silent;
            close.remark = Some("(The agent ended without a word.)".to_owned());
        }
        self.post_reply(&turn, close.remark.as_deref(), close.fault.as_ref());
        let to = self.log(
            Some(turn.id),
            Record::Ended { how: close.kind, fault: close.fault.clone(), declined: close.declined },
        );
        let prompts = self.prompts(&turn) as u64;
        self.add_usage(Usage { turns: 1, messages: prompts, ..Usage::default() });
        for (message, from) in &turn.messages {
            let mut said = self.reply_words(*from);
            if let Some(remark) = &close.remark {
                add_paragraph(&mut said, remark);
            }
            let files = self.run.as_ref().map(|r| reply::files(&r.pieces, *from)).unwrap_or_default();
            let ending = Ending {
                kind: close.kind,
                said,
                session: Some(turn.session),
                turn: Some(turn.id),
                from: *from,
                to,
                files,
                waiting: None,
                refusal: (close.kind == EndKind::Refused).then_some(Refusal::Suspended),
                fault: close.fault.clone(),
            };
            self.set_ending(message.id, ending);
        }
        self.record(Change::TurnEnded { turn: turn.id, exchange: turn.task == Task::Answer });
        self.run = None;
        self.plan = None;
        self.free_slot();
        self.next();
    }

    /// Messages that are somebody's words, not commands that decided something.
    fn prompts(&self, turn: &sb_model::Turn) -> usize {
        turn.messages.iter().filter(|(m, _)| matches!(crate::commands::read(m), Ok(None))).count()
    }

    /// Whether the agent itself said something; that we were restarted is no answer.
    fn has_answered(&self, from: Seq) -> bool {
        self.run.as_ref().is_some_and(|r| r.answered(from))
    }

    fn reply_words(&self, from: Seq) -> String {
        self.run.as_ref().map(|r: &Run| r.words(from)).unwrap_or_default()
    }

    /// Ends a turn that has no harness at work: parked, or failed before it could go on.
    pub(super) fn close_without_run(
        &mut self,
        kind: EndKind,
        remark: Option<String>,
        fault: Option<TurnFault>,
    ) {
        self.close_turn(Close { kind, remark, fault, declined: false });
    }

    /// Everybody who waits for this turn, or behind it, is told what it waits for.
    pub(super) fn show_waiting(&mut self) {
        let Some(turn) = &self.state.turn else { return };
        let own = turn.messages.iter().map(|(m, from)| (m.id, Some(*from)));
        let held = self.state.waiting.iter().filter(|m| !super::begin::is_command(m)).map(|m| (m.id, None));
        let told: Vec<_> = own.chain(held).collect();
        for (message, from) in told {
            let ending = self.waiting_ending(from);
            self.perform(Effect::Show(Show::Ended(message, ending)));
        }
    }

    /// How a message stands while a request waits: for one of the turn with its words so far.
    pub(super) fn waiting_ending(&self, from: Option<Seq>) -> Ending {
        let turn = self.state.turn.as_ref();
        let pending = turn.and_then(|t| t.pending.as_ref());
        let mut said = from.map(|f| self.reply_words(f)).unwrap_or_default();
        if let Some(pending) = pending {
            if let Some(change) = change_block(&pending.call) {
                add_paragraph(&mut said, &change);
            }
            add_paragraph(&mut said, &waiting_line(pending));
        }
        let last = self.state.session.as_ref().map(|s| s.last).unwrap_or_default();
        Ending {
            kind: EndKind::Waiting,
            said,
            session: self.session_id(),
            turn: turn.map(|t| t.id),
            from: from.unwrap_or(last.next()),
            to: last,
            files: Vec::new(),
            waiting: pending.map(|p: &sb_model::Pending| -> RequestId { p.request }),
            refusal: None,
            fault: None,
        }
    }
}

fn close(how: Result<StopReason, TurnFault>, stop: Option<StopCause>) -> Close {
    let plain = |kind, remark: Option<&str>| Close {
        kind,
        remark: remark.map(str::to_owned),
        fault: None,
        declined: false,
    };
    match (how, stop) {
        // A turn that was told to stop is a stopped one, however its harness put it.
        (_, Some(StopCause::Fault(fault))) => failed(fault),
        (_, Some(StopCause::Asked | StopCause::Interrupted)) => plain(EndKind::Stopped, Some("Stopped.")),
        (Ok(StopReason::Done), None) => plain(EndKind::Replied, None),
        (Ok(StopReason::Stopped), None) => plain(EndKind::Stopped, Some("Stopped.")),
        (Ok(StopReason::Declined), None) => {
            Close { declined: true, ..plain(EndKind::Replied, Some(DECLINED_TO)) }
        }
        (Ok(StopReason::Limit), None) => plain(EndKind::Replied, Some(CUT_SHORT)),
        (Ok(StopReason::Parked), None) => failed(TurnFault::new(
            TurnFaultKind::Internal,
            "The agent waited for a decision nobody was asked for",
        )),
        (Err(fault), None) => failed(fault),
    }
}

fn failed(fault: TurnFault) -> Close {
    Close { kind: EndKind::Failed, remark: Some(failure_card(&fault)), fault: Some(fault), declined: false }
}

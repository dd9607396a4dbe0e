//! House calls: the machine decides, and the store does them in the commit of that decision.
//!
//! So there is nothing to repeat after a crash: a decision that is stored has its result beside it, and one
//! that is not stored has done nothing. What an agent that stands suspended may do is settled here too.

use sb_model::{Call, Change, HarnessInput, MessageId, Record, Refusal, Seq, TurnId, Verdict, house_tool};

use super::{Conversation, Effect};

/// Whether the house does this call itself.
pub(super) fn is_house(call: &Call) -> bool {
    house_tool(&call.tool).is_some()
}

/// A call as the gate must see it: of the tools of the house nobody else says what class of deed they are.
pub(super) fn classed(call: Call) -> Call {
    match house_tool(&call.tool) {
        Some(tool) => Call { class: tool.class, ..call },
        None => call,
    }
}

impl Conversation {
    /// The gate lets it go: done in this commit, and the harness at work is told.
    pub(super) fn do_for_harness(&mut self, turn: TurnId, call: &Call) {
        self.flush(turn);
        let Some((session, seq)) = self.record_house(turn, call) else { return };
        self.perform(Effect::TellDone(call.id.clone(), session, seq));
    }

    /// A person allowed it: done in the commit that holds the decision, unless the gate refuses it by now.
    pub(super) fn do_allowed(&mut self, turn: TurnId, call: &Call) {
        if let Verdict::No(text) = self.permit(call, None) {
            self.hold_refused(&text);
            let call = call.id.clone();
            let refused = Record::Result { call, ok: false, text, files: Vec::new(), outside: false };
            self.log(Some(turn), refused);
            return;
        }
        let done = self.record_house(turn, call);
        if let Some(open) = self.run.as_mut().and_then(|run| run.open.as_mut()) {
            open.done = done;
        }
    }

    fn record_house(&mut self, turn: TurnId, call: &Call) -> Option<(sb_model::SessionId, Seq)> {
        let session = self.state.session.as_ref()?;
        let (session, seq) = (session.id, session.last.next());
        let (at, agent, call) = (self.now, self.context.profile.agent, Box::new(call.clone()));
        self.record(Change::House { session, seq, at, turn, agent, call });
        Some((session, seq))
    }

    /// The call cannot be done, so nobody is asked about it.
    pub(super) fn cannot_be(&mut self, turn: TurnId, call: &Call, why: String) {
        if self.run.as_ref().is_some_and(|r| r.turn == turn && r.stop.is_none()) {
            self.show_tool(call, "calling");
            // What the gate says goes before: it is told also where the call could be done.
            let why = match self.permit(&classed(call.clone()), None) {
                Verdict::No(gate) => gate,
                _ => why,
            };
            self.perform(Effect::Tell(HarnessInput::No(call.id.clone(), why)));
        }
    }

    /// Whether the agent answers nobody; a message that waits for it is told so.
    pub(super) fn refuse_suspended(&mut self, messages: &[MessageId]) -> bool {
        let Some(why) = self.context.suspended.clone() else { return false };
        for message in messages {
            self.refuse(*message, Refusal::Suspended, why.as_ref());
        }
        true
    }
}

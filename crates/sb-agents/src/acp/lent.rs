//! Tools of ours that the agent calls: each is a question before the one gate, in the same row as its own.
//!
//! What the engine performs itself is told by it; the rest is run here, once the gate has let it go. A call that the
//! agent gave up on is not done any more, unless it asks for the same again, which then is the same question.

use sb_harness::model::{Call, CallId, Record, ToolClass};
use sb_harness::{Borrower, HarnessEvent, Outcome};
use tokio::sync::oneshot;

use super::calls::lent_name;
use super::questions::{Question, Wants};
use super::turn::Run;
use crate::exit::Exit;
use crate::lending::{Given, Wanted};

const GIVEN_UP: &str = "The agent no longer waited for this, so it was not done.";
pub(super) const STOPPED: &str = "This was stopped before it was done.";

/// A call that runs, and what came of it.
pub(super) type Ran = (Call, oneshot::Sender<Given>, Outcome);

impl Run {
    /// The agent calls one of our tools.
    pub(super) async fn wants(&mut self, wanted: Wanted) -> Result<(), Exit> {
        let Wanted { tool, input, answer } = wanted;
        if self.stopping.is_some() {
            fails(answer, STOPPED);
            return Ok(());
        }
        let Some(answer) = self.takes_over(&tool, &input, answer) else { return Ok(()) };
        self.lent_calls += 1;
        let id = CallId(format!("house-{}-{}", self.spec.starts, self.lent_calls));
        let class =
            self.lent.iter().find(|def| def.name == tool).map_or(ToolClass::Destructive, |def| def.class);
        let call = Call { id, tool, input, class };
        self.calls.ours(&call);
        if let Err(why) = self.lender.check(&self.lent, &call) {
            self.log_call(&call).await?;
            self.result(call.id, false, why.clone(), false).await?;
            fails(answer, &why);
            return Ok(());
        }
        self.ask_for(Question::lent(call, answer)).await
    }

    /// The same that was asked for before and given up on: it waits for that question's answer.
    fn takes_over(
        &mut self,
        tool: &str,
        input: &serde_json::Value,
        answer: oneshot::Sender<Given>,
    ) -> Option<oneshot::Sender<Given>> {
        for question in self.asked.iter_mut().chain(&mut self.waiting).filter(|q| q.is_for(tool, input)) {
            if let Wants::Lent(former) = &mut question.wants
                && former.is_closed()
            {
                *former = answer;
                return None;
            }
        }
        Some(answer)
    }

    /// Whether the agent's own program calls a tool so that is one of ours: then the gate is asked when the call comes,
    /// and its own question needs no person. A title would not do, for models word those.
    pub(super) fn is_lent(&self, name: Option<&str>) -> bool {
        let tool = name.and_then(lent_name).filter(|_| self.agent.pass.is_some());
        tool.is_some_and(|tool| self.lent.iter().any(|def| def.name == tool))
    }

    /// The gate let a call go that is run here.
    pub(super) async fn runs(&mut self, call: Call, answer: oneshot::Sender<Given>) -> Result<(), Exit> {
        if answer.is_closed() {
            return self.result(call.id, false, GIVEN_UP.to_owned(), false).await;
        }
        self.tool_is(&call.id, "running").await?;
        let with = Borrower {
            profile: self.spec.profile.clone(),
            blobs: self.spec.blobs.clone(),
            memory: self.spec.memory.clone(),
            tainted: self.spec.tainted,
        };
        let lender = self.lender.clone();
        self.running.spawn(async move {
            let outcome = lender.run(&with, &call).await;
            (call, answer, outcome)
        });
        Ok(())
    }

    /// A call came to its end: what it gave stands in the log before the agent is told.
    pub(super) async fn ran(&mut self, (call, answer, outcome): Ran) -> Result<(), Exit> {
        let done = match outcome {
            Ok(done) => done,
            Err(why) => {
                self.result(call.id, false, why.clone(), false).await?;
                fails(answer, &why);
                return Ok(());
            }
        };
        if let Some(file) = done.shared.filter(|file| !self.has_shared(file)) {
            self.log(Record::Shared { file: file.clone() }).await?;
            self.send(HarnessEvent::File(file)).await?;
        }
        let told = match done.outside {
            true => self.lender.set_apart(self.spec.session, &call.id, &done.text),
            false => done.text.clone(),
        };
        self.result(call.id, !done.failed, done.text, done.outside).await?;
        let _ = answer.send(Given { ok: !done.failed, text: told });
        Ok(())
    }

    /// The turn shared the very same file before it was cut off.
    fn has_shared(&self, file: &sb_harness::model::Attachment) -> bool {
        let of_turn = self.spec.log.iter().filter(|e| e.turn == Some(self.spec.turn));
        of_turn.into_iter().any(|e| matches!(&e.record, Record::Shared { file: shared } if shared == file))
    }

    /// The engine performed a call itself, and logged what came of it.
    pub(super) async fn performed(&mut self, record: Record) -> Result<(), Exit> {
        let Some(question) = self.decided() else { return Ok(()) };
        if let Some(known) = self.calls.get_mut(&question.call.id.0) {
            known.settled = true;
        }
        self.tool_is(&question.call.id, "done").await?;
        if let (Wants::Lent(answer), Record::Result { ok, text, .. }) = (question.wants, record)
            && let Err(given) = answer.send(Given { ok, text })
        {
            // It gave up waiting, and must not do the same again.
            self.untold(format!(
                "(About {}, which you no longer waited for: {})",
                question.call.tool, given.text
            ));
        }
        self.next_question().await
    }
}

/// The agent is told that nothing came of it, if it still waits.
pub(super) fn fails(answer: oneshot::Sender<Given>, why: &str) {
    let _ = answer.send(Given { ok: false, text: why.to_owned() });
}

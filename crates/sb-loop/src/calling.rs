//! Asking a model until there is an answer: attempts, waits, the next model, or a failure told.
//!
//! Invariant: once words of an attempt were shown, it is never tried again at the same model; the
//! words are void and the next model is asked, or they stand, marked as cut off, beside the failure.

use std::time::Duration;

use sb_harness::HarnessEvent;
use sb_harness::model::{
    Call, CallId, Fault, ModelRef, Record, StopReason, ToolClass, TurnFault, TurnFaultKind, Usage,
};
use serde_json::{Value, json};

use crate::answer::{Answer, Piece, Stop, WantedCall};
use crate::dialect::scripted::Failure;
use crate::providers;
use crate::tools;
use crate::trouble::{self, Remedy};
use crate::turn::{Exit, Run};

/// What a model is asked for.
pub(crate) enum Purpose {
    /// To go on with the conversation; its words are shown.
    Answer,
    /// To sum up these words; nothing is shown.
    Summary(String),
}

/// An attempt that failed, and what had been shown of it.
struct Failed {
    why: Failure,
    shown: String,
}

impl Run<'_> {
    /// Asks for one answer and logs it; gives how the turn ends if it ends by that.
    pub async fn ask_model(&mut self) -> Result<Option<StopReason>, Exit> {
        self.make_room().await?;
        let (model, answer) = self.call_models(&Purpose::Answer).await?;
        let cut = answer.stop == Stop::Limit;
        let calls = self.calls(answer.calls, cut);
        let end = match answer.stop {
            Stop::Refusal => Some(StopReason::Declined),
            Stop::Limit if calls.is_empty() => Some(StopReason::Limit),
            _ => None,
        };
        let (text, kept, usage) = (answer.text, answer.kept, answer.usage);
        self.send(HarnessEvent::Break).await?;
        self.log(Record::Answered { text, calls, model: model.to_string(), kept, usage, cut }).await?;
        self.paused = answer.stop == Stop::Pause;
        Ok(end)
    }

    /// The calls as they are logged: with ids that are new, and input that is an object. Those of a cut
    /// answer that cannot be read are dropped, being the ones it was cut off in.
    fn calls(&self, wanted: Vec<WantedCall>, cut: bool) -> Vec<Call> {
        let mut known: Vec<String> = self.view.call_ids().into_iter().map(str::to_owned).collect();
        let mut calls = Vec::new();
        for call in wanted {
            let input = match serde_json::from_str(&call.input) {
                Ok(object @ Value::Object(_)) => object,
                _ if cut => continue,
                _ => json!({ tools::UNREADABLE: sb_harness::model::text::clip(&call.input, 200) }),
            };
            let mut id = call.id;
            if id.is_empty() || known.contains(&id) {
                let fresh = (known.len() + 1..).map(|n| format!("call_{n}")).find(|id| !known.contains(id));
                id = fresh.unwrap_or_default();
            }
            known.push(id.clone());
            let class = self.tools.iter().find(|t| t.name == call.tool).map_or(ToolClass::Read, |t| t.class);
            calls.push(Call { id: CallId(id), tool: call.tool, input, class });
        }
        calls
    }

    /// Asks the models in turn until one has answered.
    pub async fn call_models(&mut self, purpose: &Purpose) -> Result<(ModelRef, Answer), Exit> {
        let models = self.models();
        let mut last = TurnFault::new(TurnFaultKind::Refused, "This profile has no model");
        for (at, model) in models.iter().enumerate() {
            let mut tries = 0;
            loop {
                let attempt = self.attempt(model, purpose).await;
                counted(model, &attempt);
                let failed = match attempt? {
                    Ok(answer) => return Ok((model.clone(), answer)),
                    Err(failed) => failed,
                };
                let fault = match failed.why {
                    Failure::Fault(fault) => fault,
                    Failure::Crash => return Err(Exit::Fault(crashed())),
                };
                last = trouble::told(model, &fault);
                tracing::warn!(%model, detail = %fault.detail, tries, "a model failed");
                if !failed.shown.is_empty() {
                    self.give_up(model, failed.shown, at + 1 < models.len()).await?;
                    break;
                }
                match self.treat(&fault, tries, purpose).await? {
                    Remedy::Again { .. } => tries += 1,
                    // Treated by now: the conversation is shorter.
                    Remedy::Shorten => {}
                    Remedy::Next => break,
                    Remedy::Tell => return Err(Exit::Fault(last)),
                }
            }
        }
        Err(Exit::Fault(last))
    }

    /// Words were shown and the rest will not come: they are void if another model answers instead,
    /// else they stand, cut off.
    async fn give_up(&mut self, model: &ModelRef, shown: String, another: bool) -> Result<(), Exit> {
        if another {
            return self.send(HarnessEvent::Void).await;
        }
        self.send(HarnessEvent::Break).await?;
        self.log(cut_off(model, shown, Usage::default())).await
    }

    /// Does what can be done about a fault, and says what it was.
    async fn treat(&mut self, fault: &Fault, tries: u32, purpose: &Purpose) -> Result<Remedy, Exit> {
        // A wait that the turn's deadline would cut off tells nobody what it waited for.
        let patience_ms = u64::from(self.spec.profile.deadline_s) * 250;
        let remedy = trouble::remedy(fault, tries, self.context.dice.roll(), patience_ms);
        match remedy {
            Remedy::Again { wait_ms } => {
                self.unless_stopped(tokio::time::sleep(Duration::from_millis(wait_ms))).await?;
            }
            Remedy::Shorten => {
                let may = matches!(purpose, Purpose::Answer) && !std::mem::replace(&mut self.shortened, true);
                if !may || !Box::pin(self.shorten()).await? {
                    return Ok(Remedy::Tell);
                }
            }
            Remedy::Next | Remedy::Tell => {}
        }
        Ok(remedy)
    }

    /// The chosen model first, then those after it in the profile.
    pub fn models(&self) -> Vec<ModelRef> {
        let all = &self.spec.profile.models;
        let chosen = self.spec.choices.model.as_ref();
        let first = chosen.and_then(|name| all.iter().position(|m| m.to_string() == *name));
        all[first.unwrap_or(0)..].to_vec()
    }

    /// One attempt at one model, its words shown as they come.
    async fn attempt(&mut self, model: &ModelRef, purpose: &Purpose) -> Result<Result<Answer, Failed>, Exit> {
        let mut shown = String::new();
        let mut source = match self.open(model, purpose).await? {
            Ok(source) => source,
            Err(fault) => return Ok(Err(Failed { why: Failure::Fault(fault), shown })),
        };
        let visible = matches!(purpose, Purpose::Answer);
        let why = loop {
            let next = match self.unless_stopped(source.next()).await {
                Ok(next) => next,
                Err(exit) => {
                    let usage = source.usage();
                    drop(source);
                    self.stopped_while_writing(model, shown, usage).await?;
                    return Err(exit);
                }
            };
            match next {
                Some(Ok(Piece::Text(text))) if visible && !text.is_empty() => {
                    shown.push_str(&text);
                    self.send(HarnessEvent::Text(text)).await?;
                }
                Some(Ok(Piece::Thought(thought))) if visible => {
                    self.send(HarnessEvent::Thought(thought)).await?
                }
                Some(Ok(_)) => {}
                Some(Err(why)) => break why,
                None => {
                    let usage = source.usage();
                    match source.finish() {
                        Ok(mut answer) => {
                            answer.usage = self.used(model, answer.usage).await?;
                            return Ok(Ok(answer));
                        }
                        Err(why) => {
                            self.used(model, usage).await?;
                            return Ok(Err(Failed { why, shown }));
                        }
                    }
                }
            }
        };
        self.used(model, source.usage()).await?;
        Ok(Err(Failed { why, shown }))
    }

    async fn stopped_while_writing(
        &mut self,
        model: &ModelRef,
        shown: String,
        usage: Usage,
    ) -> Result<(), Exit> {
        let usage = self.used(model, usage).await?;
        if shown.is_empty() { Ok(()) } else { self.log(cut_off(model, shown, usage)).await }
    }

    /// Tells what an attempt used, with its cost.
    async fn used(&mut self, model: &ModelRef, mut usage: Usage) -> Result<Usage, Exit> {
        if let Some(provider) = providers::provider(&model.provider) {
            usage.cost_micros = provider.family(provider.id_of(model)).cost_micros(&usage);
        }
        self.send(HarnessEvent::Usage(usage)).await?;
        Ok(usage)
    }
}

/// Counts an attempt at a model by its provider, of which there are few.
fn counted(model: &ModelRef, attempt: &Result<Result<Answer, Failed>, Exit>) {
    let outcome = match attempt {
        Ok(Ok(_)) => "answered",
        Ok(Err(_)) => "failed",
        Err(_) => "stopped",
    };
    metrics::counter!("switchboard_model_calls_total", "provider" => model.provider.clone(), "outcome" => outcome)
        .increment(1);
}

fn cut_off(model: &ModelRef, text: String, usage: Usage) -> Record {
    Record::Answered { text, calls: Vec::new(), model: model.to_string(), kept: None, usage, cut: true }
}

fn crashed() -> TurnFault {
    TurnFault::new(
        TurnFaultKind::Crashed,
        "The agent ended without a word. Send the message again, or /retry.",
    )
}

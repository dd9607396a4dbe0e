//! What of a turn stands in the session's log, and in which order.

use sb_harness::HarnessEvent;
use sb_harness::model::{Call, CallId, Principal, Record, ToolClass, Usage};
use serde_json::json;

use super::turn::Run;
use crate::exit::Exit;

impl Run<'_> {
    /// What the turn brought is kept, and where the conversation stands.
    pub async fn settle(&mut self, cut: bool) -> Result<(), Exit> {
        if !self.steps.is_empty() {
            let steps: Vec<String> = self.steps.iter().map(|step| format!("- {step}")).collect();
            self.note(format!("progress:\n{}", steps.join("\n")), false).await?;
        }
        let words = self.reply.words().trim().to_owned();
        if !words.is_empty() {
            self.send_event(HarnessEvent::Break).await?;
            // Told as outside content first, so that what it says is known for that wherever it turns up.
            self.outside("a2a_answer", json!({}), &words).await?;
            self.answered(words, Vec::new(), cut).await?;
        }
        for remark in std::mem::take(&mut self.remarks) {
            self.note(remark, true).await?;
        }
        self.keep_place().await?;
        self.send_event(HarnessEvent::Usage(Usage { calls: 1, ..Usage::default() })).await
    }

    /// Where the conversation stands on the other side, if that is not known already.
    pub async fn keep_place(&mut self) -> Result<(), Exit> {
        if self.kept == self.known {
            return Ok(());
        }
        self.kept = self.known.clone();
        self.log(Record::Opened { id: self.known.written() }).await
    }

    /// A call of the log whose result came from outside.
    pub async fn outside(&mut self, tool: &str, input: serde_json::Value, text: &str) -> Result<(), Exit> {
        let call = CallId(tool.to_owned());
        let made = Call { id: call.clone(), tool: tool.to_owned(), input, class: ToolClass::Outside };
        self.answered(String::new(), vec![made], false).await?;
        let text = text.to_owned();
        self.log(Record::Result { call, ok: true, text, files: Vec::new(), outside: true }).await
    }

    async fn answered(&mut self, text: String, calls: Vec<Call>, cut: bool) -> Result<(), Exit> {
        let (model, usage) = (self.spec.profile.harness.to_string(), Usage::default());
        self.log(Record::Answered { text, calls, model, kept: None, usage, cut }).await
    }

    pub async fn note(&mut self, text: String, told: bool) -> Result<(), Exit> {
        let label = self.peer.as_ref().map_or("a2a", |peer| peer.label.as_str());
        let by = Principal(format!("agent:{label}"));
        self.log(Record::Noted { text, by, told }).await
    }

    pub async fn log(&mut self, record: Record) -> Result<(), Exit> {
        self.send_event(HarnessEvent::Log(record)).await
    }

    pub async fn send_event(&mut self, event: HarnessEvent) -> Result<(), Exit> {
        self.events.send(event).await.map_err(|_| Exit::Unheard)
    }
}

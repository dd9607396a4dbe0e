//! What an agent tells while it works: words, thoughts, calls, its plan, what it used.

use sb_harness::HarnessEvent;
use sb_harness::model::text::one_line;
use sb_harness::model::{CallId, Usage};
use serde_json::Value;

use super::settings::told_mode;
use super::turn::Run;
use crate::exit::Exit;

/// Steps of a plan that are kept.
const MOST_STEPS: usize = 100;

impl Run {
    /// Takes one update in. What is not known is passed over.
    pub(super) async fn update(&mut self, update: &Value) -> Result<(), Exit> {
        match update["sessionUpdate"].as_str().unwrap_or_default() {
            "agent_message_chunk" => self.said(update).await,
            "agent_thought_chunk" => match update["content"]["text"].as_str() {
                Some(text) => self.send(HarnessEvent::Thought(text.to_owned())).await,
                None => Ok(()),
            },
            "tool_call" | "tool_call_update" => self.acts(update).await,
            "plan" => {
                self.plan = Some(steps(&update["entries"]));
                Ok(())
            }
            "usage_update" => self.spent(update).await,
            "current_mode_update" | "config_option_update" => match told_mode(update) {
                Some(mode) => self.mode_is(&mode).await,
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    async fn said(&mut self, update: &Value) -> Result<(), Exit> {
        let of = update["messageId"].as_str();
        if of.is_some() && of != self.of.as_deref() {
            self.log_words(false).await?;
            self.of = of.map(str::to_owned);
        }
        let content = &update["content"];
        match content["type"].as_str() {
            Some("text") => {
                let text = content["text"].as_str().unwrap_or_default();
                if text.is_empty() {
                    return Ok(());
                }
                self.goes_on();
                self.words.push_str(text);
                self.send(HarnessEvent::Text(text.to_owned())).await
            }
            _ => self.gives(content).await,
        }
    }

    async fn acts(&mut self, update: &Value) -> Result<(), Exit> {
        let begins = update["sessionUpdate"] == "tool_call";
        if begins {
            self.goes_on();
        }
        let Some((id, known)) = self.calls.update(update) else { return Ok(()) };
        let ended = matches!(known.status.as_str(), "completed" | "failed") && !known.settled;
        if begins {
            // What it says next is said after this.
            self.log_words(false).await?;
            return match ended {
                true => self.ended(id).await,
                false => self.tool_is(&CallId(id), "calling").await,
            };
        }
        let runs = known.status == "in_progress";
        match (ended, runs) {
            (true, _) => self.ended(id).await,
            (false, true) => self.tool_is(&CallId(id), "running").await,
            (false, false) => Ok(()),
        }
    }

    /// A call came to its end: it and its result stand in the log.
    async fn ended(&mut self, id: String) -> Result<(), Exit> {
        if self.calls.is_told_again(&id) {
            if let Some(known) = self.calls.get_mut(&id) {
                known.settled = true;
            }
            return Ok(());
        }
        let workspace = self.workspace.clone();
        let Some(known) = self.calls.get_mut(&id).map(|known| known.clone()) else { return Ok(()) };
        let call = match known.as_call(&id, &workspace) {
            Ok(call) => call,
            // It did this unasked, so it is told as it is.
            Err(_) => known.unplaced(&id),
        };
        self.log_call(&call).await?;
        let ok = known.status == "completed";
        self.result(CallId(id), ok, known.result(&workspace), known.is_outside()).await
    }

    /// What its session has cost so far, where it says so in dollars.
    async fn spent(&mut self, update: &Value) -> Result<(), Exit> {
        let cost = &update["cost"];
        let Some(amount) = cost["amount"].as_f64().filter(|_| cost["currency"] == "USD") else {
            return Ok(());
        };
        // A figure for people to look at; nothing is paid by it.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
        let total = (amount * 1e6).clamp(0.0, 1e15) as u64;
        let more = total.saturating_sub(self.agent.cost_micros);
        self.agent.cost_micros = total;
        self.send(HarnessEvent::Usage(Usage { cost_micros: more, ..Usage::default() })).await
    }
}

/// A plan as lines.
fn steps(entries: &Value) -> String {
    let all = entries.as_array().into_iter().flatten().take(MOST_STEPS);
    let step = |entry: &Value| {
        let mark = match entry["status"].as_str() {
            Some("completed") => "x",
            Some("in_progress") => "…",
            _ => " ",
        };
        format!("- [{mark}] {}", one_line(entry["content"].as_str().unwrap_or_default(), 200))
    };
    all.map(step).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plan_is_a_list_whose_marks_say_how_far_it_is() {
        let plan = json!([
            {"content": "look", "status": "completed"},
            {"content": "do\nit", "status": "in_progress"},
            {"content": "tell"}
        ]);
        assert_eq!(steps(&plan), "- [x] look\n- […] do it\n- [ ] tell");
    }
}

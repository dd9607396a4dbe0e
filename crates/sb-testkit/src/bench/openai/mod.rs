//! OpenAI's door beside the model itself and beside a bare pass-through: rates, look-up, many streams.
//!
//! The pass-through (axum and reqwest in a process of its own) keeps nothing and looks nothing up: it is what
//! a proxy of this API costs at least. Client and model live in this process, and share the machine with all.

mod lookup;
pub mod pass;
mod rates;
mod streams;

use anyhow::Result;
use serde_json::{Value, json};

use super::Plan;

/// Where talks go, in all three.
const COMPLETIONS: &str = "/v1/chat/completions";

pub(super) async fn measure(plan: &Plan) -> Result<String> {
    let mut page = "## OpenAI's API\n\n".to_owned();
    page += &rates::measure(plan).await?;
    page += &lookup::measure(plan).await?;
    page += &streams::measure(plan).await?;
    Ok(page)
}

/// A talk as an app keeps it.
struct Talk {
    messages: Vec<Value>,
}

impl Talk {
    /// One of so many messages that nobody here has heard; `name` makes it unlike others.
    fn of(name: &str, messages: usize) -> Self {
        let message = |n: usize| {
            let role = if n.is_multiple_of(2) { "user" } else { "assistant" };
            json!({"role": role, "content": format!("{name}: what was said as number {n}, in a few words.")})
        };
        Self { messages: (0..messages).map(message).collect() }
    }

    /// The request for what is said next.
    fn ask(&mut self, model: &str, text: &str, streams: bool) -> String {
        self.messages.push(json!({"role": "user", "content": text}));
        json!({"model": model, "stream": streams, "messages": self.messages}).to_string()
    }

    fn hear(&mut self, answer: &str) {
        self.messages.push(json!({"role": "assistant", "content": answer}));
    }
}

/// The words of a whole answer, or of a streamed one.
fn words(body: &[u8], streams: bool) -> Result<String> {
    if !streams {
        let answer: Value = serde_json::from_slice(body)?;
        return Ok(answer["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned());
    }
    let mut said = String::new();
    for line in std::str::from_utf8(body)?.lines() {
        let Some(data) = line.strip_prefix("data: ").filter(|data| *data != "[DONE]") else { continue };
        let chunk: Value = serde_json::from_str(data)?;
        said.push_str(chunk["choices"][0]["delta"]["content"].as_str().unwrap_or_default());
    }
    Ok(said)
}

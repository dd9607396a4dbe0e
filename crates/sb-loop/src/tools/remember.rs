//! `remember {text}`: notes something for later sessions of the profile.
//!
//! What is noted after content from outside was read may come from there, so it comes back as such content.

use sb_harness::model::Memo;
use serde_json::Value;

use super::{Bench, Done, Outcome, text};

pub(super) async fn run(bench: &Bench, input: &Value) -> Outcome {
    let words = text(input, "text").trim();
    if words.is_empty() {
        return Err("There is nothing to note: the text is empty.".to_owned());
    }
    if words.len() > Memo::LONGEST {
        let (size, most) = (words.len(), Memo::LONGEST);
        return Err(format!(
            "That is too long to note: {size} bytes, and {most} is the most. Note what matters of it."
        ));
    }
    let memo = bench.memory.remember(&bench.profile.name, words, bench.tainted).await?;
    let outside =
        if memo.outside { ", as content from outside, since this session has read some" } else { "" };
    Ok(Done { text: format!("Noted (note {}){outside}.", memo.id), ..Done::default() })
}

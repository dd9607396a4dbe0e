//! `recall {words, most}`: what was noted in any session of the profile, the best fit first.
//!
//! Notes made after content from outside was read are such content: where one is found, all that is found
//! stands between the marks, and the session is tainted by it.

use sb_harness::model::Memo;
use serde_json::Value;

use super::{Bench, Done, Outcome, text};

/// How many notes are given unless told.
const USUAL: u64 = 8;
const MOST: u64 = 30;

pub(super) async fn run(bench: &Bench, input: &Value) -> Outcome {
    let most = input["most"].as_u64().unwrap_or(USUAL).clamp(1, MOST);
    let words = text(input, "words");
    let found = bench.memory.recall(&bench.profile.name, words, usize::try_from(most).unwrap_or(1)).await?;
    if found.is_empty() {
        return Ok(Done { text: "Nothing that was noted fits these words.".to_owned(), ..Done::default() });
    }
    let outside = found.iter().any(|memo| memo.outside);
    let text = found.iter().map(told).collect::<Vec<_>>().join("\n\n");
    Ok(Done { text, outside, ..Done::default() })
}

fn told(memo: &Memo) -> String {
    let at = jiff::Timestamp::from_millisecond(memo.at.0)
        .map_or_else(|_| "some day".to_owned(), |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string());
    let from = if memo.outside { ", from outside" } else { "" };
    format!("[note {}, {at}{from}]\n{}", memo.id, memo.words)
}

//! The loop's tools, lent to agents elsewhere: those that such an agent cannot bring itself.
//!
//! They read and write our records, reach people, or move money. What it can do in its own folder it does with tools
//! of its own.

use async_trait::async_trait;
use sb_harness::model::{Call, CallId, Choices, Profile, SessionId, house_tool};
use sb_harness::{Borrower, Lender, Outcome, ToolDef};

use crate::harness::LoopHarness;
use crate::quarantine::Marks;
use crate::tools::{self, Bench};

/// Tools of the loop that are lent, beside all of the house's.
const LENT: [&str; 3] = ["share_file", "remember", "recall"];

#[async_trait]
impl Lender for LoopHarness {
    fn lends(&self, profile: &Profile, choices: &Choices) -> Vec<ToolDef> {
        let lent = |tool: &ToolDef| LENT.contains(&tool.name.as_str()) || house_tool(&tool.name).is_some();
        tools::offered(profile, choices).into_iter().filter(lent).collect()
    }

    fn check(&self, lent: &[ToolDef], call: &Call) -> Result<(), String> {
        tools::check(lent, call)
    }

    async fn run(&self, with: &Borrower, call: &Call) -> Outcome {
        let with = with.clone();
        let bench = Bench {
            profile: with.profile,
            blobs: with.blobs,
            memory: with.memory,
            dice: self.context.dice.clone(),
            away: self.context.away.clone(),
            http: self.context.http.clone(),
            keys: self.context.keys.clone(),
            own: self.context.own.clone(),
            tainted: with.tainted,
        };
        let done = tools::run(&bench, call).await?;
        Ok(sb_harness::Done { text: tools::cut(done.text), ..done })
    }

    fn set_apart(&self, session: SessionId, call: &CallId, words: &str) -> String {
        Marks::new(self.context.marks.clone(), session).wrap(call, words)
    }
}

//! The tools of the built-in loop, one file each, and the one table that lists them.
//!
//! None runs before the engine said `Go`. Each opens the workspace anew and reaches files only through
//! that opened folder, so no path, link or swap meanwhile leads out of it. A tool that brings content from
//! outside says so in what it gives, and that alone makes it quarantined.

mod image_generate;
mod list_files;
mod page;
mod read_file;
mod recall;
mod remember;
pub(crate) mod schema;
mod share_file;
mod shell;
mod table;
mod video_frames;
mod web_fetch;
mod workspace;
mod write_file;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sb_harness::model::text::clip;
use sb_harness::model::{Call, Choices, Dice, HOUSE_TOOLS, HouseTool, Profile};
use sb_harness::net::{Away, Http};
use sb_harness::{Blobs, Memory};
pub use sb_harness::{Done, Outcome, ToolDef};
use serde_json::Value;

use crate::harness::Keys;
use table::TOOLS;

/// Under which name input that was no JSON object is logged.
pub(crate) const UNREADABLE: &str = "unreadable";
/// The longest result a model is given, whatever tool it is of.
const LONGEST_RESULT: usize = 300 * 1024;
/// Of a schema at most so many characters are told with what does not fit it.
const SCHEMA_TOLD: usize = 4000;

/// What a tool works with.
pub(crate) struct Bench {
    pub profile: Arc<Profile>,
    pub blobs: Arc<dyn Blobs>,
    pub memory: Arc<dyn Memory>,
    pub dice: Arc<dyn Dice>,
    pub away: Away,
    pub http: Http,
    pub keys: Arc<dyn Keys>,
    /// Our own program; see [`LoopContext::own`](crate::LoopContext::own).
    pub own: PathBuf,
    /// The session has read content from outside.
    pub tainted: bool,
}

/// The tools a profile gives its agent: those its set-up has what they need for, the house's with an agent.
pub fn tool_defs(profile: &Profile) -> Vec<ToolDef> {
    let own = TOOLS.iter().filter(|tool| tool.can_work(profile)).map(table::Tool::def);
    let house = HOUSE_TOOLS.iter().filter(|tool| !tool.of_ledger || profile.agent.is_some()).map(house_def);
    own.chain(house).filter(|tool| profile.tools.has(&tool.name)).collect()
}

fn house_def(tool: &HouseTool) -> ToolDef {
    ToolDef {
        name: tool.name.to_owned(),
        class: tool.class,
        description: tool.description.to_owned(),
        schema: tool.schema(),
    }
}

/// The tools offered in one chat.
pub(crate) fn offered(profile: &Profile, choices: &Choices) -> Vec<ToolDef> {
    let chosen = |tool: &ToolDef| choices.tools.as_ref().is_none_or(|names| names.contains(&tool.name));
    tool_defs(profile).into_iter().filter(chosen).collect()
}

/// Whether a call can be run at all, before anyone is asked about it.
pub(crate) fn check(offered: &[ToolDef], call: &Call) -> Result<(), String> {
    let Some(tool) = offered.iter().find(|t| t.name == call.tool) else {
        let names: Vec<_> = offered.iter().map(|t| t.name.as_str()).collect();
        let have = if names.is_empty() {
            "You have none.".to_owned()
        } else {
            format!("You have: {}.", names.join(", "))
        };
        return Err(format!("There is no such tool as {:?}. {have}", clip(&call.tool, 100)));
    };
    let what = match call.input.get(UNREADABLE) {
        Some(_) => "The input is not a JSON object".to_owned(),
        None => match schema::misfits(&tool.schema, &call.input) {
            found if found.is_empty() => return Ok(()),
            found => format!("The input does not fit: {}", found.join("; ")),
        },
    };
    Err(format!("{what}. It must match this schema: {}", clip(&tool.schema.to_string(), SCHEMA_TOLD)))
}

/// Runs a call that was allowed. Dropping the future ends what it started.
pub(crate) async fn run(bench: &Bench, call: &Call) -> Outcome {
    match TOOLS.iter().find(|t| t.name == call.tool) {
        Some(tool) => (tool.run)(bench, &call.input).await,
        None => Err(format!("There is no such tool as {:?}.", call.tool)),
    }
}

/// A result no longer than a model can use; that it was cut is said.
pub(crate) fn cut(mut text: String) -> String {
    let whole = text.len();
    if whole > LONGEST_RESULT {
        let end = text.floor_char_boundary(LONGEST_RESULT);
        text.truncate(end);
        text.push_str(&format!("\n[cut: the first {end} of {whole} bytes]"));
    }
    text
}

impl Bench {
    /// The workspace's folder.
    pub fn workspace(&self) -> &Path {
        Path::new(self.profile.workspace.as_deref().unwrap_or_default())
    }
}

/// A text of the input; checked before, so an empty one stands for one that was left out.
fn text<'a>(input: &'a Value, name: &str) -> &'a str {
    input[name].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests;

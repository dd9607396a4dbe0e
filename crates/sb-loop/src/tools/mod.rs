//! The tools of the built-in loop, one file each, and the one table that lists them.
//!
//! None runs before the engine said `Go`. Each opens the workspace anew and reaches files only through
//! that opened folder, so no path, link or swap meanwhile leads out of it.

mod list_files;
mod read_file;
mod share_file;
mod shell;
mod workspace;
mod write_file;

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use sb_harness::Blobs;
use sb_harness::model::{Attachment, Call, Choices, Dice, HOUSE_TOOLS, HouseTool, Profile, ToolClass};
use serde_json::{Value, json};

/// Under which name input that was no JSON object is logged.
pub(crate) const UNREADABLE: &str = "unreadable";

/// A tool as models are told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDef {
    pub name: String,
    pub class: ToolClass,
    pub description: String,
    /// The JSON schema of its input.
    pub schema: Value,
}

/// What came of a tool.
#[derive(Debug, Default)]
pub struct Done {
    pub text: String,
    /// Pictures the model is to be shown.
    pub files: Vec<Attachment>,
    /// A file for the person.
    pub shared: Option<Attachment>,
    /// The person is given the pictures too, not only the model.
    pub shows_pictures: bool,
    /// The tool ran and says that it failed.
    pub failed: bool,
    /// It brought content from outside, which is never an instruction.
    pub outside: bool,
}

/// What came of a tool, or why nothing did, both in words for the model.
pub type Outcome = Result<Done, String>;

/// What a tool works with.
pub(crate) struct Bench {
    pub workspace: PathBuf,
    pub blobs: Arc<dyn Blobs>,
    pub dice: Arc<dyn Dice>,
}

type Running<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// One row of the table.
struct Tool {
    name: &'static str,
    class: ToolClass,
    description: &'static str,
    /// Its input: strings, all required, each with what it is.
    input: &'static [(&'static str, &'static str)],
    run: for<'a> fn(&'a Bench, &'a Value) -> Running<'a>,
}

const PATH: (&str, &str) = ("path", "A path in the workspace, such as notes/todo.md");

static TOOLS: [Tool; 5] = [
    Tool {
        name: "read_file",
        class: ToolClass::Read,
        description: "Reads a text file of the workspace (its first 256 KB), or looks at a picture.",
        input: &[PATH],
        run: |bench, input| Box::pin(read_file::run(bench, input)),
    },
    Tool {
        name: "write_file",
        class: ToolClass::Write,
        description: "Writes a text file of the workspace, making or replacing it whole, and the folders it needs.",
        input: &[PATH, ("content", "The whole new text")],
        run: |bench, input| Box::pin(write_file::run(bench, input)),
    },
    Tool {
        name: "list_files",
        class: ToolClass::Read,
        description: "Lists what is in a folder of the workspace; . is the workspace itself.",
        input: &[PATH],
        run: |bench, input| Box::pin(list_files::run(bench, input)),
    },
    Tool {
        name: "shell",
        class: ToolClass::Shell,
        description: "Runs a command with sh in the workspace. It may take two minutes; nothing it starts goes on afterwards.",
        input: &[("command", "The command")],
        run: |bench, input| Box::pin(shell::run(bench, input)),
    },
    Tool {
        name: "share_file",
        class: ToolClass::Read,
        description: "Sends a file of the workspace (up to 25 MB) to the person, after the reply.",
        input: &[PATH],
        run: |bench, input| Box::pin(share_file::run(bench, input)),
    },
];

/// The tools a profile gives its agent: those for files only with a workspace, the house's only with an agent.
pub fn tool_defs(profile: &Profile) -> Vec<ToolDef> {
    let own = TOOLS.iter().filter(|_| profile.workspace.is_some()).map(Tool::def);
    let house = HOUSE_TOOLS.iter().filter(|_| profile.agent.is_some()).map(house_def);
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
        return Err(format!("There is no such tool as {:?}. {have}", call.tool));
    };
    let wanted = tool.schema["properties"].as_object().into_iter().flatten();
    // What tools from elsewhere take need not be text, and not all of it must be there.
    let ours = TOOLS.iter().any(|t| t.name == call.tool);
    let lacks = |name: &str| match ours {
        true => !call.input[name].is_string(),
        false => {
            let required = tool.schema["required"].as_array().into_iter().flatten();
            call.input.get(name).is_none() && required.into_iter().any(|r| r == name)
        }
    };
    let missing: Vec<&str> = wanted.map(|(name, _)| name.as_str()).filter(|name| lacks(name)).collect();
    if missing.is_empty() && call.input.get(UNREADABLE).is_none() {
        return Ok(());
    }
    let what = if missing.is_empty() || call.input.get(UNREADABLE).is_some() {
        "The input is not a JSON object".to_owned()
    } else {
        format!("The input lacks {}{}", if ours { "the text " } else { "" }, missing.join(" and "))
    };
    Err(format!("{what}. It must match this schema: {}", tool.schema))
}

/// Runs a call that was allowed. Dropping the future ends what it started.
pub(crate) async fn run(bench: &Bench, call: &Call) -> Outcome {
    match TOOLS.iter().find(|t| t.name == call.tool) {
        Some(tool) => (tool.run)(bench, &call.input).await,
        None => Err(format!("There is no such tool as {:?}.", call.tool)),
    }
}

impl Tool {
    fn def(&self) -> ToolDef {
        let properties = self
            .input
            .iter()
            .map(|(name, what)| ((*name).to_owned(), json!({"type": "string", "description": what})));
        let required: Vec<&str> = self.input.iter().map(|(name, _)| *name).collect();
        let schema = json!({
            "type": "object",
            "properties": Value::Object(properties.collect()),
            "required": required,
            "additionalProperties": false,
        });
        ToolDef {
            name: self.name.to_owned(),
            class: self.class,
            description: self.description.to_owned(),
            schema,
        }
    }
}

impl Bench {
    pub fn of(profile: &Profile, blobs: Arc<dyn Blobs>, dice: Arc<dyn Dice>) -> Self {
        Self { workspace: profile.workspace.clone().unwrap_or_default().into(), blobs, dice }
    }
}

/// A text of the input; checked before, so an empty one stands only for a mistake of ours.
fn text<'a>(input: &'a Value, name: &str) -> &'a str {
    input[name].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests;

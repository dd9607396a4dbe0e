//! House calls: tools that the engine performs itself, in the transaction that allows them.
//!
//! Defined once, as data: the built-in loop lists them to its models, and whoever serves tools to an
//! agent that runs elsewhere lists the same. What class of deed each is stands here and nowhere else, so
//! that no harness can call a payment a reading.

use serde_json::{Value, json};

use crate::ToolClass;

/// A tool of the house.
#[derive(Debug, Clone, Copy)]
pub struct HouseTool {
    pub name: &'static str,
    pub class: ToolClass,
    /// It is about the ledger, so only a profile with an agent has it.
    pub of_ledger: bool,
    pub description: &'static str,
    /// Its input: strings, all required, each with what it is.
    pub input: &'static [(&'static str, &'static str)],
}

/// All of them.
pub static HOUSE_TOOLS: [HouseTool; 3] = [
    HouseTool {
        name: "ledger_balance",
        class: ToolClass::Read,
        of_ledger: true,
        description: "Says what is left of your budget in the ledger, as JSON with budget_remaining_usd as a decimal string.",
        input: &[],
    },
    HouseTool {
        name: "ledger_pay",
        class: ToolClass::Spend,
        of_ledger: true,
        description: "Pays an account of the ledger out of your budget. A payment that was made cannot be taken back.",
        input: &[
            ("to", "Whom to pay: an account's name or its key"),
            ("amount", "US dollars as a decimal string, such as \"2.50\""),
            ("purpose", "What it is for, in a few words"),
        ],
    },
    HouseTool {
        name: "send_message",
        class: ToolClass::Outside,
        of_ledger: false,
        description: "Sends a message into another conversation that you have with people on a messenger. What you answer here needs no tool: it is sent by itself. The answer says which conversations there are, if you name one that is not.",
        input: &[
            ("to", "The conversation's id, such as telegram:helper:chat:4242"),
            ("text", "What to say there, as Markdown"),
        ],
    },
];

/// The tool of the house that is called so, if there is one.
pub fn house_tool(name: &str) -> Option<&'static HouseTool> {
    HOUSE_TOOLS.iter().find(|tool| tool.name == name)
}

impl HouseTool {
    /// The JSON schema of its input.
    pub fn schema(&self) -> Value {
        let property = |(name, what): &(&str, &str)| {
            ((*name).to_owned(), json!({"type": "string", "description": what}))
        };
        let required: Vec<&str> = self.input.iter().map(|(name, _)| *name).collect();
        json!({
            "type": "object",
            "properties": Value::Object(self.input.iter().map(property).collect()),
            "required": required,
            "additionalProperties": false,
        })
    }
}

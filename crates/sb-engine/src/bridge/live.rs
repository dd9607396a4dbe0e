//! A reply while it is written, as its actor tells it and a lane shows it.

use sb_core::model::text::add_paragraph;
use sb_core::model::{Address, MessageId, PostKey};
use tokio::sync::watch;

/// What a lane is handed when a reply begins to be written.
pub(crate) struct GrowingReply {
    /// What it will be posted under.
    pub key: PostKey,
    pub to: Address,
    /// The messages it answers.
    pub messages: Vec<MessageId>,
    /// Ends when the reply's post is recorded, or nobody writes any more.
    pub growth: watch::Receiver<Growth>,
}

/// What is written so far.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    /// Whole answers.
    done: String,
    /// The one being written.
    now: String,
    /// The tool that runs.
    tool: Option<String>,
}

impl Growth {
    pub fn new(so_far: String) -> Self {
        Self { done: so_far, ..Self::default() }
    }

    pub fn write(&mut self, text: &str) {
        self.tool = None;
        self.now.push_str(text);
    }

    /// The answer is whole.
    pub fn end_answer(&mut self) {
        let answer = std::mem::take(&mut self.now);
        add_paragraph(&mut self.done, &answer);
    }

    /// The words since the last whole answer are void.
    pub fn void(&mut self) {
        self.now.clear();
    }

    pub fn tool(&mut self, tool: &str, state: &str) {
        self.tool = (state == "running" || state == "calling").then(|| tool.to_owned());
    }

    pub fn words(&self) -> String {
        let mut words = self.done.clone();
        add_paragraph(&mut words, &self.now);
        words
    }

    pub fn tool_line(&self) -> Option<String> {
        self.tool.as_ref().map(|tool| format!("{tool} …"))
    }
}

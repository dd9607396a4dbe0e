//! The languages providers speak: each a pure request builder and a pure reader of its stream.
//!
//! Neither does I/O, so both are tested on recorded streams; [`source`](crate::source) joins them to
//! the network.

pub(crate) mod anthropic;
pub(crate) mod openai;
pub(crate) mod reading;
pub(crate) mod scripted;
mod stream;
#[cfg(test)]
mod taken;

pub(crate) use stream::{Reader, garbled, stream_fault};

use crate::providers::Family;
use crate::tools::ToolDef;
use crate::transcript::Item;

/// What a model is asked, in no dialect yet.
#[derive(Debug, Clone)]
pub(crate) struct Question<'a> {
    /// The model's id as its provider knows it.
    pub id: &'a str,
    /// The model as our log names it.
    pub model: &'a str,
    pub family: &'a Family,
    /// The operator's instructions, then the chat's.
    pub system: Vec<&'a str>,
    pub tools: &'a [ToolDef],
    pub items: &'a [Item],
}

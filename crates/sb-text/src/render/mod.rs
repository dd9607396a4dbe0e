//! A document in the form a platform takes.
//!
//! Each dialect shows the same words in the same order; what a platform cannot show (a table, a link behind
//! words) is written out. Literal characters never become markup where the dialect can escape them.

mod commonmark;
mod flow;
mod html;
mod places;
mod table;

use crate::{Doc, Unit};

/// The forms platforms take.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dialect {
    /// Words only: bullets, aligned columns, `text (address)`.
    Plain,
    /// Plain text and [`Span`]s beside it (Telegram's entities, Signal's styles).
    Spans,
    /// Markdown again, normalised (Discord, Mattermost): no raw HTML, literal characters escaped.
    CommonMark,
    /// Slack's own: `*bold*`, `_italic_`, `~strike~`, `<address|text>`, with `&`, `<` and `>` escaped.
    Slack,
    /// Marks as WhatsApp has them: `*bold*`, `_italic_`, `~strike~`; links written out.
    Marks,
    /// A safe subset of HTML; everything else escaped.
    Html,
}

/// A text to send.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rendered {
    /// Without white space at its ends.
    pub text: String,
    /// Only for [`Dialect::Spans`]: sorted by where they begin, the outer first; each within another or apart.
    pub spans: Vec<Span>,
}

/// A stretch of the text that is shown in some way; never empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// Where it begins, in the unit asked for.
    pub from: usize,
    /// How long it is, in that unit.
    pub len: usize,
    /// How it is shown. Nothing is within code; quotes are not within quotes.
    pub style: Style,
}

/// How a [`Span`] is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Style {
    /// Bold.
    Bold,
    /// Slanted.
    Italic,
    /// Struck out.
    Strike,
    /// Code within a line.
    Code,
    /// A block of code.
    Pre {
        /// Its language, or nothing.
        language: String,
    },
    /// Leads somewhere.
    Link {
        /// Absolute and harmless.
        url: String,
    },
    /// What somebody else said.
    Quote,
}

/// The document in a dialect; offsets of spans count in `unit`.
pub fn render(doc: &Doc, dialect: Dialect, unit: Unit) -> Rendered {
    match dialect {
        Dialect::Spans => {
            let (text, spans) = flow::write(doc, dialect);
            places::placed(&text, spans, unit)
        }
        _ => Rendered { text: text_of(doc, dialect), spans: Vec::new() },
    }
}

/// The length of what [`render`] gives as text.
pub(crate) fn length(doc: &Doc, dialect: Dialect, unit: Unit) -> usize {
    unit.count(&text_of(doc, dialect))
}

fn text_of(doc: &Doc, dialect: Dialect) -> String {
    let text = match dialect {
        Dialect::CommonMark => commonmark::write(doc),
        Dialect::Html => html::write(doc),
        _ => flow::write(doc, dialect).0,
    };
    match text.trim() {
        trimmed if trimmed.len() == text.len() => text,
        trimmed => trimmed.to_owned(),
    }
}

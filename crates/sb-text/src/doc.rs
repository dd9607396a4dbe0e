//! The tree a Markdown text is read into.
//!
//! It holds what can be shown, not how it was written: soft and hard line breaks are one thing, lists are
//! neither tight nor loose, raw HTML is text, a picture is a link with its description. Nesting is bounded,
//! so that walking the tree may recurse.

/// Markdown as models write it, as a tree. Any text is some `Doc`; reading it never fails.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Doc {
    /// What stands below each other.
    pub blocks: Vec<Block>,
}

/// What stands on lines of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Block {
    /// Never empty.
    Paragraph(Vec<Inline>),
    /// A title: `level` is 1 to 6.
    Heading {
        /// 1 for the largest.
        level: u8,
        /// One line: holds no [`Inline::Break`].
        text: Vec<Inline>,
    },
    /// A block of code, never empty.
    Code {
        /// The first word after the fence, or nothing.
        language: String,
        /// As written, without the last line's end.
        text: String,
    },
    /// What somebody else said.
    Quote(Vec<Block>),
    /// Items below each other.
    List {
        /// The first item's number; `None` for bullets.
        ordered: Option<u64>,
        /// In order.
        items: Vec<Item>,
    },
    /// Rows of cells, each row as long as `columns`.
    Table {
        /// How each column stands.
        columns: Vec<Align>,
        /// The first row.
        head: Vec<Cell>,
        /// The others.
        rows: Vec<Vec<Cell>>,
    },
    /// A line across.
    Rule,
}

/// One item of a list.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Item {
    /// Whether its box is ticked, if it has one.
    pub task: Option<bool>,
    /// What it says.
    pub blocks: Vec<Block>,
}

/// One cell of a table: a line without breaks.
pub type Cell = Vec<Inline>;

/// How a column of a table stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// As the reader is used to.
    Unset,
    /// To the left.
    Left,
    /// In the middle.
    Center,
    /// To the right.
    Right,
}

/// What stands in a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inline {
    /// Literal characters, without line breaks.
    Text(String),
    /// Code, literal too.
    Code(String),
    /// Shown bold.
    Strong(Vec<Inline>),
    /// Shown slanted.
    Emphasis(Vec<Inline>),
    /// Shown struck out.
    Strike(Vec<Inline>),
    /// A link whose address is absolute and harmless; holds no other link.
    Link {
        /// Without white space.
        url: String,
        /// Never empty; the address itself where it was written bare.
        text: Vec<Inline>,
    },
    /// The line ends here.
    Break,
}

/// The characters of inlines without any marks; a break is a space.
pub(crate) fn words(inlines: &[Inline]) -> String {
    words_with(inlines, |_, _| None)
}

/// The same, and behind each link what `after` says of its address and text.
pub(crate) fn words_with(inlines: &[Inline], after: fn(&str, &[Inline]) -> Option<String>) -> String {
    let mut all = String::new();
    for inline in inlines {
        match inline {
            Inline::Text(text) | Inline::Code(text) => all.push_str(text),
            Inline::Strong(inner) | Inline::Emphasis(inner) | Inline::Strike(inner) => {
                all.push_str(&words_with(inner, after));
            }
            Inline::Link { url, text } => {
                all.push_str(&words_with(text, after));
                all.extend(after(url, text));
            }
            Inline::Break => all.push(' '),
        }
    }
    all
}

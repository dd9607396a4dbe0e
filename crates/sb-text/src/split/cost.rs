//! How much a character of Markdown can add to the rendered text, at most.
//!
//! Counting these is an upper bound that grows with the text; it is what lets a cut be found in one reading.
//! What a mark may become (a tag, an escaped character, an aligned column) is charged to its characters.

use crate::render::Dialect;
use crate::unit::Unit;

/// Charges for a dialect, in a unit.
#[derive(Clone, Copy)]
pub(super) struct Charges {
    dialect: Dialect,
    unit: Unit,
}

impl Charges {
    pub fn new(dialect: Dialect, unit: Unit) -> Charges {
        Charges { dialect, unit }
    }

    /// For one character; `first` while only marks and spaces stand before it in its line.
    pub fn of(self, c: char, first: bool) -> usize {
        let plain = self.unit.of(c);
        // A bullet or a rule takes three bytes for one.
        let plain = if first && matches!(c, '-' | '+' | '*' | '_') { plain.max(3) } else { plain };
        match self.dialect {
            Dialect::Plain | Dialect::Spans => plain,
            Dialect::Slack => match c {
                '&' => 5,
                '<' | '>' | ':' | '|' => 4,
                _ => plain,
            },
            Dialect::Marks => match c {
                ':' | '|' => 4,
                _ => plain,
            },
            Dialect::CommonMark => match c {
                '|' => 8,
                ':' | '(' => 4,
                c if c.is_ascii_punctuation() => plain.max(2),
                _ => plain,
            },
            Dialect::Html => match c {
                '`' | '~' => 18,
                '|' | ':' => 24,
                '-' | '+' | '*' | '_' | '.' | ')' if first => 24,
                '>' => 36,
                '*' | '_' | '(' => 16,
                '[' | '#' => 16,
                '@' => 36,
                '&' | '<' | '"' | '\'' | '=' => 8,
                '/' => 8,
                _ => plain,
            },
        }
    }

    /// For what any text is wrapped in.
    pub fn of_text(self) -> usize {
        if self.dialect == Dialect::Html { 24 } else { 0 }
    }

    /// For the marks that will close a block of code.
    pub fn of_fence(self, mark: char) -> usize {
        match self.dialect {
            Dialect::Plain | Dialect::Spans => 0,
            _ => 4 * self.of(mark, false),
        }
    }

    /// For a line's end, where lines may be indented by so much; code is not, but in Markdown.
    pub fn of_line(self, indent: usize, code: bool) -> usize {
        match self.dialect {
            Dialect::CommonMark => 4 + indent,
            _ if code => 2,
            Dialect::Plain | Dialect::Spans => 2 + indent,
            Dialect::Slack | Dialect::Marks => 8 + indent,
            Dialect::Html => 26,
        }
    }

    /// For a character of an address that costs so much as text: a tag names it and shows it.
    pub fn of_address(self, charge: usize) -> usize {
        if self.dialect == Dialect::Html { 2 * charge } else { charge }
    }

    /// For a line indented so far that it may be code.
    pub fn of_indented(self) -> usize {
        match self.dialect {
            Dialect::Plain | Dialect::Spans => 0,
            Dialect::Html => 36,
            _ => 8,
        }
    }

    /// Whether tables become aligned columns, where one long cell widens every row.
    pub fn aligns(self) -> bool {
        !matches!(self.dialect, Dialect::CommonMark | Dialect::Html)
    }
}

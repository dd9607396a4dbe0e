//! Reads Markdown into a [`Doc`], from a parser's events.
//!
//! Raw HTML becomes text. Reference definitions stay text too: where a text is cut, or still grows, the
//! definition may stand in another message than the link. A line of dashes under a paragraph is a rule,
//! which is what models mean by it. Containers nested too deep give their content to the one around them.

mod tree;

use pulldown_cmark::{Alignment, Options, Parser};

use crate::doc::{Align, Doc};
use tree::Tree;

const LONGEST_LANGUAGE: usize = 32;

impl Doc {
    /// Reads `markdown`, whatever it is; in about linear time.
    pub fn parse(markdown: &str) -> Doc {
        let source = without_definitions(markdown);
        let mut tree = Tree::new(&source);
        for (event, range) in Parser::new_ext(&source, options()).into_offset_iter() {
            tree.take(event, range);
        }
        tree.finish()
    }
}

/// The extensions read: those that models write and people know.
pub(crate) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// The text with each reference definition made literal.
fn without_definitions(markdown: &str) -> std::borrow::Cow<'_, str> {
    let mut source = std::borrow::Cow::Borrowed(markdown);
    // Making one literal may let another begin; a few rounds end that but for texts made to annoy.
    for _ in 0..4 {
        if !source.contains("]:") {
            break;
        }
        let parser = Parser::new_ext(&source, options());
        let mut starts: Vec<usize> =
            parser.reference_definitions().iter().map(|(_, defined)| defined.span.start).collect();
        if starts.is_empty() {
            break;
        }
        starts.sort_unstable();
        let mut literal = String::with_capacity(source.len() + starts.len());
        let mut at = 0;
        for start in starts {
            literal.push_str(source.get(at..start).unwrap_or_default());
            literal.push('\\');
            at = start;
        }
        literal.push_str(source.get(at..).unwrap_or_default());
        drop(parser);
        source = std::borrow::Cow::Owned(literal);
    }
    source
}

fn language(info: &str) -> String {
    let word = info.split_whitespace().next().unwrap_or_default().trim_matches(['{', '}', '.']);
    word.chars().filter(|c| !matches!(c, '`' | '~')).take(LONGEST_LANGUAGE).collect()
}

fn align(alignment: Alignment) -> Align {
    match alignment {
        Alignment::None => Align::Unset,
        Alignment::Left => Align::Left,
        Alignment::Center => Align::Center,
        Alignment::Right => Align::Right,
    }
}

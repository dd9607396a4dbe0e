//! Where a text must not be cut, or better not: within marks, links, code in a line, rows, and fences.
//!
//! A mark that is open where the text ends counts as one: it may be closed by what follows.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::window::{Assembled, Window};
use crate::parse::options;

/// What a place is within.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Within {
    Nothing,
    /// Emphasis, or behind a title: better not.
    Mark,
    /// A link, code in a line, a table's row: only if it must be.
    Whole,
}

/// Where marks, code and tables stand in the source.
#[derive(Default)]
pub(super) struct Marks {
    soft: Vec<Range<usize>>,
    whole: Vec<Range<usize>>,
    code: Vec<Range<usize>>,
    /// Lines that open or close code.
    fences: Vec<Range<usize>>,
    /// From here on, a mark may be open that is not closed yet.
    open: Option<usize>,
    /// Likewise, a link or code.
    open_whole: Option<usize>,
}

impl Marks {
    /// Reads them from a part's text, which ends where it overflows.
    pub fn read(all: &Assembled, window: &Window<'_>) -> Marks {
        let mut marks = Marks::default();
        let text = all.text.as_str();
        let mut code = 0;
        // Marks do not reach across paragraphs: only in the last one may some be open.
        let mut leaf = text.rfind("\n\n").unwrap_or(0);
        for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
            let here = all.source(range.start)..all.source(range.end);
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    if matches!(kind, CodeBlockKind::Fenced(_)) {
                        marks.fence(all, text, &range);
                    }
                    marks.code.push(here);
                    code = range.end;
                }
                Event::Start(Tag::Strong | Tag::Emphasis | Tag::Strikethrough | Tag::Heading { .. }) => {
                    marks.soft.push(here)
                }
                Event::Start(Tag::Link { .. } | Tag::Image { .. }) | Event::Code(_) => marks.whole.push(here),
                Event::Start(Tag::Table(_)) => {
                    let mut at = range.start;
                    let lines = text.get(range.clone()).unwrap_or_default().split_inclusive('\n');
                    for (i, line) in lines.enumerate() {
                        // The head, the line below it and the first row stay together.
                        let end = at + line.len() + usize::from(i < 2);
                        marks.whole.push(all.source(at)..all.source(end.min(text.len())));
                        at += line.len();
                    }
                }
                Event::Start(Tag::Paragraph | Tag::Item) => leaf = leaf.max(range.start),
                Event::Text(_) if range.start >= code.max(leaf) => marks.stray(all, text, &range),
                _ => {}
            }
        }
        marks.code.retain(|range| range.end > window.start);
        marks
    }

    fn fence(&mut self, all: &Assembled, text: &str, range: &Range<usize>) {
        let block = text.get(range.clone()).unwrap_or_default();
        let first = block.find('\n').map_or(block.len(), |at| at + 1);
        self.fences.push(all.source(range.start)..all.source(range.start + first));
        let last = block.trim_end().rfind('\n').map_or(0, |at| at + 1);
        let line = block.get(last..).unwrap_or_default();
        if last >= first && line.trim().trim_start_matches(['>', ' ']).chars().all(|c| matches!(c, '`' | '~'))
        {
            self.fences
                .push(all.source(range.start + last)..all.source(range.start + block.trim_end().len()));
        }
    }

    /// Literal characters that would open a mark if only it were closed.
    fn stray(&mut self, all: &Assembled, text: &str, range: &Range<usize>) {
        let Some(words) = text.get(range.clone()) else { return };
        let rest = text.get(range.start..).unwrap_or_default();
        if self.open_whole.is_some() {
            return;
        }
        for (at, c) in words.char_indices() {
            let behind = rest.get(at + c.len_utf8()..).unwrap_or_default();
            let opens = behind.chars().next().is_some_and(|c| !c.is_whitespace());
            let open = match c {
                '[' => match behind.find(']') {
                    None => true,
                    Some(close) => {
                        let target = behind.get(close + 1..).unwrap_or_default();
                        target.is_empty() || (target.starts_with('(') && !target.contains(')'))
                    }
                },
                '`' => !behind.trim_start_matches('`').contains('`'),
                _ => false,
            };
            if open {
                self.open_whole.get_or_insert(all.source(range.start + at));
            } else if matches!(c, '*' | '_' | '~') && opens {
                self.open = Some(all.source(range.start + at).min(self.open.unwrap_or(usize::MAX)));
            }
        }
    }

    /// Whether this is in a block of code.
    pub fn in_code(&self, at: usize) -> bool {
        self.code.iter().any(|range| range.contains(&at) && range.start < at)
    }

    /// Whether a cut may be here, within no more than that.
    pub fn allows(&self, at: usize, within: Within) -> bool {
        !self.forbids(at) && self.within(at) <= within
    }

    /// Whether a cut here would divide a fence, or leave it without code.
    pub fn forbids(&self, at: usize) -> bool {
        self.fences.iter().any(|range| range.start < at && at <= range.end)
    }

    fn within(&self, at: usize) -> Within {
        let inside = |ranges: &[Range<usize>]| ranges.iter().any(|range| range.start < at && at < range.end);
        if inside(&self.whole) || self.open_whole.is_some_and(|open| open < at) {
            Within::Whole
        } else if inside(&self.soft) || self.open.is_some_and(|open| open < at) {
            Within::Mark
        } else {
            Within::Nothing
        }
    }
}

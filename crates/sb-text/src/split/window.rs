//! What is left of a text after a cut, with what was open there: code, a table, a quote, a list.
//!
//! It puts together the text of a part: what has to be opened again, then the source's lines, less the
//! indentation of a list that began in an earlier part.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use crate::parse::options;

/// A repeated head of a table may take so many bytes.
const LONGEST_HEAD: usize = 400;

/// The rest of `source` from `start` on, as the next part sees it.
pub(super) struct Window<'a> {
    pub source: &'a str,
    pub start: usize,
    open: Open,
}

/// What was open at the cut.
#[derive(Clone, Default, Debug)]
struct Open {
    fence: Option<Fence>,
    /// The head of a table and the line below it.
    head: Option<String>,
    /// Marks of the quotes around, for a line that does not repeat them.
    quote: String,
    /// Columns that lists indent the following lines by.
    indent: usize,
    /// Whether the cut is within a line.
    within_line: bool,
}

#[derive(Clone, Debug)]
struct Fence {
    /// Marks of quotes around it.
    quote: String,
    marks: String,
    info: String,
}

/// A part's text, and where its bytes come from.
pub(super) struct Assembled {
    pub text: String,
    /// Beginnings of stretches: byte of the text, byte of the source.
    places: Vec<(usize, usize)>,
}

impl Assembled {
    /// The source's byte that stands at `at`.
    pub fn source(&self, at: usize) -> usize {
        let after = self.places.partition_point(|(text, _)| *text <= at);
        match after.checked_sub(1).and_then(|i| self.places.get(i)) {
            Some((text, source)) => source + (at - text),
            None => self.places.first().map_or(0, |(_, source)| *source),
        }
    }

    fn push(&mut self, source: &str, from: usize, to: usize) {
        self.places.push((self.text.len(), from));
        self.text.push_str(source.get(from..to).unwrap_or_default());
    }
}

impl<'a> Window<'a> {
    pub fn new(source: &'a str) -> Window<'a> {
        Window { source, start: 0, open: Open::default() }
    }

    /// The source's text from here to `end`.
    pub fn body(&self, end: usize) -> &'a str {
        self.source.get(self.start..end).unwrap_or_default()
    }

    /// Whether it begins within a block of code.
    pub fn in_code(&self) -> bool {
        self.open.fence.is_some()
    }

    /// What may be put before the source's text, as a text that shows one character more.
    pub fn opening(&self) -> String {
        let open = &self.open;
        match (&open.fence, &open.head) {
            (Some(Fence { quote, marks, info }), _) => {
                format!("{quote}{marks}{info}\n{quote}x\n{quote}{marks}")
            }
            (None, Some(head)) => format!("{head}x"),
            (None, None) => format!("{}x", open.quote),
        }
    }

    /// The lines of the table that is open, if one is.
    pub fn head(&self) -> Option<&str> {
        self.open.head.as_deref()
    }

    /// The text of a part up to `end`; a block of code that is open there is not closed.
    pub fn assemble(&self, end: usize) -> Assembled {
        let mut all = Assembled { text: String::new(), places: Vec::new() };
        let open = &self.open;
        let mut at = self.start;
        let first = self.body(end).split_inclusive('\n').next().unwrap_or_default();
        if let Some(fence) = &open.fence {
            if fence.is_closed_by(first) {
                at += first.len();
            } else {
                all.text.push_str(&format!("{}{}{}\n", fence.quote, fence.marks, fence.info));
                if open.within_line {
                    all.text.push_str(&fence.quote);
                }
            }
        } else if let Some(head) = open.head.as_ref().filter(|_| first.contains('|')) {
            all.text.push_str(head);
        } else if !open.quote.is_empty() && !first.trim_start().starts_with('>') {
            all.text.push_str(&open.quote);
        }
        if open.within_line && open.fence.is_none() && begins_block(first) {
            all.text.push('\\');
        }
        if open.fence.is_none() && !open.within_line {
            at += blank_lines(self.source.get(at..end).unwrap_or_default());
        }
        self.push_lines(&mut all, at, end);
        all
    }

    fn push_lines(&self, all: &mut Assembled, mut at: usize, end: usize) {
        let mut indent = self.open.indent;
        let mut whole = !self.open.within_line;
        while indent > 0 && at < end {
            let line =
                self.source.get(at..end).unwrap_or_default().split_inclusive('\n').next().unwrap_or_default();
            let spaces = line.len() - line.trim_start_matches([' ', '\t']).len();
            let blank = line.trim().is_empty();
            // Out of the list again: what follows stands where it did.
            if whole && spaces < indent && !blank && self.open.fence.is_none() {
                indent = 0;
            }
            let less = if whole { spaces.min(indent) } else { 0 };
            all.push(self.source, at + less, at + line.len());
            at += line.len();
            whole = true;
        }
        if at < end || all.places.is_empty() {
            all.push(self.source, at, end);
        }
    }

    /// The text of a part that ends at `end`, complete in itself.
    pub fn finished(&self, end: usize) -> String {
        let mut text = self.assemble(end).text;
        match open_at_end(&text).fence {
            Some(fence) => {
                if !text.ends_with('\n') {
                    text.push('\n');
                }
                text.push_str(&fence.quote);
                text.push_str(&fence.marks);
            }
            // Only what Markdown does not see: without it the text reads the same.
            None => text.truncate(text.trim_end_matches([' ', '\t', '\n', '\r']).len()),
        }
        text
    }

    /// The window behind a cut.
    pub fn after(&self, cut: usize) -> Window<'a> {
        let text = self.assemble(cut).text;
        let mut open = open_at_end(&text);
        open.within_line = !text.ends_with('\n');
        if open.within_line {
            open.head = None;
        }
        if open.fence.is_none() && open.indent > 0 {
            // A list's line brings its own indentation; a part begins without it.
            let line = self.source.get(cut..).unwrap_or_default();
            let spaces = line.len() - line.trim_start_matches([' ', '\t']).len();
            open.indent = if open.within_line { open.indent } else { spaces };
        }
        Window { source: self.source, start: cut, open }
    }
}

impl Fence {
    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim().trim_start_matches(['>', ' ']);
        line.len() >= self.marks.len() && line.chars().all(|c| self.marks.starts_with(c))
    }
}

/// The bytes of the blank lines a text begins with.
fn blank_lines(text: &str) -> usize {
    let first = text.len() - text.trim_start().len();
    text.get(..first).and_then(|blank| blank.rfind('\n')).map_or(0, |at| at + 1)
}

/// Whether a piece of a line, at a line's start, would begin a block.
fn begins_block(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    let number =
        word.strip_suffix(['.', ')']).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    let title = !word.is_empty() && word.chars().all(|c| c == '#');
    let line_of = |c: char| !word.is_empty() && word.chars().all(|w| w == c);
    (title || line_of('-') || line_of('=') || line_of('+') || word == "*" || word.starts_with(['>', '|']))
        || word.starts_with("```")
        || word.starts_with("~~~")
        || (number && word.len() == 1)
}

/// What is open at the end of a part's text.
fn open_at_end(text: &str) -> Open {
    let mut open = Open::default();
    // A blank line ends quotes and tables.
    let line = text.strip_suffix('\n').unwrap_or(text);
    let blank = line.rsplit('\n').next().is_some_and(|last| last.trim().is_empty());
    let line_end = if blank { usize::MAX } else { line.len() };
    let words_end = text.trim_end().len();
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        let Event::Start(tag) = event else { continue };
        match tag {
            Tag::BlockQuote(_) if range.end >= line_end => open.quote.push_str("> "),
            Tag::Item if range.end >= words_end => open.indent = 1,
            Tag::CodeBlock(CodeBlockKind::Fenced(_)) if range.end >= words_end => {
                if let Some((fence, indent)) = unclosed(text, range.start) {
                    open.indent = indent;
                    open.fence = Some(fence);
                }
            }
            Tag::Table(_) if range.end >= line_end => open.head = table_head(text, range.start),
            _ => {}
        }
    }
    open
}

/// The fence that begins at `start` and does not end, and how far it is indented.
fn unclosed(text: &str, start: usize) -> Option<(Fence, usize)> {
    let rest = text.get(start..)?;
    let line_start = text.get(..start)?.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let mut lines = rest.lines();
    let first = lines.next()?;
    let mark = first.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = first.trim_start_matches(mark);
    let marks = first.get(..first.len() - info.len())?;
    let before = text.get(line_start..start)?;
    // Marks of items stand for indentation, marks of quotes are repeated.
    let (indent, quote) = match before.find('>') {
        None => (before.chars().count(), String::new()),
        Some(at) => {
            let quote = before.get(at..)?.chars().map(|c| if c == '>' { '>' } else { ' ' }).collect();
            (before.get(..at)?.chars().count(), quote)
        }
    };
    let fence = Fence { quote, marks: marks.to_owned(), info: info.trim_end().to_owned() };
    let closed = lines.any(|line| fence.is_closed_by(line));
    (!closed).then_some((fence, indent))
}

fn table_head(text: &str, start: usize) -> Option<String> {
    let mut lines = text.get(start..)?.split_inclusive('\n');
    let head = format!("{}{}", lines.next()?, lines.next()?);
    (head.ends_with('\n') && head.len() <= LONGEST_HEAD).then_some(head)
}

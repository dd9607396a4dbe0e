//! Finds where a part holds too much: at the first character with which it may not fit.
//!
//! The text is read once, in order, and nothing behind the place found is looked at. So the place stays the
//! same however the text goes on.

use super::Fit;
use super::columns::Columns;
use super::cost::Charges;
use super::window::Window;
use crate::Doc;
use crate::doc::{Block, Inline};
use crate::render::length;

/// How often one part is rendered to make the bound exact.
const MEASURES: usize = 12;

/// The end of the first character that makes the part too long; `None` if the whole rest fits.
pub(super) fn find(window: &Window<'_>, fit: &Fit) -> Option<usize> {
    let end = window.source.len();
    let mut reading = Reading::new(window, fit);
    for (at, c) in window.body(end).char_indices() {
        let at = window.start + at;
        reading.take(at, c);
        if reading.sum > fit.limit && reading.overflows(window, fit) {
            return Some(at + c.len_utf8());
        }
    }
    (!fit.fits(&window.finished(end))).then_some(end)
}

struct Reading {
    charges: Charges,
    /// The bound for what was read, without white space at its end.
    sum: usize,
    /// Whether the last character was a carriage return, which ends a line as well as with a line feed.
    returned: bool,
    /// White space that counts once something follows.
    blank: usize,
    /// Only marks and spaces so far in this line; and how many.
    first: bool,
    prefix: usize,
    /// The deepest a line may be indented.
    indent: usize,
    code: bool,
    /// The line so far is a run of this many fence marks.
    marks: Option<(char, usize)>,
    /// How much of `://` the word ends with; three once it holds an address.
    scheme: usize,
    columns: Columns,
    /// The end of what is seen if the text ends here: white space at an end is, within code.
    seen: usize,
    /// The last character that is no white space: its end, and the bound there.
    last: (usize, usize),
    /// The end of the last whole word, likewise.
    word: (usize, usize),
    /// The end of the last paragraph, likewise.
    paragraph: (usize, usize),
    settled: usize,
    measures: usize,
}

impl Reading {
    fn new(window: &Window<'_>, fit: &Fit) -> Reading {
        let charges = Charges::new(fit.dialect, fit.unit);
        let mut reading = Reading {
            charges,
            sum: charges.of_text(),
            returned: false,
            blank: 0,
            first: true,
            prefix: 0,
            indent: 0,
            code: false,
            marks: None,
            scheme: 0,
            columns: Columns::default(),
            seen: window.start,
            last: (window.start, 0),
            word: (window.start, 0),
            paragraph: (window.start, 0),
            settled: window.start,
            measures: MEASURES,
        };
        let opening = length(&Doc::parse(&window.opening()), fit.dialect, fit.unit);
        reading.sum += opening.saturating_sub(1);
        reading.code = window.in_code();
        for line in window.head().into_iter().flat_map(str::lines) {
            for (i, c) in line.chars().enumerate() {
                reading.columns.take(c, i == 0);
            }
            reading.columns.end_line();
        }
        reading.last.1 = reading.sum;
        reading.word.1 = reading.sum;
        reading.paragraph.1 = reading.sum;
        reading
    }

    fn take(&mut self, at: usize, c: char) {
        let ended = std::mem::replace(&mut self.returned, c == '\r');
        match c {
            '\n' if ended => return,
            '\n' | '\r' => {
                self.end_line();
                if self.code {
                    self.seen = at + c.len_utf8();
                }
                return;
            }
            _ => {}
        }
        if c.is_whitespace() {
            self.end_word();
            self.blank += self.charges.of(c, self.first);
            self.columns.take(c, self.first);
            self.prefix += if self.first { if c == '\t' { 4 } else { 1 } } else { 0 };
            if self.code {
                self.flush();
                self.seen = at + c.len_utf8();
            }
            return;
        }
        self.flush();
        let mark = matches!(c, '>' | '-' | '+' | '*' | '.' | ')' | '_') || c.is_ascii_digit();
        let mut charge = self.charges.of(c, self.first);
        self.scheme = match (self.scheme, c) {
            (1, '/') | (2, '/') => self.scheme + 1,
            (3, _) => 3,
            _ => usize::from(c == ':'),
        };
        if self.scheme == 3 {
            charge = self.charges.of_address(charge);
        }
        if self.charges.aligns() && !self.code {
            charge += self.columns.take(c, self.first);
        }
        if self.first {
            if self.prefix >= 4 && !self.code && self.indent < self.prefix {
                charge += self.charges.of_indented();
            }
            self.fence(c);
            if mark {
                self.prefix += 1;
            } else if !matches!(c, '`' | '~' | '|' | ':' | '=' | '#') {
                self.first = false;
            }
            self.indent = self.indent.max(self.prefix.min(40));
        }
        self.sum += charge;
        self.seen = at + c.len_utf8();
        self.last = (self.seen, self.sum);
    }

    /// A word that may yet turn out to be a mark is none to measure at.
    fn end_word(&mut self) {
        if !self.first && !matches!(self.marks, Some((_, 3..))) {
            self.word = self.last;
        }
        self.scheme = 0;
    }

    /// Looks for a line that opens or closes code.
    fn fence(&mut self, c: char) {
        match &mut self.marks {
            Some((mark, run)) if *mark == c => *run += 1,
            _ if matches!(c, '`' | '~') => self.marks = Some((c, 1)),
            _ => {}
        }
        if let Some((mark, 3)) = self.marks {
            self.sum += self.charges.of_fence(mark);
        }
    }

    fn end_line(&mut self) {
        if matches!(self.marks, Some((_, 3..))) {
            self.code = !self.code;
        }
        let empty = self.first && self.prefix == 0 && self.marks.is_none();
        self.end_word();
        if empty && !self.code {
            self.paragraph = self.last;
            self.columns.end();
            self.indent = 0;
        }
        self.blank += self.charges.of_line(self.indent, self.code);
        if self.charges.aligns() && !self.code {
            self.blank += self.columns.end_line();
        }
        if self.code {
            self.flush();
        }
        self.first = true;
        self.prefix = 0;
        self.marks = None;
    }

    fn flush(&mut self) {
        self.sum += self.blank;
        self.blank = 0;
    }

    /// Whether the part is too long, once the bound is made exact at the last place where that is safe.
    fn overflows(&mut self, window: &Window<'_>, fit: &Fit) -> bool {
        for in_word in [true, false] {
            let (place, sum) = if in_word { self.word } else { self.paragraph };
            if place <= self.settled || self.measures == 0 || self.sum <= fit.limit {
                continue;
            }
            self.measures -= 1;
            let doc = Doc::parse(&window.assemble(place).text);
            if in_word && !is_settled(&doc.blocks) {
                continue;
            }
            self.settled = place;
            let exact = length(&doc, fit.dialect, fit.unit);
            for bound in [&mut self.sum, &mut self.last.1, &mut self.word.1, &mut self.paragraph.1] {
                *bound = (*bound + exact).saturating_sub(sum);
            }
        }
        if self.sum <= fit.limit || self.measures == 0 {
            return self.sum > fit.limit;
        }
        self.measures -= 1;
        !fit.fits(&window.finished(self.seen))
    }
}

/// Whether what follows can only add to the last paragraph: nothing in it could yet turn marks into words.
fn is_settled(blocks: &[Block]) -> bool {
    match blocks.last() {
        None | Some(Block::Heading { .. } | Block::Code { .. } | Block::Table { .. } | Block::Rule) => true,
        Some(Block::Paragraph(text)) => text.iter().all(is_closed),
        Some(Block::Quote(inner)) => is_settled(inner),
        Some(Block::List { items, .. }) => items.last().is_none_or(|item| is_settled(&item.blocks)),
    }
}

fn is_closed(inline: &Inline) -> bool {
    match inline {
        Inline::Text(text) => {
            let tag = |(at, _): (usize, &str)| {
                text.get(at + 1..)
                    .unwrap_or_default()
                    .chars()
                    .next()
                    .is_none_or(|c| c.is_ascii_alphabetic() || "/!?".contains(c))
            };
            !text.contains('`') && !text.match_indices('<').any(tag)
        }
        Inline::Strong(inner) | Inline::Emphasis(inner) | Inline::Strike(inner) => {
            inner.iter().all(is_closed)
        }
        Inline::Link { text, .. } => text.iter().all(is_closed),
        Inline::Code(_) | Inline::Break => true,
    }
}

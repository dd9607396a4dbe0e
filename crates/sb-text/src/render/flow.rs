//! Text that flows line by line: plain, with spans, Slack's and WhatsApp's marks.
//!
//! One walk for all four, because they differ only in how a stretch is marked. Blocks stand a blank line
//! apart, items a line; what is within an item is indented. Code stands at the line's start, byte for byte.

use super::Dialect;
use super::Style;
use super::places::ByteSpan;
use super::table;
use crate::doc::{Block, Doc, Inline, Item, words};
use crate::links;

const BULLETS: [&str; 3] = ["• ", "◦ ", "▪ "];
const RULE: &str = "———";

pub(super) fn write(doc: &Doc, dialect: Dialect) -> (String, Vec<ByteSpan>) {
    let mut flow = Flow {
        dialect,
        text: String::new(),
        spans: Vec::new(),
        prefix: String::new(),
        fresh: true,
        depth: 0,
        quoted: false,
        bold: false,
    };
    flow.blocks(&doc.blocks, true);
    (flow.text, flow.spans)
}

struct Flow {
    dialect: Dialect,
    text: String,
    spans: Vec<ByteSpan>,
    /// What each line begins with: quote marks and indentation.
    prefix: String,
    /// Whether the line's prefix is still to be written.
    fresh: bool,
    /// Lists around this one.
    depth: usize,
    /// Whether a quote's span is open.
    quoted: bool,
    /// Whether the whole line is bold.
    bold: bool,
}

impl Flow {
    fn blocks(&mut self, blocks: &[Block], apart: bool) {
        for (i, block) in blocks.iter().enumerate() {
            if i > 0 {
                self.end_line();
                if apart {
                    self.end_line();
                }
            }
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Paragraph(text) => self.inlines(text),
            Block::Heading { text, .. } => {
                self.bold = true;
                self.marked("*", Style::Bold, false, |flow| flow.inlines(text));
                self.bold = false;
            }
            Block::Code { language, text } => self.code(language, text),
            Block::Quote(blocks) => self.quote(blocks),
            Block::List { ordered, items } => self.list(*ordered, items),
            Block::Table { columns, head, rows } => {
                let table = table::aligned(columns, head, rows);
                if self.dialect == Dialect::Plain {
                    for (i, line) in table.lines().enumerate() {
                        if i > 0 {
                            self.end_line();
                        }
                        self.put(line);
                    }
                } else {
                    self.code("", &table);
                }
            }
            Block::Rule => self.put(RULE),
        }
    }

    fn code(&mut self, language: &str, text: &str) {
        if !self.fresh {
            self.end_line();
        }
        self.fresh = false;
        match self.dialect {
            Dialect::Plain => self.text.push_str(text),
            Dialect::Spans => {
                let from = self.text.len();
                self.text.push_str(text);
                let style = Style::Pre { language: language.to_owned() };
                self.spans.push(ByteSpan { from, to: self.text.len(), style });
            }
            _ => {
                self.text.push_str("```\n");
                self.literal(text);
                self.text.push_str("\n```");
            }
        }
    }

    fn quote(&mut self, blocks: &[Block]) {
        if self.dialect == Dialect::Spans && !self.quoted {
            self.begin();
            let from = self.text.len();
            let index = self.spans.len();
            self.spans.push(ByteSpan { from, to: from, style: Style::Quote });
            self.quoted = true;
            self.blocks(blocks, true);
            self.quoted = false;
            let to = self.text.len();
            if let Some(span) = self.spans.get_mut(index) {
                span.to = to;
            }
        } else {
            self.within("> ", |flow| flow.blocks(blocks, true));
        }
    }

    fn list(&mut self, ordered: Option<u64>, items: &[Item]) {
        let bullet = BULLETS.get(self.depth % BULLETS.len()).copied().unwrap_or("• ");
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.end_line();
            }
            let marker = match (item.task, ordered) {
                (Some(true), _) => "☑ ".to_owned(),
                (Some(false), _) => "☐ ".to_owned(),
                (None, Some(first)) => format!("{}. ", first.saturating_add(i as u64)),
                (None, None) => bullet.to_owned(),
            };
            self.put(&marker);
            let indent = " ".repeat(marker.chars().count());
            self.depth += 1;
            self.within(&indent, |flow| flow.blocks(&item.blocks, false));
            self.depth -= 1;
        }
    }

    /// Lines begun within have this before them too.
    fn within(&mut self, prefix: &str, write: impl FnOnce(&mut Flow)) {
        if prefix.starts_with('>') {
            self.put(prefix);
        }
        let before = self.prefix.len();
        self.prefix.push_str(prefix);
        write(self);
        self.prefix.truncate(before);
    }

    fn inlines(&mut self, inlines: &[Inline]) {
        for (i, inline) in inlines.iter().enumerate() {
            // Slack and WhatsApp see a mark only where a word ends.
            let glued = matches!(inlines.get(i + 1), Some(Inline::Text(next)) if next.starts_with(char::is_alphanumeric));
            match inline {
                Inline::Text(text) => self.words(text),
                Inline::Code(code) => self.inline_code(code, glued),
                Inline::Strong(inner) if self.bold => self.inlines(inner),
                Inline::Strong(inner) => {
                    self.bold = true;
                    self.marked("*", Style::Bold, glued, |flow| flow.inlines(inner));
                    self.bold = false;
                }
                Inline::Emphasis(inner) => self.marked("_", Style::Italic, glued, |flow| flow.inlines(inner)),
                Inline::Strike(inner) => self.marked("~", Style::Strike, glued, |flow| flow.inlines(inner)),
                Inline::Link { url, text } => self.link(url, text),
                Inline::Break => self.end_line(),
            }
        }
    }

    /// A stretch in a style. Where marks are characters, they are closed and opened again at each line's end.
    fn marked(&mut self, mark: &str, style: Style, glued: bool, write: impl FnOnce(&mut Flow)) {
        self.begin();
        let from = self.text.len();
        match self.dialect {
            Dialect::Spans => {
                let index = self.spans.len();
                self.spans.push(ByteSpan { from, to: from, style });
                write(self);
                let to = self.text.len();
                if let Some(span) = self.spans.get_mut(index) {
                    span.to = to;
                }
            }
            Dialect::Slack | Dialect::Marks => {
                let glued = glued || self.text.ends_with(char::is_alphanumeric);
                write(self);
                let inner = self.text.split_off(from);
                if glued || inner.trim() != inner {
                    self.text.push_str(&inner);
                } else {
                    self.mark_lines(mark, &inner);
                }
            }
            _ => write(self),
        }
    }

    fn mark_lines(&mut self, mark: &str, lines: &str) {
        for (i, line) in lines.split('\n').enumerate() {
            let (mut before, mut line) = ("", line);
            if i > 0 {
                self.text.push('\n');
                (before, line) = line.split_at_checked(self.prefix.len()).unwrap_or(("", line));
            }
            self.text.push_str(before);
            if line.trim().is_empty() {
                self.text.push_str(line);
            } else {
                self.text.push_str(mark);
                self.text.push_str(line);
                self.text.push_str(mark);
            }
        }
    }

    fn inline_code(&mut self, code: &str, glued: bool) {
        self.begin();
        let from = self.text.len();
        match self.dialect {
            Dialect::Spans => {
                self.text.push_str(code);
                self.spans.push(ByteSpan { from, to: self.text.len(), style: Style::Code });
            }
            Dialect::Slack | Dialect::Marks
                if !glued && !code.contains('`') && !self.text.ends_with(char::is_alphanumeric) =>
            {
                self.text.push('`');
                self.literal(code);
                self.text.push('`');
            }
            _ => self.literal(code),
        }
    }

    fn link(&mut self, url: &str, text: &[Inline]) {
        let bare = links::is_bare(url, text);
        self.begin();
        match self.dialect {
            Dialect::Spans if bare => self.inlines(text),
            Dialect::Spans => {
                self.marked("", Style::Link { url: url.to_owned() }, false, |f| f.inlines(text))
            }
            Dialect::Slack => {
                self.text.push('<');
                self.literal(url);
                if !bare {
                    self.text.push('|');
                    self.literal(&words(text).replace('|', "¦"));
                }
                self.text.push('>');
            }
            _ => {
                self.inlines(text);
                if !bare {
                    self.text.push_str(" (");
                    self.literal(url);
                    self.text.push(')');
                }
            }
        }
    }

    fn words(&mut self, text: &str) {
        self.begin();
        self.literal(text);
    }

    fn put(&mut self, text: &str) {
        self.begin();
        self.text.push_str(text);
    }

    /// Characters that stand for themselves.
    fn literal(&mut self, text: &str) {
        if self.dialect != Dialect::Slack || !text.contains(['&', '<', '>']) {
            self.text.push_str(text);
            return;
        }
        for c in text.chars() {
            match c {
                '&' => self.text.push_str("&amp;"),
                '<' => self.text.push_str("&lt;"),
                '>' => self.text.push_str("&gt;"),
                c => self.text.push(c),
            }
        }
    }

    fn begin(&mut self) {
        if self.fresh {
            self.text.push_str(&self.prefix);
            self.fresh = false;
        }
    }

    fn end_line(&mut self) {
        if self.fresh {
            self.text.push_str(self.prefix.trim_end());
        }
        self.text.push('\n');
        self.fresh = true;
    }
}

//! Text that flows line by line: plain, with spans, Slack's and WhatsApp's marks.
//!
//! One walk for all four, because they differ only in how a stretch is marked. Blocks stand a blank line
//! apart, items a line; what is within an item is indented. Code stands at the line's start, byte for byte.

mod inlines;

use super::places::ByteSpan;
use super::{Dialect, Style, table};
use crate::doc::{Block, Doc, Item};

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

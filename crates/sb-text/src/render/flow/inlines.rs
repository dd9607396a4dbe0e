//! What stands in a line: words, marks around them, code, links.

use super::Flow;
use crate::doc::{Inline, words};
use crate::links;
use crate::render::places::ByteSpan;
use crate::render::{Dialect, Style};

impl Flow {
    pub(super) fn inlines(&mut self, inlines: &[Inline]) {
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
    pub(super) fn marked(&mut self, mark: &str, style: Style, glued: bool, write: impl FnOnce(&mut Flow)) {
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

    pub(super) fn put(&mut self, text: &str) {
        self.begin();
        self.text.push_str(text);
    }
}

//! Builds the tree from a parser's events, in one pass.
//!
//! It keeps two stacks, of containers and of marks; what is nested too deep, or stands in itself, gives its
//! content to what is around it.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Tag, TagEnd};

use super::{align, language};
use crate::doc::{Align, Block, Cell, Doc, Inline, Item};
use crate::{links, tidy};

const DEEPEST: usize = 24;

/// A container that is open.
struct Open {
    kind: Kind,
    blocks: Vec<Block>,
    items: Vec<Item>,
    task: Option<bool>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Root,
    Quote,
    List(Option<u64>),
    Item,
}

/// A mark that is open around inlines; each stands at most once in the others.
#[derive(PartialEq)]
enum Mark {
    Strong,
    Emphasis,
    Strike,
    Link(String),
    /// An address that may not be one: shown behind its text.
    NoLink(String),
}

/// What became of a mark that began.
#[derive(Clone, Copy)]
enum Begun {
    Kept,
    /// Its content belongs to what is around it.
    Dropped,
    /// Single tildes: not a mark, but characters.
    Tildes,
}

pub(super) struct Tree<'a> {
    source: &'a str,
    open: Vec<Open>,
    /// For each container begun, whether it is among `open`.
    kept: Vec<bool>,
    line: Vec<Inline>,
    marks: Vec<(Mark, Vec<Inline>)>,
    begun: Vec<Begun>,
    code: Option<(String, String)>,
    table: (Vec<Align>, Vec<Vec<Cell>>),
}

impl<'a> Tree<'a> {
    pub fn new(source: &'a str) -> Tree<'a> {
        let mut tree = Tree {
            source,
            open: Vec::new(),
            kept: Vec::new(),
            line: Vec::new(),
            marks: Vec::new(),
            begun: Vec::new(),
            code: None,
            table: (Vec::new(), Vec::new()),
        };
        tree.push_open(Kind::Root);
        tree
    }

    pub fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag, range),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(code) => self.inline(Inline::Code(code.into_string())),
            Event::SoftBreak | Event::HardBreak => self.inline(Inline::Break),
            Event::Rule => {
                self.flush();
                self.block(Block::Rule);
            }
            Event::TaskListMarker(done) => {
                if let Some(open) = self.open.last_mut().filter(|open| open.kind == Kind::Item) {
                    open.task = Some(done);
                }
            }
            Event::FootnoteReference(name) => self.text(&format!("[^{name}]")),
            Event::InlineMath(math) | Event::DisplayMath(math) => self.text(&math),
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::BlockQuote(_) => self.container(Kind::Quote),
            Tag::List(first) => self.container(Kind::List(first)),
            Tag::Item => {
                self.flush();
                let fits = matches!(self.open.last().map(|open| open.kind), Some(Kind::List(_)));
                self.kept.push(fits);
                if fits {
                    self.push_open(Kind::Item);
                }
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                let info = match &kind {
                    CodeBlockKind::Fenced(info) => info.as_ref(),
                    CodeBlockKind::Indented => "",
                };
                self.code = Some((language(info), String::new()));
            }
            Tag::Table(columns) => {
                self.flush();
                self.table = (columns.into_iter().map(align).collect(), Vec::new());
            }
            Tag::TableHead | Tag::TableRow => self.table.1.push(Vec::new()),
            Tag::Emphasis => self.mark(Mark::Emphasis),
            Tag::Strong => self.mark(Mark::Strong),
            Tag::Strikethrough => {
                let double = self.source.get(range).is_some_and(|written| written.starts_with("~~"));
                if double {
                    self.mark(Mark::Strike);
                } else {
                    self.begun.push(Begun::Tildes);
                    self.text("~");
                }
            }
            Tag::Link { link_type: LinkType::Email, dest_url, .. } => {
                self.link(&format!("mailto:{dest_url}"))
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.link(&dest_url),
            _ => self.flush(),
        }
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item => {
                self.flush();
                if self.kept.pop() == Some(true) {
                    self.close();
                }
            }
            TagEnd::Heading(level) => self.heading(level, range),
            TagEnd::CodeBlock => {
                if let Some((language, mut text)) = self.code.take() {
                    if text.ends_with('\n') {
                        text.pop();
                    }
                    if !text.is_empty() {
                        self.block(Block::Code { language, text });
                    }
                }
            }
            TagEnd::TableCell => {
                let cell = tidy::line(std::mem::take(&mut self.line));
                if let Some(row) = self.table.1.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                let (columns, mut rows) = std::mem::take(&mut self.table);
                if !rows.is_empty() {
                    let head = rows.remove(0);
                    self.block(Block::Table { columns, head, rows });
                }
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                let columns = self.table.0.len();
                if let Some(row) = self.table.1.last_mut() {
                    row.resize(columns, Cell::new());
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image => {
                self.unmark();
            }
            _ => self.flush(),
        }
    }

    fn heading(&mut self, level: HeadingLevel, range: Range<usize>) {
        let text = std::mem::take(&mut self.line);
        let underlined = self.source.get(range).is_some_and(|written| written.trim_end().contains('\n'));
        let lines = text.iter().filter(|inline| matches!(inline, Inline::Break)).count();
        if underlined && (level == HeadingLevel::H2 || lines > 0) {
            self.line = text;
            self.flush();
            self.block(Block::Rule);
            return;
        }
        let text = tidy::line(text);
        if !text.is_empty() {
            self.block(Block::Heading { level: level as u8, text });
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((_, code)) = &mut self.code {
            code.push_str(text);
            return;
        }
        for (i, line) in text.split('\n').enumerate() {
            if i > 0 {
                self.inline(Inline::Break);
            }
            self.inline(Inline::Text(line.trim_end_matches('\r').to_owned()));
        }
    }

    fn inline(&mut self, inline: Inline) {
        match self.marks.last_mut() {
            Some((_, inner)) => inner.push(inline),
            None => self.line.push(inline),
        }
    }

    fn mark(&mut self, mark: Mark) {
        if self.marks.iter().any(|(open, _)| *open == mark) {
            self.begun.push(Begun::Dropped);
        } else {
            self.begun.push(Begun::Kept);
            self.marks.push((mark, Vec::new()));
        }
    }

    fn link(&mut self, url: &str) {
        let within = self.marks.iter().any(|(mark, _)| matches!(mark, Mark::Link(_) | Mark::NoLink(_)));
        match links::safe(url) {
            _ if within => self.begun.push(Begun::Dropped),
            Some(url) => self.mark(Mark::Link(url)),
            None => self.mark(Mark::NoLink(url.trim().to_owned())),
        }
    }

    fn unmark(&mut self) {
        match self.begun.pop() {
            Some(Begun::Tildes) => return self.text("~"),
            Some(Begun::Kept) => {}
            Some(Begun::Dropped) | None => return,
        }
        let Some((mark, inner)) = self.marks.pop() else { return };
        match mark {
            Mark::Strong => self.inline(Inline::Strong(inner)),
            Mark::Emphasis => self.inline(Inline::Emphasis(inner)),
            Mark::Strike => self.inline(Inline::Strike(inner)),
            Mark::Link(url) => self.inline(Inline::Link { url, text: inner }),
            Mark::NoLink(url) => {
                let shown = links::is_bare(&url, &inner);
                inner.into_iter().for_each(|inline| self.inline(inline));
                if !url.is_empty() && !shown {
                    self.text(&format!(" ({url})"));
                }
            }
        }
    }

    fn container(&mut self, kind: Kind) {
        self.flush();
        let fits = self.open.len() <= DEEPEST;
        self.kept.push(fits);
        if fits {
            self.push_open(kind);
        }
    }

    fn push_open(&mut self, kind: Kind) {
        self.open.push(Open { kind, blocks: Vec::new(), items: Vec::new(), task: None });
    }

    fn close(&mut self) {
        let Some(done) = self.open.pop() else { return };
        match done.kind {
            Kind::Root => self.open.push(done),
            Kind::Quote if done.blocks.is_empty() => {}
            Kind::Quote => self.block(Block::Quote(done.blocks)),
            Kind::List(_) if done.items.is_empty() => {}
            Kind::List(ordered) => self.block(Block::List { ordered, items: done.items }),
            Kind::Item => {
                // A box with no words behind it is no task, but characters.
                let worded = matches!(done.blocks.first(), Some(Block::Paragraph(_)));
                let (task, mut blocks) = (done.task.filter(|_| worded), done.blocks);
                if let (Some(ticked), false) = (done.task, worded) {
                    let marks = if ticked { "[x]" } else { "[ ]" };
                    blocks.insert(0, Block::Paragraph(vec![Inline::Text(marks.to_owned())]));
                }
                if let Some(list) = self.open.last_mut() {
                    list.items.push(Item { task, blocks });
                }
            }
        }
    }

    /// Ends the paragraph that gathered, if any.
    fn flush(&mut self) {
        if self.line.is_empty() {
            return;
        }
        let inlines = tidy::paragraph(std::mem::take(&mut self.line));
        if !inlines.is_empty() {
            self.block(Block::Paragraph(inlines));
        }
    }

    fn block(&mut self, block: Block) {
        if let Some(open) = self.open.last_mut() {
            open.blocks.push(block);
        }
    }

    pub fn finish(mut self) -> Doc {
        self.flush();
        while self.open.len() > 1 {
            self.close();
        }
        Doc { blocks: self.open.pop().map(|root| root.blocks).unwrap_or_default() }
    }
}

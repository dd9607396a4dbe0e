//! A document as Markdown again: one way to write each thing, no raw HTML, literal characters escaped.
//!
//! Reading what was written gives the document again.

mod escape;
mod inlines;

use crate::doc::{Align, Block, Cell, Doc, Inline, Item};
use escape::Around;
use inlines::line;

const LARGEST_NUMBER: u64 = 999_999_999;

pub(super) fn write(doc: &Doc) -> String {
    blocks(&doc.blocks, false)
}

fn blocks(all: &[Block], in_item: bool) -> String {
    let mut text = String::new();
    let mut before: Option<&Block> = None;
    // Two lists after each other are two only if their marks differ.
    let mut other_mark = false;
    for block in all {
        match (before, block) {
            (Some(Block::List { ordered: a, .. }), Block::List { ordered: b, .. })
                if a.is_some() == b.is_some() =>
            {
                other_mark = !other_mark;
            }
            _ => other_mark = false,
        }
        if let Some(before) = before {
            text.push_str(if in_item && may_follow(before, block) { "\n" } else { "\n\n" });
        }
        match block {
            Block::Paragraph(inner) => text.push_str(&line(inner, Around::default())),
            Block::Heading { level, text: inner } => heading(&mut text, *level, inner),
            Block::Code { language, text: code } => fenced(&mut text, language, code),
            Block::Quote(inner) => prefixed(&mut text, &blocks(inner, false), "> ", "> "),
            Block::List { ordered, items } => list(&mut text, *ordered, items, other_mark),
            Block::Table { columns, head, rows } => table(&mut text, columns, head, rows),
            Block::Rule => text.push_str(if in_item { "___" } else { "---" }),
        }
        before = Some(block);
    }
    text
}

/// Whether a list may stand right below a paragraph.
fn may_follow(before: &Block, block: &Block) -> bool {
    match (before, block) {
        (Block::Paragraph(_), Block::List { ordered, items }) => {
            ordered.is_none_or(|first| first == 1)
                && items.first().is_some_and(|item| matches!(item.blocks.first(), Some(Block::Paragraph(_))))
        }
        _ => false,
    }
}

fn heading(text: &mut String, level: u8, inner: &[Inline]) {
    text.extend(std::iter::repeat_n('#', usize::from(level.clamp(1, 6))));
    text.push(' ');
    let mut title = line(inner, Around::default());
    if title.ends_with('#') && !title.ends_with("\\#") {
        title.insert(title.len() - 1, '\\');
    }
    text.push_str(&title);
}

fn fenced(text: &mut String, language: &str, code: &str) {
    let fence = "`".repeat(longest_run(code).max(2) + 1);
    text.push_str(&format!("{fence}{language}\n{code}\n{fence}"));
}

fn longest_run(code: &str) -> usize {
    code.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Appends `inner`, its first line behind `first`, the others behind `rest`.
fn prefixed(text: &mut String, inner: &str, first: &str, rest: &str) {
    for (i, line) in inner.split('\n').enumerate() {
        if i > 0 {
            text.push('\n');
        }
        let prefix = if i == 0 { first } else { rest };
        text.push_str(if line.is_empty() { prefix.trim_end() } else { prefix });
        text.push_str(line);
    }
}

fn list(text: &mut String, ordered: Option<u64>, items: &[Item], other_mark: bool) {
    // Dashes behind each other, with nothing behind the last, would be a rule.
    let hollow = items.first().is_some_and(|item| item.blocks.is_empty());
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            text.push('\n');
        }
        let mut marker = match (ordered, other_mark) {
            (None, false) => if hollow { "+ " } else { "- " }.to_owned(),
            (None, true) => "* ".to_owned(),
            (Some(first), _) => {
                let number = first.saturating_add(i as u64).min(LARGEST_NUMBER);
                format!("{number}{} ", if other_mark { ')' } else { '.' })
            }
        };
        let indent = " ".repeat(marker.len());
        match item.task {
            Some(true) => marker.push_str("[x] "),
            Some(false) => marker.push_str("[ ] "),
            None => {}
        }
        prefixed(text, &blocks(&item.blocks, true), &marker, &indent);
    }
}

fn table(text: &mut String, columns: &[Align], head: &[Cell], rows: &[Vec<Cell>]) {
    row(text, head);
    text.push_str("\n|");
    for align in columns {
        text.push_str(match align {
            Align::Unset => " --- |",
            Align::Left => " :-- |",
            Align::Center => " :-: |",
            Align::Right => " --: |",
        });
    }
    for cells in rows {
        text.push('\n');
        row(text, cells);
    }
}

fn row(text: &mut String, cells: &[Cell]) {
    text.push('|');
    for cell in cells {
        text.push(' ');
        text.push_str(&line(cell, Around { cell: true, ..Around::default() }));
        text.push_str(" |");
    }
}

//! A document as Markdown again: one way to write each thing, no raw HTML, literal characters escaped.
//!
//! Reading what was written gives the document again.

use super::escape::{Around, push_literal};
use crate::doc::{Align, Block, Cell, Doc, Inline, Item};
use crate::links;

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

/// A line's marks are left out where Markdown would not read them as such.
fn line(all: &[Inline], around: Around) -> String {
    let mut out = String::new();
    push(&mut out, all, None, around);
    if !are_sure(all) && !reads_as(&out, all) {
        out.clear();
        push(&mut out, &unmarked(all), None, around);
    }
    out
}

/// Whether all marks stand around whole words, where they are read in any case.
fn are_sure(all: &[Inline]) -> bool {
    all.iter().enumerate().all(|(i, inline)| {
        let (Inline::Strong(inner) | Inline::Emphasis(inner) | Inline::Strike(inner)) = inline else {
            return true;
        };
        let before = match i.checked_sub(1).and_then(|i| all.get(i)) {
            Some(Inline::Text(text)) => text.ends_with([' ', '(']),
            before => matches!(before, None | Some(Inline::Break)),
        };
        let after = match all.get(i + 1) {
            Some(Inline::Text(text)) => text.starts_with([' ', '.', ',', ':', ';', '!', '?', ')']),
            after => matches!(after, None | Some(Inline::Break)),
        };
        let starts =
            matches!(inner.first(), Some(Inline::Text(text)) if text.starts_with(char::is_alphanumeric));
        let ends = matches!(inner.last(), Some(Inline::Text(text)) if text.ends_with(char::is_alphanumeric));
        let flat =
            inner.iter().all(|inline| matches!(inline, Inline::Text(_) | Inline::Code(_) | Inline::Break));
        before && after && starts && ends && flat
    })
}

fn reads_as(written: &str, all: &[Inline]) -> bool {
    match Doc::parse(written).blocks.as_slice() {
        [Block::Paragraph(text)] => text == all,
        _ => false,
    }
}

fn unmarked(all: &[Inline]) -> Vec<Inline> {
    let mut flat = Vec::new();
    for inline in all {
        match inline {
            Inline::Strong(inner) | Inline::Emphasis(inner) | Inline::Strike(inner) => {
                flat.extend(unmarked(inner))
            }
            other => flat.push(other.clone()),
        }
    }
    // Neighbours are one text again, so that what was apart is escaped as it stands.
    let mut joined: Vec<Inline> = Vec::new();
    for inline in flat {
        match (joined.last_mut(), inline) {
            (Some(Inline::Text(before)), Inline::Text(text)) => before.push_str(&text),
            (_, inline) => joined.push(inline),
        }
    }
    joined
}

fn push(out: &mut String, all: &[Inline], after: Option<char>, around: Around) {
    for (i, inline) in all.iter().enumerate() {
        let rest = all.get(i + 1..).unwrap_or_default();
        let next = rest.first().map_or(after, begins_with);
        match inline {
            Inline::Text(text) => push_literal(out, text, next, around),
            Inline::Code(code) => push_code(out, code, around),
            Inline::Strong(inner) => marked(out, "**", inner, around),
            Inline::Emphasis(inner) => marked(out, "*", inner, around),
            Inline::Strike(inner) => marked(out, "~~", inner, around),
            Inline::Link { url, text } => link(out, url, text, rest.first(), around),
            Inline::Break => out.push('\n'),
        }
    }
}

fn begins_with(inline: &Inline) -> Option<char> {
    match inline {
        Inline::Text(text) => text.chars().next(),
        Inline::Code(_) => Some('`'),
        Inline::Strong(_) | Inline::Emphasis(_) => Some('*'),
        Inline::Strike(_) => Some('~'),
        Inline::Link { .. } => Some('['),
        Inline::Break => Some('\n'),
    }
}

fn marked(out: &mut String, mark: &str, inner: &[Inline], around: Around) {
    out.push_str(mark);
    push(out, inner, mark.chars().next(), around);
    out.push_str(mark);
}

fn push_code(out: &mut String, code: &str, around: Around) {
    let mut fence = 1;
    while code.split(|c| c != '`').any(|run| run.len() == fence) {
        fence += 1;
    }
    let fence = "`".repeat(fence);
    let blank = code.trim_matches(' ').is_empty();
    let edge = |c: Option<char>| c == Some('`') || (c == Some(' ') && !blank);
    let padded = edge(code.chars().next()) || edge(code.chars().next_back());
    let pad = if padded { " " } else { "" };
    let code = if around.cell { code.replace('|', "\\|") } else { code.to_owned() };
    out.push_str(&format!("{fence}{pad}{code}{pad}{fence}"));
}

fn link(out: &mut String, url: &str, text: &[Inline], next: Option<&Inline>, around: Around) {
    if links::is_bare(url, text) {
        let shown = url.strip_prefix("mailto:").unwrap_or(url);
        let glued = out.chars().next_back().is_some_and(char::is_alphanumeric);
        if !glued && stands_bare(url, next) {
            out.push_str(url);
        } else {
            out.push_str(&format!("<{shown}>"));
        }
        return;
    }
    out.push('[');
    push(out, text, Some(']'), Around { link: true, ..around });
    out.push_str("](");
    out.push_str(&address(url, around));
    out.push(')');
}

/// Whether an address needs no brackets to be read as one, and as far as it goes.
fn stands_bare(url: &str, next: Option<&Inline>) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "/:.?=%#@+,$-&_".contains(c);
    let within = |at: usize| {
        let sides = url.split_at_checked(at).map(|(before, behind)| (before, behind.trim_start_matches('_')));
        sides.is_some_and(|(before, behind)| {
            before.ends_with(char::is_alphanumeric) && behind.starts_with(char::is_alphanumeric)
        })
    };
    let ends = url.ends_with(|c: char| c.is_alphanumeric() || c == '/');
    let followed = match next {
        Some(Inline::Text(text)) => text
            .trim_start_matches(['.', ',', ':', '!', '?', ')'])
            .chars()
            .next()
            .is_none_or(char::is_whitespace),
        None | Some(Inline::Break) => true,
        Some(_) => false,
    };
    let web = url.starts_with("https://") || url.starts_with("http://");
    let underscores = url.match_indices('_').all(|(at, _)| within(at));
    web && ends && followed && url.chars().all(plain) && underscores
}

fn address(url: &str, around: Around) -> String {
    let url = if url.contains(';') { url.replace('&', "\\&") } else { url.to_owned() };
    let url = if around.cell { url.replace('|', "%7C") } else { url };
    if url.contains(['(', ')']) { format!("<{url}>") } else { url }
}

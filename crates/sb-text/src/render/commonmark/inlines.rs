//! What stands in a line, as Markdown that is read as the same again.

use super::escape::{Around, push_literal};
use crate::doc::{Block, Doc, Inline};
use crate::links;

/// A line's marks are left out where Markdown would not read them as such.
pub(super) fn line(all: &[Inline], around: Around) -> String {
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

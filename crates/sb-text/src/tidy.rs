//! Puts a line's inlines into the one form a document has: what looks the same is equal.
//!
//! Neighbours of one kind are joined, marks around nothing go, white space does not stand at a line's edges,
//! and addresses written bare become links.

use crate::doc::Inline;
use crate::links;

/// Inlines of a paragraph; empty if nothing is left.
pub(crate) fn paragraph(inlines: Vec<Inline>) -> Vec<Inline> {
    let mut all = joined(inlines, false);
    trim_edges(&mut all);
    joined(all, false)
}

/// Inlines of a heading or a cell: one line.
pub(crate) fn line(inlines: Vec<Inline>) -> Vec<Inline> {
    paragraph(unbroken(inlines))
}

fn unbroken(inlines: Vec<Inline>) -> Vec<Inline> {
    let each = |inline| match inline {
        Inline::Break => Inline::Text(" ".into()),
        Inline::Strong(inner) => Inline::Strong(unbroken(inner)),
        Inline::Emphasis(inner) => Inline::Emphasis(unbroken(inner)),
        Inline::Strike(inner) => Inline::Strike(unbroken(inner)),
        Inline::Link { url, text } => Inline::Link { url, text: unbroken(text) },
        other => other,
    };
    inlines.into_iter().map(each).collect()
}

/// Joins neighbours, drops empty marks, finds addresses (not within a link).
fn joined(inlines: Vec<Inline>, in_link: bool) -> Vec<Inline> {
    let mut all: Vec<Inline> = Vec::with_capacity(inlines.len());
    for inline in inlines {
        match (all.last_mut(), inline) {
            (_, Inline::Text(text)) if text.is_empty() => {}
            (Some(Inline::Text(before)), Inline::Text(text)) => before.push_str(&text),
            (Some(Inline::Strong(before)), Inline::Strong(inner)) => before.extend(inner),
            (Some(Inline::Emphasis(before)), Inline::Emphasis(inner)) => before.extend(inner),
            (Some(Inline::Strike(before)), Inline::Strike(inner)) => before.extend(inner),
            (_, other) => all.push(other),
        }
    }
    let mut done = Vec::with_capacity(all.len());
    for inline in all {
        match inline {
            Inline::Text(text) if !in_link => push_addresses(&mut done, text),
            Inline::Strong(inner) => push_strong(&mut done, joined(inner, in_link)),
            Inline::Emphasis(inner) => push_mark(&mut done, joined(inner, in_link), Inline::Emphasis),
            Inline::Strike(inner) => push_mark(&mut done, joined(inner, in_link), Inline::Strike),
            Inline::Link { url, text } => done.push(link(url, joined(text, true))),
            Inline::Code(code) if code.is_empty() => {}
            other => done.push(other),
        }
    }
    trim_breaks(&mut done);
    done
}

/// White space and breaks at a mark's edges stand outside of it, where Markdown can write them.
fn push_mark(done: &mut Vec<Inline>, mut inner: Vec<Inline>, mark: fn(Vec<Inline>) -> Inline) {
    let mut after = Vec::new();
    while let Some(Inline::Break | Inline::Text(_)) = inner.last() {
        if let Some(Inline::Text(text)) = inner.last_mut() {
            let space = text.split_off(text.trim_end().len());
            after.extend(Some(Inline::Text(space)).filter(is_seen));
            if !text.is_empty() {
                break;
            }
            inner.pop();
        } else {
            after.extend(inner.pop());
        }
    }
    let edge = |inline: &Inline| match inline {
        Inline::Break => true,
        Inline::Text(text) => text.trim().is_empty(),
        _ => false,
    };
    let blank = inner.iter().take_while(|inline| edge(inline)).count();
    done.extend(inner.drain(..blank).filter(is_seen));
    if let Some(Inline::Text(text)) = inner.first_mut() {
        let word = text.split_off(text.len() - text.trim_start().len());
        let space = std::mem::replace(text, word);
        done.extend(Some(Inline::Text(space)).filter(is_seen));
    }
    if !inner.is_empty() {
        done.push(mark(inner));
    }
    done.extend(after.into_iter().rev());
}

fn is_seen(inline: &Inline) -> bool {
    !matches!(inline, Inline::Text(text) if text.is_empty())
}

/// Bold around nothing but emphasis is written the other way round, as Markdown reads `***it***`.
fn push_strong(done: &mut Vec<Inline>, mut inner: Vec<Inline>) {
    match inner.as_mut_slice() {
        [Inline::Emphasis(within)] => {
            let within = std::mem::take(within);
            done.push(Inline::Emphasis(vec![Inline::Strong(within)]));
        }
        _ => push_mark(done, inner, Inline::Strong),
    }
}

fn link(url: String, mut text: Vec<Inline>) -> Inline {
    trim_edges(&mut text);
    if text.is_empty() {
        text.push(Inline::Text(url.clone()));
    }
    Inline::Link { url, text }
}

fn push_addresses(done: &mut Vec<Inline>, text: String) {
    let mut at = 0;
    while let Some((from, to)) = links::next_bare(&text, at) {
        let (Some(before), Some(address)) = (text.get(at..from), text.get(from..to)) else { break };
        if !before.is_empty() {
            done.push(Inline::Text(before.to_owned()));
        }
        match links::safe(address) {
            Some(url) => done.push(Inline::Link { text: vec![Inline::Text(url.clone())], url }),
            None => done.push(Inline::Text(address.to_owned())),
        }
        at = to;
    }
    match text.get(at..) {
        Some(_) if at == 0 => done.push(Inline::Text(text)),
        Some(rest) if !rest.is_empty() => done.push(Inline::Text(rest.to_owned())),
        _ => {}
    }
}

/// Removes white space and breaks at both ends, and white space around breaks. A mark that held nothing else leaves
/// several texts of white space side by side.
fn trim_edges(all: &mut Vec<Inline>) {
    trim_breaks(all);
    let blank = |inline: &Inline| match inline {
        Inline::Break => true,
        Inline::Text(text) => text.trim().is_empty(),
        _ => false,
    };
    let starts = all.iter().take_while(|inline| blank(inline)).count();
    all.drain(..starts);
    while all.last().is_some_and(blank) {
        all.pop();
    }
    if let Some(Inline::Text(text)) = all.first_mut() {
        *text = text.trim_start().to_owned();
    }
    if let Some(Inline::Text(text)) = all.last_mut() {
        text.truncate(text.trim_end().len());
    }
}

/// Removes white space around breaks; several are one.
fn trim_breaks(all: &mut Vec<Inline>) {
    for i in 0..all.len() {
        let after = i > 0 && matches!(all.get(i - 1), Some(Inline::Break));
        let before = matches!(all.get(i + 1), Some(Inline::Break));
        if let Some(Inline::Text(text)) = all.get_mut(i) {
            if after {
                *text = text.trim_start().to_owned();
            }
            if before {
                text.truncate(text.trim_end().len());
            }
        }
    }
    all.retain(is_seen);
    all.dedup_by(|a, b| matches!((a, b), (Inline::Break, Inline::Break)));
}

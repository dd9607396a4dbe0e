//! Where spans stand once the text is trimmed, in the platform's unit.
//!
//! A span never begins or ends inside a character a person sees: all ends move to that character's start, so
//! that spans which were within each other, or apart, still are.

use unicode_segmentation::UnicodeSegmentation;

use super::{Rendered, Span, Style};
use crate::Unit;

/// A span by bytes of the text, in the order begun.
pub(super) struct ByteSpan {
    pub from: usize,
    pub to: usize,
    pub style: Style,
}

pub(super) fn placed(text: &str, spans: Vec<ByteSpan>, unit: Unit) -> Rendered {
    let trimmed = text.trim();
    let cut = text.len() - text.trim_start().len();
    let within = |at: usize| at.saturating_sub(cut).min(trimmed.len());
    let mut ends: Vec<usize> = spans.iter().flat_map(|span| [within(span.from), within(span.to)]).collect();
    ends.sort_unstable();
    ends.dedup();
    let offsets = offsets(trimmed, &ends, unit);
    let offset = |at: usize| ends.binary_search(&at).ok().and_then(|i| offsets.get(i)).copied().unwrap_or(0);
    let mut placed: Vec<Span> = spans
        .into_iter()
        .map(|span| {
            let (from, to) = (offset(within(span.from)), offset(within(span.to)));
            Span { from, len: to.saturating_sub(from), style: span.style }
        })
        .filter(|span| span.len > 0)
        .collect();
    placed.sort_by(|a, b| a.from.cmp(&b.from).then(b.len.cmp(&a.len)));
    Rendered { text: trimmed.to_owned(), spans: placed }
}

/// For each byte of `ends`, sorted, how many units stand before the character it is in.
fn offsets(text: &str, ends: &[usize], unit: Unit) -> Vec<usize> {
    let mut found = Vec::with_capacity(ends.len());
    let mut next = ends.iter().copied().peekable();
    let mut before = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        while next.next_if(|end| *end < at + grapheme.len()).is_some() {
            found.push(before);
        }
        if next.peek().is_none() {
            break;
        }
        before += unit.count(grapheme);
    }
    found.extend(next.map(|_| before));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_ends_before_a_character_it_would_divide() {
        let family = "👨‍👩‍👧";
        let text = format!("  a{family}b ");
        let spans = vec![ByteSpan { from: 0, to: 3 + 4, style: Style::Bold }];
        let placed = placed(&text, spans, Unit::Utf16);
        assert_eq!(placed.text, format!("a{family}b"));
        assert_eq!(placed.spans, [Span { from: 0, len: 1, style: Style::Bold }]);
    }
}

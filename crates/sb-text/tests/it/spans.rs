//! Spans stand where they may.

use proptest::prelude::*;
use sb_text::{Dialect, Doc, Style, render};
use unicode_segmentation::UnicodeSegmentation;

use crate::pieces::{UNITS, anything, document};

fn check_spans(markdown: &str) {
    for unit in UNITS {
        let shown = render(&Doc::parse(markdown), Dialect::Spans, unit);
        assert_eq!(shown.text, shown.text.trim());
        let mut edges = vec![0];
        for grapheme in shown.text.graphemes(true) {
            edges.push(edges[edges.len() - 1] + unit.count(grapheme));
        }
        let mut open: Vec<(usize, &Style)> = Vec::new();
        let mut before = 0;
        for span in &shown.spans {
            let end = span.from + span.len;
            assert!(span.len > 0 && span.from >= before);
            assert!(edges.binary_search(&span.from).is_ok() && edges.binary_search(&end).is_ok());
            before = span.from;
            open.retain(|(end, _)| *end > span.from);
            for (outer, style) in &open {
                assert!(end <= *outer, "spans nest");
                assert!(!matches!(style, Style::Code | Style::Pre { .. }), "nothing is within code");
                assert!(
                    !(matches!(style, Style::Quote) && span.style == Style::Quote),
                    "no quote in a quote"
                );
            }
            open.push((end, &span.style));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn spans_nest_within_the_text_on_whole_characters(text in anything()) {
        check_spans(&text);
    }

    #[test]
    fn spans_of_a_document_nest_too(text in document()) {
        check_spans(&text);
    }
}

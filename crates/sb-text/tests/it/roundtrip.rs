//! Markdown that was written from a document is read as that document.

use proptest::prelude::*;
use sb_text::{Dialect, Doc, Unit, render};

use crate::pieces::{anything, document};

fn again(doc: &Doc) -> String {
    render(doc, Dialect::CommonMark, Unit::Chars).text
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn what_is_written_is_read_as_the_same(text in document()) {
        let doc = Doc::parse(&text);
        let written = again(&doc);
        prop_assert_eq!(Doc::parse(&written), doc, "{}", written);
    }

    #[test]
    fn whatever_is_written_keeps_its_words(text in anything()) {
        let doc = Doc::parse(&text);
        let written = again(&doc);
        let words = |doc: &Doc| render(doc, Dialect::Plain, Unit::Chars).text;
        prop_assert_eq!(words(&Doc::parse(&written)), words(&doc), "{}", written);
    }
}

#[test]
fn white_space_that_only_a_mark_held_is_none_at_an_edge() {
    for text in ["[ ~~&nbsp;~~\n\nword", "~~&nbsp;~~ [\n\nword", "a ~~&nbsp;~~ **&nbsp;**\n\nb"] {
        let doc = Doc::parse(text);
        let plain = render(&doc, Dialect::Plain, Unit::Chars).text;
        assert!(plain.lines().all(|line| line == line.trim()), "{plain:?}");
        assert_eq!(Doc::parse(&again(&doc)), doc);
    }
}

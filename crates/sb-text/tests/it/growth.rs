//! What holds of every cut, also while the text grows.

use proptest::prelude::*;
use sb_text::{Dialect, Fit, Part, Unit, split, split_first};
use unicode_segmentation::UnicodeSegmentation;

use crate::pieces::{anything, document, fit};

fn check_parts(text: &str, fit: &Fit, parts: &[Part], least: usize) {
    let mut at = 0;
    for part in parts {
        assert_eq!(part.source.start, at, "parts lie side by side");
        at = part.source.end;
        assert!(fit.measure(&part.text) > 0, "a part shows something: {:?}", part.text);
        let single = text[part.source.clone()].trim().graphemes(true).count() == 1;
        assert!(
            fit.fits(&part.text) || single || fit.limit < least,
            "{} of {}: {:?}",
            fit.measure(&part.text),
            fit.limit,
            part.text
        );
    }
    assert!(at == text.len() || (parts.is_empty() && fit.measure(text) == 0), "parts are the whole");
    let boundaries: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
    for part in parts.iter().skip(1) {
        assert!(boundaries.binary_search(&part.source.start).is_ok(), "no character is divided");
    }
}

fn check_growth(text: &str, more: &str, fit: &Fit) {
    let early = split(text, fit);
    let late = split(&format!("{text}{more}"), fit);
    let ended = early.len().saturating_sub(1);
    assert!(late.len() >= ended);
    for (i, (before, after)) in early.iter().zip(&late).take(ended).enumerate() {
        assert_eq!(before.text, after.text, "ended parts stay");
        // What shows nothing belongs to the part before it.
        let last = i + 1 == late.len() && before.source.start == after.source.start;
        assert!(before.source == after.source || last, "{before:?} {after:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    /// Holds: B-22, B-25.
    #[test]
    fn parts_are_the_whole_and_each_fits(text in anything(), fit in fit(40)) {
        check_parts(&text, &fit, &split(&text, &fit), 120);
    }

    #[test]
    fn parts_of_what_models_write_fit(text in document(), fit in fit(40)) {
        check_parts(&text, &fit, &split(&text, &fit), 120);
    }

    #[test]
    fn even_a_tiny_limit_ends(text in anything(), fit in fit(1)) {
        let tiny = Fit { limit: fit.limit % 12, ..fit };
        let parts = split(&text, &tiny);
        prop_assert!(parts.len() <= text.graphemes(true).count());
    }

    /// Holds: B-24.
    #[test]
    fn an_ended_part_never_moves_as_text_grows(text in anything(), more in anything(), fit in fit(40)) {
        check_growth(&text, &more, &fit);
    }

    #[test]
    fn an_ended_part_of_a_document_never_moves(text in document(), at in 0.0..1.0f64, fit in fit(40)) {
        let mut at = (text.len() as f64 * at) as usize;
        while !text.is_char_boundary(at) {
            at += 1;
        }
        check_growth(&text[..at], &text[at..], &fit);
    }

    #[test]
    fn a_first_part_of_its_own_size_fits_too(text in document(), first in fit(40), rest in fit(40)) {
        let parts = split_first(&text, &first, &rest);
        if let Some(part) = parts.first() {
            prop_assert!(first.fits(&part.text) || first.limit < 120);
        }
        for part in parts.iter().skip(1) {
            prop_assert!(rest.fits(&part.text) || rest.limit < 120);
        }
    }
}

/// Within code, white space at the end is seen, so it counts as what follows does.
#[test]
fn a_line_of_white_space_in_code_moves_nothing() {
    let fit = Fit { limit: 61, unit: Unit::Chars, dialect: Dialect::Html };
    check_growth(" <div>\n```rust\n``let x = 1;> - [ ] <div>\n ", "word", &fit);
}

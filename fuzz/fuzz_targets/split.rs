//! However a text is cut, its parts fit, are the whole of it, and stay as they are when it grows.
//!
//! The first bytes say how it is counted, what fits, and where the text ended before it grew.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sb_text::{Dialect, Fit, Unit, split};

const DIALECTS: [Dialect; 6] =
    [Dialect::Plain, Dialect::Spans, Dialect::CommonMark, Dialect::Slack, Dialect::Marks, Dialect::Html];
const UNITS: [Unit; 3] = [Unit::Chars, Unit::Utf16, Unit::Bytes];

fuzz_target!(|input: (u8, u8, u16, &str)| {
    let (how, limit, at, text) = input;
    let dialect = DIALECTS[usize::from(how) % DIALECTS.len()];
    let unit = UNITS[usize::from(how) / DIALECTS.len() % UNITS.len()];
    // A limit that holds the tags of the deepest nesting.
    let least = if dialect == Dialect::Html { 1000 } else { 150 };
    let fit = Fit { limit: usize::from(limit) + least, unit, dialect };
    let parts = split(text, &fit);
    let mut end = 0;
    for part in &parts {
        assert_eq!(part.source.start, end);
        end = part.source.end;
        assert!(fit.measure(&part.text) > 0);
        // A character may be made of many; only such a part is longer.
        let long = text[part.source.clone()].split_whitespace().count() == 1;
        assert!(fit.fits(&part.text) || long, "{} of {}", fit.measure(&part.text), fit.limit);
    }
    assert!(end == text.len() || parts.is_empty());
    let mut at = usize::from(at).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let early = split(&text[..at], &fit);
    let ended = early.len().saturating_sub(1);
    assert!(parts.len() >= ended);
    for (before, after) in early.iter().zip(&parts).take(ended) {
        assert_eq!(before.text, after.text, "an ended part moved");
    }
});

//! Chooses where a part ends, among the places before it holds too much.
//!
//! The best is between paragraphs, then lines, sentences, words; in the last half of what fits if there is one;
//! not within emphasis, and within a link or code only if nothing else is left. Only what stands before the
//! overflow is looked at.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::Fit;
use super::marks::{Marks, Within};
use super::window::Window;

/// How well a place reads as an end, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Paragraph,
    Line,
    Sentence,
    Word,
}

const LEVELS: [Level; 4] = [Level::Paragraph, Level::Line, Level::Sentence, Level::Word];

struct Place {
    at: usize,
    level: Level,
    /// Whether it stands behind a title, which should not be parted from what follows.
    titled: bool,
}

/// Where the part ends, given that it overflows with the character that ends at `over`; `None` if it must not
/// end, because all of it may be one character.
pub(super) fn choose(window: &Window<'_>, fit: &Fit, over: usize) -> Option<usize> {
    let last = window.body(over).chars().next_back().map_or(0, char::len_utf8);
    let mut most = over - last;
    let marks = Marks::read(&window.assemble(over), window);
    let places = places(window, over, &marks);
    loop {
        let found =
            best(&places, &marks, window.start, most).or_else(|| within_word(window, most, over, &marks));
        match found {
            Some(cut) if fit.fits(&window.finished(cut)) => return Some(cut),
            Some(cut) => most = window.start + (cut - window.start) * 7 / 8,
            None => return first_character(window),
        }
    }
}

/// The last place of the best sort that is not behind `most`.
fn best(places: &[Place], marks: &Marks, start: usize, most: usize) -> Option<usize> {
    let half = start + (most - start) / 2;
    let last = |level: Option<Level>, within: Within, from: usize| {
        places
            .iter()
            .rev()
            .find(|place| {
                (from..=most).contains(&place.at)
                    && level.is_none_or(|l| l == place.level)
                    && !(place.titled && within == Within::Nothing)
                    && marks.allows(place.at, within)
            })
            .map(|place| place.at)
    };
    let in_order = |within, from| LEVELS.into_iter().find_map(|level| last(Some(level), within, from));
    in_order(Within::Nothing, half)
        .or_else(|| in_order(Within::Mark, half))
        .or_else(|| last(None, Within::Nothing, start))
        .or_else(|| last(None, Within::Mark, start))
        .or_else(|| last(None, Within::Whole, start))
}

/// All places between words and lines, in order.
fn places(window: &Window<'_>, over: usize, marks: &Marks) -> Vec<Place> {
    let mut places = Vec::new();
    let (mut lines, mut blank) = (0, false);
    let mut before = '\n';
    let mut line_start = window.start;
    let mut titled = false;
    let mut sentence = false;
    let mut seen = false;
    for (at, c) in window.body(over).char_indices() {
        let at = window.start + at;
        if c == '\n' {
            if lines == 0 {
                let line = window.source.get(line_start..at).unwrap_or_default().trim_start();
                titled = line.starts_with('#') || line.ends_with(':');
            }
            lines += 1;
            line_start = at + 1;
            blank |= lines > 1;
        } else if !c.is_whitespace() {
            let spaced = before.is_whitespace();
            let alone = ends_sentence_alone(before) && c.is_alphanumeric();
            let cjk = alone || (is_ideograph(before) && is_ideograph(c));
            let (place, level) = if lines > 0 {
                let code = marks.in_code(line_start);
                (line_start, if blank && !code { Level::Paragraph } else { Level::Line })
            } else if sentence && (spaced || alone) {
                (at, Level::Sentence)
            } else {
                (at, Level::Word)
            };
            let whole = lines > 0 || c.is_ascii() || is_boundary(window.source, at);
            if seen && whole && (lines > 0 || spaced || cjk) {
                let level =
                    if level == Level::Sentence && marks.in_code(place) { Level::Word } else { level };
                places.push(Place { at: place, level, titled: titled && lines > 0 });
            }
            if lines > 0 {
                (lines, blank) = (0, false);
            }
            seen = true;
            sentence = ends_sentence(c)
                || (sentence && !spaced && matches!(c, ')' | '"' | '”' | '»' | '\'' | '*' | '_' | '」'));
        }
        before = c;
    }
    places
}

/// Whether a character begins at `at`, not the rest of one.
fn is_boundary(text: &str, at: usize) -> bool {
    GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(false)
}

fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…') || ends_sentence_alone(c)
}

/// Ends a sentence without white space behind it.
fn ends_sentence_alone(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '」')
}

/// Scripts written without spaces; their punctuation does not begin a line.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{2FFF}' | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' | '\u{20000}'..='\u{3FFFD}')
}

/// The last boundary between characters, where there is none between words.
fn within_word(window: &Window<'_>, most: usize, over: usize, marks: &Marks) -> Option<usize> {
    let body = window.body(over);
    // Within a run of marks, or behind a backslash, only if there is nothing else.
    let (mut found, mut in_run) = (None, None);
    let mut seen = false;
    let mut before = ' ';
    for (at, grapheme) in body.grapheme_indices(true) {
        let at = window.start + at;
        if at > most {
            break;
        }
        let first = grapheme.chars().next().unwrap_or(' ');
        let run = before == '\\' || (first == before && matches!(first, '`' | '~' | '*' | '_'));
        if seen && !marks.forbids(at) {
            if run {
                in_run = Some(at);
            } else {
                found = Some(at);
            }
        }
        seen |= !grapheme.trim().is_empty();
        before = grapheme.chars().next_back().unwrap_or(' ');
    }
    found.or(in_run)
}

/// The end of the first character that is seen, once it is known to be complete.
fn first_character(window: &Window<'_>) -> Option<usize> {
    let mut seen = false;
    for (at, grapheme) in window.body(window.source.len()).grapheme_indices(true) {
        if seen {
            return Some(window.start + at);
        }
        seen = !grapheme.trim().is_empty();
    }
    None
}

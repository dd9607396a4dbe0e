//! Cuts a text into messages that fit, where it reads best.
//!
//! A text may still be growing, and parts that have ended never move. So each cut is found by reading from the
//! part's beginning, one character after the other, until it holds too much: what comes later has no say in it.
//! Reading counts in an upper bound, made exact by rendering whenever it exceeds the limit.
//!
//! A part is a text of its own: what was open where the last part ended is opened again.

mod columns;
mod cost;
mod cuts;
mod marks;
mod overflow;
mod window;

use std::ops::Range;

use crate::render::{Dialect, length};
use crate::{Doc, Unit};
use window::Window;

/// What one message of a platform holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fit {
    /// The longest text it takes.
    pub limit: usize,
    /// What it counts in.
    pub unit: Unit,
    /// The form it takes; the limit is for what that form needs.
    pub dialect: Dialect,
}

impl Fit {
    /// Whether the text can be one message.
    pub fn fits(&self, markdown: &str) -> bool {
        self.measure(markdown) <= self.limit
    }

    /// The length of the text once rendered.
    pub fn measure(&self, markdown: &str) -> usize {
        length(&Doc::parse(markdown), self.dialect, self.unit)
    }
}

/// One message's worth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Markdown that stands by itself: a block of code that was cut is closed, and opened again with its language.
    pub text: String,
    /// The bytes of the original it holds. All parts' together are the whole original.
    pub source: Range<usize>,
}

/// Cuts `markdown` into parts that fit, each rendered by itself.
///
/// No part shows nothing: a text that shows nothing has no parts. A part exceeds the limit only if it is a single
/// character, or tags and fences alone take as much. All parts but the last stay as they are when the text grows;
/// the last may show nothing for a while, and be none, where half a mark becomes a whole one.
pub fn split(markdown: &str, fit: &Fit) -> Vec<Part> {
    split_first(markdown, fit, fit)
}

/// As [`split`], where the first part has another limit than the others: a caption, then messages.
pub fn split_first(markdown: &str, first: &Fit, rest: &Fit) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut window = Window::new(markdown);
    // Where the next part's source begins: before the window, if what stood there shows nothing.
    let mut from = 0;
    loop {
        let fit = if parts.is_empty() { first } else { rest };
        let cut = overflow::find(&window, fit).and_then(|over| cuts::choose(&window, fit, over));
        let end = cut.unwrap_or(markdown.len());
        let text = window.finished(end);
        if fit.measure(&text) > 0 {
            parts.push(Part { text, source: from..end });
            from = end;
        } else if let (None, Some(last)) = (cut, parts.last_mut()) {
            last.source.end = end;
        }
        match cut {
            Some(cut) => window = window.after(cut),
            None => return parts,
        }
    }
}

//! Words: what an agent says, read once and shown in the form each messenger takes.
//!
//! Markdown as models write it becomes a [`Doc`]; [`render`] turns that into a platform's [`Dialect`];
//! [`split`] cuts a text into messages that fit. Nothing here fails: any text is some document, and any
//! document can be shown and cut. What comes from a model or a web page is never markup it did not
//! write as Markdown: raw HTML is text, and only harmless links are links.
//!
//! No I/O, no clock, no chance.

mod doc;
mod links;
mod parse;
mod phrases;
mod render;
mod split;
mod tidy;
mod unit;

pub use doc::{Align, Block, Cell, Doc, Inline, Item};
pub use phrases::{add_paragraph, clip, counted, one_line};
pub use render::{Dialect, Rendered, Span, Style, render};
pub use split::{Fit, Part, split, split_first};
pub use unit::Unit;

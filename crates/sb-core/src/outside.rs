//! [`Prints`]: which words of a session came from outside, kept as fingerprints, and whether a call carries any.
//!
//! **What is found.** Words are compared without case, spaces and punctuation. Of every stretch from outside a
//! thinned row of hashes is kept (winnowing), so that any run of 31 letters and digits that an argument shares
//! with it is found wherever it begins; and so are addresses, names of hosts and files, and long numbers, from
//! 8 letters and digits on. Arguments are looked at as they are, joined in their order and in pairs, and with
//! base64, hexadecimal, percent and backslash escapes undone, also one within the other.
//!
//! **What is not.** Words said in other words, translated, spelled backwards or enciphered; runs that are
//! shorter, or cut into shorter pieces over several calls.
//!
//! **How it stays bounded.** A session keeps so many prints and names so many sources; then it is full, and
//! every argument counts as carrying something. An argument is looked at up to a size; a longer one counts as
//! carrying something too, once anything was read from outside.

use std::collections::HashMap;

use sb_model::text::one_line;
use sb_model::{Call, Record};
use serde_json::Value;

mod decoded;
mod hashes;

/// The most prints of one session: about 1 MB of words from outside.
const MOST_PRINTS: usize = 131_072;
/// The most sources that are told apart; what comes later counts for the last.
const MOST_SOURCES: usize = 256;
/// The most bytes of arguments that are looked at.
const MOST_LOOKED_AT: usize = 64 * 1024;
/// The most bytes that they are undone to.
const MOST_UNDONE: usize = 1024 * 1024;
/// The most arguments that are joined with each other.
const MOST_JOINED: usize = 12;
/// How much is shown of where it came from.
const SOURCE: usize = 80;
/// How much of what was found is shown.
const SHOWN: usize = 60;

/// The words a session read from outside, as fingerprints.
#[derive(Debug, Clone, Default)]
pub struct Prints {
    known: HashMap<u64, u16>,
    sources: Vec<String>,
    full: bool,
}

impl Prints {
    /// Whether nothing came from outside.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && self.sources.is_empty()
    }

    /// Notes what a record brought from outside, if it did. `call` is what it is the result of, if known.
    pub fn note(&mut self, record: &Record, call: Option<&Call>) {
        let Record::Result { text, outside: true, .. } = record else { return };
        // Read again from a log, a result says itself what it is of.
        let begins = || one_line(text.lines().next().unwrap_or_default(), SOURCE);
        let source = self.source(call.map_or_else(begins, named));
        for print in hashes::kept(text) {
            if self.known.len() >= MOST_PRINTS {
                self.full = true;
                return;
            }
            self.known.entry(print).or_insert(source);
        }
    }

    fn source(&mut self, name: String) -> u16 {
        let known = self.sources.iter().position(|s| *s == name);
        let at = known.unwrap_or_else(|| {
            if self.sources.len() < MOST_SOURCES {
                self.sources.push(name);
            }
            self.sources.len().saturating_sub(1)
        });
        u16::try_from(at).unwrap_or(u16::MAX)
    }

    /// What a call's arguments carry from outside, in words for the person who decides; none if nothing.
    pub fn carried(&self, call: &Call) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let mut texts = Vec::new();
        texts_of(&call.input, &mut texts);
        let size: usize = texts.iter().map(|t| t.len()).sum();
        if self.full && size > 0 {
            return Some(
                "may carry text from outside, of which this session has read too much to tell".to_owned(),
            );
        }
        let too_long = || Some("is too long to tell whether it carries text from outside".to_owned());
        if size > MOST_LOOKED_AT {
            return too_long();
        }
        let whole = texts.concat();
        let joined = texts.len() > 1;
        let Some(undone) = decoded::all(&whole, MOST_UNDONE) else { return too_long() };
        let each: Option<Vec<Vec<String>>> =
            texts.iter().filter(|_| joined).map(|text| decoded::all(text, MOST_UNDONE)).collect();
        let Some(each) = each else { return too_long() };
        let found = texts.iter().find_map(|text| self.in_plain(text));
        let found = found.or_else(|| self.in_plain(&whole));
        let found =
            found.or_else(|| undone.iter().chain(each.iter().flatten()).find_map(|text| self.in_plain(text)));
        let (source, words) = found.or_else(|| self.in_pairs(&texts))?;
        let source = self.sources.get(usize::from(source)).map_or("outside", String::as_str);
        Some(format!("carries text from {source}: \"{}\"", one_line(&words, SHOWN)))
    }

    /// The end of any argument and the beginning of any other, put together.
    fn in_pairs(&self, texts: &[&str]) -> Option<(u16, String)> {
        let few = texts.get(..MOST_JOINED).unwrap_or(texts);
        let others = |at: usize| few.iter().enumerate().filter(move |(other, _)| *other != at);
        let pairs = few.iter().enumerate().flat_map(|(at, a)| others(at).map(move |(_, b)| (*a, *b)));
        pairs.map(|(a, b)| hashes::seam(a, b)).find_map(|seam| self.in_plain(&seam))
    }

    fn in_plain(&self, text: &str) -> Option<(u16, String)> {
        let (source, at) =
            hashes::asked(text).find_map(|(print, at)| Some((*self.known.get(&print)?, at)))?;
        Some((source, text.get(at..).unwrap_or_default().chars().take(2 * SHOWN).collect()))
    }
}

/// A source as people read it: the tool, and what it was asked.
fn named(call: &Call) -> String {
    let about =
        ["url", "path", "name", "words", "query"].iter().find_map(|key| call.input.get(key)?.as_str());
    match about {
        Some(about) => format!("{} {}", call.tool, one_line(about, SOURCE)),
        None => call.tool.clone(),
    }
}

/// Every text of a value, names included, in order.
fn texts_of<'a>(value: &'a Value, into: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts_of(item, into)),
        Value::Object(object) => {
            for (name, value) in object {
                if name.len() >= hashes::LEAST_MARK {
                    into.push(name);
                }
                texts_of(value, into);
            }
        }
        _ => {}
    }
}

//! What was said, as digests: alike whatever an app does to the words it keeps.
//!
//! Apps trim what they store, collapse line breaks, and add foldable blocks of their own; so white space
//! counts as one space, blocks between `<details` and `</details>` and documents around a question as nothing,
//! and what is no text as a word that says what it is. System texts and tools' messages are no part of a talk. Work is linear in the
//! words. Invariant: what is empty then adds nothing.

use crate::model::{Digest, ProfileName};

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Person,
    Agent,
}

/// All that was said up to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trail(Digest);

impl Trail {
    /// Nothing was said yet, to this profile. `named`: in a talk that its app gives a name.
    pub fn begin(profile: &ProfileName, named: Option<&str>) -> Self {
        let name = named.map(|name| format!("\0{name}")).unwrap_or_default();
        Self(Digest::of(format!("a talk\0{profile}{name}").as_bytes()))
    }

    /// Goes on from a place that is known by its digest.
    pub fn from(digest: Digest) -> Self {
        Self(digest)
    }

    /// With what was said next.
    pub fn then(self, side: Side, text: &str) -> Self {
        let mut said = self.0.0.to_vec();
        said.push(match side {
            Side::Person => b'p',
            Side::Agent => b'a',
        });
        let nothing = said.len();
        for word in words(text) {
            said.push(b' ');
            said.extend_from_slice(word.as_bytes());
        }
        if said.len() == nothing { self } else { Self(Digest::of(&said)) }
    }

    pub fn digest(self) -> Digest {
        self.0
    }
}

/// The letters of a text, as two are compared whose white space may differ.
pub(crate) fn letters(text: &str) -> String {
    words(text).collect()
}

/// The words that count.
fn words(text: &str) -> impl Iterator<Item = &str> {
    outside_details(unwrapped(text)).flat_map(str::split_whitespace)
}

/// A question without the documents that an app put before it: it keeps the question alone.
fn unwrapped(text: &str) -> &str {
    const CLOSE: &str = "</context>";
    let wraps = text.trim_start().starts_with("### Task:") && text.contains("<context>");
    let question = wraps.then(|| text.rsplit_once(CLOSE)).flatten().map(|(_, question)| question);
    question.filter(|question| !question.trim().is_empty()).unwrap_or(text)
}

/// A text without its foldable blocks. One that is not closed counts, since it may be about such blocks.
fn outside_details(text: &str) -> impl Iterator<Item = &str> {
    const OPEN: &str = "<details";
    const CLOSE: &str = "</details>";
    let mut rest = text;
    let mut done = false;
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let block = rest.find(OPEN).and_then(|at| {
            let end = rest[at..].find(CLOSE)? + at + CLOSE.len();
            let is_tag = rest[at + OPEN.len()..].starts_with(|c: char| c == '>' || c.is_whitespace());
            is_tag.then_some((at, end))
        });
        let Some((at, end)) = block else {
            done = true;
            return Some(rest);
        };
        let before = &rest[..at];
        rest = &rest[end..];
        Some(before)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn trail(text: &str) -> Trail {
        Trail::begin(&"a".into(), None).then(Side::Agent, text)
    }

    #[test]
    fn what_apps_do_to_words_makes_no_difference() {
        for (one, other) in [
            ("Hello  there.\n\nBye. ", "Hello there. Bye."),
            ("<details type=\"reasoning\" done=\"true\">\nhm\n</details>\nHello", "Hello"),
            ("a <details>x</details> b <details>y</details>", "a b"),
            ("\u{a0}Hello\r\nyou", "Hello you"),
            ("### Task:\nUse it.\n<context>\n<source>x</source>\n</context>\n\nHello", "Hello"),
        ] {
            assert_eq!(trail(one), trail(other), "{one:?}");
        }
    }

    #[test]
    fn what_was_said_makes_one() {
        let (begin, other) = (Trail::begin(&"a".into(), None), Trail::begin(&"b".into(), None));
        for (one, another) in [
            (trail("Hello"), trail("hello")),
            (trail("ab c"), trail("a bc")),
            (trail("<details>x"), trail("")),
            (trail("### Task:\n<context>x</context>"), trail("")),
            (trail("<context>x</context> Hello"), trail("Hello")),
            (trail("<detailsx>y</details>"), trail("")),
            (begin, other),
            (begin, Trail::begin(&"a".into(), Some("x"))),
            (begin.then(Side::Person, "x"), begin.then(Side::Agent, "x")),
            (begin.then(Side::Person, "x").then(Side::Person, "y"), begin.then(Side::Person, "x y")),
        ] {
            assert_ne!(one, another);
        }
        assert_eq!(begin.then(Side::Agent, " \n"), begin, "nothing was said");
    }

    proptest! {
        #[test]
        fn any_text_has_a_digest_that_trimming_leaves(text in "[a<>/ \n]{0,20}(<details>|</details>|.){0,6}") {
            let collapsed = text.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert_eq!(trail(&text), trail(&format!("\n {collapsed} ")));
            let _ = letters(&text);
        }
    }
}

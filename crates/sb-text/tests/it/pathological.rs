//! Texts nobody writes, which must cost no more than others.
#![allow(clippy::disallowed_methods, reason = "the time they take is what is tested")]

use std::time::{Duration, Instant};

use sb_text::{Dialect, Doc, Fit, Unit, render, split};

use crate::pieces::DIALECTS;

/// Far more than any takes, for machines that are busy.
const MOST: Duration = Duration::from_secs(5);

fn texts(size: usize) -> Vec<String> {
    let repeated = |piece: &str| piece.repeat(size / piece.len());
    let mut all: Vec<String> = [
        "*",
        "_",
        "~",
        "`",
        "[",
        "]",
        ">",
        "#",
        "<",
        "&",
        "\\",
        "|",
        "-",
        "- ",
        "> ",
        "1. ",
        "* a",
        "**a ",
        "a_",
        "[a](",
        "![",
        "[](",
        "a**b",
        "`a``",
        "<!--",
        "<a ",
        "<?",
        "&#",
        "\n",
        " ",
        "\t",
        "\n\n",
        "> \n",
        "-\n",
        "| a ",
        "|\n",
        "e\u{301}",
        "\u{301}",
        "👨‍👩‍👧",
        "*a_",
        "[a]: b\n",
        "[a]\n",
        "~~a",
        "```\n",
        "a\n-\n",
        "\r\n",
        "](",
        "http://",
        "a|b\n-|-\n",
    ]
    .map(repeated)
    .into();
    all.push(
        (0..)
            .map(|depth| format!("{}- a\n", "  ".repeat(depth)))
            .take((size as f64).sqrt() as usize)
            .collect(),
    );
    all.push(
        (0..).map(|depth| format!("{} a\n", ">".repeat(depth))).take((size as f64).sqrt() as usize).collect(),
    );
    all.push((1..).map(|run| format!("a{}", "`".repeat(run))).take((size as f64).sqrt() as usize).collect());
    all
}

#[test]
fn no_text_takes_long_to_read_and_show() {
    for text in texts(50_000) {
        let from = Instant::now();
        let doc = Doc::parse(&text);
        for dialect in DIALECTS {
            render(&doc, dialect, Unit::Utf16);
        }
        assert!(
            from.elapsed() < MOST,
            "{:?} took {:?}",
            text.chars().take(12).collect::<String>(),
            from.elapsed()
        );
    }
}

#[test]
fn no_text_takes_long_to_split() {
    for text in texts(4_000) {
        for dialect in [Dialect::Spans, Dialect::CommonMark, Dialect::Html] {
            let from = Instant::now();
            split(&text, &Fit { limit: 800, unit: Unit::Utf16, dialect });
            assert!(
                from.elapsed() < MOST,
                "{:?} took {:?}",
                text.chars().take(12).collect::<String>(),
                from.elapsed()
            );
        }
    }
}

//! Texts to try things on: pieces of Markdown thrown together, and documents as models write them.

use proptest::prelude::*;
use sb_text::{Dialect, Fit, Unit};

pub const DIALECTS: [Dialect; 6] =
    [Dialect::Plain, Dialect::Spans, Dialect::CommonMark, Dialect::Slack, Dialect::Marks, Dialect::Html];
pub const UNITS: [Unit; 3] = [Unit::Chars, Unit::Utf16, Unit::Bytes];

/// What Markdown is made of, and what breaks readers of it.
const PIECES: &[&str] = &[
    " ",
    " ",
    " ",
    "\n",
    "\n",
    "\n\n",
    "word",
    "another",
    "a",
    "x1",
    "Sentence. ",
    "End! ",
    "*",
    "**",
    "_",
    "~~",
    "~",
    "`",
    "``",
    "```",
    "```rust\n",
    "```\n",
    "~~~\n",
    "# ",
    "## ",
    "- ",
    "+ ",
    "1. ",
    "2) ",
    "> ",
    "  ",
    "    ",
    "\t",
    "[",
    "](",
    "]",
    ")",
    "(",
    "https://a.example/b_c?d=1&e=2",
    "[link](https://a.example)",
    "![pic](http://p.example/x.png)",
    "<b>",
    "</b>",
    "<div>\n",
    "<!--",
    "-->",
    "&amp;",
    "&",
    "&nbsp;",
    "\\",
    "|",
    "| a | b |\n",
    "|---|---|\n",
    "| 1 | two words |\n",
    "---\n",
    "===\n",
    "- [ ] ",
    "- [x] ",
    "snake_case_name",
    "3 * 4",
    "a < b && c",
    "2_000",
    "$x^2$",
    "👨‍👩‍👧‍👦",
    "🇩🇪",
    "é",
    "e\u{301}",
    "שלום",
    "漢字。",
    "\r\n",
    "\u{200d}",
    "**bold**",
    "*slanted*",
    "`code`",
    "let x = 1;",
    "[x]: https://a.example\n",
    ":",
    "!",
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit. ",
];

/// Anything, made of Markdown's pieces.
pub fn anything() -> impl Strategy<Value = String> {
    let piece = prop_oneof![20 => proptest::sample::select(PIECES).prop_map(str::to_owned), 1 => "\\PC{0,3}"];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn words() -> impl Strategy<Value = String> {
    let word = proptest::sample::select(
        &[
            "the",
            "answer",
            "is",
            "in",
            "snake_case",
            "a*b",
            "3 * 4",
            "<b>",
            "1.",
            "#1",
            "- x",
            "C++",
            "&amp;",
            "漢字",
            "😀",
            "[1]",
        ][..],
    );
    proptest::collection::vec(word, 1..8).prop_map(|words| words.join(" "))
}

fn plain() -> impl Strategy<Value = String> {
    let word = proptest::sample::select(&["the", "answer", "is", "simple", "snake_case", "漢字", "x"][..]);
    proptest::collection::vec(word, 1..4).prop_map(|words| words.join(" "))
}

fn line() -> impl Strategy<Value = String> {
    let run = prop_oneof![
        4 => words(),
        1 => plain().prop_map(|text| format!("**{text}**")),
        1 => plain().prop_map(|text| format!("*{text}*")),
        1 => plain().prop_map(|text| format!("~~{text}~~")),
        1 => words().prop_map(|text| format!("`{text}`")),
        1 => plain().prop_map(|text| format!("[{text}](https://a.example/p?q=1)")),
        1 => Just("https://a.example/path".to_owned()),
    ];
    proptest::collection::vec(run, 1..6).prop_map(|runs| runs.join(" "))
}

fn block() -> impl Strategy<Value = String> {
    let items = |mark: &'static str| {
        proptest::collection::vec(line(), 1..5)
            .prop_map(move |lines| lines.iter().map(|line| format!("{mark} {line}\n")).collect::<String>())
    };
    let code = proptest::collection::vec("[ a-z(){};*_`<&\\\\]{0,40}", 1..12);
    prop_oneof![
        4 => proptest::collection::vec(line(), 1..4).prop_map(|lines| lines.join("\n")),
        1 => plain().prop_map(|text| format!("## {text}")),
        1 => items("-"),
        1 => items("1."),
        1 => line().prop_map(|line| format!("> {line}")),
        2 => code.prop_map(|lines| format!("````rust\nx\n{}\ny\n````", lines.join("\n"))),
        1 => items("-").prop_map(|items| format!("- outer\n{}", items.lines().map(|l| format!("  {l}\n")).collect::<String>())),
        1 => plain().prop_map(|text| format!("| {text} | b |\n|---|--:|\n| c | {text} |\n| `d` | e |")),
    ]
}

/// A text as a model would write it.
pub fn document() -> impl Strategy<Value = String> {
    proptest::collection::vec(block(), 1..8).prop_map(|blocks| blocks.join("\n\n"))
}

/// What some platform's message holds, small enough that texts are cut.
pub fn fit(least: usize) -> impl Strategy<Value = Fit> {
    (least..400, proptest::sample::select(&UNITS[..]), proptest::sample::select(&DIALECTS[..]))
        .prop_map(|(limit, unit, dialect)| Fit { limit, unit, dialect })
}

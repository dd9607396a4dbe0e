//! Where a text is cut, and what each part begins and ends with.

use sb_text::{Dialect, Fit, Unit, split, split_first};

fn fit(limit: usize, dialect: Dialect) -> Fit {
    Fit { limit, unit: Unit::Utf16, dialect }
}

fn texts(markdown: &str, limit: usize) -> Vec<String> {
    split(markdown, &fit(limit, Dialect::Spans)).into_iter().map(|part| part.text).collect()
}

/// Holds: B-22.
#[test]
fn a_cut_is_at_a_paragraph_else_a_line_a_sentence_a_word() {
    assert_eq!(
        texts("One two three.\n\nFour five. Six seven.", 30),
        ["One two three.", "Four five. Six seven."]
    );
    assert_eq!(
        texts("One two three.\nFour five. Six seven.", 30),
        ["One two three.", "Four five. Six seven."]
    );
    assert_eq!(
        texts("One two three four. Five six seven eight.", 30),
        ["One two three four.", "Five six seven eight."]
    );
    assert_eq!(
        texts("One two three four five six seven eight", 20),
        ["One two three four", "five six seven eight"]
    );
    assert_eq!(texts("abcdefghijklmnopqrstuvwxyz", 10), ["abcdefghij", "klmnopqrst", "uvwxyz"]);
    assert_eq!(texts("漢字漢字。漢字漢字漢字", 8), ["漢字漢字。", "漢字漢字漢字"]);
}

#[test]
fn a_cut_that_wastes_more_than_half_is_not_taken() {
    assert_eq!(
        texts("Yes.\n\nOne two three four five six seven", 30),
        ["Yes.\n\nOne two three four five", "six seven"]
    );
}

#[test]
fn a_text_that_shows_nothing_has_no_parts() {
    assert!(texts("", 10).is_empty());
    assert!(texts(" \n\n \t", 10).is_empty());
    assert_eq!(texts("a \n\n", 10), ["a"]);
}

/// Holds: B-23.
#[test]
fn code_that_is_cut_is_closed_and_opened_again_with_its_language() {
    let text = "Look:\n\n```rust\nlet a = 1;\nlet b = 2;\nlet c = 3;\n```\nDone.";
    assert_eq!(
        texts(text, 30),
        ["Look:\n\n```rust\nlet a = 1;\nlet b = 2;\n```", "```rust\nlet c = 3;\n```\nDone."]
    );
}

#[test]
fn a_longer_fence_stays_as_long() {
    let text = "~~~~md\n```\none\n```\ntwo three\n~~~~";
    assert_eq!(texts(text, 14), ["~~~~md\n```\none\n```\n~~~~", "~~~~md\ntwo three\n~~~~"]);
}

#[test]
fn code_within_a_list_or_a_quote_goes_on_as_code() {
    let text = "1. item\n\n   ```sh\n   first line\n     second\n   third line\n   ```\n2. next";
    assert_eq!(
        texts(text, 33),
        ["1. item\n\n   ```sh\n   first line\n     second\n```", "```sh\nthird line\n```\n2. next"]
    );
    let text = "> said\n> ```\n> one two\n> three four\n> ```\n> end";
    assert_eq!(texts(text, 18), ["> said\n> ```\n> one two\n> ```", "> ```\n> three four\n> ```\n> end"]);
}

#[test]
fn code_that_ends_where_the_part_does_is_not_opened_again() {
    let text = "```\naaaa bbbb\n```\ncccc dddd";
    assert_eq!(texts(text, 13), ["```\naaaa bbbb\n```", "cccc dddd"]);
}

#[test]
fn a_table_that_is_cut_repeats_its_head() {
    let text = format!("| a | b |\n|---|---|\n{}", "| 1 | word |\n".repeat(60));
    let parts = texts(&text, 200);
    assert!((3..5).contains(&parts.len()), "{}", parts.len());
    for part in &parts {
        assert!(part.starts_with("| a | b |\n|---|---|\n| 1 | word |"), "{part}");
    }
}

#[test]
fn a_cut_stands_outside_of_marks_links_and_code() {
    assert_eq!(texts("One two **three four** five", 13), ["One two", "**three four**", "five"]);
    assert_eq!(texts("One two `three four` five", 13), ["One two", "`three four`", "five"]);
    assert_eq!(
        texts("One two three four five six seven [eight nine](https://a.example/path) ten", 40),
        ["One two three four five six seven", "[eight nine](https://a.example/path) ten"]
    );
}

#[test]
fn a_title_stays_with_what_follows() {
    assert_eq!(
        texts("Some words here.\n\n## Title\n\nMore words follow.", 34),
        ["Some words here.", "## Title\n\nMore words follow."]
    );
}

#[test]
fn a_word_that_would_begin_a_block_does_not() {
    let parts = texts("aaaa bbbb cccc - dddd eeee", 14);
    assert_eq!(
        parts.concat().matches("\\-").count() + parts.concat().matches("cccc -").count(),
        1,
        "{parts:?}"
    );
}

/// Holds: B-25.
#[test]
fn nothing_is_cut_away() {
    let text = "Alpha beta. ".repeat(900);
    let fit = fit(4096, Dialect::Spans);
    let parts = split(&text, &fit);
    assert_eq!(parts.len(), 3);
    let joined: String = parts.iter().map(|part| &text[part.source.clone()]).collect();
    assert_eq!(joined, text);
    assert!(parts.iter().all(|part| fit.fits(&part.text)));
}

/// Holds: B-24.
#[test]
fn each_part_is_finished_as_it_fills() {
    let text = "Some words of an answer, with `code` and **more**.\n\n- item one\n- item two\n\n".repeat(20);
    let fit = fit(200, Dialect::CommonMark);
    let mut ended = Vec::new();
    for at in (0..=text.len()).step_by(7) {
        let mut parts = split(&text[..at], &fit);
        parts.pop();
        assert!(parts.len() >= ended.len() && parts[..ended.len()] == ended[..], "at {at}");
        ended = parts;
    }
    assert!(ended.len() > 5);
}

#[test]
fn a_caption_holds_less_than_the_messages_after_it() {
    let text = "word ".repeat(100);
    let parts = split_first(&text, &fit(20, Dialect::Spans), &fit(300, Dialect::Spans));
    assert_eq!(parts.iter().map(|part| part.text.len()).collect::<Vec<_>>(), [19, 299, 179]);
}

#[test]
fn a_text_that_fits_is_one_part() {
    let text =
        "A [link](https://a.example/quite/a/long/address/that/is/not/shown) and **bold** words. ".repeat(40);
    let fit = fit(1200, Dialect::Spans);
    assert!(fit.fits(&text), "{}", fit.measure(&text));
    assert_eq!(split(&text, &fit).len(), 1);
}

/// A carriage return alone ends a line too, and a vertical tab is no space to Markdown.
#[test]
fn a_part_reads_the_same_whatever_its_white_space() {
    let text = format!("V>{}\r```^^^ \n\n||\n--: &\n", "^".repeat(90));
    let row = format!("| a -{}\n-|-    \u{b}", "P".repeat(90));
    for text in [text, row] {
        let fit = fit(150, Dialect::Marks);
        assert!(split(&text, &fit).iter().all(|part| fit.fits(&part.text)), "{text:?}");
    }
}

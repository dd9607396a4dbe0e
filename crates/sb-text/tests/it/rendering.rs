//! What a reader sees, dialect by dialect.

use sb_text::{Dialect, Doc, Span, Style, Unit, render};

use crate::pieces::DIALECTS;

fn shown(markdown: &str, dialect: Dialect) -> String {
    render(&Doc::parse(markdown), dialect, Unit::Utf16).text
}

#[test]
fn each_dialect_marks_words_in_its_own_way() {
    let text = "# Title\n\nIt is **done**, *mostly*, not ~~wrong~~: [page](https://a.example/?a&b), `x < y`.";
    let each = DIALECTS.map(|dialect| shown(text, dialect));
    let expected = [
        "Title\n\nIt is done, mostly, not wrong: page (https://a.example/?a&b), x < y.",
        "Title\n\nIt is done, mostly, not wrong: page, x < y.",
        "# Title\n\nIt is **done**, *mostly*, not ~~wrong~~: [page](https://a.example/?a&b), `x < y`.",
        "*Title*\n\nIt is *done*, _mostly_, not ~wrong~: <https://a.example/?a&amp;b|page>, `x &lt; y`.",
        "*Title*\n\nIt is *done*, _mostly_, not ~wrong~: page (https://a.example/?a&b), `x < y`.",
        "<h1>Title</h1><p>It is <b>done</b>, <i>mostly</i>, not <s>wrong</s>: \
         <a href=\"https://a.example/?a&amp;b\">page</a>, <code>x &lt; y</code>.</p>",
    ];
    assert_eq!(each, expected);
}

#[test]
fn lists_keep_their_depth_numbers_and_boxes() {
    let text = "- a\n  - b\n    more\n- [x] c\n- [ ] d\n\n7. e\n8. f";
    assert_eq!(shown(text, Dialect::Spans), "• a\n  ◦ b\n    more\n☑ c\n☐ d\n\n7. e\n8. f");
    assert_eq!(
        shown(text, Dialect::Html),
        "<ul><li>a<ul><li>b<br>more</li></ul></li><li>☑ c</li><li>☐ d</li></ul><ol start=\"7\"><li>e</li><li>f</li></ol>"
    );
}

#[test]
fn a_table_has_aligned_columns_where_there_are_none() {
    let text = "| name | n |\n|---|--:|\n| **a** | 1 |\n| 漢字 | 22 |";
    let aligned = "name   n\n----  --\na      1\n漢字  22";
    assert_eq!(shown(text, Dialect::Plain), aligned);
    assert_eq!(shown(text, Dialect::Marks), format!("```\n{aligned}\n```"));
    let spans = render(&Doc::parse(text), Dialect::Spans, Unit::Chars);
    assert_eq!(spans.text, aligned);
    assert_eq!(spans.spans, [Span { from: 0, len: 33, style: Style::Pre { language: String::new() } }]);
    assert_eq!(shown(text, Dialect::CommonMark), "| name | n |\n| --- | --: |\n| **a** | 1 |\n| 漢字 | 22 |");
}

#[test]
fn spans_say_where_and_how_in_the_unit_asked_for() {
    let doc = Doc::parse("😀 **b *i* [l](https://a.example)**\n\n> q `c`\n\n```py\nx\n```");
    let shown = render(&doc, Dialect::Spans, Unit::Utf16);
    assert_eq!(shown.text, "😀 b i l\n\nq c\n\nx");
    let span = |from, len, style| Span { from, len, style };
    assert_eq!(
        shown.spans,
        [
            span(3, 5, Style::Bold),
            span(5, 1, Style::Italic),
            span(7, 1, Style::Link { url: "https://a.example".into() }),
            span(10, 3, Style::Quote),
            span(12, 1, Style::Code),
            span(15, 1, Style::Pre { language: "py".into() }),
        ]
    );
    assert_eq!(render(&doc, Dialect::Spans, Unit::Chars).spans[0].from, 2);
}

#[test]
fn literal_characters_come_out_as_they_are() {
    for text in [
        "3 * 4",
        "snake_case_name",
        "a < b && c",
        "2_000",
        "$x^2$",
        "👨‍👩‍👧‍👦 שלום",
        "5 > 3",
        "C:\\dir",
        "a_b*c",
        "~5 ~6",
    ] {
        for dialect in [Dialect::Plain, Dialect::Spans, Dialect::Marks] {
            assert_eq!(shown(text, dialect), text);
        }
        assert_eq!(Doc::parse(&shown(text, Dialect::CommonMark)), Doc::parse(text));
    }
    assert_eq!(shown("snake_case 3 * 4 a < b && c", Dialect::CommonMark), "snake_case 3 * 4 a < b && c");
    assert_eq!(shown("a < b && c", Dialect::Slack), "a &lt; b &amp;&amp; c");
}

#[test]
fn code_comes_out_byte_for_byte() {
    let code = "  fn a() -> &'a str {\n\n\t\"\\n *x* _y_ <b> &amp; ```\"\n  }  ";
    let text = format!("````rust\n{code}\n````");
    for dialect in [Dialect::Plain, Dialect::Spans] {
        assert_eq!(shown(&text, dialect), code.trim());
    }
    assert_eq!(shown(&text, Dialect::CommonMark), text);
    assert_eq!(shown(&text, Dialect::Marks), format!("```\n{code}\n```"));
}

#[test]
fn html_in_a_text_is_text_everywhere() {
    let text = "<b>x</b> <script>alert(1)</script>\n\n<div onclick=\"y\">\n**z**\n</div>";
    assert_eq!(shown(text, Dialect::Spans), text);
    let html = shown(text, Dialect::Html);
    assert!(html.starts_with("<p>&lt;b&gt;x&lt;/b&gt; &lt;script&gt;"), "{html}");
    assert!(html.contains("<p>&lt;div onclick=&quot;y&quot;&gt;<br>**z**<br>&lt;/div&gt;</p>"), "{html}");
    assert!(shown(text, Dialect::CommonMark).starts_with("\\<b>x\\</b> \\<script>"));
    assert_eq!(shown("<!channel> <@U1>", Dialect::Slack), "&lt;!channel&gt; &lt;@U1&gt;");
}

#[test]
fn a_dangerous_or_relative_address_is_text() {
    for dialect in [Dialect::Plain, Dialect::Spans, Dialect::Marks] {
        assert_eq!(
            shown("[x](javascript:alert) [y](docs/a.md)", dialect),
            "x (javascript:alert) y (docs/a.md)"
        );
    }
    assert_eq!(shown("[x](data:text/html,a)", Dialect::Html), "<p>x (data:text/html,a)</p>");
    assert_eq!(render(&Doc::parse("[x](javascript:a)"), Dialect::Spans, Unit::Chars).spans, []);
}

#[test]
fn a_picture_is_a_link_with_its_description() {
    assert_eq!(shown("![a cat](https://a.example/c.png)", Dialect::Slack), "<https://a.example/c.png|a cat>");
    assert_eq!(shown("![](https://a.example/c.png)", Dialect::Plain), "https://a.example/c.png");
}

#[test]
fn an_address_stands_bare_as_it_was_written() {
    let text = "See https://a.example/b_c?d=1&e=2 or https://a.example/f_(g).";
    assert_eq!(shown(text, Dialect::Plain), text);
    assert_eq!(
        shown(text, Dialect::CommonMark),
        "See https://a.example/b_c?d=1&e=2 or <https://a.example/f_(g)>."
    );
    assert_eq!(shown("See https://a.example/b now", Dialect::CommonMark), "See https://a.example/b now");
}

#[test]
fn a_line_of_dashes_below_words_is_a_line_across() {
    assert_eq!(shown("Words\n---\nmore", Dialect::Plain), "Words\n\n———\n\nmore");
    assert_eq!(shown("Title\n===\nmore", Dialect::Marks), "*Title*\n\nmore");
}

#[test]
fn a_reference_stays_as_written() {
    let text = "See [this][1].\n\n[1]: https://a.example/x";
    assert_eq!(shown(text, Dialect::Plain), text);
}

#[test]
fn marks_that_would_not_show_are_left_out() {
    assert_eq!(shown("un**believ**able", Dialect::Slack), "unbelievable");
    assert_eq!(shown("**two\nlines**", Dialect::Marks), "*two*\n*lines*");
    assert_eq!(shown("`a``", Dialect::Marks), "`a``");
}

#[test]
fn nothing_shown_is_an_empty_text() {
    for text in ["", " \n\t\n ", "# ", "```\n```", ">"] {
        for dialect in DIALECTS {
            assert_eq!(shown(text, dialect), "", "{text:?}");
        }
    }
}

//! Whatever is written, it can be shown in every dialect, and nothing in it becomes markup it was not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sb_text::{Dialect, Doc, Style, Unit, render};

fuzz_target!(|markdown: &str| {
    let doc = Doc::parse(markdown);
    for dialect in [Dialect::Plain, Dialect::CommonMark, Dialect::Slack, Dialect::Marks, Dialect::Html] {
        let shown = render(&doc, dialect, Unit::Chars);
        assert_eq!(shown.text, shown.text.trim());
        assert!(shown.spans.is_empty());
    }
    let html = render(&doc, Dialect::Html, Unit::Chars).text;
    for tag in html.split('<').skip(1) {
        let name = tag.trim_start_matches('/').split(|c: char| !c.is_ascii_alphanumeric()).next();
        let known = "p h1 h2 h3 h4 h5 h6 pre code blockquote ul ol li table tr th td hr br b i s a";
        assert!(name.is_some_and(|name| known.split(' ').any(|known| known == name)), "{tag:?}");
    }
    let slack = render(&doc, Dialect::Slack, Unit::Chars).text;
    for link in slack.split('<').skip(1) {
        assert!(!link.starts_with(['!', '@', '#']), "{link:?}");
    }
    for unit in [Unit::Chars, Unit::Utf16, Unit::Bytes] {
        let shown = render(&doc, Dialect::Spans, unit);
        let length = unit.count(&shown.text);
        let mut open: Vec<(usize, bool)> = Vec::new();
        let mut before = 0;
        for span in &shown.spans {
            let end = span.from + span.len;
            assert!(span.len > 0 && span.from >= before && end <= length);
            before = span.from;
            open.retain(|(end, _)| *end > span.from);
            assert!(open.iter().all(|(outer, code)| end <= *outer && !code));
            open.push((end, matches!(span.style, Style::Code | Style::Pre { .. })));
        }
    }
});

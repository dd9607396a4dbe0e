//! The words of a web page: what stands outside its tags, with lines where it has blocks, and its links.
//!
//! Pure, and in time that grows with the page alone, whatever it holds: no tree is built, so there is nothing
//! to nest. What a browser would not show as words (scripts, styles, comments) is left out; that something is
//! hidden by a style is not seen.

use std::borrow::Cow;

/// Tags before and after which a line ends.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "br",
    "caption",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "nav",
    "ol",
    "option",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "tfoot",
    "thead",
    "title",
    "tr",
    "ul",
];
/// What stands between these and their ends is no words of the page.
const UNSEEN: &[&str] = &["script", "style", "template", "svg", "iframe", "object", "noscript"];
/// The longest address of a link that is told.
const LONGEST_LINK: usize = 500;

/// The words of a page.
pub(super) fn words(html: &str) -> String {
    let mut page = Page { out: String::with_capacity(html.len() / 4), link: None };
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('<') {
        page.text(before);
        rest = match after.chars().next() {
            Some('!') if after.starts_with("!--") => past(after, "-->"),
            Some('!' | '?') => past(after, ">"),
            Some(c) if c.is_ascii_alphabetic() || c == '/' => {
                let (tag, next) = tag(after);
                page.tag(&tag);
                match UNSEEN.contains(&tag.name.as_str()) && !tag.closes && !tag.is_empty {
                    true => past_end(next, &tag.name),
                    false => next,
                }
            }
            _ => {
                page.text("<");
                after
            }
        };
    }
    page.text(rest);
    page.out.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_owned()
}

struct Page {
    out: String,
    /// Where the link leads that is open.
    link: Option<String>,
}

/// One tag, with the attributes that are looked at.
struct Tag {
    name: String,
    closes: bool,
    is_empty: bool,
    href: Option<String>,
    alt: Option<String>,
}

impl Page {
    fn text(&mut self, text: &str) {
        for word in decoded(text).split_inclusive(char::is_whitespace) {
            let bare = word.trim_end();
            self.out.push_str(bare);
            if bare.len() < word.len() && !self.out.is_empty() && !self.out.ends_with([' ', '\n']) {
                self.out.push(' ');
            }
        }
    }

    fn tag(&mut self, tag: &Tag) {
        match tag.name.as_str() {
            "a" => {
                if let Some(link) = self.link.take() {
                    self.out.push_str(&format!(" <{link}>"));
                }
                self.link =
                    tag.href.clone().filter(|to| !tag.closes && !to.is_empty() && !to.starts_with('#'));
            }
            "img" => {
                if let Some(alt) = tag.alt.as_deref().filter(|alt| !alt.trim().is_empty()) {
                    self.text(&format!("[picture: {alt}]"));
                }
            }
            "td" | "th" if tag.closes => self.out.push_str(" | "),
            "li" if !tag.closes => {
                self.line();
                self.out.push_str("- ");
            }
            name @ ("h1" | "h2" | "h3" | "h4" | "h5" | "h6") if !tag.closes => {
                self.line();
                let depth = name.as_bytes().get(1).map_or(1, |digit| usize::from(digit - b'0'));
                self.out.push_str(&"#".repeat(depth));
                self.out.push(' ');
            }
            name if BLOCKS.contains(&name) => self.line(),
            _ => {}
        }
    }

    /// Ends a line, with an empty one after it at most.
    fn line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }
}

/// The tag that begins here, after its `<`, and what follows its end.
fn tag(text: &str) -> (Tag, &str) {
    let (closes, text) = text.strip_prefix('/').map_or((false, text), |rest| (true, rest));
    let end = text.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).unwrap_or(text.len());
    let (name, mut rest) = text.split_at(end);
    let mut tag = Tag { name: name.to_ascii_lowercase(), closes, is_empty: false, href: None, alt: None };
    loop {
        rest = rest.trim_start();
        tag.is_empty = rest.starts_with("/>");
        if let Some(after) = rest.strip_prefix('>') {
            return (tag, after);
        }
        if rest.is_empty() {
            return (tag, rest);
        }
        let end =
            rest.find(|c: char| c.is_whitespace() || matches!(c, '>' | '=')).unwrap_or(rest.len()).max(1);
        let (key, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        rest = after.trim_start();
        let Some(after) = rest.strip_prefix('=') else { continue };
        let (value, after) = value(after.trim_start());
        rest = after;
        let kept = match key.to_ascii_lowercase().as_str() {
            "href" => &mut tag.href,
            "alt" => &mut tag.alt,
            _ => continue,
        };
        kept.get_or_insert_with(|| {
            decoded(value).chars().filter(|c| !c.is_control()).take(LONGEST_LINK).collect()
        });
    }
}

/// An attribute's value, and what follows it.
fn value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            return rest.split_once(quote).unwrap_or((rest, ""));
        }
    }
    let end = text.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(text.len());
    text.split_at(end)
}

/// What follows the first `end`; nothing if there is none.
fn past<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, rest)| rest)
}

/// What follows the tag that closes `name`; nothing if it is never closed.
fn past_end<'a>(text: &'a str, name: &str) -> &'a str {
    let closes = |at: usize| {
        let after = text.get(at + 2..at + 2 + name.len());
        after.is_some_and(|found| found.eq_ignore_ascii_case(name))
    };
    let at = text.match_indices("</").map(|(at, _)| at).find(|at| closes(*at));
    at.and_then(|at| text.get(at..)).map_or("", |rest| past(rest, ">"))
}

fn decoded(text: &str) -> Cow<'_, str> {
    html_escape::decode_html_entities(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_reads_as_its_words() {
        let html = "<!doctype html><html><head><title>A &amp; B</title><style>p{color:red}</style>\
            <script>if (a < b) { x(\"</p>\") }</script></head><body><!-- hidden <p>no</p> -->\
            <h2>Roses\n  here</h2><p>Water <a href='/daily?a=1&amp;b=2' title=\"x>y\">them</a> daily &mdash; 3 &lt; 4.\
            <ul><li>red<li>white</ul><img src=x alt='a rose'><table><tr><td>1</td><td>2</td></tr></table>\
            <SCRIPT>evil()</SCRIPT >end";
        let said = words(html);
        for wanted in [
            "A & B",
            "## Roses here",
            "Water them </daily?a=1&b=2> daily — 3 < 4.",
            "- red",
            "- white",
            "[picture: a rose]",
            "1 | 2 |",
            "end",
        ] {
            assert!(said.contains(wanted), "{wanted}: {said}");
        }
        for hidden in ["color", "evil", "x(", "hidden", "<p>", "title="] {
            assert!(!said.contains(hidden), "{hidden}: {said}");
        }
    }

    #[test]
    fn what_is_broken_is_read_as_far_as_it_goes() {
        for (html, said) in [
            ("a < b", "a < b"),
            ("a <", "a <"),
            ("<p", ""),
            ("<p>x<", "x<"),
            ("<a href=\"never closed", ""),
            ("x<!-- never closed", "x"),
            ("x<script>never closed", "x"),
            ("&notanentity; &#x41;", "&notanentity; A"),
            ("<=", "<="),
            ("<p =x>y", "y"),
            ("</>z", "z"),
        ] {
            assert_eq!(words(html), said, "{html}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_read(html in "[<>a-c/!=\"' &;#\\-é\n]{0,200}") {
            words(&html);
        }
    }
}

//! Which addresses may be links, and where they stand bare in a text.
//!
//! An address comes from a model, which may repeat a web page: only schemes that open something harmless are
//! links, everything else stays text that can be read.

use crate::doc::{Inline, words};

const SCHEMES: [&str; 10] = ["http", "https", "mailto", "tel", "sms", "xmpp", "matrix", "geo", "ftp", "tg"];

/// The address as it may be linked to; `None` where it is relative, its scheme may harm, or it is no address.
pub(crate) fn safe(url: &str) -> Option<String> {
    let url = url.trim();
    let (scheme, rest) = url.split_once(':')?;
    if rest.trim_start_matches('/').is_empty() || url.chars().any(char::is_control) {
        return None;
    }
    let known = SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme));
    known.then(|| {
        let mut safe = String::with_capacity(url.len());
        for c in url.chars() {
            match c {
                '<' => safe.push_str("%3C"),
                '>' => safe.push_str("%3E"),
                '"' => safe.push_str("%22"),
                '`' => safe.push_str("%60"),
                '|' => safe.push_str("%7C"),
                '\\' => safe.push_str("%5C"),
                c if c.is_whitespace() => safe.push_str("%20"),
                c => safe.push(c),
            }
        }
        safe
    })
}

/// Whether a link shows nothing but its own address.
pub(crate) fn is_bare(url: &str, text: &[Inline]) -> bool {
    let shown = words(text);
    shown == url || url.strip_prefix("mailto:") == Some(shown.as_str())
}

/// Where the first bare address of `text` stands, from byte `from` on.
pub(crate) fn next_bare(text: &str, from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    while let Some(found) = text.get(at..)?.find("http") {
        let start = at + found;
        let rest = text.get(start..)?;
        at = start + 4;
        let scheme = ["https://", "http://"].into_iter().find(|scheme| rest.starts_with(scheme));
        let glued = text.get(..start)?.chars().next_back().is_some_and(char::is_alphanumeric);
        let Some(scheme) = scheme.filter(|_| !glued) else { continue };
        let end = rest.find(ends_address).unwrap_or(rest.len());
        let address = rest.get(..end).map(without_punctuation)?;
        if address.len() > scheme.len() {
            return Some((start, start + address.len()));
        }
    }
    None
}

fn ends_address(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '<' | '>' | '"' | '`' | '|' | '\\' | '。' | '，' | '、' | '）' | '」' | '；')
}

/// Punctuation behind an address belongs to the sentence; a bracket does unless it was opened within.
fn without_punctuation(address: &str) -> &str {
    let mut kept = address;
    while let Some(last) = kept.chars().next_back() {
        let sentence = matches!(last, '.' | ',' | ':' | ';' | '!' | '?' | '\'' | '*' | '_' | '~' | '…');
        let closes = |open: char, close: char| {
            last == close && kept.matches(close).count() > kept.matches(open).count()
        };
        if !sentence && !closes('(', ')') && !closes('[', ']') && !closes('{', '}') {
            break;
        }
        kept = kept.strip_suffix(last).unwrap_or_default();
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_absolute_addresses_are_links() {
        for url in ["https://a.example/x?y=1&z", "mailto:a@b.example", "HTTP://A", "tel:+491"] {
            assert_eq!(safe(url).as_deref(), Some(url));
        }
        for url in ["javascript:alert(1)", "data:text/html,x", "docs/a.md", "#top", "", "http:", "http://"] {
            assert_eq!(safe(url), None, "{url}");
        }
        assert_eq!(safe("java\nscript:x"), None);
        assert_eq!(safe("https://a/b c|d").as_deref(), Some("https://a/b%20c%7Cd"));
    }

    #[test]
    fn a_bare_address_ends_before_the_sentence_does() {
        let found = |text: &'static str| next_bare(text, 0).map(|(from, to)| &text[from..to]);
        assert_eq!(found("See https://a.example/b_(c). Then"), Some("https://a.example/b_(c)"));
        assert_eq!(found("(https://a.example)"), Some("https://a.example"));
        assert_eq!(found("xhttps://a http:// then http://b"), Some("http://b"));
        assert_eq!(found("no address"), None);
    }
}

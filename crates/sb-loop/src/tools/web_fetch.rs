//! `web_fetch {url, part}`: the words of a page, as content from outside.
//!
//! Where it may go is the guard's business. At most 2 MB are read, and a part of the words at a time is given,
//! with what is left said. Whatever the page is, what comes back is text; nothing in it is run or followed.

use std::time::Duration;

use encoding_rs::{Encoding, UTF_8};
use sb_harness::model::text::{counted, one_line};
use sb_harness::net::{Fetch, Fetched, media};
use serde_json::Value;

use super::page;
use super::workspace::blocking;
use super::{Bench, Done, Outcome, text};

const LIMIT: Duration = Duration::from_secs(30);
/// The most bytes that are read.
const MOST: usize = 2 * 1024 * 1024;
/// Characters of one part: about ten thousand tokens.
const PART: usize = 40_000;
/// In so many first bytes a page may say how its letters are written.
const LOOKED_AT: usize = 1024;

pub(super) async fn run(bench: &Bench, input: &Value) -> Outcome {
    let fetch = Fetch {
        url: text(input, "url").to_owned(),
        let_in: bench.profile.web_hosts.clone(),
        most: MOST,
        limit: LIMIT,
    };
    let part = usize::try_from(input["part"].as_u64().unwrap_or(1)).unwrap_or(usize::MAX).max(1);
    let fetched = bench.away.get(&fetch).await.map_err(|refused| refused.0)?;
    let words = blocking(move || told(&fetched, part)).await?;
    Ok(Done { text: words, outside: true, ..Done::default() })
}

/// One part of a page, with where it came from.
fn told(page: &Fetched, part: usize) -> Result<String, String> {
    let words = words_of(page)?;
    let url = one_line(&page.url, 500);
    let count = words.chars().count();
    let parts = count.div_ceil(PART).max(1);
    if part > parts {
        return Err(format!("The page has {}.", counted(parts as u64, "part")));
    }
    let shown: String = words.chars().skip((part - 1).saturating_mul(PART)).take(PART).collect();
    let mut notes = Vec::new();
    if parts > 1 {
        let more =
            if part < parts { format!("; ask for part {} to read on", part + 1) } else { String::new() };
        notes.push(format!("[cut: part {part} of {parts}{more}]"));
    }
    if page.cut {
        notes.push(format!("[cut: only the first {MOST} bytes of the page were read]"));
    }
    let notes: String = notes.iter().map(|note| format!("\n{note}")).collect();
    Ok(format!("{url} answered {}:\n\n{}{notes}", page.status, shown.trim_end()))
}

/// The words of what was fetched, if it has any.
fn words_of(page: &Fetched) -> Result<String, String> {
    let kind = page.content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_text = kind.starts_with("text/")
        || ["json", "xml", "javascript", "yaml", "toml", "csv"].iter().any(|known| kind.ends_with(known));
    let unknown = kind.is_empty() || kind == media::UNKNOWN;
    let reads = is_text || (unknown && media::text_type(&page.body, "").is_some());
    if !reads {
        let kind = if kind.is_empty() { "of an unknown kind".to_owned() } else { one_line(&kind, 60) };
        let size = counted(page.body.len() as u64, "byte");
        return Err(format!("It answered {} with what is no text ({kind}, {size} read).", page.status));
    }
    let page_text = decoded(&page.body, &page.content_type);
    let html =
        kind.ends_with("html") || kind.ends_with("xhtml+xml") || (unknown && looks_like_html(&page_text));
    match html {
        true => Ok(page::words(&page_text)),
        false => Ok(page_text),
    }
}

fn looks_like_html(text: &str) -> bool {
    let begins: String = text.trim_start().chars().take(15).collect();
    let begins = begins.to_ascii_lowercase();
    begins.starts_with("<!doctype html") || begins.starts_with("<html")
}

/// The letters, by the first of: a mark at the beginning, what was declared, what the page says, UTF-8.
fn decoded(bytes: &[u8], content_type: &str) -> String {
    let declared = after(content_type, "charset=").and_then(|name| Encoding::for_label(name.as_bytes()));
    let first = String::from_utf8_lossy(bytes.get(..LOOKED_AT).unwrap_or(bytes)).to_ascii_lowercase();
    let said = || after(&first, "charset=").and_then(|name| Encoding::for_label(name.as_bytes()));
    let (text, ..) = declared.or_else(said).unwrap_or(UTF_8).decode(bytes);
    text.into_owned()
}

/// The word after `key`, in or out of quotes.
fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let at = text.to_ascii_lowercase().find(key)?;
    let rest = text.get(at + key.len()..)?.trim_start_matches(['"', '\'', ' ']);
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c))).unwrap_or(rest.len());
    rest.get(..end).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(content_type: &str, body: &[u8]) -> Fetched {
        Fetched {
            url: "https://example.org/a".into(),
            status: 200,
            content_type: content_type.into(),
            body: body.to_vec().into(),
            cut: false,
        }
    }

    #[test]
    fn a_page_is_read_as_its_words_and_links_without_scripts() {
        let html = b"<!doctype html><title>T</title><script>alert(1)</script><style>p{}</style>\
            <h1>Gardens</h1><p>Water the <a href=\"/roses\">roses</a> daily.";
        let said = told(&page("text/html; charset=utf-8", html), 1).expect("words");
        assert!(said.starts_with("https://example.org/a answered 200:\n\n"), "{said}");
        assert!(said.contains("Gardens") && said.contains("roses") && said.contains("/roses"), "{said}");
        assert!(!said.contains("alert") && !said.contains("p{}"), "{said}");
        let unnamed = told(&page("", b"<html><body><p>hi</p>"), 1).expect("words");
        assert!(unnamed.ends_with("hi"), "{unnamed}");
    }

    #[test]
    fn letters_are_read_as_they_are_written() {
        let cases: [(&str, &[u8]); 5] = [
            ("text/plain; charset=iso-8859-1", b"caf\xe9"),
            ("text/plain; charset=\"UTF-8\"", "café".as_bytes()),
            ("text/html", b"<meta charset='windows-1252'>caf\xe9"),
            ("text/plain", b"\xff\xfec\0a\0f\0\xe9\0"),
            ("text/plain; charset=nonsense", "café".as_bytes()),
        ];
        for (kind, body) in cases {
            assert!(told(&page(kind, body), 1).expect(kind).contains("café"), "{kind}");
        }
    }

    #[test]
    fn a_long_page_comes_in_parts_that_say_so() {
        let long = format!("{}é", "x".repeat(PART + 5));
        let mut fetched = page("text/plain", long.as_bytes());
        let first = told(&fetched, 1).expect("a part");
        assert!(
            first.ends_with("[cut: part 1 of 2; ask for part 2 to read on]"),
            "{}",
            &first[first.len() - 60..]
        );
        fetched.cut = true;
        let second = told(&fetched, 2).expect("a part");
        assert!(
            second.contains("\n\nxxxxxé\n[cut: part 2 of 2]\n[cut: only the first 2097152 bytes"),
            "{second}"
        );
        assert_eq!(told(&fetched, 3), Err("The page has 2 parts.".into()));
    }

    #[test]
    fn what_is_no_text_is_said_so() {
        let said = told(&page("image/png", b"\x89PNG"), 1).expect_err("no text");
        assert_eq!(said, "It answered 200 with what is no text (image/png, 4 bytes read).");
        assert!(told(&page("", b"\0\x01\x02"), 1).is_err());
        assert!(told(&page("application/ld+json", b"{}"), 1).is_ok());
    }

    #[test]
    fn a_page_made_to_hurt_the_reader_is_read() {
        let deep = "<div>".repeat(100_000);
        let tables = "<table><tr><td>".repeat(3000);
        let open = "<b><i><a href=x>".repeat(20_000);
        for html in [deep, tables, open, "<".repeat(1 << 20), "&".repeat(1 << 20)] {
            let (sent, heard) = std::sync::mpsc::channel();
            // A thread of its own: what overflows its stack would end the whole program.
            std::thread::spawn(move || sent.send(told(&page("text/html", html.as_bytes()), 1)));
            drop(heard.recv().expect("it ends"));
        }
    }
}

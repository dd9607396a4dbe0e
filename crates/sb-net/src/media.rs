//! What kind of file some bytes are, the same wherever files come in or go out.
//!
//! Bytes that say it themselves are believed first, then whoever gave the file. A text says nothing, so
//! its name decides where that is well known. Pure, and never a reason to trust what a file holds.

/// What is said of a file of which nothing is known.
pub const UNKNOWN: &str = "application/octet-stream";
/// As many of a file's first bytes tell what it is; more need not be read.
pub const LOOKED_AT: usize = 64 * 1024;

/// Kinds of text by the ending of a name.
const TEXTS: &[(&str, &str)] = &[
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("eml", "message/rfc822"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ics", "text/calendar"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("jsonl", "application/jsonl"),
    ("markdown", "text/markdown"),
    ("md", "text/markdown"),
    ("svg", SVG),
    ("toml", "application/toml"),
    ("tsv", "text/tab-separated-values"),
    ("vcf", "text/vcard"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
];
const SVG: &str = "image/svg+xml";

/// The media type of a file by its first bytes, else as declared, else as a text of its name.
pub fn media_type(bytes: &[u8], name: &str, declared: Option<&str>) -> String {
    let by_bytes = by_bytes(bytes).map(|kind| match kind.mime_type() {
        "text/xml" if text_type(bytes, name) == Some(SVG) => SVG,
        kind => kind,
    });
    // Some senders declare of everything that it is unknown.
    let declared = declared.filter(|kind| *kind != UNKNOWN);
    by_bytes.or(declared).or_else(|| text_type(bytes, name)).unwrap_or(UNKNOWN).to_owned()
}

/// What bytes themselves say they are, if they do. A text that begins as a picture would is none.
pub fn by_bytes(bytes: &[u8]) -> Option<infer::Type> {
    let is_picture = |kind: &infer::Type| kind.matcher_type() == infer::MatcherType::Image;
    infer::get(bytes).filter(|kind| !(is_picture(kind) && is_text(bytes)))
}

/// The media type of a text, by its name where that is well known; none if the bytes are no text.
pub fn text_type(bytes: &[u8], name: &str) -> Option<&'static str> {
    if !is_text(bytes) {
        return None;
    }
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let known = TEXTS.iter().find(|(known, _)| ending.as_deref() == Some(known));
    Some(known.map_or("text/plain", |(_, kind)| kind))
}

/// Whether bytes read as UTF-8 that a person could have written.
fn is_text(bytes: &[u8]) -> bool {
    let first = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    let is_utf8 = match std::str::from_utf8(first) {
        Ok(_) => true,
        // A character cut off where we stopped looking is no sign against it.
        Err(why) => why.error_len().is_none() && first.len() == LOOKED_AT,
    };
    let is_odd = |byte: &u8| *byte < b' ' && !b"\t\n\r\x0c\x1b".contains(byte);
    is_utf8 && !first.iter().any(is_odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_believed_before_names_and_words() {
        let png = b"\x89PNG\r\n\x1a\n rest";
        assert_eq!(media_type(png, "notes.md", Some("text/plain")), "image/png");
        assert_eq!(media_type(b"%PDF-1.7", "a.json", None), "application/pdf");
        assert_eq!(media_type(b"BMW builds cars", "cars", None), "text/plain");
        assert_eq!(media_type(b"\x00\x01\x02", "notes.md", None), UNKNOWN);
        assert_eq!(media_type(b"\x00\x01\x02", "x", Some("application/x-odd")), "application/x-odd");
    }

    #[test]
    fn a_text_is_what_its_name_says_where_nobody_declared_it() {
        for (name, kind) in [
            ("README.md", "text/markdown"),
            ("a.JSON", "application/json"),
            ("table.csv", "text/csv"),
            ("page.html", "text/html"),
            ("drawing.svg", "image/svg+xml"),
            ("notes.txt", "text/plain"),
            ("main.rs", "text/plain"),
            ("Makefile", "text/plain"),
            ("md", "text/plain"),
            ("photo.png", "text/plain"),
            ("", "text/plain"),
        ] {
            assert_eq!(media_type("wörds\n".as_bytes(), name, None), kind, "{name}");
        }
        assert_eq!(media_type(b"a,b", "a.md", Some("text/csv")), "text/csv");
        assert_eq!(media_type(b"a,b", "a.csv", Some(UNKNOWN)), "text/csv");
        assert_eq!(media_type(b"<?xml version=\"1.0\"?><svg/>", "a.svg", None), "image/svg+xml");
        assert_eq!(media_type(b"<?xml version=\"1.0\"?><a/>", "a.xml", None), "text/xml");
    }

    #[test]
    fn a_text_is_utf8_without_odd_bytes_however_long() {
        let mut long = "é".repeat(LOOKED_AT).into_bytes();
        long.insert(0, b'x');
        assert_eq!(text_type(&long, "a.md"), Some("text/markdown"), "a letter is cut where we stop looking");
        assert_eq!(text_type(&long[..LOOKED_AT], "a.md"), Some("text/markdown"));
        assert_eq!(text_type("é".as_bytes().get(..1).expect("a byte"), "a.md"), None);
        for odd in [&b"a\0b"[..], b"\xff\xfe", b"\x01\x02", b"caf\xe9"] {
            assert_eq!(text_type(odd, "a.md"), None, "{odd:?}");
        }
        assert_eq!(text_type(b"\x1b[1mbold\x1b[0m\tx\r\n", ""), Some("text/plain"));
        assert_eq!(text_type(b"", "a.json"), Some("application/json"));
    }
}

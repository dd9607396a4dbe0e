//! Strikes secrets out of a log line: those that are known, and whatever looks like one of ours or of a
//! provider's. What stands there instead is fit for text and for JSON.

use sb_engine::model::Secret;

/// What stands in place of a secret.
const STRUCK: &str = "[secret]";
/// A known secret that is shorter would strike out ordinary words.
const SHORTEST_KNOWN: usize = 6;
/// What keys begin with, and what `Bearer` is followed by, has so many characters more.
const SHORTEST: usize = 8;
const BEARER: &str = "bearer ";

/// `line` without secrets.
pub fn struck(line: &str, known: &[Secret]) -> String {
    let mut line = line.to_owned();
    for secret in known.iter().map(Secret::expose).filter(|s| s.len() >= SHORTEST_KNOWN) {
        line = line.replace(secret, STRUCK);
        // As JSON spells it.
        let spelled = serde_json::to_string(secret).unwrap_or_default();
        let spelled = spelled.trim_matches('"');
        if spelled != secret && !spelled.is_empty() {
            line = line.replace(spelled, STRUCK);
        }
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line.as_str();
    while let Some(first) = rest.chars().next() {
        let (kept, secret) = found(rest, out.chars().next_back());
        if secret == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            out.push_str(&rest[..kept]);
            out.push_str(STRUCK);
            rest = &rest[kept + secret..];
        }
    }
    out
}

/// How long the secret is that `text` begins with, and how much before it stays.
fn found(text: &str, before: Option<char>) -> (usize, usize) {
    if before.is_some_and(|c| c.is_alphanumeric()) {
        return (0, 0);
    }
    let long = |from: usize, is: fn(u8) -> bool| {
        let length = text.as_bytes().iter().skip(from).take_while(|b| is(**b)).count();
        if length >= SHORTEST { length } else { 0 }
    };
    let key = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    for (begins, is) in [("sb_", (|b| b.is_ascii_hexdigit()) as fn(u8) -> bool), ("sk-", key), ("sk_", key)] {
        if text.starts_with(begins) {
            let length = long(begins.len(), is);
            return (0, if length > 0 { begins.len() + length } else { 0 });
        }
    }
    if text.get(..BEARER.len()).is_some_and(|word| word.eq_ignore_ascii_case(BEARER)) {
        return (
            BEARER.len(),
            long(BEARER.len(), |b| b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b'\\' | b',')),
        );
    }
    (0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(line: &str) -> String {
        struck(line, &[Secret::new("known-by-heart"), Secret::new("k")])
    }

    #[test]
    fn tokens_keys_and_known_secrets_are_struck_out() {
        assert_eq!(seen("token sb_0123456789abcdef, refused"), "token [secret], refused");
        assert_eq!(seen("key=sk-ant-api03-Ab_9 x"), "key=[secret] x");
        assert_eq!(seen("Authorization: bearer abc.def~0123"), "Authorization: bearer [secret]");
        assert_eq!(seen("Bearer $x;y(z)12 (known-by-heart)"), "Bearer [secret] ([secret])");
        assert_eq!(seen("Bearer known-by-heart"), "Bearer [secret]");
        assert_eq!(seen(r#"{"a":"Bearer 0123456789\"","b":1}"#), r#"{"a":"Bearer [secret]\"","b":1}"#);
    }

    #[test]
    fn ordinary_words_stay() {
        for line in [
            "INFO up address=127.0.0.1:8790 taken_up=0",
            "the task-something-else of sb_engine::actor and sb_http",
            "sk-short; a bearer token; ok",
            "Grüße, 你好 👋 sb_",
            "",
        ] {
            assert_eq!(seen(line), line);
        }
    }
}

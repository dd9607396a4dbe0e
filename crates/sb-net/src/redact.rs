//! Makes text from outside fit for an error message: short, on one line, without keys or addresses.
//!
//! An error may echo the request that caused it, so what is shown of it is cut to a few hundred
//! characters, known secrets are struck out wherever they stand, and so is whatever looks like a key.

use sb_model::Secret;
use sb_model::text::one_line;

/// Longest excerpt, in visible characters.
const LONGEST: usize = 300;
/// What stands in place of a key.
const HIDDEN: &str = "•••";
/// How keys of common services begin.
const KEY_BEGINS: [&str; 9] = ["sk-", "sk_", "pk-", "sb_", "xox", "ghp_", "glpat-", "AIza", "eyJ"];

/// `text` without `secrets`, words that look like keys, or more of an address than its host.
pub fn redact(text: &str, secrets: &[&Secret]) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().map(|s| s.expose()).filter(|s| s.len() >= 4) {
        text = text.replace(secret, HIDDEN);
    }
    let mut shown = Vec::new();
    let mut after_bearer = false;
    for word in text.split_whitespace() {
        shown.push(if after_bearer { HIDDEN.to_owned() } else { hide(word) });
        after_bearer = word.trim_matches(|c: char| !c.is_alphanumeric()).eq_ignore_ascii_case("bearer");
    }
    one_line(&shown.join(" "), LONGEST)
}

/// The host (and port) of an address, for messages; never its path, query or credentials.
pub fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.is_empty() { "the address given".to_owned() } else { one_line(host, 100) }
}

/// One word, with addresses reduced to their host and keys struck out, piece by piece.
fn hide(word: &str) -> String {
    if word.contains("://") {
        let lead: String = word.chars().take_while(|c| !c.is_alphanumeric()).collect();
        return format!("{lead}{}", host_of(&word[lead.len()..]));
    }
    let is_key_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '/' | '=');
    let mut out = String::new();
    let mut piece = String::new();
    for c in word.chars().chain([' ']) {
        if is_key_part(c) {
            piece.push(c);
            continue;
        }
        out.push_str(if looks_like_key(&piece) { HIDDEN } else { &piece });
        piece.clear();
        out.push(c);
    }
    out.pop();
    out
}

fn looks_like_key(piece: &str) -> bool {
    let begins = KEY_BEGINS.iter().any(|b| piece.len() >= 12 && piece.starts_with(b));
    let digits = piece.bytes().filter(u8::is_ascii_digit).count();
    let letters = piece.bytes().filter(u8::is_ascii_alphabetic).count();
    begins || (piece.len() >= 32 && digits >= 4 && letters >= 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_struck_out_wherever_they_stand() {
        let key = Secret::new("plain-looking");
        let text =
            "no plain-looking, {\"key\":\"sk-ant-0123456789abcdef\"} Authorization: Bearer abc.def fine";
        let shown = redact(text, &[&key]);
        for leak in ["plain-looking", "sk-ant", "abc.def"] {
            assert!(!shown.contains(leak), "{shown}");
        }
        assert!(shown.ends_with("fine"), "{shown}");
    }

    #[test]
    fn addresses_are_reduced_to_their_host() {
        assert_eq!(
            redact("see (https://u:p@api.example.org/bot123/send?key=1 now", &[]),
            "see (api.example.org now"
        );
        assert_eq!(host_of("http://127.0.0.1:8080/v1?x=1"), "127.0.0.1:8080");
        assert_eq!(host_of(""), "the address given");
    }

    #[test]
    fn ordinary_words_and_model_names_stay() {
        let text = "The model claude-sonnet-5-5 does not exist; see invalid_request_error (req_01)";
        assert_eq!(redact(text, &[]), text);
    }

    #[test]
    fn what_is_long_is_cut_to_one_line() {
        let shown = redact(&"line\n".repeat(1000), &[]);
        assert!(!shown.contains('\n') && shown.chars().count() <= LONGEST);
    }
}

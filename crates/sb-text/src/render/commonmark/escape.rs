//! Literal characters in Markdown: escaped where they would be markup, and only there.

/// What stands around a stretch of literal text.
#[derive(Clone, Copy, Default)]
pub(super) struct Around {
    /// Within a link's text: no bracket may close it.
    pub link: bool,
    /// Within a table's cell: no bar may end it.
    pub cell: bool,
}

/// Appends `text` to `out`, followed there by `after`; `out` holds nothing but the paragraph so far.
pub(super) fn push_literal(out: &mut String, text: &str, after: Option<char>, around: Around) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let behind = rest.get(c.len_utf8()..).unwrap_or_default();
        let next = behind.chars().next().or(after);
        let escaped = if out.is_empty() || out.ends_with('\n') {
            begins_block(rest, next) || in_line(c, None, next, behind, around)
        } else {
            ends_number(out, c, next) || in_line(c, out.chars().next_back(), next, behind, around)
        };
        if escaped {
            out.push('\\');
        }
        out.push(c);
        rest = behind;
    }
}

/// Whether the first character of a line would begin a block.
fn begins_block(line: &str, next: Option<char>) -> bool {
    let line = line.trim_end();
    let only = |set: &[char]| line.chars().all(|c| set.contains(&c));
    let spaced = next.is_none_or(char::is_whitespace);
    match line.chars().next() {
        Some('#') => line.trim_start_matches('#').chars().next().is_none_or(char::is_whitespace),
        Some('>' | '|') => true,
        Some('-') => spaced || next == Some('#') || only(&['-', '|', ':', ' ', '\t']),
        Some('+' | '*') => spaced,
        Some(':') => only(&['-', '|', ':', ' ', '\t']),
        Some('=') => only(&['=', ' ', '\t']),
        Some('[') => ["[ ]", "[x]", "[X]"].iter().any(|mark| line.starts_with(mark)),
        _ => false,
    }
}

/// Whether `c` would make the digits that begin the line an item's number.
fn ends_number(out: &str, c: char, next: Option<char>) -> bool {
    if !matches!(c, '.' | ')') || next.is_some_and(|n| !n.is_whitespace()) {
        return false;
    }
    let line = out.rsplit('\n').next().unwrap_or_default();
    !line.is_empty() && line.len() < 10 && line.chars().all(|c| c.is_ascii_digit())
}

fn in_line(c: char, before: Option<char>, next: Option<char>, behind: &str, around: Around) -> bool {
    let loose = before.is_some_and(char::is_whitespace) && next.is_some_and(char::is_whitespace);
    let within = before.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric);
    match c {
        '`' => true,
        '*' => !loose,
        '_' => !loose && !within,
        '~' => before == Some('~') || next == Some('~'),
        '\\' => next.is_none_or(|n| n.is_ascii_punctuation() || n == '\n'),
        '[' => around.link,
        ']' => around.link || matches!(next, Some('(' | ':' | '[')),
        '!' => next == Some('['),
        '<' => !next.is_none_or(|n| n.is_whitespace() || n.is_ascii_digit() || n == '='),
        '&' => is_entity(behind),
        '|' => around.cell || before == Some('|') || next == Some('|'),
        _ => false,
    }
}

fn is_entity(behind: &str) -> bool {
    let name = behind.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '#');
    name.len() < behind.len() && name.starts_with(';')
}

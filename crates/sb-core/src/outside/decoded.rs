//! What a text may stand for: base64, hexadecimal, percent and backslash escapes undone.
//!
//! Each form undone is looked at for the others again, a few times deep; how much is undone in all is bounded.

/// Forms within forms that are followed.
const DEEPEST: usize = 3;
/// The shortest run that is taken for base64 or hexadecimal.
const SHORTEST: usize = 12;

/// All that `text` may be undone to, `most` bytes in all; none if that would be more.
pub(super) fn all(text: &str, most: usize) -> Option<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    let mut fresh = vec![text.to_owned()];
    let mut room = most;
    for _ in 0..DEEPEST {
        let mut next = Vec::new();
        for text in &fresh {
            for undone in
                [percent(text), escapes(text), runs(text, is_base64, base64), runs(text, is_hex, hex)]
            {
                let Some(undone) = undone.filter(|u| u != text && !u.is_empty()) else { continue };
                room = room.checked_sub(undone.len())?;
                next.push(undone);
            }
        }
        found.extend(next.iter().cloned());
        fresh = next;
    }
    Some(found)
}

/// Percent escapes, and a plus as the space it is in a form.
fn percent(text: &str) -> Option<String> {
    if !text.contains(['%', '+']) {
        return None;
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let pair = bytes.get(at + 1).zip(bytes.get(at + 2)).filter(|_| *byte == b'%');
        match pair.and_then(|(high, low)| Some(nibble(*high)? << 4 | nibble(*low)?)) {
            Some(value) => {
                out.push(value);
                at += 3;
            }
            None => {
                out.push(if *byte == b'+' { b' ' } else { *byte });
                at += 1;
            }
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

/// Backslash escapes of letters (`\x41`, `\u0041`, `\n`); a backslash before anything else is dropped.
fn escapes(text: &str) -> Option<String> {
    if !text.contains('\\') {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let digits = match after.chars().next() {
            Some('x') => 2,
            Some('u') => 4,
            _ => 0,
        };
        let code = after.get(1..=digits).filter(|_| digits > 0);
        match code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32) {
            Some(c) => {
                out.push(c);
                rest = after.get(digits + 1..).unwrap_or_default();
            }
            None => {
                let plain = after.strip_prefix(['n', 't', 'r']);
                out.push_str(if plain.is_some() { " " } else { "" });
                rest = plain.unwrap_or(after);
            }
        }
    }
    out.push_str(rest);
    Some(out)
}

/// Each run of letters of a form, undone, with a space between; none if there is no run.
fn runs(text: &str, is_of: fn(char) -> bool, undo: fn(&str) -> Option<Vec<u8>>) -> Option<String> {
    // Wrapped lines of one run are one.
    let text: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
    let runs = text.split(|c: char| !is_of(c)).filter(|run| run.len() >= SHORTEST);
    let undone: Vec<String> =
        runs.filter_map(undo).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
    (!undone.is_empty()).then(|| undone.join(" "))
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_')
}

/// Undone from each of the four places a group may begin: what stands before a run may look like a part of it.
fn base64(run: &str) -> Option<Vec<u8>> {
    let mut all = Vec::with_capacity(run.len() * 3 + 8);
    for start in 0..4 {
        all.extend(base64_from(run.get(start..).unwrap_or_default())?);
        all.push(b' ');
    }
    Some(all)
}

fn base64_from(run: &str) -> Option<Vec<u8>> {
    let mut bits = 0_u32;
    let mut count = 0;
    let mut out = Vec::with_capacity(run.len() * 3 / 4);
    for byte in run.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xff) as u8);
        }
    }
    Some(out)
}

fn is_hex(c: char) -> bool {
    c.is_ascii_hexdigit()
}

fn hex(run: &str) -> Option<Vec<u8>> {
    let mut all = Vec::with_capacity(run.len() + 2);
    for start in 0..2 {
        for pair in run.as_bytes().get(start..).unwrap_or_default().chunks_exact(2) {
            all.push(nibble(*pair.first()?)? << 4 | nibble(*pair.get(1)?)?);
        }
        all.push(b' ');
    }
    Some(all)
}

fn nibble(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).and_then(|d| u8::try_from(d).ok())
}

//! The query of an address, read.

/// Its names and values, decoded; what is no valid sequence stays as it came.
pub(super) fn pairs(path: &str) -> Vec<(String, String)> {
    let (_, query) = path.split_once('?').unwrap_or_default();
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    };
    query.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digit = |at: usize| after.get(at).and_then(|b| char::from(*b).to_digit(16));
        match (first, digit(0).zip(digit(1))) {
            (b'%', Some((high, low))) => {
                bytes.extend(u8::try_from(high * 16 + low));
                rest = after.get(2..).unwrap_or_default();
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_as_it_was_meant() {
        let read = |path| pairs(path).into_iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>();
        assert_eq!(read("/x?hub.mode=subscribe&hub%2Emode=a%20b+c&d"), [
            "hub.mode=subscribe",
            "hub.mode=a b c",
            "d="
        ]);
        assert_eq!(read("?a=%zz&b=%&c=%4&=&d=%f0%9f%98%80"), ["a=%zz", "b=%", "c=%4", "=", "d=😀"]);
        assert!(read("/x").is_empty() && read("").is_empty() && read("?").is_empty());
    }
}

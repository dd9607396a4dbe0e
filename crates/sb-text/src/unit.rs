//! How platforms count the length of a text.

/// What a platform's limit and its offsets are counted in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// Unicode scalar values.
    Chars,
    /// UTF-16 code units, as Telegram counts.
    Utf16,
    /// Bytes of UTF-8, as IRC counts.
    Bytes,
}

impl Unit {
    /// The length of `text` in this unit.
    pub fn count(self, text: &str) -> usize {
        match self {
            Unit::Chars => text.chars().count(),
            Unit::Utf16 => text.chars().map(char::len_utf16).sum(),
            Unit::Bytes => text.len(),
        }
    }

    /// The length of one character in this unit.
    pub(crate) fn of(self, c: char) -> usize {
        match self {
            Unit::Chars => 1,
            Unit::Utf16 => c.len_utf16(),
            Unit::Bytes => c.len_utf8(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_counts_in_its_own_way() {
        let counted = [Unit::Chars, Unit::Utf16, Unit::Bytes].map(|unit| unit.count("aé😀"));
        assert_eq!(counted, [3, 4, 7]);
    }
}

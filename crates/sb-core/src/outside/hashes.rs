//! Hashes of words: a thinned row of what is kept, every one of what is asked, and those of addresses.
//!
//! Winnowing: of each window of so many neighbouring hashes the least is kept. Two texts that share a run of
//! `GRAM + WINDOW - 1` letters share a whole window, so they share its least hash.

/// Letters of one hash.
const GRAM: usize = 16;
/// Neighbouring hashes of which one is kept.
const WINDOW: usize = 16;
/// The shortest address or name that counts by itself, in letters and digits.
pub(super) const LEAST_MARK: usize = 8;
/// The shortest number that counts by itself.
const LEAST_NUMBER: usize = 6;

/// The hashes to keep of a text from outside.
pub(super) fn kept(text: &str) -> Vec<u64> {
    let letters: Vec<char> = letters(text).map(|(_, c)| c).collect();
    let all: Vec<u64> = letters.windows(GRAM).map(hash).collect();
    let mut kept: Vec<u64> = Vec::new();
    let windows = all.windows(WINDOW.min(all.len().max(1)));
    for least in windows.filter_map(|window| window.iter().min()) {
        if kept.last() != Some(least) {
            kept.push(*least);
        }
    }
    kept.extend(marks(text).map(hash_mark));
    kept
}

/// Every hash of a text that is asked about, with the place of the words it stands for.
pub(super) fn asked(text: &str) -> impl Iterator<Item = (u64, usize)> {
    let letters: Vec<(usize, char)> = letters(text).collect();
    let grams: Vec<(u64, usize)> = letters
        .windows(GRAM)
        .map(|gram| {
            let folded: Vec<char> = gram.iter().map(|(_, c)| *c).collect();
            (hash(&folded), gram.first().map_or(0, |(at, _)| *at))
        })
        .collect();
    let begins = text.as_ptr() as usize;
    let marks = marks(text).map(move |mark| (hash_mark(mark), mark.as_ptr() as usize - begins));
    marks.chain(grams)
}

/// The end of one text and the beginning of another, as far as a run over both reaches.
pub(super) fn seam(a: &str, b: &str) -> String {
    const REACH: usize = 2 * (GRAM + WINDOW);
    let skip = a.chars().count().saturating_sub(REACH);
    a.chars().skip(skip).chain(b.chars().take(REACH)).collect()
}

/// The letters and digits of a text without case, each with its place.
fn letters(text: &str) -> impl Iterator<Item = (usize, char)> {
    text.char_indices()
        .filter(|(_, c)| c.is_alphanumeric())
        .flat_map(|(at, c)| c.to_lowercase().map(move |c| (at, c)))
}

/// What is short and still says something: addresses, hosts, names of files, long numbers.
fn marks(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || "\"'`<>()[]{},;|\\".contains(c));
    words.flat_map(|word| {
        let parts = word
            .split(['/', '?', '&', '=', '#', '@', ':', '$', '%'])
            .filter(move |part| part.len() < word.len());
        std::iter::once(word)
            .chain(parts)
            .map(|part| part.trim_matches(|c: char| !c.is_alphanumeric()))
            .filter(|part| is_mark(part))
    })
}

fn is_mark(word: &str) -> bool {
    let count = word.chars().filter(|c| c.is_alphanumeric()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let is_named = word.contains(['.', '@', '/', '_']) || (digits > 0 && digits < count);
    (count >= LEAST_MARK && is_named) || (digits >= LEAST_NUMBER && digits == count)
}

fn hash_mark(word: &str) -> u64 {
    // Apart from the grams, which may have the same letters.
    let folded: Vec<char> = std::iter::once('\0').chain(letters(word).map(|(_, c)| c)).collect();
    hash(&folded)
}

/// FNV-1a, mixed: that somebody may find two texts of one hash gains them nothing but a question.
fn hash(letters: &[char]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for letter in letters {
        hash = (hash ^ u64::from(u32::from(*letter))).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}

//! Words as lines that fit. Pure.
//!
//! The engine cuts for the longest names; here a line is cut again only where names are longer than any
//! network of today has. Invariant: no line is longer than `room`, and no character is divided.

/// The lines that say `text`, each no longer than so many bytes. Empty ones are left out: IRC has none.
pub fn lines(text: &str, room: usize) -> Vec<String> {
    let room = room.max(8);
    let said = text.split(['\n', '\r']).map(|line| line.replace('\0', ""));
    said.filter(|line| !line.trim().is_empty()).flat_map(|line| cut(line.trim_end(), room)).collect()
}

fn cut(line: &str, room: usize) -> Vec<String> {
    let (mut pieces, mut rest) = (Vec::new(), line);
    while rest.len() > room {
        let most = (0..=room).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(0);
        let word = rest[..most].rfind(' ').filter(|at| *at > most / 2).unwrap_or(most);
        pieces.push(rest[..word].trim_end().to_owned());
        rest = rest[word..].trim_start();
    }
    pieces.push(rest.to_owned());
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_one_and_what_is_too_long_is_cut_between_words_and_never_within_a_character() {
        assert_eq!(lines("one\r\n\n  two\0 \nthree", 100), ["one", "  two", "three"]);
        assert_eq!(lines("alpha beta gamma", 11), ["alpha beta", "gamma"]);
        let ships = "🚢".repeat(10);
        let cut = lines(&ships, 13);
        assert!(cut.iter().all(|line| line.len() <= 13), "{cut:?}");
        assert_eq!(cut.concat(), ships);
    }
}

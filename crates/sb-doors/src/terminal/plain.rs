//! Text of the agent's made harmless for a terminal.

/// `text` without control characters (line feeds and tabs stay) and without the marks that turn the
/// direction of writing, which could show one command and mean another.
pub fn plain(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !(c.is_control() || turns_direction(*c))).collect()
}

fn turns_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_sequence_reaches_no_terminal() {
        assert_eq!(plain("a\u{1b}[2Jb\r\u{7}c\u{9b}31m\n\td\u{7f}"), "a[2Jbc31m\n\td");
        assert_eq!(plain("rm \u{202e}txt.exe\u{2066}"), "rm txt.exe");
        assert_eq!(plain("Grüße, 你好 👋"), "Grüße, 你好 👋");
    }
}

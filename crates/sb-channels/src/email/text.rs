//! What somebody wrote in a mail, without what they answer and without their signature.
//!
//! Mail programs put the old mail below the new words, each in its own way, so this guesses: it cuts at the
//! first line that looks like the beginning of the old one. What is cut stays in the mailbox.

/// How the line begins that stands above the old mail, in the languages mail programs speak.
const WROTE: [&str; 9] =
    ["On ", "Am ", "Le ", "El ", "Il ", "Op ", "Em ", "W dniu ", "Den "];
/// The word of it that says so; its line ends with a colon.
const SAYS: [&str; 9] =
    ["wrote", "schrieb", "écrit", "escribió", "ha scritto", "schreef", "escreveu", "napisał", "skrev"];
/// Lines above which the old mail's header begins.
const RULES: [&str; 5] = [
    "-----Original Message-----",
    "----- Original Message -----",
    "-----Ursprüngliche Nachricht-----",
    "---------- Forwarded message",
    "________________________________",
];

/// The words that are new in a mail's text.
pub(super) fn new_words(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let lines: Vec<&str> = text.lines().collect();
    let begins_old = |at: &usize| {
        let line = lines[*at].trim();
        RULES.iter().any(|rule| line.starts_with(rule))
            // A signature, as RFC 3676 has it.
            || lines[*at] == "-- "
            || (line == "--" && *at > 0)
            || is_wrote(line)
            // The line is broken in two.
            || (WROTE.iter().any(|word| line.starts_with(word))
                && lines.get(at + 1).is_some_and(|next| is_wrote(&format!("{line} {}", next.trim()))))
    };
    let end = (0..lines.len()).find(begins_old).unwrap_or(lines.len());
    let kept = lines[..end].iter().filter(|line| !line.starts_with('>'));
    kept.copied().collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn is_wrote(line: &str) -> bool {
    line.ends_with(':') && WROTE.iter().any(|word| line.starts_with(word)) && SAYS.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_answered_and_signatures_are_left_out() {
        for (text, new) in [
            ("Yes.\r\n\r\nOn Mon, 30 Nov 2026 at 10:00, Agent <a@b.test> wrote:\r\n> Shall I?\r\n", "Yes."),
            ("Ja.\n\nAm 30.11.2026 um 10:00 schrieb Agent:\n> Soll ich?", "Ja."),
            ("Yes.\n\nOn Mon, 30 Nov 2026 at 10:00, Somebody With A Long Name\n<a@b.test> wrote:\n\n> Shall I?", "Yes."),
            ("/approve ab12\n\n-- \nAnn\nThe lab", "/approve ab12"),
            ("> Shall I?\n\nYes, do.\n\n> And then?\nStop.", "Yes, do.\n\nStop."),
            ("See below.\n\n-----Original Message-----\nFrom: Agent", "See below."),
            ("On balance I agree.\nOn we go.", "On balance I agree.\nOn we go."),
            ("a -- b\n--\n", "a -- b"),
        ] {
            assert_eq!(new_words(text), new);
        }
    }
}

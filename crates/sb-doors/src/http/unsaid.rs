//! What an answer says that its stream did not: a failure, that it was stopped, a command's answer.
//!
//! Pure. White space does not count when the two are compared, for the words of an answer are trimmed
//! once it is whole. Words that were streamed cannot be taken back, so an answer that gave up an attempt
//! does not begin with all that was sent; then only its last paragraphs are looked at.

/// What to send at last, so that all that was sent is what is said; none where nothing is missing.
pub(crate) fn unsaid(sent: &str, said: &str) -> Option<String> {
    let text = match after(sent, said) {
        Some(rest) => rest.to_owned(),
        None => last_paragraphs(sent, said),
    };
    if text.trim().is_empty() {
        return None;
    }
    let gap = &sent[sent.trim_end().len()..];
    Some(match sent.len() == gap.len() {
        true => text.trim_start().to_owned(),
        false => text.strip_prefix(gap).unwrap_or(&text).to_owned(),
    })
}

/// What is said after all that was sent, if it begins with that.
fn after<'a>(sent: &str, said: &'a str) -> Option<&'a str> {
    let mut letters = said.char_indices().filter(|(_, c)| !c.is_whitespace());
    let mut end = 0;
    for wanted in sent.chars().filter(|c| !c.is_whitespace()) {
        let (at, found) = letters.next()?;
        if found != wanted {
            return None;
        }
        end = at + found.len_utf8();
    }
    said.get(end..)
}

/// The paragraphs at the end that were not sent, apart from what was.
fn last_paragraphs(sent: &str, said: &str) -> String {
    let sent = letters(sent);
    let mut from = said.len();
    while let Some(paragraph) = said.get(..from).filter(|before| !before.trim().is_empty()) {
        let at = paragraph.trim_end().rfind("\n\n").map_or(0, |at| at + 2);
        if sent.contains(&letters(&paragraph[at..])) {
            break;
        }
        from = at;
    }
    format!("\n\n{}", said[from..].trim_start())
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_was_not_sent_comes_last_and_a_paragraph_apart() {
        for (sent, said, last) in [
            ("", "Idle.", Some("Idle.")),
            ("", "", None),
            ("One.\n\nTwo.", "One.\n\nTwo.", None),
            (" One. ", "One.", None),
            ("Half", "Half\n\n⚠️ It failed.", Some("\n\n⚠️ It failed.")),
            ("Half\n", "Half\n\nStopped.", Some("\nStopped.")),
            ("Half ", "Half\n\nStopped.", Some("\n\nStopped.")),
            // An attempt that was given up.
            ("Half an \n\nA whole one.", "A whole one.", None),
            ("Half an", "⚠️ It failed.", Some("\n\n⚠️ It failed.")),
            ("A.\n\nHalf\n\nB.", "A.\n\nB.\n\nC.\n\nD.", Some("\n\nC.\n\nD.")),
            // A remark amid what was sent cannot be told any more.
            ("A.\n\nB.", "A.\n\n(A remark.)\n\nB.", None),
        ] {
            assert_eq!(unsaid(sent, said).as_deref(), last, "{sent:?} {said:?}");
        }
    }

    proptest! {
        #[test]
        fn what_was_sent_and_what_comes_last_are_what_is_said(
            said in "[ab \n⚠]{0,30}", gaps in proptest::collection::vec("[ \n]{0,2}", 31), cut in 0_usize..32,
        ) {
            let sent: String = said.chars().take(cut).zip(gaps).map(|(c, gap)| format!("{gap}{c}")).collect();
            let last = unsaid(&sent, &said).unwrap_or_default();
            prop_assert_eq!(letters(&(sent + &last)), letters(&said));
        }

        #[test]
        fn whatever_was_sent_nothing_breaks(sent in "[ab \n⚠]{0,12}", said in "[ab \n⚠]{0,12}") {
            let last = unsaid(&sent, &said).unwrap_or_default();
            prop_assert!(letters(&said).ends_with(&letters(&last)));
        }
    }
}

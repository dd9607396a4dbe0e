//! A reply as it grows out of artifacts: pieces that are appended, and artifacts given whole. Pure.
//!
//! The same artifact may come again, whole, after a stream broke off; then only what is new of it counts.

use sb_harness::model::text::one_line;
use sb_wire::a2a::{Artifact, Content, Part};

/// Bytes of words that one reply may have.
const LONGEST: usize = 1024 * 1024;
/// Artifacts that are told apart.
const MOST_ARTIFACTS: usize = 200;
/// Characters of data that are shown.
const MOST_DATA: usize = 8_000;

/// What there is to show of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shown {
    /// More words, after those before.
    More(String),
    /// All words so far, which are others than those shown.
    Anew(String),
}

/// It says more than is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMuch;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Reply {
    artifacts: Vec<Known>,
    shown: String,
}

#[derive(Debug)]
struct Known {
    id: String,
    words: String,
    /// Its files so far.
    files: usize,
    /// How it began before this reply: told then, and not again.
    old: String,
}

impl Known {
    fn new_words(&self) -> &str {
        self.words.strip_prefix(self.old.as_str()).unwrap_or(&self.words)
    }
}

impl Reply {
    /// The words so far.
    pub fn words(&self) -> &str {
        &self.shown
    }

    /// Takes an artifact in: what there is to show, and the parts that are files not seen before.
    ///
    /// # Errors
    /// If it is more than one reply may be.
    pub fn take(&mut self, artifact: &Artifact, append: bool) -> Result<(Option<Shown>, Vec<Part>), TooMuch> {
        let at = self.place(&artifact.id)?;
        let is_last = at + 1 == self.artifacts.len();
        let known = &mut self.artifacts[at];
        // The usual case, which must not cost more the longer the reply is.
        let grows = append && is_last && !known.new_words().is_empty();
        let is_file = |part: &&Part| matches!(part.content, Content::Raw(_));
        let skipped = if append { 0 } else { known.files };
        let files: Vec<Part> = artifact.parts.iter().filter(is_file).skip(skipped).cloned().collect();
        known.files += files.len();
        let words: String = artifact.parts.iter().map(words).collect();
        match append {
            true => known.words.push_str(&words),
            // Less of the same is older than what was told already.
            false if known.words.starts_with(&words) && !words.is_empty() => {}
            false => known.words.clone_from(&words),
        }
        if self.artifacts.iter().map(|known| known.words.len() + 2).sum::<usize>() > LONGEST {
            return Err(TooMuch);
        }
        Ok((self.show(grows.then_some(words)), files))
    }

    /// Takes in what an artifact holds before the reply begins.
    pub fn before(&mut self, artifact: &Artifact) {
        let Ok(at) = self.place(&artifact.id) else { return };
        let words: String = artifact.parts.iter().map(words).collect();
        let known = &mut self.artifacts[at];
        known.files = artifact.parts.iter().filter(|part| matches!(part.content, Content::Raw(_))).count();
        (known.old, known.words) = (words.clone(), words);
    }

    /// More words at the end, a paragraph apart.
    pub fn add(&mut self, words: &str) -> String {
        let more = if self.shown.is_empty() { words.to_owned() } else { format!("\n\n{words}") };
        self.shown.push_str(&more);
        more
    }

    fn place(&mut self, id: &str) -> Result<usize, TooMuch> {
        if let Some(at) = self.artifacts.iter().position(|known| known.id == id) {
            return Ok(at);
        }
        if self.artifacts.len() == MOST_ARTIFACTS {
            return Err(TooMuch);
        }
        self.artifacts.push(Known { id: id.to_owned(), words: String::new(), files: 0, old: String::new() });
        Ok(self.artifacts.len() - 1)
    }

    /// `more`: nothing changed but that these words came at the end.
    fn show(&mut self, more: Option<String>) -> Option<Shown> {
        if let Some(more) = more {
            self.shown.push_str(&more);
            return (!more.is_empty()).then_some(Shown::More(more));
        }
        let said = self.artifacts.iter().map(Known::new_words).filter(|words| !words.is_empty());
        let whole = said.collect::<Vec<_>>().join("\n\n");
        let shown = std::mem::replace(&mut self.shown, whole.clone());
        match whole.strip_prefix(shown.as_str()) {
            Some("") => None,
            Some(more) => Some(Shown::More(more.to_owned())),
            None => Some(Shown::Anew(whole)),
        }
    }
}

/// A part as words: text as it is, an address as a link, data as it is written.
pub(super) fn words(part: &Part) -> String {
    match &part.content {
        Content::Text(words) => words.clone(),
        // Whatever else it leads to is nobody's to open.
        Content::Url(url) if url.starts_with("https://") || url.starts_with("http://") => {
            let name = part.name.as_deref().map(|name| one_line(name, 100)).unwrap_or_default();
            let name = name.replace(['[', ']'], "");
            let url = one_line(url, 2_000).replace(['(', ')', ' '], "");
            if name.is_empty() { format!("\n<{url}>\n") } else { format!("\n[{name}]({url})\n") }
        }
        Content::Data(data) => {
            let text = serde_json::to_string_pretty(data).unwrap_or_default();
            let cut: String = text.chars().take(MOST_DATA).collect();
            let more = if cut.len() < text.len() { "\n…" } else { "" };
            format!("\n```json\n{}{more}\n```\n", cut.replace("```", "'''"))
        }
        Content::Url(_) | Content::Raw(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn artifact(id: &str, parts: Vec<Part>) -> Artifact {
        Artifact { id: id.into(), name: None, description: None, parts, metadata: None }
    }
    fn said(id: &str, words: &str) -> Artifact {
        artifact(id, vec![Part::text(words)])
    }
    fn more(words: &str) -> Option<Shown> {
        Some(Shown::More(words.into()))
    }

    #[test]
    fn pieces_are_appended_and_artifacts_stand_a_paragraph_apart() {
        let mut reply = Reply::default();
        let mut show = |artifact, append| reply.take(&artifact, append).expect("small").0;
        assert_eq!(show(said("a", "85 "), false), more("85 "));
        assert_eq!(show(said("a", "USD"), true), more("USD"));
        assert_eq!(show(said("b", "left"), true), more("\n\nleft"));
        assert_eq!(show(said("b", "."), true), more("."));
        assert_eq!(show(said("a", "85 USD"), false), None, "it came again, whole");
        assert_eq!(show(said("a", "85"), false), None, "it came again, as it was before");
        assert_eq!(show(said("a", "85 EUR"), false), Some(Shown::Anew("85 EUR\n\nleft.".into())));
        assert_eq!(reply.words(), "85 EUR\n\nleft.");
        assert_eq!(reply.add("Which?"), "\n\nWhich?");
    }

    #[test]
    fn what_came_before_a_stream_broke_off_is_not_shown_twice() {
        let mut reply = Reply::default();
        let file = || Part::raw("aGk=".into(), "a.txt", "text/plain");
        let first = reply.take(&artifact("a", vec![Part::text("one "), file()]), false).expect("small");
        assert_eq!((first.0, first.1.len()), (more("one "), 1));
        let whole = artifact("a", vec![Part::text("one "), file(), Part::text("two"), file()]);
        let again = reply.take(&whole, false).expect("small");
        assert_eq!((again.0, again.1.len()), (more("two"), 1));
        let piece = reply.take(&artifact("a", vec![file()]), true).expect("small");
        assert_eq!((piece.0, piece.1.len()), (None, 1));
    }

    #[test]
    fn what_a_task_held_before_is_not_told_again() {
        let mut reply = Reply::default();
        reply.before(&said("a", "draft"));
        assert_eq!(reply.take(&said("a", "draft"), false).expect("small").0, None);
        assert_eq!(reply.take(&said("a", " two"), true).expect("small").0, more(" two"));
        assert_eq!(reply.take(&said("b", "new"), false).expect("small").0, more("\n\nnew"));
        assert_eq!(reply.words(), " two\n\nnew");
    }

    #[test]
    fn what_is_no_text_becomes_words_that_lead_nowhere_odd() {
        let of = |content, name: Option<&str>| {
            words(&Part { content, name: name.map(str::to_owned), media_type: None, metadata: None })
        };
        assert_eq!(of(Content::Url("https://x/y".into()), Some("a]b")), "\n[ab](https://x/y)\n");
        assert_eq!(of(Content::Url("https://x/y".into()), None), "\n<https://x/y>\n");
        assert_eq!(of(Content::Url("file:///etc/passwd".into()), None), "");
        assert!(of(Content::Data(json!({"a": "```"})), None).contains("\"a\": \"'''\""));
    }

    #[test]
    fn a_flood_is_too_much() {
        let mut reply = Reply::default();
        let piece = said("a", &"x".repeat(100_000));
        let taken = (0..20).find(|_| reply.take(&piece, true).is_err());
        assert_eq!(taken, Some(10));
        let mut reply = Reply::default();
        let many = (0..1000).find(|n| reply.take(&said(&n.to_string(), "x"), false).is_err());
        assert_eq!(many, Some(MOST_ARTIFACTS as i32));
    }
}

//! The answers an agent takes to a question of its own: which of them a person is offered, and by what names.
//!
//! Only what allows this once is ever answered. An agent may call so what in truth makes it stop asking, such as
//! another mode: that is left out too. What is allowed for longer is our own to remember.

use sb_harness::model::Ways;
use sb_harness::model::text::one_line;
use serde_json::{Value, json};

/// Ways of allowing that a person is offered at most.
const MOST_WAYS: usize = 6;
/// Visible characters of a name.
const NAME: usize = 48;
/// Names that say no more than that it is allowed.
const PLAIN: [&str; 10] =
    ["allow", "allow once", "yes", "ok", "accept", "approve", "proceed", "yes proceed", "run", "yes allow"];
/// The same of refusing.
const PLAIN_NO: [&str; 8] = ["reject", "reject once", "no", "deny", "decline", "cancel", "refuse", "skip"];
/// Words of a name or an id that allows for longer than this once.
const LASTING: [&str; 15] = [
    "always",
    "auto",
    "automatically",
    "bypass",
    "session",
    "remember",
    "yolo",
    "forever",
    "turn",
    "conversation",
    "permanently",
    "future",
    "everything",
    "acceptedits",
    "bypasspermissions",
];
/// Phrases of the same.
const LASTING_PHRASES: [&str; 6] =
    ["dont ask", "not ask", "stop asking", "without asking", "never ask", "all edits"];

/// What may be answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Options {
    /// Ids that allow this once, in the order of the names a person is shown.
    pub allow: Vec<String>,
    pub reject: Option<String>,
    pub ways: Ways,
    /// Names of what would make the agent stop asking, though it calls it once.
    pub left_out: Vec<String>,
}

impl Options {
    /// Reads them. `modes`: ids of the modes the agent offers; `asking`: those of them in which it asks.
    pub fn read(options: &Value, modes: &[String], asking: &[String]) -> Self {
        let mut found = Self::default();
        let all = options.as_array().into_iter().flatten();
        for (id, option) in all.filter_map(|o| Some((o["optionId"].as_str()?, o))) {
            let whole = option["name"].as_str().unwrap_or_default();
            let name = harmless(whole, NAME);
            match option["kind"].as_str() {
                Some("allow_once") => {
                    let changes_mode = modes.iter().any(|m| m == id) && !asking.iter().any(|m| m == id);
                    if changes_mode || lasts(id) || lasts(whole) {
                        if found.left_out.len() < MOST_WAYS {
                            found.left_out.push(if name.is_empty() { harmless(id, NAME) } else { name });
                        }
                    } else if found.allow.len() < MOST_WAYS {
                        found.allow.push(id.to_owned());
                        found.ways.allow.push(name);
                    }
                }
                Some("reject_once") if found.reject.is_none() => {
                    found.reject = Some(id.to_owned());
                    found.ways.decline = Some(name).filter(|name| says_more(name, &PLAIN_NO));
                }
                _ => {}
            }
        }
        found.name_apart();
        found
    }

    /// The answer that allows it in this way; one there is none of refuses.
    pub fn allowance(&self, way: usize) -> Value {
        match self.allow.get(way) {
            Some(id) => json!({"outcome": {"outcome": "selected", "optionId": id}}),
            None => self.refusal(),
        }
    }

    /// The answer that refuses.
    pub fn refusal(&self) -> Value {
        match &self.reject {
            Some(id) => json!({"outcome": {"outcome": "selected", "optionId": id}}),
            None => json!({"outcome": {"outcome": "cancelled"}}),
        }
    }

    /// A single way is named only where its name says more than yes; of several each has a name of its own.
    fn name_apart(&mut self) {
        let names = &mut self.ways.allow;
        if let [only] = names.as_slice() {
            if !says_more(only, &PLAIN) {
                names.clear();
            }
            return;
        }
        for n in 0..names.len() {
            let is_known = names[..n].iter().any(|other| other.eq_ignore_ascii_case(&names[n]));
            if names[n].is_empty() || is_known {
                names[n] = one_line(&format!("{} ({})", names[n], harmless(&self.allow[n], 16)), NAME + 20);
            }
        }
    }
}

/// A name of an agent's as one line that is nothing but words: no marks of ours, nothing that turns its direction.
fn harmless(text: &str, most: usize) -> String {
    let is_mark = |c: char| {
        matches!(c, '*' | '`' | '[' | ']' | '<' | '>' | '~' | '|' | '\\')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    one_line(&text.chars().filter(|c| !is_mark(*c)).collect::<String>(), most)
}

fn says_more(name: &str, plain: &[&str]) -> bool {
    let words = words(name).join(" ");
    !words.is_empty() && !plain.contains(&words.as_str())
}

fn lasts(text: &str) -> bool {
    let words = words(text);
    let (spaced, joined) = (format!(" {} ", words.join(" ")), words.concat());
    words.iter().any(|word| LASTING.contains(&word.as_str()))
        || LASTING_PHRASES.iter().any(|phrase| spaced.contains(&format!(" {phrase} ")))
        || ["acceptedits", "bypasspermissions", "dontask"].iter().any(|id| joined.contains(id))
}

/// The words of a name or an id, plain.
fn words(text: &str) -> Vec<String> {
    let text = text.replace(['\'', '’'], "");
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in text.chars() {
        // Ids are written in one word whose parts begin with capitals.
        if !c.is_alphanumeric() || (c.is_uppercase() && was_small) {
            words.push(String::new());
        }
        was_small = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &[(&str, &str, &str)]) -> Options {
        let all: Vec<Value> = options
            .iter()
            .map(|(kind, id, name)| json!({"kind": kind, "optionId": id, "name": name}))
            .collect();
        let modes = ["default", "plan", "edits", "free"].map(str::to_owned);
        Options::read(&json!(all), &modes, &["default".to_owned()])
    }

    #[test]
    fn a_plain_yes_has_no_name_and_anything_else_is_shown() {
        let plain = read(&[
            ("allow_always", "aa", "Always"),
            ("allow_once", "a", "Yes, proceed"),
            ("reject_once", "r", "No"),
        ]);
        assert_eq!((plain.allow, plain.ways.is_plain()), (vec!["a".to_owned()], true));
        let named = read(&[
            ("allow_once", "a", "Yes, and\u{202e} leave\nit\u{7} open"),
            ("reject_once", "r", "No, and tell Codex what to do differently"),
            ("reject_once", "r2", "No"),
        ]);
        assert_eq!(named.ways.allow, ["Yes, and leave it open"]);
        assert_eq!(named.ways.decline.as_deref(), Some("No, and tell Codex what to do differently"));
        assert_eq!(named.reject.as_deref(), Some("r"));
        let long = read(&[("allow_once", "a", &"x".repeat(500))]);
        assert!(long.ways.allow[0].chars().count() <= NAME + 1);
    }

    #[test]
    fn what_would_make_it_stop_asking_is_never_an_answer() {
        for (id, name) in [
            ("x", "Yes, and auto-accept edits"),
            ("acceptEdits", "Yes"),
            ("edits", "Yes"),
            ("free", "Go on as you think best"),
            ("x", "Yes, and don't ask again for this command"),
            ("x", "Yes, and don’t ask again"),
            ("allow_permissions_session", "Yes"),
            ("x", "Yes, grant these permissions for this turn"),
            ("bypassPermissions", "Yes"),
            ("x", "Allow ALWAYS"),
            ("x", &format!("{} and don't ask again", "Yes".repeat(40))),
        ] {
            let found = read(&[("allow_once", id, name), ("reject_once", "r", "No")]);
            assert_eq!((found.allow.len(), found.left_out.len()), (0, 1), "{id} {name}");
        }
        for (id, name) in
            [("default", "Yes, and manually approve edits"), ("x", "Yes, turned around"), ("x", "Autumn")]
        {
            assert_eq!(read(&[("allow_once", id, name)]).allow, [id], "{name}");
        }
    }

    #[test]
    fn several_ways_have_names_that_tell_them_apart() {
        let found = read(&[("allow_once", "a", "Go"), ("allow_once", "b", "go"), ("allow_once", "c", "")]);
        assert_eq!(found.ways.allow, ["Go", "go (b)", "(c)"]);
        assert_eq!(found.allow, ["a", "b", "c"]);
        let many: Vec<_> = (0..50).map(|_| ("allow_once", "a", "Go")).collect();
        assert_eq!(read(&many).allow.len(), MOST_WAYS);
    }
}

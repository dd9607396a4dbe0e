//! A call that waits for a person: how it is shown, and what the person's answer means.

use sb_engine::model::Call;
use serde_json::Value;

use super::plain;

/// What is asked after the call is shown.
pub(crate) const QUESTION: &str = "[y]es, [n]o <why>, [a]lways: ";
/// The same where it may be done in several ways.
pub(crate) const WHICH: &str = "its number, or [n]o <why>: ";

/// How the sentence in an answer begins that tells of a request that waits.
pub const WAITING: &str = "waiting for your approval: ";

/// The words of an answer before that sentence, and the sentence.
pub(crate) fn apart(said: &str) -> (&str, Option<&str>) {
    let at = if said.starts_with(WAITING) {
        Some(0)
    } else {
        said.rfind(&format!("\n{WAITING}")).map(|at| at + 1)
    };
    at.and_then(|at| said.split_at_checked(at))
        .map_or((said, None), |(words, waits)| (words.trim_end(), Some(waits)))
}

/// A request as the person is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub request: String,
    pub call: String,
    pub reason: String,
    /// A change or a plan that it is about.
    pub change: Option<String>,
    /// The agent's own ways of allowing it, where there are several.
    pub ways: Vec<String>,
}

impl Waiting {
    /// Reads what a trace tells of the request that waits.
    pub fn read(told: &Value) -> Option<Self> {
        let text = |name: &str| told.get(name).and_then(Value::as_str).map(plain);
        let whole = told.get("call").and_then(|call| serde_json::from_value::<Call>(call.clone()).ok());
        let call = match (&whole, told.get("call")) {
            (Some(call), _) => plain(&call.shown()),
            (None, Some(Value::String(shown))) => plain(shown),
            (None, Some(call)) => {
                let tool = call.get("tool").and_then(Value::as_str).unwrap_or_default();
                plain(&format!("{tool} {}", call.get("input").unwrap_or(&Value::Null)))
            }
            (None, None) => {
                plain(&format!("{} {}", text("tool")?, told.get("input").unwrap_or(&Value::Null)))
            }
        };
        let change = whole.as_ref().and_then(|call| Some(plain(call.lines()?.1)));
        let all = told.get("ways").and_then(Value::as_array).into_iter().flatten();
        let ways = all.filter_map(Value::as_str).map(plain).collect();
        let request = text("id").or_else(|| text("request"))?;
        Some(Self { request, call, reason: text("reason").unwrap_or_default(), change, ways })
    }

    /// What the person reads before they answer.
    pub fn shown(&self) -> String {
        let short: String = self.request.chars().take(8).collect();
        let why = if self.reason.is_empty() { String::new() } else { format!("{}; ", self.reason) };
        let set_in = |text: &str| text.lines().map(|line| format!("  {line}\n")).collect::<String>();
        let change = self.change.as_deref().map(set_in).unwrap_or_default();
        let ways: String = (1..).zip(&self.ways).map(|(n, way)| format!("  {n}. {way}\n")).collect();
        format!("The agent asks to do this ({why}request {short}):\n  {}\n{change}{ways}", self.call)
    }
}

/// What a person said to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// A message that decides, or another command they typed instead.
    Send(String),
    /// It was no answer: ask again.
    Unclear,
}

/// Reads an answer to the request with this id.
pub(crate) fn choice(request: &str, typed: &str) -> Choice {
    let typed = typed.trim();
    if typed.starts_with('/') {
        return Choice::Send(typed.to_owned());
    }
    let (word, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let rest = rest.trim();
    match word.trim_end_matches([',', ':', '.']).to_lowercase().as_str() {
        "y" | "yes" if rest.is_empty() => Choice::Send(format!("/approve {request}")),
        "a" | "always" => Choice::Send(format!("/approve {request} always {rest}").trim_end().to_owned()),
        number if rest.is_empty() && number.len() == 1 && number.bytes().all(|b| b.is_ascii_digit()) => {
            Choice::Send(format!("/approve {request} {number}"))
        }
        "n" | "no" => Choice::Send(format!("/decline {request} {rest}").trim_end().to_owned()),
        _ => Choice::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_names_the_request_it_is_for() {
        let sent = |typed| match choice("3f2a9c1e00000000", typed) {
            Choice::Send(text) => text,
            Choice::Unclear => "?".to_owned(),
        };
        assert_eq!(sent("y"), "/approve 3f2a9c1e00000000");
        assert_eq!(sent(" Yes "), "/approve 3f2a9c1e00000000");
        assert_eq!(sent("a"), "/approve 3f2a9c1e00000000 always");
        assert_eq!(
            sent("always shell(git status:*)"),
            "/approve 3f2a9c1e00000000 always shell(git status:*)"
        );
        assert_eq!(sent("n, not there"), "/decline 3f2a9c1e00000000 not there");
        assert_eq!(sent("no"), "/decline 3f2a9c1e00000000");
        assert_eq!(sent("2"), "/approve 3f2a9c1e00000000 2");
        assert_eq!(sent("/status"), "/status");
    }

    #[test]
    fn what_is_no_clear_answer_decides_nothing() {
        for typed in ["", "maybe", "yes but not there", "yesterday", "nothing"] {
            assert_eq!(choice("3f2a9c1e00000000", typed), Choice::Unclear, "{typed:?}");
        }
    }

    #[test]
    fn the_sentence_about_a_request_stands_apart_from_the_words() {
        let waits = "waiting for your approval: shell {} (a program; request 12)";
        assert_eq!(apart(&format!("I will.\n\n{waits}")), ("I will.", Some(waits)));
        assert_eq!(apart(waits), ("", Some(waits)));
        assert_eq!(apart("I am waiting for your approval: no"), ("I am waiting for your approval: no", None));
    }

    #[test]
    fn a_request_is_shown_whole_and_harmless() {
        let told = json!({"id": "3f2a9c1e00000000", "reason": "a program at autonomy L3",
            "call": {"id": "c1", "tool": "shell", "input": {"command": "ls\u{202e} -l"}}});
        let waiting = Waiting::read(&told).expect("a request");
        assert_eq!(waiting.call, r#"shell {"command":"ls -l"}"#);
        assert!(
            waiting.shown().contains("a program at autonomy L3; request 3f2a9c1e"),
            "{}",
            waiting.shown()
        );
        assert_eq!(Waiting::read(&json!({"id": 7})), None);
        let told = json!({"id": "3f2a9c1e00000000", "ways": ["Now", "Later"], "call": {"id": "c1",
            "tool": "write_file", "class": "write", "input": {"path": "a", "change": "-x\n+y\u{1b}[2J\n"}}});
        let shown = Waiting::read(&told).expect("a request").shown();
        assert!(
            shown.ends_with("write_file {\"path\":\"a\"}\n  -x\n  +y[2J\n  1. Now\n  2. Later\n"),
            "{shown}"
        );
    }
}

//! The script language of the scripted model and the scripted harness.
//!
//! A script is the lines of a message that begin with `!`, in order; everything else is ignored. A
//! message without such a line has no script, and is answered with a sentence that repeats it.

use serde_json::Value;

/// How a `!fail` fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailKind {
    Overloaded,
    RateLimit,
    Credit,
    Auth,
    Network,
    Refused,
    ContextFull,
    /// The harness itself ends without a word.
    Crash,
}

/// One line of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// `!say TEXT`: say it at once.
    Say(String),
    /// `!stream WORDS MS`: that many words, so many milliseconds apart.
    Stream { words: u32, ms: u64 },
    /// `!tool NAME JSON`: call a tool.
    Tool { name: String, input: Value },
    /// `!fail KIND`.
    Fail(FailKind),
    /// `!wait SECONDS`: say nothing for so long (fractions allowed).
    Wait { ms: u64 },
    /// `!ask TEXT | OPTION | …`: ask the person; harness only.
    Ask { text: String, options: Vec<String> },
    /// A line that is none of these: answered with the list of what there is.
    Wrong { line: String, why: String },
}

/// The steps of one message.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Script {
    pub steps: Vec<Step>,
}

impl Script {
    /// What to write, for an answer to a line that cannot be read.
    pub const HELP: &'static str =
        "!say TEXT · !stream WORDS MS · !tool NAME JSON · !fail KIND · !wait SECONDS";

    /// Reads the script out of a message; `None` if no line begins with `!`.
    pub fn read(message: &str) -> Option<Script> {
        let steps: Vec<Step> =
            message.lines().filter_map(|line| line.trim().strip_prefix('!').map(read_step)).collect();
        (!steps.is_empty()).then_some(Script { steps })
    }
}

fn read_step(line: &str) -> Step {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let read = match word {
        "say" => Ok(Step::Say(rest.to_owned())),
        "stream" => stream(rest),
        "tool" => tool(rest),
        "fail" => fail(rest),
        "wait" => wait(rest),
        "ask" => ask(rest),
        _ => Err(format!("there is no !{word}")),
    };
    read.unwrap_or_else(|why| Step::Wrong { line: format!("!{line}"), why })
}

fn stream(rest: &str) -> Result<Step, String> {
    let mut numbers = rest.split_whitespace().map(str::parse::<u32>);
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some(Ok(words)), Some(Ok(ms)), None) if words <= 100_000 && ms <= 60_000 => {
            Ok(Step::Stream { words, ms: u64::from(ms) })
        }
        _ => Err("write !stream WORDS MS, such as !stream 20 50".to_owned()),
    }
}

fn tool(rest: &str) -> Result<Step, String> {
    let (name, json) = rest.split_once(char::is_whitespace).unwrap_or((rest, "{}"));
    if name.is_empty() {
        return Err("write !tool NAME JSON, such as !tool list_files {\"path\":\".\"}".to_owned());
    }
    match serde_json::from_str::<Value>(json.trim()) {
        Ok(input @ Value::Object(_)) => Ok(Step::Tool { name: name.to_owned(), input }),
        Ok(_) => Err("a tool's input is a JSON object".to_owned()),
        Err(e) => Err(format!("its input is not JSON: {e}")),
    }
}

fn fail(rest: &str) -> Result<Step, String> {
    Ok(Step::Fail(match rest {
        "" | "overloaded" => FailKind::Overloaded,
        "rate_limit" => FailKind::RateLimit,
        "credit" => FailKind::Credit,
        "auth" => FailKind::Auth,
        "network" => FailKind::Network,
        "refused" => FailKind::Refused,
        "context" => FailKind::ContextFull,
        "crash" => FailKind::Crash,
        other => {
            return Err(format!(
                "{other:?} is no way to fail; there are overloaded, rate_limit, credit, auth, network, refused, context, crash"
            ));
        }
    }))
}

fn wait(rest: &str) -> Result<Step, String> {
    match rest.parse::<f64>() {
        Ok(s) if (0.0..=3600.0).contains(&s) => Ok(Step::Wait { ms: (s * 1000.0) as u64 }),
        _ => Err("write !wait SECONDS, such as !wait 2".to_owned()),
    }
}

fn ask(rest: &str) -> Result<Step, String> {
    let mut parts = rest.split('|').map(|p| p.trim().to_owned()).filter(|p| !p.is_empty());
    match parts.next() {
        Some(text) => Ok(Step::Ask { text, options: parts.collect() }),
        None => Err("write !ask TEXT | OPTION | OPTION".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_the_lines_that_begin_with_a_bang_in_order() {
        let script = Script::read(
            "please\n!say hello there\n  !stream 3 20\n!tool shell {\"command\":\"ls\"}\n!wait 0.5\n!fail credit",
        );
        let steps = script.expect("a script").steps;
        assert_eq!(steps.len(), 5);
        assert_eq!(steps[0], Step::Say("hello there".into()));
        assert_eq!(steps[1], Step::Stream { words: 3, ms: 20 });
        assert_eq!(steps[3], Step::Wait { ms: 500 });
        assert_eq!(steps[4], Step::Fail(FailKind::Credit));
    }

    #[test]
    fn a_message_without_a_bang_has_no_script() {
        assert_eq!(Script::read("Hello!\nHow are you?"), None);
    }

    #[test]
    fn a_line_that_cannot_be_read_says_why() {
        for line in ["!dance", "!stream a b", "!tool shell ls", "!wait long", "!fail oddly", "!ask"] {
            let script = Script::read(line).expect("a script");
            assert!(matches!(&script.steps[0], Step::Wrong { why, .. } if !why.is_empty()), "{line}");
        }
    }
}

//! Rules that let calls pass unasked for the rest of a session, as `/approve always` gives them.
//!
//! A shell rule matches one plain command, parsed: a wrapper, pipe, substitution, redirect, variable,
//! glob or second command never matches, whatever it begins with. When in doubt a rule does not match.

use sb_model::{Call, Rule, ToolClass};

mod shell;

pub use shell::{PlainCommand, plain_command};

/// A rule that cannot be read; the text says how to write one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} Write tool(words) for exactly that, or tool(words:*) for all that begin so: write_file(notes:*), shell(git status:*)."
)]
pub struct BadRule(String);

/// Reads what a person typed after `/approve always`.
pub fn parse(typed: &str) -> Result<Rule, BadRule> {
    let typed = typed.trim();
    let bad = |why: &str| BadRule(why.to_owned());
    let (tool, rest) = typed.split_once('(').ok_or_else(|| bad("That is not a rule."))?;
    let inner = rest.strip_suffix(')').ok_or_else(|| bad("A rule ends with a bracket."))?;
    let tool = tool.trim();
    if tool.is_empty() || !tool.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
        return Err(bad("A rule begins with a tool's name."));
    }
    let (words, exact) = match inner.strip_suffix(":*") {
        Some(words) => (words, false),
        None => (inner, true),
    };
    let words = words.trim();
    if words.is_empty() {
        return Err(bad(
            "A rule needs some words: one that matches everything is an autonomy level, not a rule.",
        ));
    }
    Ok(Rule::Pattern { tool: tool.to_owned(), words: words.to_owned(), exact })
}

/// Whether the rule lets this call pass unasked.
pub fn covers(rule: &Rule, call: &Call) -> bool {
    match rule {
        Rule::Same { tool, input } => *tool == call.tool && *input == call.input,
        Rule::Pattern { tool, words, exact } => {
            *tool == call.tool
                && match call.class {
                    ToolClass::Spend => false,
                    ToolClass::Shell => covers_command(words, *exact, call),
                    _ => covers_subject(words, *exact, call),
                }
        }
    }
}

/// The rule as people read it.
pub fn shown(rule: &Rule) -> String {
    match rule {
        Rule::Same { tool, input } => format!("{tool} {input}"),
        Rule::Pattern { tool, words, exact: true } => format!("{tool}({words})"),
        Rule::Pattern { tool, words, exact: false } => format!("{tool}({words}:*)"),
    }
}

fn covers_command(words: &str, exact: bool, call: &Call) -> bool {
    let Some(command) = only_text(call, "command").and_then(plain_command) else { return false };
    let Some(rule) = plain_command(words) else { return false };
    match exact {
        true => command.words == rule.words,
        false => {
            command.words.len() >= rule.words.len() && command.words[..rule.words.len()] == rule.words[..]
        }
    }
}

/// What a call is about, by the first of these its input has: a path, else an address, else a name.
/// `notes:*` covers `notes`, and all below it; it never covers a path that climbs with `..`.
fn covers_subject(words: &str, exact: bool, call: &Call) -> bool {
    let Some(subject) = ["path", "url", "name", "to"].iter().find_map(|k| call.input.get(k)?.as_str()) else {
        return false;
    };
    if subject.split(['/', '\\']).any(|part| part == "..") {
        return false;
    }
    if subject.contains("://") || words.contains("://") {
        return covers_address(words, exact, subject);
    }
    let subject = subject.strip_prefix("./").unwrap_or(subject);
    let words = words.strip_prefix("./").unwrap_or(words);
    match exact {
        true => subject == words,
        false => subject.strip_prefix(words).is_some_and(|rest| {
            rest.is_empty() || words.ends_with('/') || rest.starts_with(['/', '.', '-', '_'])
        }),
    }
}

/// An address is covered by one that it goes on from at the end of its host or within its path. What a browser
/// would read otherwise than it is written (steps up in disguise, letters it drops) is never covered.
fn covers_address(words: &str, exact: bool, subject: &str) -> bool {
    let odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
    if subject.contains(odd) || subject.to_ascii_lowercase().contains("%2e") {
        return false;
    }
    let within_path = words.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
    match exact {
        true => subject == words,
        false => subject.strip_prefix(words).is_some_and(|rest| {
            let goes_on =
                rest.starts_with(['/', '?', '#']) || (within_path && rest.starts_with(['.', '-', '_']));
            rest.is_empty() || (within_path && words.ends_with('/')) || goes_on
        }),
    }
}

/// The call's one text argument; a call with other arguments beside it is not covered.
fn only_text<'a>(call: &'a Call, key: &str) -> Option<&'a str> {
    let input = call.input.as_object()?;
    (input.len() == 1).then(|| input.get(key)?.as_str())?
}

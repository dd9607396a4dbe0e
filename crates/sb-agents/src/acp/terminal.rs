//! What an agent runs, as a shell would read it, and what came of it, as a terminal would show it.

use serde_json::{Map, Value};

/// The command of a call that runs a program, whatever form it comes in.
pub(super) fn command(input: &Map<String, Value>) -> Option<String> {
    let given = ["command", "cmd"].iter().find_map(|name| input.get(*name))?;
    match given {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().map(Value::as_str).collect::<Option<_>>()?;
            match words.as_slice() {
                [
                    "bash" | "sh" | "zsh" | "/bin/bash" | "/bin/sh" | "/bin/zsh" | "/usr/bin/bash"
                    | "/usr/bin/zsh",
                    "-c" | "-lc",
                    command,
                ] => Some((*command).to_owned()),
                words => Some(words.iter().map(|w| quoted(w)).collect::<Vec<_>>().join(" ")),
            }
        }
        _ => None,
    }
}

/// What a terminal would show of a text: without what colours it and moves about.
pub(super) fn uncoloured(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('\u{1b}', Some('[')) => {
                rest.next();
                while rest.next().is_some_and(|c| !matches!(c, '@'..='~')) {}
            }
            // A title and the like, up to its end.
            ('\u{1b}', Some(']')) => {
                while rest.next().is_some_and(|c| !matches!(c, '\u{7}' | '\u{1b}')) {}
                rest.next_if_eq(&'\\');
            }
            ('\r', Some('\n')) => {}
            (c, _) if c.is_control() && !matches!(c, '\n' | '\t') => {}
            (c, _) => plain.push(c),
        }
    }
    plain
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain =
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

//! Reads one plain shell command: words, quotes and nothing else.
//!
//! Everything a shell gives meaning to beyond words (pipes, lists, redirects, substitutions,
//! variables, globs, comments, assignments, brace and tilde expansion, new lines) makes the text not
//! plain, and so do commands that run other commands. No attempt is made to understand more.

/// A command of words only, quotes taken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainCommand {
    pub words: Vec<String>,
}

/// Programs that run what their arguments say: never plain, whatever follows.
const WRAPPERS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "fish", "env", "sudo", "doas", "su", "xargs", "eval", "exec",
    "command", "builtin", "nohup", "nice", "time", "timeout", "setsid", "stdbuf", "find", "parallel",
    "watch", "ssh", "chroot", "unshare", "busybox", "ionice", "taskset", "script", "strace", "ltrace", "gdb",
    "source", ".", "coproc", "function", "if", "while", "for", "case", "until", "select", "then", "do",
    "else", "trap", "alias", "python", "python3", "perl", "ruby", "node", "awk", "gawk", "mawk",
];

/// The command, if `text` is one plain command; else `None`.
pub fn plain_command(text: &str) -> Option<PlainCommand> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.trim().chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => quoted(&mut chars, word.get_or_insert_default(), '\'')?,
            '"' => quoted(&mut chars, word.get_or_insert_default(), '"')?,
            // A backslash may hide a new line or anything above.
            '\\' => return None,
            c if has_meaning(c) => return None,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word.take());
    let program = words.first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    // Assignments before a command change what it does; a version suffix does not make python another program.
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let wraps = WRAPPERS.iter().any(|w| *w == name || (!bare.is_empty() && *w == bare));
    (!program.is_empty() && !wraps).then_some(PlainCommand { words })
}

fn has_meaning(c: char) -> bool {
    c.is_control() || "|&;<>()$`*?[]{}~#!=%^".contains(c)
}

fn quoted(chars: &mut std::str::Chars<'_>, word: &mut String, close: char) -> Option<()> {
    for c in chars.by_ref() {
        if c == close {
            return Some(());
        }
        // Inside double quotes these still mean something.
        if c.is_control() || (close == '"' && matches!(c, '$' | '`' | '\\' | '!')) {
            return None;
        }
        word.push(c);
    }
    None
}

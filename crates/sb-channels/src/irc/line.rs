//! One line of the protocol: tags, who it is from, a command, its parameters. Pure.
//!
//! Servers may or may not put a colon before the last parameter, so lines are taken apart and never
//! compared as text. Invariant: what is written holds no end of a line but its own.

use std::collections::BTreeMap;

/// A line that came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pub tags: BTreeMap<String, String>,
    /// `nick!user@host`, or a server; empty if it does not say.
    pub source: String,
    /// A word in upper case, or three digits.
    pub command: String,
    pub params: Vec<String>,
}

impl Line {
    /// Reads a line without its end; none if it holds no command.
    pub fn parse(text: &str) -> Option<Line> {
        let mut line = Line::default();
        let mut rest = text.trim_matches(['\r', '\n', ' ', '\0']);
        if let Some(tagged) = rest.strip_prefix('@') {
            let (tags, after) = tagged.split_once(' ')?;
            line.tags = tags.split(';').filter(|tag| !tag.is_empty()).map(tag).collect();
            rest = after.trim_start_matches(' ');
        }
        if let Some(sourced) = rest.strip_prefix(':') {
            let (source, after) = sourced.split_once(' ')?;
            source.clone_into(&mut line.source);
            rest = after.trim_start_matches(' ');
        }
        let (command, mut rest) = rest.split_once(' ').unwrap_or((rest, ""));
        line.command = command.to_ascii_uppercase();
        loop {
            rest = rest.trim_start_matches(' ');
            if let Some(last) = rest.strip_prefix(':') {
                line.params.push(last.to_owned());
                break;
            }
            if rest.is_empty() {
                break;
            }
            let (param, after) = rest.split_once(' ').unwrap_or((rest, ""));
            line.params.push(param.to_owned());
            rest = after;
        }
        (!line.command.is_empty()).then_some(line)
    }

    /// Who it is from, without user and host.
    pub fn nick(&self) -> &str {
        self.source.split(['!', '@']).next().unwrap_or_default()
    }

    /// A parameter; empty if there are fewer.
    pub fn param(&self, at: usize) -> &str {
        self.params.get(at).map_or("", String::as_str)
    }

    /// The last parameter, where servers put what is meant for people.
    pub fn words(&self) -> &str {
        self.params.last().map_or("", String::as_str)
    }

    /// A tag's value, if it has one.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The number of a numeric answer.
    pub fn number(&self) -> Option<u16> {
        (self.command.len() == 3).then(|| self.command.parse().ok())?
    }
}

/// Writes a line without its end. The last parameter may hold spaces or be empty.
pub fn write(tags: &[(&str, &str)], command: &str, params: &[&str]) -> String {
    let mut line = String::new();
    for (at, (name, value)) in tags.iter().enumerate() {
        line += if at == 0 { "@" } else { ";" };
        line += name;
        if !value.is_empty() {
            line.push('=');
            escape(value, &mut line);
        }
    }
    if !tags.is_empty() {
        line.push(' ');
    }
    line += command;
    for (at, param) in params.iter().enumerate() {
        line.push(' ');
        if at + 1 == params.len() {
            line.push(':');
            line += &param.replace(['\r', '\n', '\0'], " ");
        } else {
            // A middle parameter ends with a space and must not begin the last one.
            line.extend(param.trim_start_matches(':').chars().filter(|c| !" \r\n\0".contains(*c)));
        }
    }
    line
}

fn escape(value: &str, into: &mut String) {
    for c in value.chars() {
        match c {
            ';' => into.push_str("\\:"),
            ' ' => into.push_str("\\s"),
            '\\' => into.push_str("\\\\"),
            '\r' => into.push_str("\\r"),
            '\n' => into.push_str("\\n"),
            other => into.push(other),
        }
    }
}

fn tag(text: &str) -> (String, String) {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let mut plain = String::new();
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(':') => plain.push(';'),
                Some('s') => plain.push(' '),
                Some('r') => plain.push('\r'),
                Some('n') => plain.push('\n'),
                Some(other) => plain.push(other),
                None => {}
            },
            other => plain.push(other),
        }
    }
    (name.to_owned(), plain)
}

/// What servers fold when they compare names: `CASEMAPPING` of `005`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Folding {
    Ascii,
    /// Where `{}|^` are the lower case of `[]\~`.
    #[default]
    Rfc1459,
}

impl Folding {
    /// A name as it is compared.
    pub fn fold(self, name: &str) -> String {
        let more = |c: char| match (self, c) {
            (Folding::Rfc1459, '[') => '{',
            (Folding::Rfc1459, ']') => '}',
            (Folding::Rfc1459, '\\') => '|',
            (Folding::Rfc1459, '~') => '^',
            (_, c) => c.to_ascii_lowercase(),
        };
        name.chars().map(more).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart_whether_or_not_its_last_parameter_has_a_colon() {
        for text in ["@msgid=a\\:b;+x :ann!a@h join #c", "@msgid=a\\:b;+x :ann!a@h JOIN :#c\r\n"] {
            let line = Line::parse(text).expect("a line");
            assert_eq!((line.command.as_str(), line.param(0), line.nick()), ("JOIN", "#c", "ann"));
            assert_eq!((line.tag("msgid"), line.tag("+x")), (Some("a;b"), None));
        }
        let said = Line::parse(":ann!a@h  PRIVMSG  robo ::) two  words ").expect("a line");
        assert_eq!(said.words(), ":) two  words");
        assert_eq!(Line::parse("433 * robo :in use").and_then(|line| line.number()), Some(433));
        assert_eq!(["", "@a", ":b", " \r\n"].map(Line::parse), [None, None, None, None]);
    }

    #[test]
    fn nothing_that_is_written_holds_a_second_line() {
        let line = write(&[("label", "a b")], "PRIVMSG", &["#c\r\nQUIT", "one\r\nQUIT :two\0"]);
        assert_eq!(line, "@label=a\\sb PRIVMSG #cQUIT :one  QUIT :two ");
        let back = Line::parse(&line).expect("a line");
        assert_eq!((back.tag("label"), back.param(0)), (Some("a b"), "#cQUIT"));
    }

    #[test]
    fn names_are_compared_as_the_server_does() {
        assert_eq!(Folding::Rfc1459.fold("Ann[1]~"), "ann{1}^");
        assert_eq!(Folding::Ascii.fold("Ann[1]~"), "ann[1]~");
    }
}

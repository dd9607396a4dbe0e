//! A line as what happened: a message, a channel that opens or closes, a piece of history. Pure.
//!
//! Notices are never answered, as the protocol has it: that is what keeps programs from talking for ever.
//! Invariant: who somebody is comes from the `account` tag, which only the server sets; tags with a `+` are
//! the other client's word.

use sb_channel::model::{Chat, Digest, MessageRef, Person, Timestamp};
use sb_channel::{Event, Incoming};

use super::faults;
use super::line::Line;
use super::session::Session;

/// What begins and ends a question to a client in a message.
const CTCP: char = '\u{1}';

/// What a line means for the feed.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// `target` is where it was said, as the server calls it; `at` is the server's time.
    Said { said: Box<Incoming>, target: String, at: Option<Timestamp>, old: bool },
    /// Something about a channel; `true`: we are in it.
    Channel { name: String, event: Box<Event>, inside: bool },
    /// A piece of history was told whole.
    PageEnd { target: String, lines: usize, last: Option<Timestamp> },
    /// Others wrote to us while we were away.
    Wrote { nick: String },
    /// A client asks something of ours, such as its version.
    Asked { nick: String, what: String },
    /// We were asked to come to a channel.
    Invited { channel: String },
}

/// What is known beside the session.
pub struct Around<'a> {
    /// Our commands, which may be typed with `!` too: many clients keep a line that begins with `/` for themselves.
    pub commands: &'a [String],
    /// Names the message if the server gives it no name.
    pub fresh: &'a str,
}

/// Reads what people and the server did. Batches are the caller's.
pub fn hear(line: &Line, session: &Session, around: &Around<'_>) -> Option<Heard> {
    let ours = session.is_us(line.nick());
    match line.command.as_str() {
        "PRIVMSG" if !ours => message(line, session, around),
        "JOIN" if ours => {
            let name = session.fold(line.param(0));
            Some(Heard::Channel { event: Box::new(Event::Back { chat: name.clone() }), name, inside: true })
        }
        "PART" if ours => Some(outside(session, line.param(0), "we left".to_owned())),
        "KICK" if session.is_us(line.param(1)) => {
            Some(outside(session, line.param(0), format!("{} put us out: {}", line.nick(), line.words())))
        }
        "INVITE" if session.is_us(line.param(0)) => Some(Heard::Invited { channel: line.param(1).to_owned() }),
        "CHATHISTORY" if line.param(0) == "TARGETS" => Some(Heard::Wrote { nick: line.param(1).to_owned() }),
        // Of a channel that we wanted to join.
        "403" | "405" | "471" | "473" | "474" | "475" | "476" | "477" | "489" => {
            let why = faults::of_line(line).map(|fault| fault.detail).unwrap_or_default();
            session.is_channel(line.param(1)).then(|| outside(session, line.param(1), why))
        }
        _ => None,
    }
}

fn outside(session: &Session, channel: &str, why: String) -> Heard {
    let name = session.fold(channel);
    Heard::Channel { event: Box::new(Event::Gone { chat: name.clone(), why }), name, inside: false }
}

fn message(line: &Line, session: &Session, around: &Around<'_>) -> Option<Heard> {
    let (target, nick) = (line.param(0), line.nick());
    let mut words = line.words().to_owned();
    if let Some(asked) = words.strip_prefix(CTCP) {
        let asked = asked.trim_end_matches(CTCP);
        match asked.split_once(' ') {
            Some(("ACTION", deed)) => words = format!("*{}*", deed.trim()),
            _ => return Some(Heard::Asked { nick: nick.to_owned(), what: asked.to_owned() }),
        }
    }
    let text = plain(&words);
    let at = line.tag("time").and_then(time);
    let account = line.tag("account").map(str::to_ascii_lowercase);
    let id = account.map(|account| format!("account:{account}"));
    let person = Person { id: id.clone(), name: nick.to_owned(), bot: line.tags.contains_key("bot") };
    let chat = match session.is_place(target) {
        // What is said to some of a channel's members alone (`@#lab`) is a place of its own: the rest is not to read
        // the answer either.
        true => Chat::group(session.fold(target)),
        false if session.is_us(target) => Chat::direct(id.unwrap_or_else(|| session.fold(nick))),
        // Said to somebody else: to all of a server, or by a bouncer in our own name.
        false => return None,
    };
    let (named, text) = address(&text, session);
    let text = command(text, around.commands);
    let key = match (line.tag("msgid"), at) {
        (Some(id), _) => id.to_owned(),
        // Told again it has the same time, so the same name.
        (None, Some(at)) => {
            let told = format!("{}\n{}\n{}\n{}", at.0, session.fold(nick), session.fold(target), words);
            format!("h-{}", &Digest::of(told.as_bytes()).to_string()[..32])
        }
        (None, None) => around.fresh.to_owned(),
    };
    let reference = MessageRef(format!("{} {nick}", line.tag("msgid").unwrap_or("-")));
    let direct = chat.sort == sb_channel::model::ChatSort::Direct;
    let said = Incoming {
        message: Some(reference),
        addressed: direct || named,
        at,
        ..Incoming::new(key, chat, person, text)
    };
    // For a direct chat, history is asked for by the other's name.
    let target = if direct { nick } else { target };
    Some(Heard::Said { said: Box::new(said), target: target.to_owned(), at, old: line.tag("batch").is_some() })
}

/// Whether our nick stands in it as a word, and the text without it at its beginning.
fn address<'a>(text: &'a str, session: &Session) -> (bool, &'a str) {
    let nick = session.fold(&session.nick);
    let part_of_a_nick = |c: char| c.is_alphanumeric() || "-_[]{}\\|^`".contains(c);
    let named = session.fold(text).split(|c| !part_of_a_nick(c)).any(|word| word == nick);
    let begins = text.get(..session.nick.len()).filter(|begin| session.fold(begin) == nick);
    let rest = begins.and_then(|begin| text[begin.len()..].strip_prefix([':', ',']));
    // A client completes `robo: ` or `@robo `.
    let at = text.strip_prefix('@').filter(|rest| {
        let (word, _) = rest.split_once([' ', ':', ',']).unwrap_or((rest, ""));
        session.fold(word) == nick
    });
    match (rest, at) {
        (Some(rest), _) => (true, rest.trim_start()),
        (None, Some(at)) => (true, at[session.nick.len()..].trim_start_matches([':', ',', ' '])),
        (None, None) => (named, text.trim()),
    }
}

/// `!status` is what `/status` is, where `status` is a command of ours. Other programs have commands that begin so too:
/// in a channel it is meant for us only where we are named.
fn command(text: &str, commands: &[String]) -> String {
    let ours = |rest: &&str| {
        let word = rest.split_whitespace().next();
        commands.iter().any(|known| Some(known.as_str()) == word)
    };
    match text.strip_prefix('!').filter(ours) {
        Some(rest) => format!("/{rest}"),
        None => text.to_owned(),
    }
}

/// The words without the bytes that colour and shape them.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{3}' => {
                digits(&mut chars, 2);
                let mut ahead = chars.clone();
                if ahead.next() == Some(',') && ahead.peek().is_some_and(char::is_ascii_digit) {
                    chars.next();
                    digits(&mut chars, 2);
                }
            }
            '\u{4}' => digits(&mut chars, 6),
            '\u{2}' | '\u{f}' | '\u{11}' | '\u{16}' | '\u{1d}' | '\u{1e}' | '\u{1f}' | '\u{1}' => {}
            other => plain.push(other),
        }
    }
    plain
}

fn digits(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, most: usize) {
    for _ in 0..most {
        if chars.next_if(char::is_ascii_hexdigit).is_none() {
            return;
        }
    }
}

/// `2026-12-01T10:00:00.000Z`.
pub fn time(text: &str) -> Option<Timestamp> {
    text.parse::<jiff::Timestamp>().ok().map(|at| Timestamp(at.as_millisecond()))
}

/// The same, written.
pub fn written(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    format!("{at:.3}")
}

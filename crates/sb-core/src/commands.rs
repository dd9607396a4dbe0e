//! The commands people type, the same on every way in: one table, and its reader.
//!
//! A command is a message, so it is taken, ordered and answered like one. What it needs the right to
//! and when it may run are facts of this table; the conversation acts on them.

use sb_model::{Message, Rule};

use crate::rules;

/// What somebody needs to use a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Nothing,
    /// The right to approve and decline.
    Decide,
    /// The right to change what the chat chose.
    Instruct,
}

/// When a command may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At once, also while the agent works.
    Always,
    /// Not while the agent works; also while a request waits for a person.
    NotWorking,
    /// Only while nothing runs and nothing waits for a person.
    Idle,
}

/// One entry of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub name: &'static str,
    pub usage: &'static str,
    pub need: Need,
    pub when: When,
    pub help: &'static str,
}

const fn entry(name: &'static str, usage: &'static str, need: Need, when: When, help: &'static str) -> Entry {
    Entry { name, usage, need, when, help }
}

/// All commands, in the order `/help` lists them.
pub const TABLE: &[Entry] = &[
    entry(
        "stop",
        "/stop",
        Need::Nothing,
        When::Always,
        "stops the agent at once; what it wrote is kept, what waited is dropped",
    ),
    entry(
        "approve",
        "/approve [id] [number | always [rule]]",
        Need::Decide,
        When::Always,
        "lets the waiting call go ahead; number: in this one of the ways it lists; always: and the same again, or what the rule matches, for this session",
    ),
    entry(
        "decline",
        "/decline [id] <why>",
        Need::Decide,
        When::Always,
        "refuses the waiting call and tells the agent why",
    ),
    entry(
        "allowed",
        "/allowed [off]",
        Need::Nothing,
        When::NotWorking,
        "what may run unasked in this session; off withdraws it",
    ),
    entry(
        "new",
        "/new",
        Need::Nothing,
        When::Idle,
        "starts over in a new session; the old one stays reachable",
    ),
    entry("status", "/status", Need::Nothing, When::Always, "where the session stands"),
    entry("retry", "/retry", Need::Nothing, When::Idle, "answers the last message again"),
    entry(
        "undo",
        "/undo",
        Need::Nothing,
        When::Idle,
        "forgets the last exchange; what its calls did stays done",
    ),
    entry(
        "compact",
        "/compact",
        Need::Nothing,
        When::Idle,
        "shortens the session, its beginning kept as a summary",
    ),
    entry("usage", "/usage", Need::Nothing, When::Always, "turns, tokens and messages of this session"),
    entry("sessions", "/sessions", Need::Nothing, When::Always, "the sessions of this conversation"),
    entry("resume", "/resume <id>", Need::Nothing, When::Idle, "goes back to one of them"),
    entry("title", "/title <name>", Need::Nothing, When::NotWorking, "names the session"),
    entry(
        "model",
        "/model [number]",
        Need::Instruct,
        When::NotWorking,
        "the profile's models; a number picks one for this chat",
    ),
    entry(
        "system",
        "/system [text|off]",
        Need::Instruct,
        When::NotWorking,
        "what this chat asks of the agent",
    ),
    entry(
        "tools",
        "/tools [name …|all]",
        Need::Instruct,
        When::NotWorking,
        "the only tools the agent may use in this chat",
    ),
    entry("whoami", "/whoami", Need::Nothing, When::NotWorking, "who you are here, and what you may do"),
    entry("help", "/help", Need::Nothing, When::Always, "these commands"),
];

/// A command as read.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    Stop,
    Approve {
        request: Option<String>,
        how: How,
    },
    /// `words` may begin with a request's id; only the conversation can tell.
    Decline {
        words: String,
    },
    Allowed {
        off: bool,
    },
    New,
    Status,
    /// `turn`: only if that is the last one, by the beginning of its id.
    Retry {
        turn: Option<String>,
    },
    Undo,
    Compact,
    Usage,
    Sessions,
    Resume(String),
    Title(String),
    Model(Option<usize>),
    System(Option<String>),
    Tools(Vec<String>),
    Whoami,
    Help,
}

/// How `/approve` lets a call go ahead.
#[derive(Debug, Clone, PartialEq)]
pub enum How {
    Once,
    /// In this one of the agent's own ways, counted from 1.
    Way(usize),
    Always(Always),
}

/// What `/approve always` asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Always {
    Same,
    Matching(Rule),
}

/// A command whose words are not understood; the text says how to write it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadCommand(pub String);

/// Whole messages that mean `/stop` where people type.
const STOP_WORDS: &[&str] = &["stop", "wait", "cancel", "abort", "halt", "hold on", "nevermind"];

/// Reads a message as a command: with its entry; `None` where it is something for the agent.
pub fn read(message: &Message) -> Result<Option<(&'static Entry, Command)>, BadCommand> {
    read_text(&message.text, message.manner.stop_words)
}

/// As [`read`], of the text alone.
pub fn read_text(text: &str, stop_words: bool) -> Result<Option<(&'static Entry, Command)>, BadCommand> {
    if stop_words && is_stop_word(text.trim()) {
        return Ok(Some((&TABLE[0], Command::Stop)));
    }
    // A leading space says: this is no command.
    let text = text.trim_end();
    let Some(body) = text.strip_prefix('/') else { return Ok(None) };
    let (word, rest) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
    // "/etc/hosts is wrong" and "/ " are words for the agent.
    if word.is_empty() || !word.bytes().all(|b| b.is_ascii_alphabetic()) {
        return Ok(None);
    }
    let name = word.to_ascii_lowercase();
    let Some(entry) = TABLE.iter().find(|e| e.name == name) else {
        let sorry = format!(
            "There is no /{name}. /help lists the commands; to say it to the agent, put a space before it."
        );
        return Err(BadCommand(sorry));
    };
    arguments(entry.name, rest.trim())
        .map(|c| Some((entry, c)))
        .map_err(|why| BadCommand(format!("{why} Write {}.", entry.usage)))
}

fn is_stop_word(text: &str) -> bool {
    let plain = text.trim_end_matches(['.', '!', '…']).to_lowercase();
    STOP_WORDS.contains(&plain.as_str())
}

fn arguments(name: &str, rest: &str) -> Result<Command, String> {
    let none = |command: Command| match rest.is_empty() {
        true => Ok(command),
        false => Err(format!("/{name} takes no words.")),
    };
    match name {
        "stop" => none(Command::Stop),
        "approve" => approve(rest),
        "decline" => Ok(Command::Decline { words: rest.to_owned() }),
        "allowed" => match rest {
            "" => Ok(Command::Allowed { off: false }),
            "off" => Ok(Command::Allowed { off: true }),
            _ => Err("/allowed takes nothing, or off.".to_owned()),
        },
        "new" => none(Command::New),
        "status" => none(Command::Status),
        "retry" if rest.is_empty() => Ok(Command::Retry { turn: None }),
        "retry" if is_request_id(rest) => Ok(Command::Retry { turn: Some(rest.to_ascii_lowercase()) }),
        "retry" => none(Command::Retry { turn: None }),
        "undo" => none(Command::Undo),
        "compact" => none(Command::Compact),
        "usage" => none(Command::Usage),
        "sessions" => none(Command::Sessions),
        "resume" if is_session_prefix(rest) => Ok(Command::Resume(rest.to_ascii_lowercase())),
        "resume" => Err(
            "/resume needs a session's id, or at least four characters it begins with; /sessions lists them."
                .to_owned(),
        ),
        "title" if rest.is_empty() => Err("/title needs a name.".to_owned()),
        "title" => Ok(Command::Title(sb_model::text::one_line(rest, 80))),
        "model" if rest.is_empty() => Ok(Command::Model(None)),
        "model" => rest
            .parse()
            .map(|n| Command::Model(Some(n)))
            .map_err(|_| "/model takes a number of its list.".to_owned()),
        "system" => Ok(Command::System((!rest.is_empty()).then(|| rest.to_owned()))),
        "tools" => {
            Ok(Command::Tools(rest.split([' ', ',']).filter(|w| !w.is_empty()).map(str::to_owned).collect()))
        }
        "whoami" => none(Command::Whoami),
        _ => none(Command::Help),
    }
}

fn is_session_prefix(word: &str) -> bool {
    (4..=16).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether a word has the form of a request's id.
pub(crate) fn is_request_id(word: &str) -> bool {
    (4..=16).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_hexdigit())
}

fn approve(rest: &str) -> Result<Command, String> {
    let (first, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if first.is_empty() {
        return Ok(Command::Approve { request: None, how: How::Once });
    }
    let (request, rest) = match first {
        "always" => (None, rest),
        number if way(number).is_some() => (None, rest),
        id if is_request_id(id) => (Some(id.to_ascii_lowercase()), after.trim()),
        other => return Err(format!("{other:?} is not a request's id.")),
    };
    let how = match rest.strip_prefix("always") {
        None if rest.is_empty() => How::Once,
        None if way(rest).is_some() => How::Way(way(rest).unwrap_or_default()),
        Some(rule) if rule.trim().is_empty() => How::Always(Always::Same),
        Some(rule) if rule.starts_with(char::is_whitespace) => {
            How::Always(Always::Matching(rules::parse(rule).map_err(|e| e.to_string())?))
        }
        _ => return Err(format!("{rest:?} is not understood.")),
    };
    Ok(Command::Approve { request, how })
}

/// The number of a way; an id of a request is never so short.
fn way(word: &str) -> Option<usize> {
    let plain = matches!(word.len(), 1 | 2) && word.bytes().all(|b| b.is_ascii_digit());
    word.parse().ok().filter(|_| plain)
}

/// The `/help` text.
pub fn help() -> String {
    TABLE.iter().map(|e| format!("{}: {}", e.usage, e.help)).collect::<Vec<_>>().join("\n")
}

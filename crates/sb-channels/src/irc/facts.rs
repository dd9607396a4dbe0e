//! What IRC can, needs and rests on, as values.

use std::time::Duration;

use sb_channel::model::ChatSort;
use sb_channel::text::{Dialect, Fit, Unit};
use sb_channel::{Account, Features, Field, Manifest, Proof, TextRules, Trust, Typing};

use super::session::Session;

/// Bytes of a line's words, such that with the longest names on both sides the line has 512 bytes at most.
const fn text(limit: usize) -> TextRules {
    TextRules { fit: Fit { limit, unit: Unit::Bytes, dialect: Dialect::Plain } }
}

const DIRECT: Features = Features {
    text: text(350),
    // It lapses after six seconds.
    typing: Typing::OnOff { every: Duration::from_secs(4) },
    sends_over_feed: true,
    ..Features::PLAIN
};

/// A channel's name is longer, and the answer begins with the nick of whoever asked.
const GROUP: Features = Features { text: text(290), mentions: true, ..DIRECT };

/// What the network can; before there is a connection, all of it.
pub(super) fn features(sort: ChatSort, session: Option<&Session>) -> Features {
    let all = match sort {
        ChatSort::Direct => DIRECT,
        ChatSort::Group => GROUP,
    };
    match session {
        Some(session) if !session.can("message-tags") => Features { typing: Typing::Off, ..all },
        _ => all,
    }
}

pub(super) fn manifest() -> Manifest {
    Manifest {
        id: "irc",
        label: "IRC",
        blurb: "A nick in channels and private conversations, on any network, over TLS.",
        fields: fields(),
        direct: DIRECT,
        group: GROUP,
        id_hint: "an account of the network's services, as account:ann in lower case (/whoami tells it to whoever is logged in), or a channel such as #lab. Never a nick or a host: anybody can take a free nick.",
        is_id,
        trust: trust(),
        gaps: vec![
            "Files are not taken and not sent: a file that is shared is named instead. Links are just text.",
            "There are no marks, buttons, edits or threads, and nothing is shown of a reply before a part of it is finished.",
            "What is said while we are away is lost, unless the server keeps it (`draft/chathistory`, or a channel's history) or a bouncer does.",
            "Typing is shown only where the server passes on `message-tags`.",
            "Nobody can be let in or decide by name where the server does not tell accounts (`account-tag`), such as on networks without services.",
            "A person who is logged in nowhere we can see is not written to: the answer waits until they speak again.",
            "Long answers take their time: four lines leave at once, then one in two seconds (`pace_ms`), since servers end faster connections.",
            "A line has no key by which a repeat would be dropped: if its answer is lost, people may see a line twice.",
        ],
        proof: Proof::Real("2026-12-01"),
        page: include_str!("README.md"),
    }
}

/// `account:ann`, or a channel.
fn is_id(text: &str) -> bool {
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !c.is_uppercase() && !",*!@:".contains(c);
    let name = text.strip_prefix("account:").or_else(|| text.strip_prefix(['#', '&']));
    name.is_some_and(|name| !name.is_empty() && name.len() <= 64 && name.chars().all(plain))
}

fn fields() -> Vec<Field> {
    let maybe = |field: Field| Field { required: false, ..field };
    let needed = |field: Field| Field { required: true, ..field };
    vec![
        needed(Field::new(
            "server",
            "Server",
            "irc.libera.chat, or with a port irc.example.org:6697; irc://127.0.0.1:6667 without TLS.",
        )),
        needed(Field::new("nick", "Nick", "What it is called there.")),
        Field::new("channels", "Channels", "Such as \"#lab, #ops\"; a key goes after a space: \"#ops sesame\"."),
        Field::new("account", "Account", "Its account with the network's services, if not its nick."),
        maybe(Field::secret("password", "Account's password", "With it the network lets it in logged in, or not at all.")),
        Field {
            choices: &["plain", "external", "nickserv"],
            ..Field::new(
                "login",
                "Login",
                "plain (SASL with the password; what is taken if nothing is set), external (SASL with a certificate), or nickserv where there is no SASL.",
            )
        },
        maybe(Field::secret("certificate", "Certificate", "Its own certificate and key, as PEM, for login external.")),
        maybe(Field::secret("server_password", "Server's password", "If the server asks everybody for one, or a bouncer does.")),
        Field::new(
            "fingerprint",
            "Server's fingerprint",
            "SHA-256 of the server's certificate, in hexadecimal, if no authority signed it.",
        ),
        Field::new("pace_ms", "Pace", "Milliseconds between two lines once four have left; 2000 if nothing is set."),
    ]
}

fn trust() -> Vec<Trust> {
    vec![
        Trust {
            id: "agent:irc-nicks",
            assumes: "A nick not held to an account can be anybody's, so a nick counts for nobody; that somebody is logged in to an account, the network's services tell truly.",
            enforced: "By the server's `account` tag on each line, over TLS; `--allow` and `--approvers` take accounts and no nicks, and an answer goes only to a nick that the server, in the last minute, said is logged in to the account that asked.",
            otherwise: "Whoever takes a free nick, or runs the network, could speak, decide and be answered as somebody who is let in.",
        },
        Trust {
            id: "agent:messenger-identity",
            assumes: "Only people who are let in hold the accounts that are let in.",
            enforced: "By the network's services; not by us. Without services everybody is unknown, and nobody decides.",
            otherwise: "Whoever takes over such an account speaks to the agent and answers its questions.",
        },
        Trust {
            id: "agent:pairing",
            assumes: "The operator pairs only people whose code came to them by a way they trust.",
            enforced: "By the operator, who sees the account beside the nick; a private conversation's pairing opens no channel.",
            otherwise: "A stranger with the same nick as somebody known would be let in.",
        },
    ]
}

/// Who we are, as `check` tells it.
pub(super) fn account(session: &Session, host: &str) -> Account {
    let mut notes = Vec::new();
    if session.account.is_none() {
        notes.push("It is not logged in to an account, so anybody can take its nick while it is away: set `password`.".to_owned());
    }
    if !session.can("account-tag") {
        notes.push("The server does not tell who is logged in to which account: nobody can be let in or decide by name here, only --allow '*' or a channel's name lets people talk.".to_owned());
    }
    if !session.keeps_history() {
        notes.push("The server cannot be asked for what was missed: it is lost, unless a channel or a bouncer tells it again.".to_owned());
    }
    if !session.is_us(&session.wanted) {
        notes.push(format!("The nick {} is taken; it is asked for again and again.", session.wanted));
    }
    let id = session.account.as_ref().map_or_else(|| session.fold(&session.nick), |a| format!("account:{a}"));
    Account { notes, ..Account::new(id, format!("{} on {host}", session.nick)) }
}

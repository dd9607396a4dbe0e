//! What Telegram can, needs and rests on, as values.

use std::time::Duration;

use sb_channel::model::ChatSort;
use sb_channel::text::{Dialect, Fit, Unit};
use sb_channel::{
    Account, Features, Field, FilesOut, Live, Manifest, Marks, Proof, Questions, TextRules, Trust, Typing,
};

use super::wire::User;

/// The marks: bots may set one of a fixed list, which has no warning sign.
pub(super) const TAKEN: &str = "👀";
pub(super) const FAILED: &str = "😢";
/// What is said of a picture that is none to Telegram, in lower case.
pub(super) const NO_PHOTO: [&str; 3] =
    ["photo_", "image_process_failed", "wrong type of the web page content"];

const MB: u64 = 1024 * 1024;

const fn fit(limit: usize) -> Fit {
    Fit { limit, unit: Unit::Utf16, dialect: Dialect::Spans }
}

const DIRECT: Features = Features {
    text: TextRules { fit: fit(4096) },
    // It vanishes after 30 seconds.
    live: Live::Stream { every: Duration::from_millis(500), renew: Duration::from_secs(20), empty: true },
    // It is shown for five seconds.
    typing: Typing::Renew { every: Duration::from_secs(4) },
    marks: Marks { taken: Some(TAKEN), failed: Some(FAILED) },
    files_in: Some(20 * MB),
    files_out: Some(FilesOut { largest: 50 * MB, caption: Some(fit(1024)), at_once: 10 }),
    edits: true,
    threads: true,
    mentions: true,
    questions: Questions::Buttons(8),
    ..Features::PLAIN
};

const GROUP: Features = Features {
    // A group takes twenty messages a minute, and edits count.
    live: Live::Edit { every: Duration::from_secs(3), first: 40, most: None },
    ..DIRECT
};

pub(super) const fn features(sort: ChatSort) -> Features {
    match sort {
        ChatSort::Direct => DIRECT,
        ChatSort::Group => GROUP,
    }
}

pub(super) fn manifest() -> Manifest {
    Manifest {
        id: "telegram",
        label: "Telegram",
        blurb: "A bot in private chats, groups and topics, by long polling or webhook.",
        fields: fields(),
        direct: DIRECT,
        group: GROUP,
        id_hint: "A person's number, such as 4242 (the bot tells it to whoever it does not know yet); a group's begins with -100. Never a @name: anybody can take one.",
        is_id,
        trust: trust(),
        gaps: vec![
            "Bots get files of 20 MB at most; a Bot API server of your own gives larger ones, but one started with --local keeps them on its own disk, where they are not fetched from.",
            "Telegram keeps what a bot has not fetched for 24 hours; after a longer stop older messages are gone, and bots cannot look back.",
            "Telegram can read all that a bot reads and writes: there is no end-to-end encryption for bots.",
            "Telegram has no key by which a repeated send is dropped: if its answer is lost, people may see a message twice.",
            "What an anonymous admin or a channel writes in a group names no person, so such a one can decide nothing.",
            "A mark on a message is refused where a group's owner allows no reactions; nothing is shown then.",
        ],
        proof: Proof::StandIn,
        page: include_str!("README.md"),
    }
}

/// Ids have 52 bits at most; a group's are negative.
fn is_id(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().all(|b| b.is_ascii_digit())
        && digits.parse().is_ok_and(|id: u64| (1..1 << 52).contains(&id))
}

fn fields() -> Vec<Field> {
    let webhook_secret = Field {
        required: false,
        ..Field::secret(
            "secret_token",
            "Webhook secret",
            "Needed for webhooks only: a long random word of letters, digits, - and _.",
        )
    };
    vec![
        Field::secret("token", "Bot token", "From @BotFather: /newbot, or /mybots and API Token."),
        webhook_secret,
        Field::new(
            "api_url",
            "Bot API server",
            "If not https://api.telegram.org: the address of a Bot API server of your own, or of a stand-in.",
        ),
    ]
}

fn trust() -> Vec<Trust> {
    vec![
        Trust {
            id: "agent:telegram-chats",
            assumes: "Telegram tells truly who wrote a message and in which chat.",
            enforced: "By Telegram's servers, over TLS to the configured address; a person is known by number and never by name.",
            otherwise: "Somebody could speak, and decide, as a person who is let in.",
        },
        Trust {
            id: "agent:messenger-identity",
            assumes: "Only people who are let in hold the Telegram accounts that are let in.",
            enforced: "By Telegram's login; not by us. What an anonymous admin or a channel writes counts as nobody's.",
            otherwise: "Whoever takes over such an account speaks to the agent and answers its questions.",
        },
        Trust {
            id: "agent:pairing",
            assumes: "The operator pairs only people whose code came to them by a way they trust.",
            enforced: "By the operator, who sees the person's number beside the name; a private chat's pairing opens no group.",
            otherwise: "A stranger with the same name as somebody known would be let in.",
        },
        Trust {
            id: "agent:webhooks",
            assumes: "Only Telegram and we know the webhook's secret, and calls reach us over TLS.",
            enforced: "A call without the secret, compared in constant time, is refused; webhooks do not start without one. Long polling needs none of this.",
            otherwise: "Anybody could make up messages of anybody.",
        },
    ]
}

/// Who we are, as `check` tells it.
pub(super) fn account(user: &User) -> Account {
    let username = user.username.as_deref();
    let mut notes = Vec::new();
    if user.can_read_all_group_messages == Some(false) {
        notes.push("Privacy mode is on: in groups it gets only commands, answers to it, and messages that mention it (to change that: @BotFather, /setprivacy, then add it to the group anew).".to_owned());
    }
    if user.can_join_groups == Some(false) {
        notes.push("It cannot be added to groups (to change that: @BotFather, /setjoingroups).".to_owned());
    }
    if user.has_topics_enabled == Some(true) {
        notes.push("Topics are on in its private chats: each is a conversation of its own.".to_owned());
    }
    Account {
        id: user.id.map(|id| id.to_string()).unwrap_or_default(),
        name: username.map_or_else(|| user.called(), |name| format!("@{name}")),
        link: username.map(|name| format!("https://t.me/{name}")),
        notes,
    }
}

//! What Discord can, needs and rests on, as values.

use std::time::Duration;

use sb_channel::text::{Dialect, Fit, Unit};
use sb_channel::{
    Features, Field, FilesOut, Live, Manifest, Marks, Proof, Questions, Repeats, TextRules, Trust, Typing,
};

use super::snowflake;

/// The marks, with the sign that makes the second one a picture.
pub(super) const TAKEN: &str = "👀";
pub(super) const FAILED: &str = "⚠️";

const MB: u64 = 1024 * 1024;

/// Discord counts characters; a pair of UTF-16 units is one or two of them, so that is on the safe side.
const FIT: Fit = Fit { limit: 2000, unit: Unit::Utf16, dialect: Dialect::CommonMark };

pub(super) const FEATURES: Features = Features {
    text: TextRules { fit: FIT },
    // Five changes in five seconds are common; its answers say when it is too much.
    live: Live::Edit { every: Duration::from_millis(1500), first: 40, most: None },
    // It is shown for ten seconds.
    typing: Typing::Renew { every: Duration::from_secs(9) },
    marks: Marks { taken: Some(TAKEN), failed: Some(FAILED) },
    files_in: Some(25 * MB),
    files_out: Some(FilesOut { largest: 10 * MB, caption: Some(FIT), at_once: 10 }),
    edits: true,
    threads: true,
    mentions: true,
    questions: Questions::Buttons(25),
    repeats: Repeats::Dropped,
    ..Features::PLAIN
};

pub(super) fn manifest() -> Manifest {
    Manifest {
        id: "discord",
        label: "Discord",
        blurb: "A bot in direct messages, servers and threads, by Discord's gateway.",
        fields: vec![
            Field::secret(
                "token",
                "Bot token",
                "From the Developer Portal: your application, Bot, Reset Token.",
            ),
            Field::API_URL,
        ],
        direct: FEATURES,
        group: FEATURES,
        id_hint: "A person's or channel's number of 15 to 20 digits, such as 175928847299117063 (in Discord: settings, Advanced, Developer Mode; then right-click, Copy ID). Never a name or a nick: these change.",
        is_id: snowflake::is_one,
        trust: trust(),
        gaps: vec![
            "Where Discord no longer resumes a connection, what was missed is fetched from the history of the last seven days; buttons pressed and messages changed meanwhile are not told again.",
            "A direct message that was written before the bot ever connected, or before its writer was known here, is told only while the bot is connected.",
            "Discord knows a repeated message by its key for a few minutes: if an answer is lost right before a longer stop, people may see that message twice.",
            "One connection serves a bot: Discord asks for several from 2,500 servers on, which is not done yet.",
            "Voice channels are not joined: Discord lets in only programs that speak its own encryption for calls.",
            "A spoken reply would go as an attached file: Discord's own voice messages are received, not sent yet.",
            "Tables are shown as they are written, since Discord draws none.",
            "Discord can read all that a bot reads and writes.",
        ],
        proof: Proof::StandIn,
        page: include_str!("README.md"),
    }
}

fn trust() -> Vec<Trust> {
    vec![
        Trust::of_chats(
            "agent:discord-gateway",
            "Discord tells truly who wrote a message or pressed a button, and in which channel.",
        ),
        Trust {
            id: "agent:messenger-identity",
            assumes: "Only people who are let in hold the Discord accounts that are let in; in a channel, everybody who may write there speaks to the agent, unless approvers are named.",
            enforced: "By Discord's login and the server's permissions; not by us. People are known by number, never by name, nick or role; what a webhook writes counts as nobody's.",
            otherwise: "Whoever takes over such an account speaks to the agent and answers its questions.",
        },
        Trust {
            id: "agent:pairing",
            assumes: "The operator pairs only people whose code came to them by a way they trust.",
            enforced: "By the operator, who sees the person's number beside the name; a direct chat's pairing opens no channel of a server.",
            otherwise: "A stranger with the same name as somebody known would be let in.",
        },
    ]
}

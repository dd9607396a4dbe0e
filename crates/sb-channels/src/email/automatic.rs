//! What is never answered: what a program sent, a list, a bounce, or we ourselves.

use mail_parser::{Message, MimeHeaders};

/// How our own message ids begin.
pub(super) const OURS: &str = "ob-";
/// Mailboxes that nobody reads.
const NOBODY: [&str; 6] = ["mailer-daemon", "postmaster", "no-reply", "noreply", "donotreply", "do-not-reply"];
/// Fields that only programs write.
const FIELDS: [&str; 6] =
    ["List-Id", "List-Unsubscribe", "List-Post", "X-Autoreply", "X-Autorespond", "X-Loop"];

/// Why a mail must not be answered, if so. `head`: its header fields; `from`: its writer's id.
pub(super) fn why(mail: &Message<'_>, head: &[(&str, &str)], from: &str, ours: &str) -> Option<String> {
    let field = |name: &str| {
        let found = head.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    };
    if let Some(report) = report(mail) {
        return Some(report);
    }
    if field("Return-Path") == Some("<>") {
        return Some("it has no return path: a report of a program".to_owned());
    }
    let word = |text: &str| text.split([';', '(', ' ']).next().unwrap_or_default().trim().to_ascii_lowercase();
    if let Some(how) = field("Auto-Submitted").map(word).filter(|how| how != "no") {
        return Some(format!("a program sent it (Auto-Submitted: {how})"));
    }
    if let Some(how) = field("Precedence").map(word).filter(|how| {
        matches!(how.as_str(), "bulk" | "list" | "junk" | "auto_reply")
    }) {
        return Some(format!("it went to many (Precedence: {how})"));
    }
    let suppressed = field("X-Auto-Response-Suppress").unwrap_or_default().to_ascii_lowercase();
    if suppressed.split([',', ' ']).any(|part| matches!(part, "all" | "autoreply" | "oof")) {
        return Some("it asks that no program answers (X-Auto-Response-Suppress)".to_owned());
    }
    if let Some(name) = FIELDS.into_iter().find(|name| field(name).is_some()) {
        return Some(format!("a list or a program sent it ({name})"));
    }
    let local = from.split('@').next().unwrap_or_default();
    if from == ours || mail.message_id().is_some_and(|id| id.starts_with(OURS)) {
        return Some("we wrote it".to_owned());
    }
    NOBODY.contains(&local).then(|| format!("nobody reads what is sent to {from}"))
}

/// What a report on a mail of ours says.
fn report(mail: &Message<'_>) -> Option<String> {
    let kind = mail.content_type()?;
    if !(kind.ctype().eq_ignore_ascii_case("multipart") && kind.subtype()?.eq_ignore_ascii_case("report")) {
        return None;
    }
    let is_status = |part: &&mail_parser::MessagePart<'_>| {
        part.content_type().and_then(|kind| kind.subtype()).is_some_and(|kind| kind.ends_with("delivery-status"))
    };
    let status = mail.parts.iter().find(is_status).map(|part| String::from_utf8_lossy(part.contents()).into_owned());
    let field = |name: &str| {
        let lines = status.as_deref().unwrap_or_default().lines();
        let found = lines.filter_map(|line| line.split_once(':')).find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim().rsplit(';').next().unwrap_or_default().trim().to_owned())
    };
    Some(match (field("Action"), field("Final-Recipient"), field("Status")) {
        (Some(action), Some(to), code) => {
            format!("a report: mail to {to} is {action} ({})", code.unwrap_or_else(|| "no code".to_owned()))
        }
        _ => "a report of a mail server".to_owned(),
    })
}

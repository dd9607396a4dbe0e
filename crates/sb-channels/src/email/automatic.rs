//! What is never answered: what a program sent, a list, or we ourselves.

use mail_parser::Message;

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

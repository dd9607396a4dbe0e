//! [`Thread`]: what a mail is answered by, as a reference that works after a restart.

use mail_parser::Message;
use sb_channel::text::one_line;
use serde::{Deserialize, Serialize};

use super::parse::{self, Filed};

/// Ids of a thread that are named: its first, and the last ones.
const MOST_IDS: usize = 20;
const LONGEST_ID: usize = 250;
const LONGEST_SUBJECT: usize = 200;

/// A mail and those before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Thread {
    /// The mail's own id, without brackets; none if it has none.
    #[serde(default)]
    pub id: Option<String>,
    /// Those it names, the oldest first.
    #[serde(default)]
    pub before: Vec<String>,
    /// Without what says that it is an answer.
    #[serde(default)]
    pub subject: String,
    #[serde(default)]
    pub is_answer: bool,
    /// Where the mail lies.
    #[serde(default)]
    pub validity: u32,
    #[serde(default)]
    pub uid: u32,
}

impl Thread {
    pub fn of(mail: &Message<'_>, filed: &Filed) -> Self {
        let subject = mail.subject().map(|subject| one_line(subject, LONGEST_SUBJECT)).unwrap_or_default();
        let (subject, is_answer) = without_re(&subject);
        let mut before = parse::ids(mail.references());
        if before.is_empty() {
            before = parse::ids(mail.in_reply_to());
        }
        before.retain(|id| is_id(id));
        if before.len() > MOST_IDS {
            before.drain(1..=before.len() - MOST_IDS);
        }
        let id = mail.message_id().filter(|id| is_id(id)).map(str::to_owned);
        let subject = subject.to_owned();
        Self { id, before, subject, is_answer, validity: filed.validity, uid: filed.uid }
    }

    pub fn written(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
    pub fn read(reference: &str) -> Option<Self> {
        serde_json::from_str(reference).ok()
    }

    /// What an answer names: the mail, and all before it with it.
    pub fn references(&self) -> Option<(String, String)> {
        let id = format!("<{}>", self.id.as_deref()?);
        let before = self.before.iter().map(|id| format!("<{id}> ")).collect::<String>();
        Some((id.clone(), before + &id))
    }
}

/// Whether it can stand in a header as it is.
fn is_id(id: &str) -> bool {
    (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic() && !b"<>".contains(&b))
}

/// A subject without what says that it is an answer, however often.
fn without_re(subject: &str) -> (&str, bool) {
    let (mut rest, mut is_answer) = (subject.trim(), false);
    while let Some((word, after)) = rest.split_once(':') {
        if !matches!(word.trim().to_ascii_lowercase().as_str(), "re" | "aw" | "sv" | "antw" | "odp") {
            break;
        }
        (rest, is_answer) = (after.trim(), true);
    }
    (rest, is_answer)
}

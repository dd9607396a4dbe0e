//! [`Report`]: what a mail server tells of a mail that we sent (RFC 3464).

use std::fmt;

use mail_parser::{Message, MessageParser, MessagePart, MimeHeaders};

use super::address;

/// A delivery report, as far as it says something.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// To whom the mail was, as an id.
    pub to: Option<String>,
    /// The id of the mail, as its header within the report has it.
    pub mail: Option<String>,
    /// `failed`, `delayed`, `delivered`, `relayed` or `expanded`.
    action: String,
    /// Such as `5.1.1`.
    status: String,
}

impl Report {
    /// None if the mail is no report.
    pub fn of(mail: &Message<'_>) -> Option<Self> {
        let kind = mail.content_type()?;
        if !(kind.ctype().eq_ignore_ascii_case("multipart")
            && kind.subtype()?.eq_ignore_ascii_case("report"))
        {
            return None;
        }
        let status = part(mail, "delivery-status").map(bytes).unwrap_or_default();
        let status = String::from_utf8_lossy(&status).into_owned();
        let field = |name: &str| {
            let fields = status.lines().filter_map(|line| line.split_once(':'));
            let found = fields.into_iter().find(|(known, _)| known.trim().eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.trim().to_ascii_lowercase()).unwrap_or_default()
        };
        let recipient = field("Final-Recipient");
        let ours = part(mail, "rfc822").or_else(|| part(mail, "rfc822-headers")).map(bytes);
        let ours = ours.as_deref().and_then(|raw| MessageParser::default().parse(raw));
        Some(Self {
            to: recipient.rsplit(';').next().and_then(|to| address::id(to.trim())),
            mail: ours.and_then(|ours| ours.message_id().map(str::to_owned)),
            action: field("Action"),
            status: field("Status"),
        })
    }

    /// The address is none, for good: more than this very mail was refused.
    pub fn says_nobody_is_there(&self) -> bool {
        let nobody = ["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1", "5.4.1"];
        self.action == "failed" && nobody.contains(&self.status.as_str())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.to {
            Some(to) if !self.action.is_empty() => {
                write!(out, "a report: mail to {to} is {} ({})", self.action, self.status)
            }
            _ => out.write_str("a report of a mail server"),
        }
    }
}

fn part<'a>(mail: &'a Message<'_>, subtype: &str) -> Option<&'a MessagePart<'a>> {
    let is = |part: &&MessagePart<'_>| {
        part.content_type().and_then(|kind| kind.subtype()).is_some_and(|kind| kind.eq_ignore_ascii_case(subtype))
    };
    mail.parts.iter().find(is)
}

fn bytes(part: &MessagePart<'_>) -> Vec<u8> {
    super::parse::content(part).to_vec()
}

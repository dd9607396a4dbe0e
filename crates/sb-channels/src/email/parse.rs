//! A mail as an event. Pure: the same mail, filed the same way, is always the same event.
//!
//! Of what the provider does not vouch for, what a program sent, and what names no single writer, only the
//! reason is told, to whoever runs this; nothing of it reaches the agent.

use mail_parser::{Address, HeaderValue, Message, MessageParser, MimeHeaders};
use sb_channel::model::{Chat, FileRef, Handle, MessageRef, Person, Timestamp};
use sb_channel::text::one_line;
use sb_channel::{Event, Incoming};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::settings::Mailbox;
use super::report::Report;
use super::thread::Thread;
use super::{address, automatic, text};

/// Files of one mail that are taken.
const MOST_FILES: usize = 10;
/// Parts that a mail may have.
const MOST_PARTS: usize = 100;
const LONGEST_NAME: usize = 120;
const LONGEST_TEXT: usize = 100_000;
/// A mail that came so much later, or earlier, than it says decides nothing: it may be an old one sent again.
const MOST_OFF_MS: i64 = 24 * 60 * 60 * 1000;
/// How long a mail's thread can be gone on with.
const THREAD_KEPT_MS: i64 = 400 * 24 * 60 * 60 * 1000;

/// Where a mail lies, and since when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filed {
    pub validity: u32,
    pub uid: u32,
    pub at: Timestamp,
    /// Bytes of all of it.
    pub size: u64,
    /// Only its beginning was read, since it is too large.
    pub is_cut: bool,
}

/// A mail as an event. `is_sent` says whether we sent a mail of that id to that address.
pub(super) fn event(
    raw: &[u8],
    filed: &Filed,
    mailbox: &Mailbox,
    is_sent: impl Fn(&str, &str) -> bool,
) -> Event {
    let Some(mail) = MessageParser::default().parse(raw) else {
        return left(None, "it is no mail that can be read");
    };
    if let Some(report) = Report::of(&mail) {
        // Anybody can write a report: it counts only where it names a mail that we sent to that address.
        return match report.to.as_deref().zip(report.mail.as_deref()) {
            Some((to, id)) if report.says_nobody_is_there() && is_sent(id, to) => {
                Event::Gone { chat: to.to_owned(), why: report.to_string() }
            }
            _ => left(Some(&mail), &report.to_string()),
        };
    }
    match said(&mail, filed, mailbox) {
        Ok(said) => said.into(),
        Err(why) => left(Some(&mail), &why),
    }
}

/// What is not passed on to the agent: whose it is, and why.
fn left(mail: Option<&Message<'_>>, why: &str) -> Event {
    let writer = mail.and_then(|mail| mail.from()?.first()?.address().map(str::to_owned)).unwrap_or_default();
    Event::Noted { what: format!("not answered: a mail of {}: {why}", one_line(&writer, 100)) }
}

fn said(mail: &Message<'_>, filed: &Filed, mailbox: &Mailbox) -> Result<Incoming, String> {
    let head = head(mail);
    let head: Vec<(&str, &str)> = head.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let (from, name) = writer(mail, &head)?;
    if let Some(why) = automatic::why(mail, &head, &from, &mailbox.address) {
        return Err(why);
    }
    let domain = address::domain(&from);
    mailbox.trusted.vouches(&head, domain)?;
    if mail.parts.len() > MOST_PARTS {
        return Err(format!("it has more than {MOST_PARTS} parts"));
    }
    let thread = Thread::of(mail, filed);
    let own_id = mail.message_id().map_or_else(|| digest(mail), str::to_owned);
    let (subject, is_answer) = (thread.subject.as_str(), thread.is_answer);
    let mut words = words(mail);
    if filed.is_cut {
        words += "\n\n(This mail is too large, so what is attached to it was not taken.)";
    } else if words.is_empty() {
        words = subject.to_owned();
    }
    let person = Person { id: Some(from.clone()), name, bot: false };
    // Who wrote is part of the key, or a stranger could use up the ids of somebody else's mails.
    let mut incoming = Incoming::new(format!("{domain}:{own_id}"), Chat::direct(from), person, words.trim());
    incoming.about = (!is_answer && !subject.is_empty() && incoming.text != subject).then(|| subject.to_owned());
    incoming.files = if filed.is_cut { Vec::new() } else { files(mail, filed, &own_id) };
    let reference = thread.written();
    incoming.message = Some(MessageRef(reference.clone()));
    incoming.handle = Some(Handle { token: reference, until: filed.at.plus_ms(THREAD_KEPT_MS), uses: u32::MAX });
    incoming.at = Some(filed.at);
    let written = mail.date().map(|date| date.to_timestamp().saturating_mul(1000));
    if written.is_none_or(|written| (filed.at.0 - written).abs() > MOST_OFF_MS) {
        let day = written.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
        let dated = day.map_or("without a date".to_owned(), |day| day.strftime("dated %Y-%m-%d").to_string());
        incoming.forwarded = Some(format!("{}, {dated}", one_line(&incoming.person.name, 40)));
    }
    Ok(incoming)
}

/// The header from its top, as it stands there.
fn head(mail: &Message<'_>) -> Vec<(String, String)> {
    let value = |from: u32, to: u32| mail.raw_message.get(from as usize..to as usize).unwrap_or_default();
    let fields = mail.headers().iter().map(|field| {
        let raw = String::from_utf8_lossy(value(field.offset_start, field.offset_end)).into_owned();
        (field.name.as_str().to_owned(), raw)
    });
    fields.collect()
}

/// The one writer: id and what people call them.
fn writer(mail: &Message<'_>, head: &[(&str, &str)]) -> Result<(String, String), String> {
    let fields = head.iter().filter(|(name, _)| name.eq_ignore_ascii_case("from")).count();
    let one = match mail.from() {
        Some(Address::List(list)) if list.len() == 1 && fields == 1 => list.first(),
        _ => None,
    };
    let one = one.ok_or("it does not name one writer")?;
    let id = one.address().and_then(address::id).ok_or("its writer's address is none")?;
    let name = one.name().map(|name| one_line(name, 64)).filter(|name| !name.is_empty());
    Ok((id.clone(), name.unwrap_or(id)))
}

/// What is new in its text: the plain form, or the words of the other.
fn words(mail: &Message<'_>) -> String {
    let mut text = mail.body_text(0).unwrap_or_default().into_owned();
    if text.len() > LONGEST_TEXT {
        let end = (0..=LONGEST_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
    }
    text::new_words(&text.replace('\0', ""))
}

/// What is attached: by number, with the mail's own id to find it by if the mailbox was made anew.
fn files(mail: &Message<'_>, filed: &Filed, own_id: &str) -> Vec<FileRef> {
    let attached = mail.attachments().enumerate().take(MOST_FILES);
    let file = |(at, part): (usize, &mail_parser::MessagePart<'_>)| {
        let kind = part.content_type();
        let media_type = kind.map(|kind| format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or_default()));
        let is_mail = part.is_message();
        let name = part.attachment_name().map(str::to_owned);
        let name = name.unwrap_or_else(|| if is_mail { "mail.eml" } else { "" }.to_owned());
        FileRef {
            reference: json!({"v": filed.validity, "uid": filed.uid, "part": at, "id": own_id}).to_string(),
            name: last_part(&name),
            media_type: media_type.unwrap_or_default().to_ascii_lowercase(),
            size: Some(content(part).len() as u64),
            voice_s: None,
        }
    };
    attached.map(file).collect()
}

/// The bytes of an attached part; a mail within a mail is a file as it stands.
pub(super) fn content<'a>(part: &'a mail_parser::MessagePart<'_>) -> &'a [u8] {
    match part.message() {
        Some(mail) => mail.raw_message(),
        None => part.contents(),
    }
}

fn last_part(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    last.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect()
}

/// What stands for the id of a mail that has none.
fn digest(mail: &Message<'_>) -> String {
    let mut digest = Sha256::new();
    for field in ["From", "Date", "Subject"] {
        digest.update(mail.header_raw(field).unwrap_or_default());
        digest.update([0]);
    }
    let body = mail.raw_message.get(mail.root_part().raw_body_offset() as usize..).unwrap_or_default();
    digest.update(body);
    let bytes = digest.finalize();
    bytes.iter().take(16).fold(String::from("sha256-"), |text, byte| format!("{text}{byte:02x}"))
}

/// The ids that a field names.
pub(super) fn ids(value: &HeaderValue<'_>) -> Vec<String> {
    match value {
        HeaderValue::Text(one) => vec![one.to_string()],
        HeaderValue::TextList(many) => many.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

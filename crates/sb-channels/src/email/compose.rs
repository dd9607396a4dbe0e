//! A piece as a mail: its header, its words as plain text with the same in HTML beside them, its files.
//!
//! What an agent writes comes as plain words with styles beside them, so nothing in it can be markup. Values
//! that stand in the header hold no line breaks.

use std::time::{Duration, UNIX_EPOCH};

use lettre::message::header::{ContentTransferEncoding, ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment, Body, Mailbox as Named, MultiPart, SinglePart};
use sb_channel::Result;
use sb_channel::model::{Fault, FaultKind, Timestamp};
use sb_channel::text::{Rendered, Span, Style, one_line};
use sha2::{Digest, Sha256};

use super::automatic::OURS;
use super::settings::Mailbox;
use super::thread::Thread;

/// What a mail of ours is about where it answers none.
const NO_SUBJECT: &str = "A message from your agent";

/// A mail to be written.
pub(super) struct Letter<'a> {
    pub to: &'a str,
    pub key: &'a str,
    pub thread: Option<&'a Thread>,
    pub words: &'a Rendered,
    /// Name, media type, bytes.
    pub files: Vec<(String, String, Vec<u8>)>,
    pub at: Timestamp,
}

/// The id of the mail that is sent under a key: the same for every try.
pub(super) fn own_id(key: &str, mailbox: &Mailbox) -> String {
    let digest = Sha256::digest(format!("{}\n{key}", mailbox.address));
    let name = digest.iter().take(16).fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    format!("{OURS}{name}@{}", mailbox.domain())
}

impl Letter<'_> {
    /// Its bytes, as they are sent.
    pub fn write(self, mailbox: &Mailbox) -> Result<Vec<u8>> {
        let refused = |why: &dyn std::fmt::Display| Fault::new(FaultKind::Refused, "writing a mail", why.to_string());
        let named = |name: Option<&str>, address: &str| {
            let address = address.parse().map_err(|why| refused(&why))?;
            Ok::<_, Fault>(Named::new(name.map(|name| one_line(name, 64)), address))
        };
        let answered = self.thread.and_then(Thread::references);
        let how = if self.thread.is_some() { "auto-replied" } else { "auto-generated" };
        let subject = match self.thread.map(|thread| thread.subject.as_str()) {
            Some("") => "Re:".to_owned(),
            Some(subject) => format!("Re: {}", one_line(subject, 200)),
            None => NO_SUBJECT.to_owned(),
        };
        let at = UNIX_EPOCH + Duration::from_millis(u64::try_from(self.at.0).unwrap_or(0));
        let mut mail = lettre::Message::builder()
            .from(named(mailbox.name.as_deref(), &mailbox.address)?)
            .to(named(None, self.to)?)
            .subject(subject)
            .date(at)
            .message_id(Some(format!("<{}>", own_id(self.key, mailbox))))
            .raw_header(field("Auto-Submitted", how))
            .raw_header(field("X-Auto-Response-Suppress", "All"));
        if let Some((id, references)) = answered {
            mail = mail.in_reply_to(id).references(references);
        }
        let whole = body(self.words, self.files, &refused)?;
        let mail = match whole {
            Whole::One(part) => mail.singlepart(part),
            Whole::Many(parts) => mail.multipart(parts),
        };
        Ok(mail.map_err(|why| refused(&why))?.formatted())
    }
}

/// The parts below the header.
enum Whole {
    One(SinglePart),
    Many(MultiPart),
}

fn body(
    words: &Rendered,
    files: Vec<(String, String, Vec<u8>)>,
    refused: &dyn Fn(&dyn std::fmt::Display) -> Fault,
) -> Result<Whole> {
    let plain = words.text.clone();
    let text = match words.spans.is_empty() {
        true => Whole::One(SinglePart::plain(plain)),
        false => Whole::Many(MultiPart::alternative_plain_html(plain, html(words))),
    };
    if files.is_empty() {
        return Ok(text);
    }
    let mixed = MultiPart::mixed();
    let mut mixed = match text {
        Whole::One(part) => mixed.singlepart(part),
        Whole::Many(parts) => mixed.multipart(parts),
    };
    for (name, media_type, bytes) in files {
        let kind = ContentType::parse(&media_type).or_else(|_| ContentType::parse("application/octet-stream"));
        let kind = kind.map_err(|why| refused(&why))?;
        // As text it would come with other line ends.
        let bytes = Body::new_with_encoding(bytes, ContentTransferEncoding::Base64);
        let bytes = bytes.map_err(|_| refused(&"a file cannot be written as base64"))?;
        mixed = mixed.singlepart(Attachment::new(one_line(&name, 120)).body(bytes, kind));
    }
    Ok(Whole::Many(mixed))
}

fn field(name: &'static str, value: &str) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value.to_owned())
}

/// The words with their styles, as HTML that shows the same everywhere.
fn html(words: &Rendered) -> String {
    let mut out = String::from("<html><body><div style=\"white-space: pre-wrap\">");
    let mut open: Vec<&Span> = Vec::new();
    let mut spans = words.spans.iter().peekable();
    for (at, c) in words.text.chars().enumerate() {
        while let Some(span) = open.pop_if(|span| span.from + span.len <= at) {
            out += end(&span.style);
        }
        while let Some(span) = spans.next_if(|span| span.from <= at) {
            out += &begin(&span.style);
            open.push(span);
        }
        match c {
            // Where a mail program drops the style, lines must not run together.
            '\n' if !open.iter().any(|span| matches!(span.style, Style::Pre { .. })) => out += "<br>",
            other => escape(&mut out, other),
        }
    }
    while let Some(span) = open.pop() {
        out += end(&span.style);
    }
    out + "</div></body></html>"
}

fn begin(style: &Style) -> String {
    match style {
        Style::Bold => "<b>".to_owned(),
        Style::Italic => "<i>".to_owned(),
        Style::Strike => "<s>".to_owned(),
        Style::Code => "<code>".to_owned(),
        Style::Pre { .. } => "<pre>".to_owned(),
        Style::Quote => "<blockquote>".to_owned(),
        Style::Link { url } if ["http://", "https://", "mailto:"].iter().any(|scheme| url.starts_with(scheme)) => {
            let mut link = String::from("<a href=\"");
            url.chars().for_each(|c| escape(&mut link, c));
            link + "\">"
        }
        Style::Link { .. } => "<a>".to_owned(),
    }
}

fn end(style: &Style) -> &'static str {
    match style {
        Style::Bold => "</b>",
        Style::Italic => "</i>",
        Style::Strike => "</s>",
        Style::Code => "</code>",
        Style::Pre { .. } => "</pre>",
        Style::Quote => "</blockquote>",
        Style::Link { .. } => "</a>",
    }
}

fn escape(out: &mut String, c: char) {
    match c {
        '&' => *out += "&amp;",
        '<' => *out += "&lt;",
        '>' => *out += "&gt;",
        '"' => *out += "&quot;",
        other => out.push(other),
    }
}

//! What people do with their mail programs, and what they see there.

use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use lettre::message::header::ContentType;
use lettre::message::{Attachment, Mailbox, MultiPart, SinglePart};
use mail_parser::{MessageParser, MimeHeaders};
use sb_channel::model::{Chat, MessageRef, Person};
use sb_channel::standin::{SeenFile, SeenMessage};

use super::{ADDRESS, AUTHSERV, MOST_MESSAGES, Provider, State};
use crate::email::parse;

impl Provider {
    /// Somebody writes, in answer to our latest mail if there is one, as mail programs do: the old one stands below.
    pub(super) fn write(&self, chat: &Chat, person: &Person, text: &str, files: &[SeenFile]) -> String {
        let now = self.0.clock.now();
        self.change(|state| {
            state.last_id += 1;
            let from = person.id.clone().unwrap_or_default();
            let id = format!("m{}.{}@{}", state.last_id, now.0, super::THEIRS);
            let room = state.rooms.entry(chat.id.clone()).or_default();
            let answered = room.iter().rev().find(|message| message.ours).cloned();
            let mut body = text.replace('\n', "\r\n");
            let mut builder = lettre::Message::builder()
                .message_id(Some(format!("<{id}>")))
                .date(UNIX_EPOCH + Duration::from_millis(u64::try_from(now.0).unwrap_or(0)));
            builder = match &answered {
                Some(ours) => {
                    let line = ours.text.lines().next().unwrap_or_default();
                    body += &format!("\r\n\r\nOn Monday, the agent wrote:\r\n> {line}");
                    let reference = format!("<{}>", ours.reference.0);
                    builder.subject("Re: A question").in_reply_to(reference.clone()).references(reference)
                }
                None => builder.subject("A question"),
            };
            if let (Ok(from), Ok(to)) = (from.parse(), ADDRESS.parse()) {
                builder = builder.from(Mailbox::new(Some(person.name.clone()), from)).to(Mailbox::new(None, to));
            }
            let text_part = SinglePart::plain(body);
            let built = if files.is_empty() {
                builder.singlepart(text_part)
            } else {
                let mut parts = MultiPart::mixed().singlepart(text_part);
                for file in files {
                    let kind = ContentType::parse(&file.media_type).unwrap_or(ContentType::TEXT_PLAIN);
                    parts = parts.singlepart(Attachment::new(file.name.clone()).body(file.bytes.to_vec(), kind));
                }
                builder.multipart(parts)
            };
            let mail = built.map(|mail| mail.formatted()).unwrap_or_default();
            let mut raw = format!(
                "Return-Path: <{from}>\r\nAuthentication-Results: {AUTHSERV};\r\n dmarc=pass header.from={};\r\n spf=pass smtp.mailfrom={from}\r\nReceived: from {} by {AUTHSERV}\r\n",
                super::THEIRS,
                super::THEIRS,
            )
            .into_bytes();
            raw.extend(mail);
            state.see(&chat.id, SeenMessage {
                files: files.to_vec(),
                answers: answered.map(|ours| ours.reference),
                ..SeenMessage::new(MessageRef(id.clone()), false, text)
            });
            state.said.push_back((id.clone(), raw.clone()));
            if state.said.len() > MOST_MESSAGES {
                state.said.pop_front();
            }
            state.inbox.add(raw, now, &[]);
            id
        })
    }

    /// A mail of ours comes to somebody.
    pub(super) fn hand_over(&self, to: &str, raw: &[u8]) {
        let parsed = MessageParser::default().parse(raw);
        let Some(mail) = parsed else { return };
        let text = mail.body_text(0).unwrap_or_default().replace("\r\n", "\n").trim().to_owned();
        let files = mail.attachments().map(|part| SeenFile {
            name: part.attachment_name().unwrap_or_default().to_owned(),
            media_type: part.content_type().map_or_else(String::new, |kind| {
                format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or_default())
            }),
            bytes: Bytes::copy_from_slice(part.contents()),
        });
        let reference = MessageRef(mail.message_id().unwrap_or_default().to_owned());
        let answers = parse::ids(mail.in_reply_to()).into_iter().next().map(MessageRef);
        let seen = SeenMessage { files: files.collect(), answers, ..SeenMessage::new(reference, true, text) };
        self.change(|state| state.see(to, seen));
    }
}

impl State {
    fn see(&mut self, address: &str, seen: SeenMessage) {
        let room = self.rooms.entry(address.to_owned()).or_default();
        room.push_back(seen);
        if room.len() > MOST_MESSAGES {
            room.pop_front();
        }
    }
}

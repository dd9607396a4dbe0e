//! What the bot puts into a chat: messages, files, albums, edits.

use serde_json::{Value, json};

use super::params::{Params, Refusal, Upload};
use super::platform::{Media, Message, Platform, Room};
use super::rules::{self, LONGEST_CAPTION, LONGEST_TEXT};

const CAPTION_TOO_LONG: &str = "message caption is too long";
/// The largest photo, and the largest of any other file, that is taken.
const LARGEST_PHOTO: usize = 10 * 1024 * 1024;
const LARGEST_FILE: usize = 50 * 1024 * 1024;
const NOT_MODIFIED: &str = "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message";

impl Platform {
    /// A message of the bot's to be, with all that the methods share.
    fn begin(&mut self, params: &Params) -> Result<(i64, Message), Refusal> {
        if params.text("parse_mode").is_some() {
            return Err(Refusal::bad("can't parse entities: markup is not imitated here, send entities"));
        }
        let from = self.bot.clone();
        let room = self.reach(params.int("chat_id"))?;
        if room.muted {
            return Err(Refusal::bad("not enough rights to send text messages to the chat"));
        }
        let thread = room.thread(params.int("message_thread_id"))?;
        let answers = answered(room, params)?;
        let keyboard = rules::keyboard(params.json("reply_markup")?)?;
        Ok((room.id, Message { from, thread, answers, keyboard, ..Message::default() }))
    }

    fn sent(&mut self, chat: i64, message: Message) -> Value {
        let message = self.put(chat, message);
        self.rooms.get(&chat).map(|room| self.wire(room, &message)).unwrap_or_default()
    }

    pub(super) fn send_message(&mut self, params: &Params) -> Result<Value, Refusal> {
        let (chat, mut message) = self.begin(params)?;
        let text = params.text("text").unwrap_or_default();
        (message.text, message.entities) =
            rules::words(text, &params.list("entities")?, LONGEST_TEXT, "message is too long")?;
        if message.text.is_empty() {
            return Err(Refusal::bad("message text is empty"));
        }
        Ok(self.sent(chat, message))
    }

    pub(super) fn send_file(&mut self, params: &Params, sort: &str) -> Result<Value, Refusal> {
        let (chat, mut message) = self.begin(params)?;
        let caption = params.text("caption").unwrap_or_default();
        (message.text, message.entities) =
            rules::words(caption, &params.list("caption_entities")?, LONGEST_CAPTION, CAPTION_TOO_LONG)?;
        let media = match (params.upload(sort), params.text(sort)) {
            (Some(upload), _) => self.take_file(sort, upload)?,
            (None, Some(id)) => self.known_file(sort, id)?,
            (None, None) => return Err(Refusal::bad(&format!("there is no {sort} in the request"))),
        };
        message.media = Some(Media { duration: params.int("duration"), ..media });
        Ok(self.sent(chat, message))
    }

    pub(super) fn send_album(&mut self, params: &Params) -> Result<Value, Refusal> {
        let (chat, begun) = self.begin(params)?;
        let items = params.list("media")?;
        if !(2..=10).contains(&items.len()) {
            return Err(Refusal::bad("there must be 2-10 media in an album"));
        }
        let sorts: Vec<&str> = items.iter().filter_map(|item| item.get("type")?.as_str()).collect();
        // Photos and videos go together; documents and audio only with their like.
        let mixes = |sort: &str| ["photo", "video"].contains(&sort);
        if sorts.len() != items.len()
            || !(sorts.iter().all(|s| mixes(s)) || sorts.iter().all(|s| *s == sorts[0]))
        {
            return Err(Refusal::bad("document can't be mixed with other media types"));
        }
        let album = self.next().to_string();
        let mut messages = Vec::new();
        for (item, sort) in items.iter().zip(sorts) {
            let field = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
            let entities =
                item.get("caption_entities").and_then(Value::as_array).cloned().unwrap_or_default();
            let mut message = Message { album: Some(album.clone()), ..begun.clone() };
            (message.text, message.entities) =
                rules::words(field("caption"), &entities, LONGEST_CAPTION, CAPTION_TOO_LONG)?;
            message.media = Some(match params.attached(field("media")) {
                Some(upload) => self.take_file(sort, upload)?,
                None => self.known_file(sort, field("media"))?,
            });
            messages.push(message);
        }
        Ok(messages.into_iter().map(|message| self.sent(chat, message)).collect())
    }

    fn take_file(&mut self, sort: &str, upload: &Upload) -> Result<Media, Refusal> {
        let most = if sort == "photo" { LARGEST_PHOTO } else { LARGEST_FILE };
        if upload.bytes.len() > most {
            return Err(Refusal::new(413, "Request Entity Too Large"));
        }
        if upload.bytes.is_empty() {
            return Err(Refusal::bad("file must be non-empty"));
        }
        if sort == "photo" {
            rules::photo(&upload.bytes)?;
        }
        Ok(self.store(sort, &upload.name, &upload.media_type, upload.bytes.clone()))
    }

    fn known_file(&self, sort: &str, id: &str) -> Result<Media, Refusal> {
        let file = self.files.iter().find(|file| file.id == id);
        let file = file.ok_or_else(|| Refusal::bad("wrong file identifier/HTTP URL specified"))?;
        Ok(Media {
            sort: sort.to_owned(),
            file_id: file.id.clone(),
            name: file.path.rsplit('/').next().unwrap_or_default().to_owned(),
            media_type: file.media_type.clone(),
            size: file.bytes.len(),
            duration: None,
        })
    }

    pub(super) fn edit_text(&mut self, params: &Params) -> Result<Value, Refusal> {
        let text = params.text("text").unwrap_or_default();
        let (text, entities) =
            rules::words(text, &params.list("entities")?, LONGEST_TEXT, "message is too long")?;
        if text.is_empty() {
            return Err(Refusal::bad("message text is empty"));
        }
        let keyboard = rules::keyboard(params.json("reply_markup")?)?;
        self.change(params, |message| {
            if message.media.is_some() {
                return Err(Refusal::bad("there is no text in the message to edit"));
            }
            if (&message.text, &message.entities, &message.keyboard) == (&text, &entities, &keyboard) {
                return Err(Refusal::bad(NOT_MODIFIED));
            }
            (message.text, message.entities, message.keyboard) = (text, entities, keyboard);
            Ok(())
        })
    }

    pub(super) fn edit_keyboard(&mut self, params: &Params) -> Result<Value, Refusal> {
        let keyboard = rules::keyboard(params.json("reply_markup")?)?;
        self.change(params, |message| {
            if message.keyboard == keyboard {
                return Err(Refusal::bad(NOT_MODIFIED));
            }
            message.keyboard = keyboard;
            Ok(())
        })
    }

    /// Changes one of the bot's own messages.
    fn change(
        &mut self,
        params: &Params,
        change: impl FnOnce(&mut Message) -> Result<(), Refusal>,
    ) -> Result<Value, Refusal> {
        let us = self.bot.id;
        let room = self.reach(params.int("chat_id"))?;
        let chat = room.id;
        let message = room.message(params.int("message_id").unwrap_or_default());
        let message = message.ok_or_else(|| Refusal::bad("message to edit not found"))?;
        if message.from.id != us {
            return Err(Refusal::bad("message can't be edited"));
        }
        change(message)?;
        message.edits += 1;
        let message = message.clone();
        Ok(self.rooms.get(&chat).map(|room| self.wire(room, &message)).unwrap_or_else(|| json!(true)))
    }

    pub(super) fn delete(&mut self, params: &Params) -> Result<Value, Refusal> {
        let room = self.reach(params.int("chat_id"))?;
        let id = params.int("message_id").unwrap_or_default();
        let at = room.messages.iter().position(|message| message.id == id);
        room.messages.remove(at.ok_or_else(|| Refusal::bad("message to delete not found"))?);
        Ok(true.into())
    }
}

/// The message that a call answers.
fn answered(room: &mut Room, params: &Params) -> Result<Option<i64>, Refusal> {
    let Some(reply) = params.json("reply_parameters")? else { return Ok(None) };
    let id = reply.get("message_id").and_then(Value::as_i64).unwrap_or_default();
    match room.message(id) {
        Some(message) => Ok(Some(message.id)),
        None if reply.get("allow_sending_without_reply") == Some(&Value::Bool(true)) => Ok(None),
        None => Err(Refusal::bad("message to be replied not found")),
    }
}

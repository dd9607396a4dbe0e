//! What a person sees.

use sb_channel::model::{Chat, MessageRef};
use serde_json::Value;

use super::TelegramStandIn;
use super::people::number;
use super::platform::Message;

/// A message as it is shown now.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenMessage {
    pub reference: MessageRef,
    /// The bot wrote it.
    pub ours: bool,
    /// Who wrote it.
    pub from: String,
    /// The topic it is in.
    pub thread: Option<String>,
    pub text: String,
    /// The same, with the styles written as marks of Markdown.
    pub marked: String,
    /// The styles, as the Bot API writes them.
    pub entities: Vec<Value>,
    /// What the buttons say, and what pressing them says.
    pub buttons: Vec<(String, String)>,
    pub file: Option<SeenFile>,
    pub album: Option<String>,
    /// The bot's mark on it.
    pub mark: Option<String>,
    pub answers: Option<MessageRef>,
    /// How often it was changed.
    pub edits: u32,
}

/// A file as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenFile {
    /// `photo`, `document` ….
    pub sort: String,
    pub name: String,
    pub media_type: String,
    pub bytes: axum::body::Bytes,
}

impl TelegramStandIn {
    /// What is in a chat, the oldest first; of a topic, if the chat names one.
    pub fn seen(&self, chat: &Chat) -> Vec<SeenMessage> {
        self.shared.look(|platform| {
            let us = platform.bot.id;
            let bytes = |id: &str| {
                platform
                    .files
                    .iter()
                    .find(|file| file.id == id)
                    .map(|file| file.bytes.clone())
                    .unwrap_or_default()
            };
            let Some(room) = platform.rooms.get(&number(&chat.id)) else { return Vec::new() };
            let wanted = chat.thread.as_deref().map(number);
            let said = room
                .messages
                .iter()
                .filter(|message| message.besides.keys().all(|key| !key.starts_with("migrate")));
            said.filter(|message| wanted.is_none() || message.thread == wanted)
                .map(|message| seen(&chat.id, message, us, bytes))
                .collect()
        })
    }

    /// What the bot put into a chat.
    pub fn seen_of_us(&self, chat: &Chat) -> Vec<SeenMessage> {
        self.seen(chat).into_iter().filter(|message| message.ours).collect()
    }

    /// The growing reply, as it is shown now; without words it says that the bot is thinking.
    pub fn draft(&self, chat: &Chat) -> Option<String> {
        self.shared.look(|platform| {
            let room = platform.rooms.get(&number(&chat.id))?;
            room.shown_draft(platform.now()).map(|draft| draft.text.clone())
        })
    }

    /// Whether it is shown that the bot is at work.
    pub fn is_typing(&self, chat: &Chat) -> bool {
        self.shared.look(|platform| {
            let room = platform.rooms.get(&number(&chat.id));
            room.is_some_and(|room| room.is_typing(platform.now()))
        })
    }

    /// How many updates wait for the bot.
    pub fn waiting(&self) -> usize {
        self.shared.look(|platform| platform.updates.len())
    }

    /// The commands in the menu, with what they are said to do.
    pub fn menu(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.shared.look(|platform| {
            let commands = platform.commands.as_array().into_iter().flatten();
            commands.map(|command| (text(&command["command"]), text(&command["description"]))).collect()
        })
    }
}

fn seen(chat: &str, message: &Message, us: i64, bytes: impl Fn(&str) -> axum::body::Bytes) -> SeenMessage {
    let reference = |id: i64| MessageRef(format!("{chat}:{id}"));
    SeenMessage {
        reference: reference(message.id),
        ours: message.from.id == us,
        from: message.from.name.clone(),
        thread: message.thread.map(|thread| thread.to_string()),
        text: message.text.clone(),
        marked: marked(&message.text, &message.entities),
        entities: message.entities.clone(),
        buttons: buttons(message.keyboard.as_ref()),
        file: message.media.as_ref().map(|media| SeenFile {
            sort: media.sort.clone(),
            name: media.name.clone(),
            media_type: media.media_type.clone(),
            bytes: bytes(&media.file_id),
        }),
        album: message.album.clone(),
        mark: message.mark.clone(),
        answers: message.answers.map(reference),
        edits: message.edits,
    }
}

pub(super) fn buttons(keyboard: Option<&Value>) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = keyboard.and_then(|keyboard| keyboard.get("inline_keyboard")).and_then(Value::as_array);
    let buttons = rows.into_iter().flatten().filter_map(Value::as_array).flatten();
    buttons.map(|button| (text(&button["text"]), text(&button["callback_data"]))).collect()
}

/// A text with marks where its styles begin and end.
fn marked(text: &str, entities: &[Value]) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut marks: Vec<(usize, String)> = Vec::new();
    for entity in entities {
        let at = |name: &str| entity[name].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or_default();
        let of = |name: &str| entity[name].as_str().unwrap_or_default();
        let (open, close) = match of("type") {
            "bold" => ("**".to_owned(), "**".to_owned()),
            "italic" => ("_".to_owned(), "_".to_owned()),
            "strikethrough" => ("~~".to_owned(), "~~".to_owned()),
            "code" => ("`".to_owned(), "`".to_owned()),
            "pre" => (format!("```{}\n", of("language")), "\n```".to_owned()),
            "text_link" => ("[".to_owned(), format!("]({})", of("url"))),
            "blockquote" => ("> ".to_owned(), String::new()),
            _ => continue,
        };
        let end = at("offset") + at("length");
        // Ends of inner ones stand before ends of outer ones, which come first in the list.
        let before_ends = marks.iter().position(|(there, _)| *there >= end).unwrap_or(marks.len());
        marks.insert(before_ends, (end, close));
        let after_begins = marks.iter().position(|(there, _)| *there > at("offset")).unwrap_or(marks.len());
        marks.insert(after_begins, (at("offset"), open));
    }
    let mut out = String::new();
    let mut done = 0;
    for (at, mark) in marks {
        let at = at.clamp(done, units.len());
        out.push_str(&String::from_utf16_lossy(&units[done..at]));
        out.push_str(&mark);
        done = at;
    }
    out + &String::from_utf16_lossy(&units[done..])
}

//! What we put into a chat, as the fields and parts of a call.
//!
//! Words go as plain text with entities and never with a parse mode, so nothing in them can be taken
//! for markup. A picture goes as a photo, all else as a document.

use sb_channel::model::text::{Rendered, Span, Style};
use sb_channel::model::{Chat, Choice, MessageRef, Tone};
use sb_channel::net::Part;
use sb_channel::{OutFile, Result};
use serde_json::{Map, Value, json};

use super::faults;

/// The largest picture that is taken as a photo.
const LARGEST_PHOTO: u64 = 10 * 1024 * 1024;
/// Labels this short, in characters, share a row.
const SHORT: usize = 10;
const A_ROW: usize = 3;

/// The fields of a call.
pub(super) type Fields = Map<String, Value>;

/// The fields that name a chat, its topic, and the message that is answered.
pub(super) fn to(chat: &Chat, answers: Option<&MessageRef>) -> Result<Fields> {
    let mut fields = Map::new();
    fields.insert("chat_id".to_owned(), number(&chat.id)?.into());
    if let Some(thread) = &chat.thread {
        fields.insert("message_thread_id".to_owned(), number(thread)?.into());
    }
    // A chat that moved has left its messages behind, and their numbers begin anew.
    if let Some((_, message)) = answers.and_then(split).filter(|(at, _)| *at == chat.id) {
        let reply = json!({"message_id": message, "allow_sending_without_reply": true});
        fields.insert("reply_parameters".to_owned(), reply);
    }
    Ok(fields)
}

/// A chat and the number of one of its messages.
pub(super) fn split(reference: &MessageRef) -> Option<(&str, i64)> {
    let (chat, message) = reference.0.split_once(':')?;
    Some((chat, message.parse().ok()?))
}

/// An id of Telegram's, all of which are numbers.
pub(super) fn number(id: &str) -> Result<i64> {
    id.parse().map_err(|_| faults::refused("this is no chat or topic of Telegram's"))
}

/// Adds words under the names that a call has for them.
pub(super) fn put_words(fields: &mut Fields, text: &str, entities: &str, words: &Rendered) {
    fields.insert(text.to_owned(), words.text.clone().into());
    let spans: Vec<Value> = words.spans.iter().filter(|span| span.len > 0).map(entity).collect();
    if !spans.is_empty() {
        fields.insert(entities.to_owned(), spans.into());
    }
}

fn entity(span: &Span) -> Value {
    let mut entity = json!({"type": sort(&span.style), "offset": span.from, "length": span.len});
    match &span.style {
        Style::Pre { language } if !language.is_empty() => entity["language"] = language.clone().into(),
        Style::Link { url } => entity["url"] = url.clone().into(),
        _ => {}
    }
    entity
}

fn sort(style: &Style) -> &'static str {
    match style {
        Style::Bold => "bold",
        Style::Italic => "italic",
        Style::Strike => "strikethrough",
        Style::Code => "code",
        Style::Pre { .. } => "pre",
        Style::Link { .. } => "text_link",
        Style::Quote => "blockquote",
    }
}

/// The buttons of a question; none takes them away.
pub(super) fn buttons(choices: &[Choice]) -> Option<Value> {
    let short = choices.iter().all(|choice| choice.label.chars().count() <= SHORT);
    let rows: Vec<Vec<Value>> =
        choices.chunks(if short { A_ROW } else { 1 }).map(|row| row.iter().map(button).collect()).collect();
    (!rows.is_empty()).then(|| json!({ "inline_keyboard": rows }))
}

fn button(choice: &Choice) -> Value {
    let mut button = json!({"text": choice.label, "callback_data": choice.says});
    match choice.tone {
        Tone::Good => button["style"] = "success".into(),
        Tone::Bad => button["style"] = "danger".into(),
        Tone::Plain => {}
    }
    button
}

/// How files go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum As {
    Photo,
    Document,
}

impl As {
    /// As photos only if all can be: an album mixes no photos and documents.
    pub(super) fn fits(files: &[OutFile]) -> Self {
        let is_photo = |file: &OutFile| {
            file.size <= LARGEST_PHOTO
                && matches!(file.media_type.as_str(), "image/jpeg" | "image/png" | "image/webp")
        };
        if files.iter().all(is_photo) { As::Photo } else { As::Document }
    }
    /// What the API calls it.
    fn name(self) -> &'static str {
        match self {
            As::Photo => "photo",
            As::Document => "document",
        }
    }
}

/// The method and the parts that send files.
pub(super) async fn upload(
    mut fields: Fields,
    files: &[OutFile],
    caption: Option<&Rendered>,
    sort: As,
) -> Result<(&'static str, Vec<Part>)> {
    let caption = caption.filter(|words| !words.text.is_empty());
    let (method, names) = match (files, sort) {
        ([], _) => return Err(faults::refused("there is no file to send")),
        ([_], As::Photo) => ("sendPhoto", vec![sort.name().to_owned()]),
        ([_], As::Document) => ("sendDocument", vec![sort.name().to_owned()]),
        _ => ("sendMediaGroup", (0..files.len()).map(|at| format!("file{at}")).collect::<Vec<_>>()),
    };
    if method == "sendMediaGroup" {
        let media = names.iter().enumerate().map(|(at, name)| {
            let mut item = Map::new();
            item.insert("type".to_owned(), sort.name().into());
            item.insert("media".to_owned(), format!("attach://{name}").into());
            if let Some(words) = caption.filter(|_| at == 0) {
                put_words(&mut item, "caption", "caption_entities", words);
            }
            Value::Object(item)
        });
        fields.insert("media".to_owned(), media.collect::<Vec<_>>().into());
    } else if let Some(words) = caption {
        put_words(&mut fields, "caption", "caption_entities", words);
    }
    let mut parts: Vec<Part> = fields.into_iter().map(|(name, value)| text_part(name, value)).collect();
    for (name, file) in names.into_iter().zip(files) {
        parts.push(file_part(name, file).await?);
    }
    Ok((method, parts))
}

/// In a form, what is no text is written as JSON.
fn text_part(name: String, value: Value) -> Part {
    let text = match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    Part::Text { name, text }
}

async fn file_part(name: String, file: &OutFile) -> Result<Part> {
    let content = file.content.open().await;
    let content = content.map_err(|why| faults::refused(&format!("{} cannot be read: {why}", file.name)))?;
    Ok(Part::File {
        name,
        file_name: file.name.clone(),
        media_type: file.media_type.clone(),
        size: file.size,
        file: content,
    })
}

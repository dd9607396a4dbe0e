//! What we put into a chat, as the bodies of `/messages`.

use sb_channel::model::text::{Rendered, Unit};
use sb_channel::model::{Chat, ChatSort, Choice, MessageRef};
use sb_channel::{Attempt, OutFile};
use serde_json::{Map, Value, json};

/// What a question with something to tap holds, as UTF-16 counts.
const LONGEST_QUESTION: usize = 1024;
/// Buttons, and the characters of one's title.
const MOST_BUTTONS: usize = 3;
const LONGEST_BUTTON: usize = 20;
/// Rows of a list, and the characters of one's title and of what stands below it.
pub(super) const MOST_ROWS: u8 = 10;
const LONGEST_ROW: usize = 24;
const LONGEST_BELOW: usize = 72;
/// What opens a list.
const OPENS: &str = "Choose";
/// What is given back with what became of a message.
const LONGEST_KEY: usize = 512;
/// The largest picture that goes as one.
const LARGEST_PICTURE: u64 = 5 * 1024 * 1024;

/// The body of a call.
pub(super) type Fields = Map<String, Value>;

/// The fields that say where to: a person by the id they came with, or a group.
fn to(chat: &Chat) -> Fields {
    let mut fields = Map::new();
    fields.insert("messaging_product".to_owned(), "whatsapp".into());
    let group = chat.sort == ChatSort::Group;
    fields.insert("recipient_type".to_owned(), if group { "group" } else { "individual" }.into());
    let by_number = chat.id.bytes().all(|b| b.is_ascii_digit());
    let field = if group || by_number { "to" } else { "recipient" };
    fields.insert(field.to_owned(), chat.id.clone().into());
    fields
}

/// A message of this sort.
pub(super) fn message(
    chat: &Chat,
    answers: Option<&MessageRef>,
    attempt: &Attempt,
    sort: &str,
    content: Value,
) -> Value {
    let mut fields = to(chat);
    if let Some(answered) = answers {
        fields.insert("context".to_owned(), json!({"message_id": answered.0}));
    }
    if attempt.key.len() <= LONGEST_KEY {
        fields.insert("biz_opaque_callback_data".to_owned(), attempt.key.clone().into());
    }
    fields.insert("type".to_owned(), sort.into());
    fields.insert(sort.to_owned(), content);
    fields.into()
}

/// The sort and the content of words. Those that a link makes would be fetched by Meta; they are not.
pub(super) fn words(chat: &Chat, words: &Rendered, choices: &[Choice]) -> (&'static str, Value) {
    match tapped(chat, words, choices) {
        Some(question) => ("interactive", question),
        None => ("text", json!({"body": words.text, "preview_url": false})),
    }
}

/// A question with something to tap. None where it would not be taken: its words stand for themselves, as they can
/// be answered by typing.
fn tapped(chat: &Chat, words: &Rendered, choices: &[Choice]) -> Option<Value> {
    let fits = chat.sort == ChatSort::Direct
        && (1..=usize::from(MOST_ROWS)).contains(&choices.len())
        && Unit::Utf16.count(&words.text) <= LONGEST_QUESTION;
    if !fits {
        return None;
    }
    let short = choices.iter().all(|choice| choice.label.chars().count() <= LONGEST_BUTTON);
    let (sort, action) = match short && choices.len() <= MOST_BUTTONS {
        true => {
            let button = |c: &Choice| json!({"type": "reply", "reply": {"id": c.says, "title": c.label}});
            ("button", json!({"buttons": choices.iter().map(button).collect::<Vec<_>>()}))
        }
        false => {
            let rows: Vec<Value> = choices.iter().map(row).collect();
            ("list", json!({"button": OPENS, "sections": [{"rows": rows}]}))
        }
    };
    let titles: std::collections::BTreeSet<&str> = choices.iter().map(title).collect();
    (titles.len() == choices.len())
        .then(|| json!({"type": sort, "body": {"text": words.text}, "action": action}))
}

fn row(choice: &Choice) -> Value {
    let mut row = json!({"id": choice.says, "title": title(choice)});
    if title(choice) != choice.label {
        row["description"] = sb_channel::text::one_line(&choice.label, LONGEST_BELOW).into();
    }
    row
}

fn title(choice: &Choice) -> &str {
    let end = choice.label.char_indices().nth(LONGEST_ROW).map_or(choice.label.len(), |(at, _)| at);
    choice.label.get(..end).unwrap_or_default()
}

/// The sort and the content of a file that was uploaded: a JPEG or PNG is a picture, anything else a document.
pub(super) fn file(file: &OutFile, id: &str, caption: Option<&Rendered>) -> (&'static str, Value) {
    let picture = file.size <= LARGEST_PICTURE
        && matches!(file.media_type.as_str(), "image/jpeg" | "image/png");
    let (sort, mut content) = match picture {
        true => ("image", json!({"id": id})),
        false => ("document", json!({"id": id, "filename": file.name})),
    };
    if let Some(words) = caption.filter(|words| !words.text.is_empty()) {
        content["caption"] = words.text.clone().into();
    }
    (sort, content)
}

/// An emoji on a message.
pub(super) fn reaction(chat: &Chat, at: &MessageRef, emoji: &str) -> Value {
    let mut fields = to(chat);
    fields.insert("type".to_owned(), "reaction".into());
    fields.insert("reaction".to_owned(), json!({"message_id": at.0, "emoji": emoji}));
    fields.into()
}

/// That a message was read, and those before it; and, if so, that we are at work on it.
pub(super) fn read(at: &MessageRef, typing: bool) -> Value {
    let mut read = json!({"messaging_product": "whatsapp", "status": "read", "message_id": at.0});
    if typing {
        read["typing_indicator"] = json!({"type": "text"});
    }
    read
}

//! What the webhook is told: Meta's bodies.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sb_channel::model::{Chat, ChatSort, Person, Timestamp};
use sb_channel::standin::{SeenFile, Told};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{ACCOUNT_ID, NAME, NUMBER, PEOPLE, PHONE_NUMBER_ID, PHONES, chat_of, phone};

/// The calls that tell of what somebody did. Files sent in one go are messages of their own.
pub(super) fn updates(told: &Told) -> Vec<Value> {
    match told {
        Told::Said { id, chat, person, text, mentions, files, at } => {
            let text = if *mentions && chat.sort == ChatSort::Group { format!("@{NAME} {text}") } else { text.clone() };
            if files.is_empty() {
                return vec![message(chat, person, id, *at, "text", json!({"body": text}))];
            }
            let each = files.iter().enumerate().map(|(n, (media, file))| {
                let id = if n == 0 { id.clone() } else { format!("{id}+{n}") };
                let (sort, content) = attached(media, file, if n == 0 { &text } else { "" });
                message(chat, person, &id, *at, sort, content)
            });
            each.collect()
        }
        Told::Pressed { id, chat, person, on, says, at } => {
            let [sort, title, says] = says.splitn(3, '\n').collect::<Vec<_>>()[..] else { return Vec::new() };
            let sort = format!("{sort}_reply");
            let reply = json!({"type": sort, sort: {"id": says, "title": title}});
            let mut told = message(chat, person, &format!("wamid.{id}"), *at, "interactive", reply);
            let context = json!({"from": NUMBER, "id": on});
            if let Some(message) = told.pointer_mut("/entry/0/changes/0/value/messages/0") {
                message["context"] = context;
            }
            vec![told]
        }
        Told::Edited { id, chat, person, text, at } => {
            let edit = json!({"original_message_id": id, "message": {"type": "text", "text": {"body": text}}});
            vec![message(chat, person, &format!("{id}.{}", at.0), *at, "edit", edit)]
        }
    }
}

fn attached(media: &str, file: &SeenFile, caption: &str) -> (&'static str, Value) {
    let mut content = json!({"id": media, "mime_type": file.media_type, "sha256": STANDARD.encode(Sha256::digest(&file.bytes))});
    if !caption.is_empty() {
        content["caption"] = caption.into();
    }
    let sort = match file.media_type.split('/').next() {
        Some("image") => "image",
        Some("video") => "video",
        Some("audio") => "audio",
        _ => "document",
    };
    match sort {
        "document" => content["filename"] = file.name.clone().into(),
        "audio" => content["voice"] = true.into(),
        _ => {}
    }
    (sort, content)
}

fn message(chat: &Chat, person: &Person, id: &str, at: Timestamp, sort: &str, content: Value) -> Value {
    let mut contact = json!({"profile": {"name": person.name}, "user_id": person.id});
    let mut message = json!({"id": id, "timestamp": (at.0 / 1000).to_string(), "type": sort});
    message[sort] = content;
    match phone(person) {
        Some(number) => {
            contact["wa_id"] = number.clone().into();
            message["from"] = number.into();
        }
        None => contact["profile"]["username"] = person.name.trim_start_matches('@').into(),
    }
    if chat.sort == ChatSort::Group {
        message["group_id"] = chat.id.clone().into();
    }
    call(json!({"contacts": [contact], "messages": [message]}))
}

/// What became of a message of ours.
pub(super) fn status(id: &str, key: Option<&str>, status: &str, recipient: &str, at: Timestamp) -> Value {
    let mut told = json!({
        "id": id, "status": status, "recipient_id": recipient, "timestamp": (at.0 / 1000).to_string(),
    });
    if let Some(key) = key {
        told["biz_opaque_callback_data"] = key.into();
    }
    let known = chat_of(recipient);
    let mut contact = json!({"user_id": known});
    if let Some(number) = known.strip_prefix(PEOPLE) {
        contact["wa_id"] = format!("{PHONES}{number}").into();
    }
    call(json!({"contacts": [contact], "statuses": [told]}))
}

/// A whole call about one change.
fn call(mut value: Value) -> Value {
    value["messaging_product"] = "whatsapp".into();
    value["metadata"] = json!({"display_phone_number": NUMBER, "phone_number_id": PHONE_NUMBER_ID});
    let entry = json!({"id": ACCOUNT_ID, "changes": [{"field": "messages", "value": value}]});
    json!({"object": "whatsapp_business_account", "entry": [entry]})
}

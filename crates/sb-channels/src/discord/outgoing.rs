//! What we put into a channel, as Discord takes it.
//!
//! Whatever an agent writes, nobody is called by it: mentions in our words are never resolved.

use sb_channel::model::text::one_line;
use sb_channel::model::{Chat, Choice, MessageRef, Tone};
use sb_channel::net::Part;
use sb_channel::{Attempt, Command, OutFile, Result};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::faults;

/// Links show no preview: an agent's answer is its words.
const NO_PREVIEWS: u64 = 1 << 2;
/// Bytes of the key by which Discord knows a repeated send: it may have 25 characters.
const NONCE: usize = 12;
const A_ROW: usize = 5;
const LONGEST_LABEL: usize = 80;
const LONGEST_HELP: usize = 100;
const LONGEST_WORDS: usize = 6000;
const MOST_COMMANDS: usize = 100;

/// The channel that holds a chat's messages: a thread is one itself.
pub(super) fn channel(chat: &Chat) -> Result<&str> {
    let id = chat.thread.as_deref().unwrap_or(&chat.id);
    if is_number(id) { Ok(id) } else { Err(faults::refused("this is no channel of Discord's")) }
}

/// A channel and one of its messages.
pub(super) fn split(at: &MessageRef) -> Result<(&str, &str)> {
    let parts = at.0.split_once(':').filter(|(channel, message)| is_number(channel) && is_number(message));
    parts.ok_or_else(|| faults::refused("this is no message of Discord's"))
}

fn is_number(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit())
}

/// A message of words. Without choices, an edit takes the buttons away.
pub(super) fn words(words: &str, choices: &[Choice]) -> Value {
    let row = |row: &[Choice]| json!({"type": 1, "components": row.iter().map(button).collect::<Vec<_>>()});
    json!({
        "content": words,
        "allowed_mentions": {"parse": [], "replied_user": false},
        "components": choices.chunks(A_ROW).map(row).collect::<Vec<_>>(),
        "flags": NO_PREVIEWS,
    })
}

fn button(choice: &Choice) -> Value {
    let style = match choice.tone {
        Tone::Good => 3,
        Tone::Bad => 4,
        Tone::Plain => 2,
    };
    json!({"type": 2, "style": style, "label": one_line(&choice.label, LONGEST_LABEL), "custom_id": choice.says})
}

/// A message to be: what it answers, and the key that makes a repeat of it the same message.
pub(super) fn anew(mut fields: Value, to: &str, answers: Option<&MessageRef>, of: &Attempt) -> Value {
    // A message is answered in its own channel only.
    if let Some((_, message)) = answers.and_then(|at| split(at).ok()).filter(|(channel, _)| *channel == to) {
        fields["message_reference"] = json!({"message_id": message, "fail_if_not_exists": false});
    }
    fields["nonce"] = hex::encode(&Sha256::digest(of.key.as_bytes())[..NONCE]).into();
    fields["enforce_nonce"] = true.into();
    fields
}

/// A message of files, as the parts of a form.
pub(super) async fn upload(mut fields: Value, files: &[OutFile]) -> Result<Vec<Part>> {
    let named = files.iter().enumerate().map(|(at, file)| json!({"id": at, "filename": file.name}));
    fields["attachments"] = named.collect::<Vec<_>>().into();
    let mut parts = vec![Part::Text { name: "payload_json".to_owned(), text: fields.to_string() }];
    for (at, file) in files.iter().enumerate() {
        let content = file.content.open().await;
        parts.push(Part::File {
            name: format!("files[{at}]"),
            file_name: file.name.clone(),
            media_type: file.media_type.clone(),
            size: file.size,
            file: content.map_err(|why| faults::refused(&format!("{} cannot be read: {why}", file.name)))?,
        });
    }
    Ok(parts)
}

/// The commands of the menu. Each takes words, as when it is typed.
pub(super) fn menu(commands: &[Command]) -> Value {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    let fits =
        |command: &&Command| (1..=32).contains(&command.name.len()) && command.name.bytes().all(allowed);
    let words = json!({
        "type": 3, "name": "text", "description": "What belongs to it", "required": false, "max_length": LONGEST_WORDS,
    });
    // In servers and in direct chats, for servers that the bot was added to.
    let listed = commands.iter().filter(fits).map(|command| {
        json!({
            "name": command.name, "description": one_line(&command.help, LONGEST_HELP), "type": 1, "options": [words],
            "contexts": [0, 1], "integration_types": [0],
        })
    });
    listed.take(MOST_COMMANDS).collect::<Vec<_>>().into()
}

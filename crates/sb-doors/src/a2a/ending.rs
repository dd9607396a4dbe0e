//! From a message's ending to a task: its state, its words, its files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sb_wire::a2a::{Artifact, Message, Part, Role, State, Status, Task};

use crate::engine::{Engine, Looked};
use crate::http::rfc3339;
use crate::model::{Attachment, ConversationId, EndKind, Ending, MessageId};

/// Bytes of the files that come with one task; what is more is named only.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// The artifact that a reply is.
pub(super) const REPLY: &str = "reply";
const FILES: &str = "files";

/// A task's id is the receipt of its message.
pub(super) fn id_of(message: MessageId) -> String {
    format!("{:016x}", message.0)
}

/// The message that an id names, if it could be one of ours.
pub(super) fn message_of(id: &str) -> Option<MessageId> {
    let is_ours = id.len() == 16 && id.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    is_ours.then(|| i64::from_str_radix(id, 16).ok().map(MessageId)).flatten()
}

/// A context's id is the name of its conversation.
pub(super) fn context_of(conversation: &ConversationId) -> String {
    conversation.name().to_owned()
}

pub(super) fn state_of(ending: Option<&Ending>, began: bool) -> State {
    match ending.map(|ending| ending.kind) {
        None if began => State::Working,
        None => State::Submitted,
        Some(EndKind::Replied | EndKind::Silent) => State::Completed,
        Some(EndKind::Waiting) => State::InputRequired,
        Some(EndKind::Failed) => State::Failed,
        Some(EndKind::Stopped | EndKind::Dropped) => State::Canceled,
        Some(EndKind::Refused) => State::Rejected,
    }
}

/// The reply's artifact.
pub(super) fn reply(words: &str) -> Artifact {
    Artifact {
        id: REPLY.to_owned(),
        name: Some(REPLY.to_owned()),
        description: None,
        parts: vec![Part::text(words)],
        metadata: None,
    }
}

/// The words of the reply itself, and what is said about how it ended.
fn words(looked: &Looked) -> (String, String) {
    match &looked.ending {
        None => (looked.words.clone(), String::new()),
        Some(ending) if matches!(ending.kind, EndKind::Replied | EndKind::Silent) => {
            (ending.said.clone(), String::new())
        }
        Some(ending) => match ending.said.strip_prefix(looked.words.as_str()) {
            Some(rest) if !looked.words.is_empty() => (looked.words.clone(), rest.trim().to_owned()),
            _ => (String::new(), ending.said.clone()),
        },
    }
}

/// A task as it stands. `said`: words about it that go before its own, `history`: as much of what was said to it.
pub(super) async fn task(
    engine: &Engine,
    looked: &Looked,
    said: Option<String>,
    history: Option<u64>,
) -> Task {
    let id = id_of(looked.stored.message.id);
    let context = context_of(&looked.stored.conversation);
    let state = state_of(looked.ending.as_ref(), looked.began);
    let (words, about) = words(looked);
    let about = said.unwrap_or(about);
    let about_it = |words: String| Message {
        context: Some(context.clone()),
        task: Some(id.clone()),
        ..Message::words(format!("{id}-status"), Role::Agent, words)
    };
    let message = (!about.is_empty()).then(|| about_it(about));
    let status = Status { state, message, timestamp: Some(rfc3339(looked.at)) };
    let mut artifacts = Vec::new();
    if !words.is_empty() {
        artifacts.push(reply(&words));
    }
    if let Some(ending) = &looked.ending {
        artifacts.extend(files(engine, &ending.files).await);
    }
    let history = match history {
        Some(0) => Vec::new(),
        _ => vec![Message {
            context: Some(context.clone()),
            task: Some(id.clone()),
            ..Message::words(format!("{id}-message"), Role::User, looked.stored.message.text.clone())
        }],
    };
    Task { id, context, status, artifacts, history, metadata: None }
}

/// Shared files, as an artifact of their own.
pub(super) async fn files(engine: &Engine, files: &[Attachment]) -> Option<Artifact> {
    if files.is_empty() {
        return None;
    }
    let (mut parts, mut bytes) = (Vec::new(), 0);
    for file in files {
        let fits = bytes + file.size <= MOST_BYTES;
        let read = match fits {
            true => engine.blob_piece(file, 0, u32::try_from(file.size).unwrap_or(u32::MAX)).await.ok(),
            false => None,
        };
        match read {
            Some(read) => {
                bytes += file.size;
                parts.push(Part::raw(STANDARD.encode(read), &file.name, &file.media_type));
            }
            None => {
                let size = file.size;
                parts.push(Part::text(format!(
                    "(The file {} of {size} bytes does not go along here.)",
                    file.name
                )));
            }
        }
    }
    Some(Artifact {
        id: FILES.to_owned(),
        name: Some(FILES.to_owned()),
        description: None,
        parts,
        metadata: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_leads_back_to_its_message_and_nothing_else_does() {
        assert_eq!(message_of(&id_of(MessageId(4711))), Some(MessageId(4711)));
        for odd in ["", "1", "0000000000000001 ", "000000000000000G", "00000000000000001", "ffffffffffffffff"]
        {
            assert_eq!(message_of(odd), None, "{odd}");
        }
    }
}

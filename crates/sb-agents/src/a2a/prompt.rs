//! From the log to a message: what was said since, with its files, and to an agent that knows nothing, what
//! came before.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sb_harness::model::text::one_line;
use sb_harness::model::{Attachment, Record};
use sb_harness::{Blobs, TurnSpec};
use sb_wire::a2a::{Card, Message, Part, Role};
use tokio::io::AsyncReadExt;

use crate::acp::prompt::earlier;

/// Bytes of all files of one message.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// Files of one message.
const MOST_FILES: usize = 20;

/// A turn's message. `anew`: the agent knows nothing of what was said before. With it come words for the person
/// about files that do not go along.
pub(super) async fn message(spec: &TurnSpec, card: &Card, anew: bool) -> (Message, Vec<String>) {
    let mut parts = Vec::new();
    if anew {
        let chat = spec.choices.system.as_deref().unwrap_or_default();
        for told in [spec.profile.instructions.as_str(), chat] {
            if !told.trim().is_empty() {
                parts.push(Part::text(format!("(Instructions of whoever passes this on:)\n{told}")));
            }
        }
        parts.extend(earlier(spec).map(Part::text));
    }
    if spec.starts > 1 {
        parts.push(Part::text(
            "(This may have reached you before: look before you do anything twice.)".to_owned(),
        ));
    }
    let (mut left_out, mut bytes, mut files) = (Vec::new(), 0, 0);
    for entry in spec.log.iter().filter(|e| e.turn == Some(spec.turn)) {
        let Record::Said { text, files: sent, .. } = &entry.record else { continue };
        if !text.trim().is_empty() || sent.is_empty() {
            parts.push(Part::text(text.clone()));
        }
        for file in sent {
            let name = one_line(&file.name, 100);
            if !card.takes(&file.media_type) {
                let kind = one_line(&file.media_type, 80);
                left_out.push(format!("{name} was not passed on: this agent takes no {kind}."));
            } else if files == MOST_FILES || bytes + file.size > MOST_BYTES {
                let most = MOST_BYTES / 1024 / 1024;
                left_out.push(format!(
                    "{name} was not passed on: {MOST_FILES} files and {most} MB go with one message."
                ));
            } else if let Ok(part) = part(&*spec.blobs, file).await {
                (files, bytes) = (files + 1, bytes + file.size);
                parts.push(part);
            } else {
                left_out.push(format!("{name} was not passed on: it could not be read."));
            }
        }
    }
    // The same for every try of the same turn, so that whoever remembers it sees a repeat.
    let mut message = Message::words(format!("{}-{}", spec.session, spec.turn.0), Role::User, "");
    message.parts = parts;
    (message, left_out)
}

async fn part(blobs: &dyn Blobs, file: &Attachment) -> std::io::Result<Part> {
    let mut bytes = Vec::new();
    blobs.open(&file.digest).await?.take(MOST_BYTES).read_to_end(&mut bytes).await?;
    Ok(Part::raw(STANDARD.encode(bytes), &one_line(&file.name, 200), &file.media_type))
}

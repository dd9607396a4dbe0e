//! From the log to a prompt: what was said since, and to an agent that knows nothing, what came before.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sb_harness::model::text::clip;
use sb_harness::model::{Attachment, Entry, Record};
use sb_harness::{Blobs, TurnSpec};
use serde_json::{Value, json};

/// Visible characters of earlier talk that a new session is told, counted from its end.
const TOLD: usize = 30_000;
/// Visible characters of one earlier text.
const TOLD_EACH: usize = 4_000;
/// Pictures shown with one prompt.
const MOST_PICTURES: usize = 10;

/// What an agent knows already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Knows {
    /// All but this turn.
    Before,
    /// Nothing.
    Nothing,
}

/// The prompt of a turn. `images`: it can be shown pictures. `again`: this turn was begun before and cut off.
pub(crate) async fn prompt(spec: &TurnSpec, knows: Knows, images: bool, untold: Vec<String>) -> Vec<Value> {
    let mut blocks = Vec::new();
    if knows == Knows::Nothing {
        let chat = spec.choices.system.as_deref().unwrap_or_default();
        for told in [spec.profile.instructions.as_str(), chat] {
            if !told.trim().is_empty() {
                blocks.push(text(format!("(Instructions of whoever runs you here:)\n{told}")));
            }
        }
        blocks.extend(earlier(spec).map(text));
    }
    blocks.extend(untold.into_iter().map(text));
    if spec.starts > 1 {
        blocks.push(text(
            "(You were cut off while you worked on what follows, so some of it may be done already: look before you do anything twice.)"
                .to_owned(),
        ));
    }
    let mut pictures = 0;
    for entry in spec.log.iter().filter(|e| e.turn == Some(spec.turn)) {
        let Record::Said { text: words, files, .. } = &entry.record else { continue };
        blocks.push(text(words.clone()));
        for file in files.iter().filter(|f| f.is_picture()) {
            let shown = match images && pictures < MOST_PICTURES {
                true => picture(&*spec.blobs, file).await,
                false => None,
            };
            pictures += usize::from(shown.is_some());
            blocks.extend(shown.or_else(|| link(spec.profile.workspace.as_deref()?, file)));
        }
    }
    blocks
}

/// A block of words.
pub(crate) fn text(words: String) -> Value {
    json!({"type": "text", "text": words})
}

async fn picture(blobs: &dyn Blobs, file: &Attachment) -> Option<Value> {
    let bytes = blobs.read(&file.digest).await.ok()?;
    Some(json!({"type": "image", "mimeType": file.media_type, "data": STANDARD.encode(bytes)}))
}

/// A picture that cannot be shown, by where it lies in the inbox.
fn link(workspace: &str, file: &Attachment) -> Option<Value> {
    let path = Path::new(workspace).join("inbox").join(&file.name);
    // Of several of one name it may be another: those are only named by the words.
    path.metadata().ok().filter(|facts| facts.len() == file.size)?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~/".contains(&b);
    let encoded: String = path
        .to_str()?
        .bytes()
        .map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect();
    let uri = format!("file://{encoded}");
    Some(
        json!({"type": "resource_link", "uri": uri, "name": file.name, "mimeType": file.media_type, "size": file.size}),
    )
}

/// What was said in this session before the turn.
pub(crate) fn earlier(spec: &TurnSpec) -> Option<String> {
    let before: Vec<&Entry> = spec.log.iter().take_while(|e| e.turn != Some(spec.turn)).collect();
    let (mut lines, mut left) = (Vec::new(), TOLD);
    for entry in before.into_iter().rev() {
        let (who, words) = match &entry.record {
            Record::Said { text, .. } => ("Person", text),
            Record::Answered { text, .. } if !text.trim().is_empty() => ("You", text),
            Record::Summary { text, .. } => ("In short", text),
            _ => continue,
        };
        let words = clip(words.trim(), TOLD_EACH);
        let Some(rest) = left.checked_sub(words.chars().count()) else { break };
        left = rest;
        // Set in, so that no text can pass for another's.
        lines
            .push(format!("{who}:\n{}", words.lines().map(|line| format!("> {line}\n")).collect::<String>()));
    }
    if lines.is_empty() {
        return None;
    }
    lines.reverse();
    Some(format!(
        "(What was said before in this conversation, of which you know nothing yourself:)\n\n{}",
        lines.join("\n")
    ))
}

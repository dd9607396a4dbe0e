//! What came of a call, as the loop takes it: text, pictures, and whether it came from outside.
//!
//! Every size is bounded, and what is cut says so. What a tool says of its own failure is content like any
//! other, so it taints as its results do.

use std::io::{Seek, Write};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use sb_harness::Blobs;
use sb_harness::model::Attachment;
use sb_harness::model::text::one_line;
use sb_harness::net::media;
use sb_loop::Done;
use serde_json::Value;

/// The most text of one result, in bytes.
const MOST_TEXT: usize = 64 * 1024;
/// The most pictures of one result.
const MOST_PICTURES: usize = 4;

/// The text and pictures of a result.
#[derive(Default)]
struct Taken {
    text: String,
    left_out: usize,
    files: Vec<Attachment>,
}

/// What the loop is given. `taints`: the tool's results count as content from outside.
pub(crate) async fn done(result: CallToolResult, taints: bool, tool: &str, blobs: &Arc<dyn Blobs>) -> Done {
    let mut taken = Taken::default();
    let mut repeats_structure = false;
    let structured = result.structured_content;
    for block in result.content {
        match block {
            ContentBlock::Text(block) => {
                repeats_structure |= structured.as_ref().is_some_and(|s| repeats(&block.text, s));
                taken.add(&block.text);
            }
            ContentBlock::Image(image) => taken.picture(&image.data, &image.mime_type, tool, blobs).await,
            ContentBlock::Audio(audio) => taken.add(&unseen("sound", &audio.mime_type, &audio.data)),
            ContentBlock::ResourceLink(link) => {
                let kind = link.mime_type.unwrap_or_default();
                let facts = [one_line(&link.name, 200), one_line(&kind, 60), one_line(&link.uri, 1000)];
                let facts: Vec<_> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
                taken.add(&format!("[link: {}]", facts.join(", ")));
            }
            ContentBlock::Resource(embedded) => match embedded.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    taken.add(&format!("[{}]\n{text}", one_line(&uri, 1000)));
                }
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                    let kind = mime_type.unwrap_or_default();
                    taken.add(&format!("[{}]", one_line(&uri, 1000)));
                    match kind.starts_with("image/") {
                        true => taken.picture(&blob, &kind, tool, blobs).await,
                        false => taken.add(&unseen("file", &kind, &blob)),
                    }
                }
                _ => taken.add("[something that cannot be shown]"),
            },
            #[allow(unreachable_patterns, reason = "later versions of the protocol may bring more")]
            _ => taken.add("[something that cannot be shown]"),
        }
    }
    if let Some(structured) = structured.filter(|_| !repeats_structure) {
        taken.add(&structured.to_string());
    }
    if taken.left_out > 0 {
        taken.text.push_str(&format!("\n[cut: {} bytes left out]", taken.left_out));
    }
    if taken.text.is_empty() {
        taken.text.push_str("(no words)");
    }
    Done {
        text: taken.text,
        shows_pictures: !taken.files.is_empty(),
        files: taken.files,
        outside: taints,
        failed: result.is_error == Some(true),
        ..Done::default()
    }
}

/// Whether a text says what the structure says: as JSON, or as the one text in it.
fn repeats(text: &str, structured: &Value) -> bool {
    let only = structured.as_object().filter(|fields| fields.len() == 1);
    let only = only.and_then(|fields| fields.values().next()?.as_str());
    only == Some(text) || serde_json::from_str::<Value>(text).is_ok_and(|said| said == *structured)
}

/// Bytes that a model cannot be shown, in words.
fn unseen(what: &str, kind: &str, base64: &str) -> String {
    format!("[{what}: {}, about {} bytes, not shown]", one_line(kind, 60), base64.len() / 4 * 3)
}

impl Taken {
    fn add(&mut self, more: &str) {
        if more.is_empty() {
            return;
        }
        let mut room = MOST_TEXT.saturating_sub(self.text.len()).min(more.len());
        while !more.is_char_boundary(room) {
            room -= 1;
        }
        self.left_out += more.len() - room;
        if room == 0 {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&more[..room]);
    }

    /// Keeps a picture as a blob for the model and the person, or says why it is not shown.
    async fn picture(&mut self, base64: &str, declared: &str, tool: &str, blobs: &Arc<dyn Blobs>) {
        if self.files.len() >= MOST_PICTURES {
            return self.add("[a picture more than is shown]");
        }
        if base64.len() as u64 / 4 * 3 > Attachment::LARGEST_PICTURE {
            return self.add(&unseen("picture, too large", declared, base64));
        }
        let Ok(bytes) = STANDARD.decode(base64.trim()) else {
            return self.add("[a picture that cannot be read]");
        };
        // What it is, its bytes say; what they do not say is not shown.
        let kind = media::by_bytes(&bytes).map(|kind| (kind.mime_type(), kind.extension()));
        let Some((media_type, extension)) = kind.filter(|(kind, _)| kind.starts_with("image/")) else {
            return self.add(&unseen("picture of an unknown sort", declared, base64));
        };
        match keep(blobs, bytes).await {
            Ok((digest, size)) => {
                let name = format!("{}-{}.{extension}", one_line(tool, 40), self.files.len() + 1);
                let picture = Attachment { name, media_type: media_type.to_owned(), size, digest };
                self.add(&match picture.is_picture() {
                    true => format!("[picture {}: shown to you and given to the person]", picture.name),
                    false => format!("[picture {}: {media_type}, given to the person]", picture.name),
                });
                self.files.push(picture);
            }
            Err(why) => self.add(&format!("[a picture that could not be kept: {}]", why.kind())),
        }
    }
}

/// Puts bytes into the blob store, which takes files.
async fn keep(blobs: &Arc<dyn Blobs>, bytes: Vec<u8>) -> std::io::Result<(sb_harness::model::Digest, u64)> {
    let made = tokio::task::spawn_blocking(move || {
        let mut file = tempfile::tempfile()?;
        file.write_all(&bytes)?;
        file.rewind()?;
        Ok::<_, std::io::Error>(file)
    });
    let file = made.await.map_err(std::io::Error::other)??;
    blobs.keep(tokio::fs::File::from_std(file)).await
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_structure_that_only_repeats_the_text_is_left_out() {
        assert!(repeats("milk", &json!({"content": "milk"})));
        assert!(repeats("{\"a\": 1}", &json!({"a": 1})));
        assert!(!repeats("milk", &json!({"content": "milk", "size": 4})));
        assert!(!repeats("It is 7.", &json!({"sum": 7})));
    }
}

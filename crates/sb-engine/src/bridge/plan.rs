//! How a post becomes messages of the platform: its words cut to fit, its files grouped.
//!
//! Pure, and always the same for the same post and features, so that after a restart what was sent is
//! recognised by its number and its words.

use sb_channel::{Features, OutFile, Questions};
use sb_core::model::text::split;
use sb_core::model::{Attachment, Choice, Post};

/// One message to be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Planned {
    /// Words; with the choices of a question on its last.
    Words { text: String, choices: Vec<Choice> },
    /// Files that go together.
    Files(Vec<Attachment>),
}

/// The messages of a post, in order.
pub(crate) fn plan(post: &Post, features: &Features) -> Vec<Planned> {
    let parts = split(&post.text, &features.text.fit);
    let last = parts.len().saturating_sub(1);
    let buttons = match features.questions {
        Questions::Buttons(most) if post.choices.len() <= usize::from(most) => post.choices.clone(),
        _ => Vec::new(),
    };
    let words = parts.into_iter().enumerate().map(|(n, part)| Planned::Words {
        text: part.text,
        choices: if n == last { buttons.clone() } else { Vec::new() },
    });
    words.chain(files(post, features)).collect()
}

fn files(post: &Post, features: &Features) -> Vec<Planned> {
    let mut planned = Vec::new();
    let mut together: Vec<Attachment> = Vec::new();
    for file in &post.files {
        let Some(out) = features.files_out.filter(|out| file.size <= out.largest) else {
            let why = match features.files_out {
                None => "this messenger takes none".to_owned(),
                Some(out) => format!("this messenger takes at most {} MB", out.largest / 1_000_000),
            };
            planned.extend(group(&mut together));
            planned.push(unsendable(std::slice::from_ref(file), &why));
            continue;
        };
        // Pictures go with pictures: platforms show an album of them.
        let joins = together.last().is_none_or(|last| last.is_picture() == file.is_picture());
        if !joins || together.len() >= out.at_once.max(1) {
            planned.extend(group(&mut together));
        }
        together.push(file.clone());
    }
    planned.extend(group(&mut together));
    planned
}

fn group(together: &mut Vec<Attachment>) -> Option<Planned> {
    let files = std::mem::take(together);
    (!files.is_empty()).then_some(Planned::Files(files))
}

/// What the person is told instead of files that cannot be sent.
pub(crate) fn unsendable(files: &[Attachment], why: &str) -> Planned {
    let names: Vec<String> = files.iter().map(|f| format!("`{}`", f.name.replace('`', "'"))).collect();
    let text = format!("(I shared {}, which could not be sent here: {why}.)", names.join(", "));
    Planned::Words { text, choices: Vec::new() }
}

/// What a part's row holds of it, to know it again.
pub(crate) fn shown(planned: &Planned) -> String {
    match planned {
        Planned::Words { text, .. } => text.clone(),
        Planned::Files(files) => {
            files.iter().map(|f| format!("{}:{}", f.digest, f.name)).collect::<Vec<_>>().join("\n")
        }
    }
}

/// A stored file as an adapter takes it.
pub(crate) fn out_file(store: &sb_store::Store, file: &Attachment) -> OutFile {
    OutFile {
        name: file.name.clone(),
        media_type: file.media_type.clone(),
        size: file.size,
        content: std::sync::Arc::new(Stored(store.clone(), file.digest)),
    }
}

struct Stored(sb_store::Store, sb_core::model::Digest);

#[async_trait::async_trait]
impl sb_channel::Opens for Stored {
    async fn open(&self) -> std::io::Result<tokio::fs::File> {
        self.0.open_blob(&self.1).await.map_err(std::io::Error::other)
    }
}

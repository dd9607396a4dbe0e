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

#[cfg(test)]
mod tests {
    use sb_channel::{FilesOut, FirstWord, Live, Marks, Repeats, TextRules, Typing};
    use sb_core::model::text::{Dialect, Fit, Unit};
    use sb_core::model::{Address, Chat, Digest, PostKey, Tone};

    use super::*;

    const FIT: Fit = Fit { limit: 100, unit: Unit::Chars, dialect: Dialect::Plain };

    fn features() -> Features {
        Features {
            text: TextRules { fit: FIT },
            live: Live::Off,
            typing: Typing::Off,
            marks: Marks::NONE,
            files_in: None,
            files_out: Some(FilesOut { largest: 1_000_000, caption: None, at_once: 2 }),
            edits: false,
            threads: false,
            mentions: false,
            questions: Questions::Buttons(3),
            repeats: Repeats::Seen,
            first_word: FirstWord::Any,
            sends_over_feed: false,
        }
    }

    fn post(text: &str, files: &[(&str, &str, u64)]) -> Post {
        let file = |(name, media_type, size): &(&str, &str, u64)| Attachment {
            name: (*name).to_owned(),
            media_type: (*media_type).to_owned(),
            size: *size,
            digest: Digest::of(name.as_bytes()),
        };
        let to = Address { channel: "c".into(), chat: Chat::direct("1"), message: None, handle: None };
        Post {
            key: PostKey("turn:1".to_owned()),
            to,
            text: text.to_owned(),
            files: files.iter().map(file).collect(),
            choices: Vec::new(),
            answers: Vec::new(),
            failed: false,
        }
    }

    fn shown_all(planned: &[Planned]) -> Vec<String> {
        let names = |files: &[Attachment]| files.iter().map(|f| f.name.clone()).collect::<Vec<_>>().join("+");
        let one = |planned: &Planned| match planned {
            Planned::Words { text, .. } => text.clone(),
            Planned::Files(files) => names(files),
        };
        planned.iter().map(one).collect()
    }

    /// Holds: B-53.
    #[test]
    fn words_go_first_and_files_after_them_pictures_with_pictures_no_more_at_once_than_fit() {
        let files = [
            ("a.png", "image/png", 1),
            ("b.png", "image/png", 1),
            ("c.png", "image/png", 1),
            ("d.pdf", "application/pdf", 1),
        ];
        let planned = plan(&post("Here.", &files), &features());
        assert_eq!(shown_all(&planned), ["Here.", "a.png+b.png", "c.png", "d.pdf"]);
    }

    /// Holds: B-52.
    #[test]
    fn a_file_that_cannot_be_sent_here_is_told_in_its_place() {
        let files = [("small.txt", "text/plain", 10), ("large.zip", "application/zip", 2_000_000)];
        let planned = plan(&post("Here.", &files), &features());
        let told = "(I shared `large.zip`, which could not be sent here: this messenger takes at most 1 MB.)";
        assert_eq!(shown_all(&planned), ["Here.", "small.txt", told]);
        let none = Features { files_out: None, ..features() };
        let told = "(I shared `small.txt`, which could not be sent here: this messenger takes none.)";
        assert_eq!(shown_all(&plan(&post("", &files[..1]), &none)), [told]);
    }

    #[test]
    fn buttons_stand_under_the_last_part_of_a_question_and_only_if_all_fit() {
        let choice =
            |n: usize| Choice { label: n.to_string(), says: format!("/approve {n}"), tone: Tone::Plain };
        for (count, expected) in [(3, 3), (4, 0)] {
            let asked = Post { choices: (0..count).map(choice).collect(), ..post(&"word ".repeat(40), &[]) };
            let planned = plan(&asked, &features());
            let buttons: Vec<usize> = planned
                .iter()
                .map(|p| match p {
                    Planned::Words { choices, .. } => choices.len(),
                    Planned::Files(_) => 0,
                })
                .collect();
            assert!(buttons.len() > 1 && buttons.iter().rev().skip(1).all(|n| *n == 0), "{buttons:?}");
            assert_eq!(buttons.last(), Some(&expected));
        }
    }
}

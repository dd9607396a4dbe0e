//! Which pictures a model is shown, and their bytes ready to send.
//!
//! Showing every picture of a long conversation each time would cost far more than it helps: shown are
//! those of the newest message that has any, up to ten, and the conversation's last three. The others
//! are only named. PDFs are shown too where a model takes them: those of the newest message that has any.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sb_harness::Blobs;
use sb_harness::model::{Attachment, Digest, Record};

use crate::view::View;

const OF_ONE_MESSAGE: usize = 10;
const OF_THE_CONVERSATION: usize = 3;
/// The most bytes of all pictures together: providers refuse requests of about 30 MB, and base64 adds a third.
const MOST_BYTES: u64 = 18 * 1024 * 1024;

/// A picture, or a PDF, as both dialects send it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Picture {
    pub media_type: String,
    pub base64: Arc<str>,
}

impl Picture {
    /// It is a PDF.
    pub fn is_document(&self) -> bool {
        self.media_type == "application/pdf"
    }
}

/// The pictures read so far, by digest.
pub(crate) type Album = HashMap<Digest, Picture>;

/// What to show, each once, as far as it fits into one request; the newest come first then.
pub(crate) fn wanted(view: &View, documents: bool) -> Vec<&Attachment> {
    let pictures_of = |record| files_of(record).iter().filter(|f| f.is_picture());
    let documents_of = |record| files_of(record).iter().filter(|f| documents && f.is_document());
    let said = || view.records().rev().filter(|r| matches!(r, Record::Said { .. }));
    let newest = said().map(pictures_of).find(|found| found.clone().next().is_some());
    let papers = said().map(documents_of).find(|found| found.clone().next().is_some());
    let last = view.records().rev().flat_map(|r| pictures_of(r).rev()).take(OF_THE_CONVERSATION);
    let mut room = MOST_BYTES;
    let mut seen = HashSet::new();
    let fits = |file: &&Attachment| {
        let fits = file.size <= room && seen.insert(file.digest);
        room -= if fits { file.size } else { 0 };
        fits
    };
    let papers = papers.into_iter().flat_map(|found| found.take(OF_ONE_MESSAGE));
    let newest = newest.into_iter().flat_map(|found| found.take(OF_ONE_MESSAGE));
    papers.chain(newest).chain(last).filter(fits).collect()
}

/// Reads what is wanted and not yet in the album, and forgets what is no longer wanted. One that
/// cannot be read is left out, and so is only named.
pub(crate) async fn fill(album: &mut Album, view: &View, blobs: &dyn Blobs, documents: bool) {
    let wanted = wanted(view, documents);
    album.retain(|digest, _| wanted.iter().any(|f| f.digest == *digest));
    for file in wanted {
        if album.contains_key(&file.digest) {
            continue;
        }
        match blobs.read(&file.digest).await {
            Ok(bytes) => {
                let picture =
                    Picture { media_type: file.media_type.clone(), base64: STANDARD.encode(bytes).into() };
                album.insert(file.digest, picture);
            }
            Err(why) => tracing::warn!(%why, "a picture could not be read"),
        }
    }
}

/// The files that came with a record.
fn files_of(record: &Record) -> &[Attachment] {
    match record {
        Record::Said { files, .. } | Record::Result { files, .. } => files,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::tests::{answered, said, view};

    fn with_pictures(names: &[&str]) -> Record {
        with_pictures_of(names, 10)
    }
    fn with_pictures_of(names: &[&str], size: u64) -> Record {
        let mut record = said("look");
        if let Record::Said { files, .. } = &mut record {
            let file = |name: &&str| Attachment {
                name: (*name).into(),
                media_type: "image/png".into(),
                size,
                digest: Digest::of(name.as_bytes()),
            };
            files.extend(names.iter().map(file));
        }
        record
    }

    /// Holds: H-28, H-29, H-30.
    #[test]
    fn the_newest_message_with_pictures_and_the_last_three_are_shown() {
        let many: Vec<String> = (0..12).map(|n| format!("n{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let names = |view: &View| -> std::collections::BTreeSet<String> {
            wanted(view, true).into_iter().map(|f| f.name.clone()).collect()
        };
        let old = (1, with_pictures(&["a", "b", "c", "d"]));
        let two = view(&[old.clone(), (1, answered("", &[])), (2, with_pictures(&["e"])), (2, said("and?"))]);
        assert_eq!(names(&two), ["c", "d", "e"].map(String::from).into());
        let album = names(&view(&[old, (2, with_pictures(&many))]));
        assert_eq!(album.len(), 12, "ten of the message, and the last three of all: {album:?}");
        assert!(!album.contains("d"));
    }

    #[test]
    fn all_pictures_together_fit_one_request() {
        let large = with_pictures_of(&["a", "b", "c", "d", "e"], Attachment::LARGEST_PICTURE);
        assert_eq!(wanted(&view(&[(1, large)]), true).len(), 3);
    }
}

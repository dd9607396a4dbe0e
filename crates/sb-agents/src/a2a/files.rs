//! Files an agent gives: kept among ours, by names that are no paths.

use std::io::{Seek, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sb_harness::Blobs;
use sb_harness::model::Attachment;
use sb_harness::model::text::one_line;
use sb_harness::net::media;
use sb_wire::a2a::{Content, Part};

/// Files of one reply that are taken.
pub(super) const MOST: usize = 20;

/// Keeps a file part; words for the person if it cannot be.
pub(super) async fn keep(blobs: &dyn Blobs, part: &Part) -> Result<Attachment, String> {
    let name = name(part.name.as_deref().unwrap_or_default());
    let Content::Raw(base64) = &part.content else { return Err(format!("{name} is no file.")) };
    let Ok(bytes) = STANDARD.decode(base64.trim()) else {
        return Err(format!("The file {name} could not be read: it is not written as base64."));
    };
    let media_type = media::media_type(&bytes, &name, part.media_type.as_deref());
    let media_type = one_line(&media_type, 80);
    let kept = match spooled(bytes).await {
        Ok(file) => blobs.keep(file).await,
        Err(why) => Err(why),
    };
    match kept {
        Ok((digest, size)) => Ok(Attachment { name, media_type, size, digest }),
        Err(why) => {
            tracing::warn!(error = %why, "a file of an agent's could not be kept");
            Err(format!("The file {name} could not be kept here."))
        }
    }
}

/// The last piece of whatever path it was given under.
fn name(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = one_line(last, 100);
    match name.trim_matches(['.', ' ']).is_empty() {
        true => "file".to_owned(),
        false => name,
    }
}

/// Bytes as a file that is gone once it is closed.
async fn spooled(bytes: Vec<u8>) -> std::io::Result<tokio::fs::File> {
    let file = tokio::task::spawn_blocking(move || {
        let mut file = tempfile::tempfile()?;
        file.write_all(&bytes)?;
        file.rewind()?;
        Ok::<_, std::io::Error>(file)
    });
    Ok(tokio::fs::File::from_std(file.await.map_err(std::io::Error::other)??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_path() {
        for (given, kept) in [
            ("a.png", "a.png"),
            ("../../etc/passwd", "passwd"),
            ("C:\\x\\b.txt", "b.txt"),
            ("..", "file"),
            ("", "file"),
            ("a\nb.txt", "a b.txt"),
        ] {
            assert_eq!(name(given), kept);
        }
    }
}

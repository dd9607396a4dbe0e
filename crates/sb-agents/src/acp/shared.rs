//! Files an agent gives among its words: pictures, sounds and documents as they are, and files of its folder by
//! their place. Anything else it points at stays a link, which nobody here opens.

use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sb_harness::HarnessEvent;
use sb_harness::model::text::one_line;
use sb_harness::model::{Attachment, Record};
use serde_json::Value;

use super::files;
use super::places::within;
use super::turn::Run;
use crate::exit::Exit;

/// What is shared, and what people call it.
enum Given {
    Bytes(Vec<u8>),
    /// A file of the workspace.
    Place(String),
}

impl Run {
    /// A block among its words that is no words.
    pub(super) async fn gives(&mut self, block: &Value) -> Result<(), Exit> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let decoded = |data: &Value| data.as_str().and_then(|data| STANDARD.decode(data).ok());
        let (given, media_type, uri) = match block["type"].as_str() {
            Some("image" | "audio") => {
                (decoded(&block["data"]).map(Given::Bytes), text(&block["mimeType"]), text(&block["uri"]))
            }
            Some("resource") => {
                let inside = &block["resource"];
                let words = || inside["text"].as_str().map(|text| text.as_bytes().to_vec());
                let bytes = decoded(&inside["blob"]).or_else(words);
                (bytes.map(Given::Bytes), text(&inside["mimeType"]), text(&inside["uri"]))
            }
            Some("resource_link") => {
                let uri = text(&block["uri"]);
                let place = uri.strip_prefix("file://").and_then(|path| within(&self.workspace, path));
                if place.is_none() && (uri.starts_with("http://") || uri.starts_with("https://")) {
                    let link = format!(" <{}> ", one_line(&uri, 500));
                    self.words.push_str(&link);
                    return self.send(HarnessEvent::Text(link)).await;
                }
                (place.map(Given::Place), text(&block["mimeType"]), uri)
            }
            _ => return Ok(()),
        };
        let Some(given) = given else { return Ok(()) };
        let media_type = match media_type.as_str() {
            "" => "application/octet-stream",
            known => known,
        };
        let name = name(&uri, media_type);
        let file = match given {
            Given::Bytes(bytes) => spooled(bytes).await,
            Given::Place(place) => files::open(&self.workspace, &place).await,
        };
        let kept = match file {
            Ok(file) => self.spec.blobs.keep(file).await,
            Err(why) => Err(why),
        };
        match kept {
            Ok((digest, size)) => {
                let file = Attachment { name, media_type: one_line(media_type, 80), size, digest };
                self.log(Record::Shared { file: file.clone() }).await?;
                self.send(HarnessEvent::File(file)).await
            }
            Err(why) => {
                tracing::warn!(error = %why, "a file of an agent's could not be kept");
                Ok(())
            }
        }
    }
}

/// What it is called: as its address ends, else by its sort.
fn name(uri: &str, media_type: &str) -> String {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let own = Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let own = one_line(&own.replace(['/', '\\'], ""), 100);
    if !own.is_empty() && own != ".." {
        return own;
    }
    let (what, ending) = match media_type {
        "image/jpeg" => ("picture", "jpg"),
        "image/gif" => ("picture", "gif"),
        "image/webp" => ("picture", "webp"),
        sort if sort.starts_with("image/") => ("picture", "png"),
        "audio/mpeg" => ("sound", "mp3"),
        sort if sort.starts_with("audio/") => ("sound", "wav"),
        sort if sort.starts_with("text/") => ("file", "txt"),
        _ => ("file", "bin"),
    };
    format!("{what}.{ending}")
}

/// Bytes as a file that is gone once it is closed.
async fn spooled(bytes: Vec<u8>) -> io::Result<tokio::fs::File> {
    let file = tokio::task::spawn_blocking(move || {
        use std::io::{Seek, Write};
        let mut file = tempfile::tempfile()?;
        file.write_all(&bytes)?;
        file.rewind()?;
        Ok::<_, io::Error>(file)
    });
    Ok(tokio::fs::File::from_std(file.await.map_err(io::Error::other)??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_as_its_address_ends_or_by_its_sort() {
        assert_eq!(name("file:///w/a b.pdf", "application/pdf"), "a b.pdf");
        assert_eq!(name("", "image/png"), "picture.png");
        assert_eq!(name("data:/..", "text/plain"), "file.txt");
        assert_eq!(name("https://x/y.txt?z=/q", ""), "y.txt");
    }
}

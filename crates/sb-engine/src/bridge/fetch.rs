//! Files that still lie on the platform, brought into the blob store beside the flow: only their own
//! message's turn waits for them.

use sb_core::model::text::one_line;
use sb_core::model::{Attachment, FileRef, Origin};
use sb_harness::net::media;
use tokio::io::AsyncReadExt;

use crate::Engine;

/// Largest file that is taken, in bytes.
const LARGEST: u64 = 25_000_000;
/// Bytes of a file's beginning that say what it is.
const BEGINNING: usize = media::LOOKED_AT;
const PIECE: usize = 64 * 1024;
/// A file that takes longer is given up.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// What came of a message's files.
#[derive(Default)]
pub(crate) struct Fetched {
    pub files: Vec<Attachment>,
    /// What the agent is told of those that did not come.
    pub lines: Vec<String>,
}

/// Fetches all files of a message, in order. Never fails: what cannot be had is told.
pub(crate) async fn fetch_all(engine: &Engine, origin: &Origin) -> Fetched {
    let mut fetched = Fetched { files: Vec::new(), lines: Vec::new() };
    for (number, file) in origin.files.iter().enumerate() {
        let got = tokio::time::timeout(PATIENCE, fetch(engine, origin, file, number)).await;
        match got.unwrap_or_else(|_| Err("it took too long".to_owned())) {
            Ok(kept) => {
                if let Some(seconds) = file.voice_s {
                    fetched.lines.push(format!(
                        "(A voice note of {seconds} s came with this. It could not be heard: this profile hears none. It is kept as a file.)"
                    ));
                }
                fetched.files.push(kept);
            }
            Err(why) => {
                let what = match file.voice_s {
                    Some(seconds) => format!("A voice note of {seconds} s"),
                    None => format!("A file, {},", name(file, number, "application/octet-stream")),
                };
                fetched.lines.push(format!("({what} came with this and could not be fetched: {why}.)"));
            }
        }
    }
    fetched
}

async fn fetch(
    engine: &Engine,
    origin: &Origin,
    file: &FileRef,
    number: usize,
) -> Result<Attachment, String> {
    let address = &origin.address;
    let bridge = engine.inner().bridges.get(&address.channel).ok_or("its messenger does not run now")?;
    let most = bridge.channel.features(&address.chat).files_in.unwrap_or_default().min(LARGEST);
    if file.size.is_some_and(|size| size > most) {
        return Err(format!("it is larger than the {} MB that can be taken", most / 1_000_000));
    }
    let mut blob = engine.store().blob_writer().await.map_err(|e| e.to_string())?;
    let (mut reader, mut writer) = tokio::io::duplex(PIECE);
    let pour = async {
        let poured = bridge.channel.fetch(file, &mut writer, most).await;
        drop(writer);
        poured
    };
    let keep = async {
        let (mut beginning, mut piece) = (Vec::new(), vec![0; PIECE]);
        loop {
            let read = reader.read(&mut piece).await.map_err(|e| e.to_string())?;
            if read == 0 {
                return Ok::<_, String>((blob, beginning));
            }
            let room = BEGINNING.saturating_sub(beginning.len()).min(read);
            beginning.extend_from_slice(&piece[..room]);
            blob.write(&piece[..read]).await.map_err(|e| e.to_string())?;
        }
    };
    let (poured, kept) = tokio::join!(pour, keep);
    poured.map_err(|why| why.detail)?;
    let (blob, beginning) = kept?;
    let (digest, size) = blob.finish().await.map_err(|e| e.to_string())?;
    // A picture is one by its bytes: what is only said to be one is not shown to a model.
    let is_picture = |kind: &str| kind.starts_with("image/") && kind != "image/svg+xml";
    let shown = media::by_bytes(&beginning).is_some();
    let declared = Some(file.media_type.as_str()).filter(|t| !t.is_empty() && (shown || !is_picture(t)));
    let media_type = media::media_type(&beginning, &file.name, declared);
    Ok(Attachment { name: name(file, number, &media_type), media_type, size, digest })
}

/// A bare name: what leads elsewhere or cannot be read is left out.
fn name(file: &FileRef, number: usize, media_type: &str) -> String {
    let last = file.name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last.chars().filter(|c| !c.is_control()).collect();
    let kept = one_line(kept.trim_start_matches('.').trim(), 120);
    if kept.is_empty() {
        let ending = media_type.rsplit('/').next().filter(|e| e.len() <= 8).unwrap_or("bin");
        return format!("file-{}.{ending}", number + 1);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_leads_out_of_a_folder() {
        let named = |name: &str| {
            let file = FileRef {
                reference: String::new(),
                name: name.to_owned(),
                media_type: String::new(),
                size: None,
                voice_s: None,
            };
            super::name(&file, 0, "image/png")
        };
        assert_eq!(named("../../etc/passwd"), "passwd");
        assert_eq!(named("c:\\x\\a.txt"), "a.txt");
        assert_eq!(named(".."), "file-1.png");
        assert_eq!(named("a\nb.txt"), "ab.txt");
        assert_eq!(named(""), "file-1.png");
    }
}

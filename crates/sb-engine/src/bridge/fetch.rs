//! Files that still lie on the platform, brought into the blob store beside the flow: only their own
//! message's turn waits for them.

use std::sync::Arc;
use std::time::Duration;

use sb_core::model::text::one_line;
use sb_core::model::{Attachment, Fault, FaultKind, FileRef, Origin, Slug};
use sb_harness::net::media;
use tokio::io::AsyncReadExt;

use super::Bridge;
use super::feed::of_store;
use crate::Engine;

/// Largest file that is taken, in bytes.
const LARGEST: u64 = 25_000_000;
/// Bytes of a file's beginning that say what it is.
const BEGINNING: usize = media::LOOKED_AT;
const PIECE: usize = 64 * 1024;
/// Tries after the first, where a failure may pass.
const RETRIES: u32 = 3;
/// How long a messenger that is just starting is waited for.
const LOOK: Duration = Duration::from_millis(200);
const STARTING_LOOKS: u32 = 150;
/// A file that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(60);

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
        let got = tokio::time::timeout(PATIENCE, fetch_patiently(engine, origin, file, number)).await;
        match got.unwrap_or_else(|_| Err("it took too long".to_owned())) {
            Ok(kept) => {
                if let Some(seconds) = file.voice_s {
                    let note = voice_note(seconds);
                    fetched.lines.push(format!(
                        "({note} came with this. It could not be heard: this profile hears none. It is kept as a file.)"
                    ));
                }
                fetched.files.push(kept);
            }
            Err(why) => {
                let what = match file.voice_s {
                    Some(seconds) => voice_note(seconds),
                    None => format!("A file, {},", name(file, number, "application/octet-stream")),
                };
                fetched.lines.push(format!("({what} came with this and could not be fetched: {why}.)"));
            }
        }
    }
    fetched
}

/// What a voice note is called; not every platform says how long one is.
fn voice_note(seconds: u32) -> String {
    match seconds {
        0 => "A voice note".to_owned(),
        _ => format!("A voice note of {seconds} s"),
    }
}

/// The messenger, waited for a while: after a start it may still be connecting.
async fn running(engine: &Engine, channel: &Slug) -> Option<Arc<Bridge>> {
    for _ in 0..STARTING_LOOKS {
        if let Some(bridge) = engine.inner().bridges.get(channel) {
            return Some(bridge);
        }
        tokio::time::sleep(LOOK).await;
    }
    None
}

/// Fetches a file, again where the failure may pass.
async fn fetch_patiently(
    engine: &Engine,
    origin: &Origin,
    file: &FileRef,
    number: usize,
) -> Result<Attachment, String> {
    let mut tries = 0;
    loop {
        let why = match fetch(engine, origin, file, number).await {
            Ok(kept) => return Ok(kept),
            Err(why) => why,
        };
        let wait = match why.kind {
            FaultKind::Passing { wait_ms } | FaultKind::ChatBusy { wait_ms } if tries < RETRIES => wait_ms,
            _ => return Err(why.detail),
        };
        tries += 1;
        tokio::time::sleep(Duration::from_millis(wait.unwrap_or(500 << tries))).await;
    }
}

async fn fetch(engine: &Engine, origin: &Origin, file: &FileRef, number: usize) -> Result<Attachment, Fault> {
    let address = &origin.address;
    let bridge =
        running(engine, &address.channel).await.ok_or_else(|| no("its messenger does not run now"))?;
    let most = bridge.channel.features(&address.chat).files_in.unwrap_or_default().min(LARGEST);
    if file.size.is_some_and(|size| size > most) {
        return Err(no(&format!("it is larger than the {} MB that can be taken", most / 1_000_000)));
    }
    let mut blob = engine.store().blob_writer().await.map_err(of_store)?;
    let (mut reader, mut writer) = tokio::io::duplex(PIECE);
    let pour = async {
        let poured = bridge.channel.fetch(file, &mut writer, most).await;
        drop(writer);
        poured
    };
    let keep = async {
        let (mut beginning, mut piece) = (Vec::new(), vec![0; PIECE]);
        loop {
            let read = reader.read(&mut piece).await.map_err(|e| no(&e.to_string()))?;
            if read == 0 {
                return Ok::<_, Fault>((blob, beginning));
            }
            let room = BEGINNING.saturating_sub(beginning.len()).min(read);
            beginning.extend_from_slice(&piece[..room]);
            blob.write(&piece[..read]).await.map_err(of_store)?;
        }
    };
    let (poured, kept) = tokio::join!(pour, keep);
    poured?;
    let (blob, beginning) = kept?;
    let (digest, size) = blob.finish().await.map_err(of_store)?;
    // A picture is one by its bytes: what is only said to be one is not shown to a model.
    let is_picture = |kind: &str| kind.starts_with("image/") && kind != "image/svg+xml";
    let shown = media::by_bytes(&beginning).is_some();
    let declared = Some(file.media_type.as_str()).filter(|t| !t.is_empty() && (shown || !is_picture(t)));
    let media_type = media::media_type(&beginning, &file.name, declared);
    Ok(Attachment { name: name(file, number, &media_type), media_type, size, digest })
}

fn no(detail: &str) -> Fault {
    Fault::new(FaultKind::Refused, "fetching a file", detail)
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

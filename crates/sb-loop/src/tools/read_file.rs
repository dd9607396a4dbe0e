//! `read_file {path}`: the beginning of a text file, the text of a spreadsheet, or a picture to look at.

use std::io::{Read, Seek};
use std::time::Duration;

use cap_std::fs::File;
use sb_harness::model::Attachment;
use sb_harness::model::text::counted;
use sb_harness::net::child::{self, Exit, Program};
use sb_harness::net::media;
use serde_json::Value;

use super::workspace::{blocking, open_file, plain, told};
use super::{Bench, Done, Outcome, text};
use crate::sheets;

/// The most text that is read.
const MOST: u64 = 256 * 1024;
const LARGEST_SPREADSHEET: u64 = 25 * 1024 * 1024;
/// How long reading a spreadsheet may take.
const READING: Duration = Duration::from_secs(20);

/// What a file turned out to be.
enum Found {
    Text(String),
    Picture(File, &'static str),
    Spreadsheet(File),
}

pub(super) async fn run(bench: &Bench, input: &Value) -> Outcome {
    let path = text(input, "path").to_owned();
    let workspace = bench.workspace().to_owned();
    let looked_at = path.clone();
    match blocking(move || look(open_file(&workspace, &looked_at)?, &looked_at)).await? {
        Found::Text(text) => Ok(Done { text, ..Done::default() }),
        Found::Spreadsheet(file) => unfolded(bench, file, &path).await,
        Found::Picture(file, media_type) => {
            let file = tokio::fs::File::from_std(file.into_std());
            let (digest, size) = bench.blobs.keep(file).await.map_err(|why| told(&path, &why))?;
            let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
            let picture = Attachment { name, media_type: media_type.to_owned(), size, digest };
            let text = match picture.is_picture() {
                true => format!("{path} is a picture, shown to you with this result."),
                false => {
                    format!("{path} is a picture ({media_type}) that is too large to look at: {size} bytes.")
                }
            };
            Ok(Done { text, files: vec![picture], ..Done::default() })
        }
    }
}

fn look(mut file: File, path: &str) -> Result<Found, String> {
    let size = file.metadata().map_err(|why| told(path, &why))?.len();
    let mut bytes = Vec::new();
    (&mut file).take(MOST).read_to_end(&mut bytes).map_err(|why| told(path, &why))?;
    if let Some(kind) = media::by_bytes(&bytes).map(|k| k.mime_type()).filter(|m| is_picture(m)) {
        file.rewind().map_err(|why| told(path, &why))?;
        return Ok(Found::Picture(file, kind));
    }
    let kind = media::by_bytes(&bytes).map(|kind| kind.mime_type());
    if kind.is_some_and(|kind| sheets::is_spreadsheet(kind, path)) {
        if size > LARGEST_SPREADSHEET {
            return Err(format!(
                "{path} is a spreadsheet of {}, which is too large to read.",
                counted(size, "byte")
            ));
        }
        file.rewind().map_err(|why| told(path, &why))?;
        return Ok(Found::Spreadsheet(file));
    }
    if kind.is_some_and(|kind| kind.starts_with("video/")) {
        return Err(format!("{path} is a video: video_frames looks at it."));
    }
    let whole = size <= bytes.len() as u64;
    match words(bytes, whole) {
        None => Err(format!("{path} is no text ({}).", counted(size, "byte"))),
        Some(words) if whole => Ok(Found::Text(words)),
        Some(words) => Ok(Found::Text(format!("{words}\n[cut: the first {} of {size} bytes]", words.len()))),
    }
}

/// The text of a spreadsheet, which a process of its own makes of it.
async fn unfolded(bench: &Bench, file: File, path: &str) -> Outcome {
    let program = Program {
        program: bench.own.display().to_string(),
        args: vec!["read-sheets".to_owned()],
        dir: bench.workspace().to_owned(),
        input: Some(file.into_std()),
        limit: READING,
        keep: 2 * sheets::MOST,
    };
    let done = child::run(program).await.map_err(|why| format!("{path} cannot be read: {}.", plain(&why)))?;
    match done.exit {
        Exit::Code(0) => Ok(Done { text: done.output, ..Done::default() }),
        Exit::Code(_) => Err(format!("{path} cannot be read as a spreadsheet: {}", done.output.trim())),
        Exit::Signal(_) => Err(format!("{path} is broken, or unfolds to more than can be read.")),
        Exit::TimedOut => Err(format!("{path} takes longer than {} seconds to read.", READING.as_secs())),
    }
}

fn is_picture(media_type: &str) -> bool {
    matches!(media_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

/// The bytes as text, unless they are none. A character the limit cut through is left out.
fn words(mut bytes: Vec<u8>, whole: bool) -> Option<String> {
    if bytes.contains(&0) {
        return None;
    }
    if let Err(why) = std::str::from_utf8(&bytes) {
        if whole || why.error_len().is_some() {
            return None;
        }
        bytes.truncate(why.valid_up_to());
    }
    String::from_utf8(bytes).ok()
}

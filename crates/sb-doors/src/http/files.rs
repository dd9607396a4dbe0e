//! Files of a message, in and out: names, types and bytes judged before anything is kept.
//!
//! A name that could lead anywhere is refused, not repaired. What a file is, its bytes say, where they
//! can; a picture that is none is refused before an agent is shown it.

use std::borrow::Cow;

use axum::body::Bytes;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use serde_json::value::RawValue;

use super::body::Fields;
use super::error::{Code, HttpError, Result};
use crate::engine::Engine;
use crate::engine::harness::net::media;
use crate::model::Attachment;

/// Files of one message.
pub const MOST_FILES: usize = 64;
/// Largest single file, in bytes.
pub const LARGEST_FILE: usize = 25_000_000;
const LONGEST_NAME: usize = 255;

/// A file as it came: its bytes still base64.
pub(crate) struct FileIn<'a> {
    base64: Cow<'a, str>,
    name: Option<String>,
    media_type: Option<String>,
}

impl<'a> FileIn<'a> {
    /// A file by its bytes in base64; without a name it gets one.
    pub fn new(base64: Cow<'a, str>, name: Option<String>, media_type: Option<String>) -> Self {
        Self { base64, name, media_type }
    }
}

/// A file found good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checked {
    pub name: String,
    pub media_type: String,
    pub bytes: Bytes,
}

/// Reads a message's list of files.
pub(crate) fn read<'a>(files: Vec<&'a RawValue>) -> Result<Vec<FileIn<'a>>> {
    if files.len() > MOST_FILES {
        return Err(HttpError::new(
            Code::TooManyFiles,
            format!("{} files came with this message; {MOST_FILES} at most.", files.len()),
        ));
    }
    let one = |(number, raw): (usize, &'a RawValue)| {
        let of = format!("file {}", number + 1);
        if !raw.get().starts_with('{') {
            return Err(HttpError::new(Code::BadField, format!("{of} must be an object with \"base64\".")));
        }
        let fields = Fields::read(raw.get(), &of, &["base64", "name", "media_type"])?;
        let base64 = fields.take::<Text<'a>>("base64", "a string")?;
        Ok(FileIn {
            base64: base64.map(|t| t.0).ok_or_else(|| {
                HttpError::new(Code::BadField, format!("{of} lacks \"base64\", its bytes."))
            })?,
            name: fields.take("name", "a string")?,
            media_type: fields.take("media_type", "a string")?,
        })
    };
    files.into_iter().enumerate().map(one).collect()
}

/// A string that stays where it lies, if it can.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Judges the files of a message, in order; nothing is kept yet.
pub(crate) fn check(files: &[FileIn<'_>]) -> Result<Vec<Checked>> {
    files.iter().enumerate().map(|(at, file)| check_one(at + 1, file)).collect()
}

fn check_one(number: usize, file: &FileIn<'_>) -> Result<Checked> {
    if let Some(name) = &file.name {
        check_name(number, name)?;
    }
    let declared = file.media_type.as_deref().map(|t| check_media_type(number, t)).transpose()?;
    let bytes = decode(number, &file.base64)?;
    let found = media::by_bytes(&bytes);
    let is_raster = found.is_some_and(|t| t.matcher_type() == infer::MatcherType::Image);
    let whole = !is_raster || is_whole_picture(&bytes);
    let said_picture =
        declared.as_deref().is_some_and(is_picture_type) || file.name.as_deref().is_some_and(is_picture_name);
    if said_picture && !(is_raster && whole) {
        return Err(HttpError::new(
            Code::BadPicture,
            format!("File {number} is said to be a picture, but its bytes are none that can be read."),
        ));
    }
    let called = file.name.as_deref().unwrap_or_default();
    let media_type = match whole {
        true => media::media_type(&bytes, called, declared.as_deref()),
        // It only begins as a picture does.
        false => {
            declared.unwrap_or_else(|| media::text_type(&bytes, called).unwrap_or(media::UNKNOWN).to_owned())
        }
    };
    let name = match &file.name {
        Some(name) => name.clone(),
        None => format!("file-{number}.{}", ending(&media_type, found.filter(|_| whole))),
    };
    Ok(Checked { name, media_type, bytes })
}

fn decode(number: usize, text: &str) -> Result<Bytes> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let plain: Cow<'_, str> = match text.bytes().any(|b| b.is_ascii_whitespace()) {
        true => text.split_ascii_whitespace().collect::<String>().into(),
        false => text.into(),
    };
    let bytes = LENIENT.decode(plain.as_bytes()).map_err(|e| {
        HttpError::new(Code::BadBase64, format!("The bytes of file {number} are not valid base64: {e}."))
    })?;
    match bytes.len() > LARGEST_FILE {
        true => Err(HttpError::new(Code::TooLarge, format!("File {number} is larger than 25 MB."))),
        false => Ok(bytes.into()),
    }
}

fn check_name(number: usize, name: &str) -> Result<()> {
    let why = if name.trim().is_empty() {
        "is empty"
    } else if name.len() > LONGEST_NAME {
        "is longer than 255 bytes"
    } else if name.contains(['/', '\\']) || name == "." || name == ".." {
        "is a path; give the bare name"
    } else if name.chars().any(char::is_control) {
        "has control characters"
    } else {
        return Ok(());
    };
    Err(HttpError::new(Code::BadFileName, format!("The name of file {number} {why}.")))
}

fn check_media_type(number: usize, text: &str) -> Result<String> {
    let plain = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_word =
        |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b));
    match plain.split_once('/') {
        Some((kind, sort)) if plain.len() <= 127 && is_word(kind) && is_word(sort) => Ok(plain),
        _ => Err(HttpError::new(
            Code::BadField,
            format!("The media type of file {number} is none; write it like text/plain."),
        )),
    }
}

/// Drawings in XML are text, and shown to nobody as a picture.
fn is_picture_type(media_type: &str) -> bool {
    media_type.starts_with("image/") && media_type != "image/svg+xml"
}

fn is_picture_name(name: &str) -> bool {
    const ENDINGS: &[&str] =
        &["png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "ico", "heic", "heif", "avif"];
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|e| ENDINGS.contains(&e.as_str()))
}

fn is_whole_picture(bytes: &[u8]) -> bool {
    imagesize::blob_size(bytes).is_ok_and(|size| size.width > 0 && size.height > 0)
}

fn ending(media_type: &str, found: Option<infer::Type>) -> &'static str {
    if let Some(found) = found {
        return found.extension();
    }
    match media_type {
        "text/plain" => "txt",
        "text/markdown" => "md",
        "text/html" => "html",
        "text/csv" => "csv",
        "application/json" => "json",
        "application/xml" | "text/xml" => "xml",
        "image/svg+xml" => "svg",
        _ => "bin",
    }
}

/// Keeps the files of a message: durable before the message is.
pub(crate) async fn keep(engine: &Engine, files: Vec<Checked>) -> Result<Vec<Attachment>> {
    let mut kept = Vec::with_capacity(files.len());
    for file in files {
        let digest = engine.keep_blob(&file.bytes).await?;
        kept.push(Attachment {
            name: file.name,
            media_type: file.media_type,
            size: file.bytes.len() as u64,
            digest,
        });
    }
    Ok(kept)
}

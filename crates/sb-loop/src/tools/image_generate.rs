//! `image_generate {prompt, name, size}`: a picture from words, kept in the workspace and shown to the model.
//!
//! The prompt goes to the operator's own provider and nowhere else: OpenAI's picture endpoint, or the compatible
//! server of the profile's or the machine's base address. What comes back must be a picture; it is written
//! beneath `images/` under a plain name, and no link on the way is followed.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt;
use sb_harness::model::text::counted;
use sb_harness::model::{Attachment, Fault};
use sb_harness::net::{Ask, media};
use serde_json::{Value, json};

use super::workspace::{blocking, open, open_file, told};
use super::{Bench, Done, Outcome, text, write_file};
use crate::providers;
use crate::source::Place;

/// Pictures take their time; nothing is heard meanwhile.
const IDLE: Duration = Duration::from_secs(180);
/// The most bytes of an answer: a picture of 25 MB, written in letters.
const MOST_READ: usize = 36_000_000;
/// Where pictures are put.
const FOLDER: &str = "images";

pub(super) async fn run(bench: &Bench, input: &Value) -> Outcome {
    let name = plain_name(text(input, "name"))?;
    let bytes = made(bench, input).await?;
    let Some(kind) = media::by_bytes(&bytes).map(|kind| kind.mime_type()).filter(|k| k.starts_with("image/"))
    else {
        return Err("The provider answered with what is no picture.".to_owned());
    };
    let path = format!("{FOLDER}/{}", with_ending(&name, kind));
    let beside = format!(".{:016x}.part", bench.dice.roll());
    let (workspace, to) = (bench.workspace().to_owned(), path.clone());
    let file = blocking(move || {
        write_file::write(&open(&workspace)?, &to, &bytes, &beside)?;
        open_file(&workspace, &to)
    })
    .await?;
    let file = tokio::fs::File::from_std(file.into_std());
    let (digest, size) = bench.blobs.keep(file).await.map_err(|why| told(&path, &why))?;
    let file_name = path.rsplit('/').next().unwrap_or(&path).to_owned();
    let picture = Attachment { name: file_name, media_type: kind.to_owned(), size, digest };
    let shown =
        if picture.is_picture() { "shown to you with this result" } else { "too large to be shown to you" };
    let text = format!(
        "Made {path} ({}), {shown}. The person does not have it yet: share_file sends it.",
        counted(size, "byte")
    );
    Ok(Done { text, files: vec![picture], ..Done::default() })
}

/// Asks the picture model; the bytes of its one picture.
async fn made(bench: &Bench, input: &Value) -> Result<Vec<u8>, String> {
    let profile = &bench.profile;
    let unset = || "This profile has no picture model.".to_owned();
    let model = profile.image_model.as_ref().ok_or_else(unset)?;
    let provider = providers::provider(&model.provider).ok_or_else(unset)?;
    let failed = |fault: Fault| format!("No picture was made: {}.", fault.detail.trim_end_matches('.'));
    let place = Place::of(&*bench.keys, &profile.name, profile.base_url.as_deref(), provider, model)
        .map_err(failed)?;
    let mut body = json!({"model": provider.id_of(model), "prompt": text(input, "prompt"), "n": 1});
    if !text(input, "size").is_empty() {
        body["size"] = text(input, "size").into();
    }
    let answer = bench.http.post(Ask {
        url: format!("{}/images/generations", place.base),
        headers: Vec::new(),
        secret_headers: place.key.iter().map(|key| ("authorization", "Bearer ", key.clone())).collect(),
        body: body.to_string().into(),
        idle: IDLE,
    });
    let mut pieces = answer.await.map_err(failed)?.body;
    let mut read = Vec::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(failed)?;
        if read.len() + piece.len() > MOST_READ {
            return Err("No picture was made: the answer is larger than is taken.".to_owned());
        }
        read.extend_from_slice(&piece);
    }
    let answer: Value = serde_json::from_slice(&read).unwrap_or_default();
    let letters = answer["data"][0]["b64_json"].as_str().unwrap_or_default();
    STANDARD
        .decode(letters)
        .ok()
        .filter(|bytes| !bytes.is_empty())
        .ok_or_else(|| "No picture was made: the provider answered without one.".to_owned())
}

/// The name alone; what would lead elsewhere is refused rather than changed.
fn plain_name(name: &str) -> Result<String, String> {
    let name = name.trim();
    let name = name.strip_prefix("images/").unwrap_or(name);
    let odd = name.is_empty()
        || name.len() > 100
        || name.starts_with('.')
        || name.contains(['/', '\\'])
        || name.chars().any(char::is_control);
    match odd {
        true => Err("name is a plain file name of at most 100 letters, such as garden.png.".to_owned()),
        false => Ok(name.to_owned()),
    }
}

/// The name with the ending of what the picture is.
fn with_ending(name: &str, kind: &str) -> String {
    let ending = match kind {
        "image/jpeg" => "jpg",
        "image/webp" => "webp",
        "image/gif" => "gif",
        _ => "png",
    };
    let stem = match name.rsplit_once('.') {
        Some((stem, "png" | "jpg" | "jpeg" | "webp" | "gif")) => stem,
        _ => name,
    };
    format!("{stem}.{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_a_name() {
        assert_eq!(plain_name("images/garden.png"), Ok("garden.png".into()));
        for bad in ["", "../x.png", "a/b.png", "/x", ".hidden", "a\\b", "a\nb", "..", "images/../x"] {
            assert!(plain_name(bad).is_err(), "{bad}");
        }
        assert_eq!(with_ending("a.png", "image/jpeg"), "a.jpg");
        assert_eq!(with_ending("a.b", "image/png"), "a.b.png");
    }
}

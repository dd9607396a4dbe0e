//! What a message holds: words, and pieces that are none, each where it lies in the body.
//!
//! What cannot be taken is left out, and said so: to the agent and in the answer. Nothing is fetched. A
//! shape that is no message's is an error that names its field.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::{Fault, Result};
use crate::http::FileIn;

/// Parts of one message.
const MOST_PARTS: usize = 512;

/// A message's content.
#[derive(Default)]
pub(crate) struct Content<'a> {
    /// The words, parts a line apart.
    pub text: String,
    /// Files that came with it, their bytes still base64.
    pub files: Vec<FileIn<'a>>,
    /// What stands for the files in the talk's digest.
    pub marks: Vec<String>,
    /// What was left out, a sentence each.
    pub left_out: Vec<String>,
}

impl Content<'_> {
    /// As the talk's digest has it: the words, and a mark for all else.
    pub fn shown(&self) -> String {
        let mut shown = self.text.clone();
        for mark in &self.marks {
            shown.push('\n');
            shown.push_str(mark);
        }
        shown
    }
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.marks.is_empty()
    }
}

/// A string that stays where it lies, if it can.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    refusal: Option<Cow<'a, str>>,
    #[serde(borrow)]
    image_url: Option<&'a RawValue>,
    #[serde(borrow)]
    file: Option<File<'a>>,
    #[serde(borrow)]
    input_audio: Option<Audio<'a>>,
    // The newer API has a file's fields in the part itself.
    #[serde(borrow)]
    filename: Option<Cow<'a, str>>,
    #[serde(borrow)]
    file_data: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Address<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    filename: Option<Cow<'a, str>>,
    #[serde(borrow)]
    file_data: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Audio<'a> {
    #[serde(borrow)]
    data: Cow<'a, str>,
    #[serde(borrow)]
    format: Option<Cow<'a, str>>,
}

/// Reads a message's content. `at` names it in faults; `may_lack`: it may be null or left out.
pub(crate) fn read<'a>(raw: Option<&'a RawValue>, at: &str, may_lack: bool) -> Result<Content<'a>> {
    let raw = raw.map_or("null", RawValue::get);
    match raw.as_bytes().first() {
        Some(b'"') => {
            let text: String = serde_json::from_str(raw)
                .map_err(|_| Fault::field(at, format!("{at} is a string that is no text.")))?;
            Ok(Content { text, ..Content::default() })
        }
        Some(b'[') => parts(raw, at),
        Some(b'n') if may_lack => Ok(Content::default()),
        _ => Err(Fault::field(at, format!("{at} must be a string, or a list of parts."))),
    }
}

fn parts<'a>(raw: &'a str, at: &str) -> Result<Content<'a>> {
    let bad = || Fault::field(at, format!("{at} must be a list of parts, each an object with a \"type\"."));
    let list: Vec<&'a RawValue> = serde_json::from_str(raw).map_err(|_| bad())?;
    if list.len() > MOST_PARTS {
        let said = format!("{at} has {} parts; {MOST_PARTS} at most.", list.len());
        return Err(Fault::coded(at, "array_above_max_length", said));
    }
    let mut content = Content::default();
    for (number, raw) in list.into_iter().enumerate() {
        let at = format!("{at}[{number}]");
        if !raw.get().starts_with('{') {
            return Err(bad());
        }
        let part: Part<'a> = serde_json::from_str(raw.get())
            .map_err(|why| Fault::field(&at, format!("{at} is not as such a part must be: {why}.")))?;
        add(&mut content, part, &at)?;
    }
    Ok(content)
}

fn add<'a>(content: &mut Content<'a>, part: Part<'a>, at: &str) -> Result<()> {
    let lacks = |what: &str| Fault::field(at, format!("{at} lacks {what}."));
    let kind = part.kind.ok_or_else(|| lacks("\"type\""))?;
    match kind.as_ref() {
        "text" | "input_text" | "output_text" => {
            words(content, &part.text.ok_or_else(|| lacks("\"text\", a string"))?);
        }
        "refusal" => words(content, &part.refusal.unwrap_or_default()),
        "image_url" | "input_image" => {
            content.marks.push("[picture]".to_owned());
            match part.image_url.and_then(url) {
                Some(url) => picture(content, url, at)?,
                None if kind == "input_image" => leave_out(content, "A picture given by an id"),
                None => return Err(lacks("\"image_url\" with \"url\", a string")),
            }
        }
        "file" | "input_file" => {
            let (name, data) = match part.file {
                Some(file) => (file.filename, file.file_data),
                None => (part.filename, part.file_data),
            };
            let name = name.filter(|name| !name.trim().is_empty());
            content.marks.push(format!("[file {}]", name.as_deref().unwrap_or_default()));
            match data {
                Some(Text(data)) => {
                    let (media_type, base64) = opened(data, at)?;
                    content.files.push(FileIn::new(base64, name.map(Cow::into_owned), media_type));
                }
                None => leave_out(content, "A file given by an id or address"),
            }
        }
        "input_audio" => {
            let audio = part.input_audio.ok_or_else(|| lacks("\"input_audio\" with \"data\", a string"))?;
            let format = match audio.format.as_deref() {
                Some("mp3") => "mp3",
                _ => "wav",
            };
            content.marks.push("[audio]".to_owned());
            let media_type = if format == "mp3" { "audio/mpeg" } else { "audio/wav" };
            let name = format!("voice-{}.{format}", content.files.len() + 1);
            content.files.push(FileIn::new(audio.data, Some(name), Some(media_type.to_owned())));
        }
        other => {
            let other: String = other.chars().take(40).collect();
            leave_out(content, &format!("A part of the type {other:?}, which is not known here,"));
        }
    }
    Ok(())
}

fn words(content: &mut Content<'_>, text: &str) {
    if !content.text.is_empty() && !text.is_empty() {
        content.text.push('\n');
    }
    content.text.push_str(text);
}

fn leave_out(content: &mut Content<'_>, what: &str) {
    content.left_out.push(format!("{what} was left out."));
}

/// A picture's address: both APIs write it, one of them in an object.
fn url<'a>(raw: &'a RawValue) -> Option<Cow<'a, str>> {
    match raw.get().starts_with('{') {
        true => serde_json::from_str::<Address<'a>>(raw.get()).ok().map(|a| a.url),
        false => serde_json::from_str::<Text<'a>>(raw.get()).ok().map(|t| t.0),
    }
}

fn picture<'a>(content: &mut Content<'a>, url: Cow<'a, str>, at: &str) -> Result<()> {
    if is_data(&url) {
        let (media_type, base64) = opened(url, at)?;
        content.files.push(FileIn::new(
            base64,
            None,
            Some(media_type.unwrap_or_else(|| "image/png".to_owned())),
        ));
        return Ok(());
    }
    let short: String = url.chars().filter(|c| !c.is_control()).take(200).collect();
    leave_out(content, &format!("The picture at {short} was not fetched, since addresses never are: it"));
    Ok(())
}

fn is_data(url: &str) -> bool {
    url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// The media type and the base64 of a `data:` URL, or of base64 alone.
fn opened<'a>(url: Cow<'a, str>, at: &str) -> Result<(Option<String>, Cow<'a, str>)> {
    if !is_data(&url) {
        return Ok((None, url));
    }
    let head = url.get(5..).and_then(|rest| rest.split_once(',')).map(|(head, _)| head.to_owned());
    let Some(head) = head.filter(|h| h.to_ascii_lowercase().ends_with(";base64")) else {
        return Err(Fault::field(
            at,
            format!("{at}: a data: URL must be written as data:TYPE;base64,BYTES."),
        ));
    };
    let from = 5 + head.len() + 1;
    let base64 = match url {
        Cow::Borrowed(url) => Cow::Borrowed(&url[from..]),
        Cow::Owned(url) => Cow::Owned(url[from..].to_owned()),
    };
    let media_type = head[..head.len() - ";base64".len()].to_owned();
    Ok(((!media_type.is_empty()).then_some(media_type), base64))
}

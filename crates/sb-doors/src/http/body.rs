//! A message's body: read within its limits, then taken apart field by field.
//!
//! Nothing of it is read before its sender is known. Every fault names the field it is in. Fields are
//! looked at where they lie in the body, so that a large file is not copied.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::error::{Code, HttpError, Result};
use super::files::FileIn;
use crate::model::Busy;

/// Largest body, its files included.
pub const LARGEST_BODY: usize = 32 * 1024 * 1024;
/// Longest name of a conversation, in bytes.
pub const LONGEST_CONVERSATION: usize = 256;
/// Bodies up to this size are read whatever else is going on.
const SMALL_BODY: usize = 256 * 1024;
/// A body's next piece comes within this, all of it within the other.
const PIECE_WITHIN: Duration = Duration::from_secs(30);
const BODY_WITHIN: Duration = Duration::from_secs(300);
/// How long a body that is too large is read on, so that its sender hears why.
const READ_ON_FOR: Duration = Duration::from_secs(5);

/// A body that was read, and the place it holds among the large ones.
pub(crate) struct Held<'a> {
    pub bytes: Bytes,
    _place: Option<SemaphorePermit<'a>>,
}

/// Reads a message's body. `large` bounds how many large ones are in memory at once.
pub(crate) async fn read<'a>(headers: &HeaderMap, body: Body, large: &'a Semaphore) -> Result<Held<'a>> {
    read_within(LARGEST_BODY, headers, body, large).await
}

/// As [`read`], a body of so many bytes at most.
pub(crate) async fn read_within<'a>(
    most: usize,
    headers: &HeaderMap,
    body: Body,
    large: &'a Semaphore,
) -> Result<Held<'a>> {
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<usize>().ok());
    let declared = declared.unwrap_or(0);
    if declared > most && headers.contains_key(header::EXPECT) {
        // The sender waits for a word before it sends any of it.
        return Err(too_large(most));
    }
    let reading = collect(most, declared, body, large);
    tokio::time::timeout(BODY_WITHIN, reading).await.unwrap_or_else(|_| Err(slow()))
}

async fn collect<'a>(most: usize, declared: usize, body: Body, large: &'a Semaphore) -> Result<Held<'a>> {
    let mut pieces = body.into_data_stream();
    let mut read = Vec::with_capacity(declared.min(SMALL_BODY));
    let mut place = None;
    while let Some(piece) = tokio::time::timeout(PIECE_WITHIN, pieces.next()).await.map_err(|_| slow())? {
        let piece = piece.map_err(|_| HttpError::new(Code::NotJson, "The body broke off. Send it again."))?;
        let size = read.len() + piece.len();
        if size > most || declared > most {
            drop(read);
            read_on(&mut pieces).await;
            return Err(too_large(most));
        }
        if size > SMALL_BODY && place.is_none() {
            // The semaphore is never closed; were it, the body would only go uncounted.
            place = large.acquire().await.ok();
        }
        read.extend_from_slice(&piece);
    }
    Ok(Held { bytes: read.into(), _place: place })
}

fn too_large(most: usize) -> HttpError {
    let files = if most == LARGEST_BODY { ", its files included" } else { "" };
    HttpError::new(
        Code::TooLarge,
        format!("The body is larger than {} MB{files}. Send less at once.", most / (1024 * 1024)),
    )
}

fn slow() -> HttpError {
    HttpError::new(Code::SlowBody, "The body did not arrive in time. Send it again, or send less at once.")
}

/// Reads on without keeping anything: closing at once would cut off the answer.
async fn read_on(pieces: &mut axum::body::BodyDataStream) {
    let mut most = LARGEST_BODY;
    let reading = async {
        while let Some(Ok(piece)) = pieces.next().await {
            most = most.saturating_sub(piece.len());
            if most == 0 {
                break;
            }
        }
    };
    // Whether it ended or not, the answer is the same.
    let _ = tokio::time::timeout(READ_ON_FOR, reading).await;
}

/// A message as its sender wrote it.
pub(crate) struct MessageBody<'a> {
    pub text: String,
    pub conversation: Option<String>,
    pub files: Vec<FileIn<'a>>,
    pub stream: bool,
    pub busy: Busy,
    pub terminal: bool,
}

impl<'a> MessageBody<'a> {
    /// Takes a body apart. `named`: it may name a conversation; `types`: it may say that a person types.
    pub fn read(bytes: &'a [u8], named: bool, types: bool) -> Result<Self> {
        let mut known = vec!["text", "files", "stream", "busy"];
        if named {
            known.insert(1, "conversation");
        }
        if types {
            known.push("terminal");
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|e| not_json(format!("byte {} is not UTF-8", e.valid_up_to() + 1)))?;
        let fields = Fields::read(text, "this request", &known)?;
        let files: Option<Vec<&RawValue>> = fields.take("files", "a list of files")?;
        let body = Self {
            text: fields.take("text", "a string")?.unwrap_or_default(),
            conversation: fields.take("conversation", "a string")?,
            files: super::files::read(files.unwrap_or_default())?,
            stream: fields.take("stream", "true or false")?.unwrap_or(false),
            busy: fields
                .take("busy", "one of steer, queue, collect, interrupt, refuse")?
                .unwrap_or(Busy::Queue),
            terminal: fields.take("terminal", "true or false")?.unwrap_or(false),
        };
        if body.text.trim().is_empty() && body.files.is_empty() {
            return Err(HttpError::new(
                Code::NoText,
                "There is nothing to answer: give \"text\", or \"files\".",
            ));
        }
        check_conversation(body.conversation.as_deref())?;
        Ok(body)
    }
}

/// Judges a message's body and its files as the door would, and takes nothing.
pub fn judge(bytes: &[u8]) -> Result<()> {
    let message = MessageBody::read(bytes, true, false)?;
    super::files::check(&message.files).map(drop)
}

fn check_conversation(name: Option<&str>) -> Result<()> {
    let Some(name) = name else { return Ok(()) };
    let why = if name.is_empty() {
        "is empty; leave it out to mean the default one"
    } else if name.len() > LONGEST_CONVERSATION {
        "is longer than 256 bytes"
    } else if name.chars().any(char::is_control) {
        "has control characters"
    } else {
        return Ok(());
    };
    Err(HttpError::new(Code::BadConversation, format!("The conversation's name {why}.")))
}

fn not_json(why: impl std::fmt::Display) -> HttpError {
    HttpError::new(Code::NotJson, format!("The body is not the JSON object it should be: {why}."))
}

/// An object's fields, each still as it lies in the body.
pub(crate) struct Fields<'a> {
    of: String,
    fields: BTreeMap<Cow<'a, str>, &'a RawValue>,
}

impl<'a> Fields<'a> {
    /// Reads an object that has these fields and no others. `of` names it in faults.
    pub fn read(json: &'a str, of: &str, known: &[&str]) -> Result<Self> {
        let fields: BTreeMap<Cow<'a, str>, &'a RawValue> = serde_json::from_str(json).map_err(not_json)?;
        match fields.keys().find(|name| !known.contains(&name.as_ref())) {
            None => Ok(Self { of: of.to_owned(), fields }),
            Some(odd) => Err(HttpError::new(
                Code::UnknownField,
                format!(
                    "{:?} is no field of {of}; it takes {}.",
                    odd.chars().take(64).collect::<String>(),
                    known.join(", ")
                ),
            )),
        }
    }

    /// One field's value; none if it is left out or null. `what` says what it must be.
    pub fn take<T: Deserialize<'a>>(&self, name: &str, what: &str) -> Result<Option<T>> {
        let Some(raw) = self.fields.get(name) else { return Ok(None) };
        serde_json::from_str(raw.get())
            .map_err(|_| HttpError::new(Code::BadField, format!("{name:?} of {} must be {what}.", self.of)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            ".{0,40}".prop_map(Into::into),
            "[A-Za-z0-9+/=]{0,40}".prop_map(Into::into),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let key = prop_oneof![Just("base64"), Just("name"), Just("media_type"), Just("odd")];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::btree_map(key.prop_map(str::to_owned), inner, 0..4)
                    .prop_map(|fields| fields.into_iter().collect::<serde_json::Map<_, _>>().into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_bytes_are_judged_and_none_break_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = judge(&bytes);
        }

        #[test]
        fn what_is_found_good_has_words_or_files_and_bare_names(
            text in value(), files in value(), conversation in value(), cut in 0_usize..400
        ) {
            let body = serde_json::json!({"text": text, "files": files, "conversation": conversation}).to_string();
            let cut = &body.as_bytes()[..cut.min(body.len())];
            if cut.len() < body.len() {
                prop_assert_eq!(judge(cut).map_err(|e| e.code), Err(Code::NotJson));
            }
            let Ok(message) = MessageBody::read(body.as_bytes(), true, false) else { return Ok(()) };
            prop_assert!(!message.text.trim().is_empty() || !message.files.is_empty());
            for file in super::super::files::check(&message.files).unwrap_or_default() {
                prop_assert!(!file.name.is_empty() && !file.name.contains(['/', '\\', '\0']));
                prop_assert!(file.name != "." && file.name != "..");
                prop_assert!(file.media_type.split_once('/').is_some());
            }
        }
    }
}

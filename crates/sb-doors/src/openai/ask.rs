//! From a talk to a message in its session: where it belongs, what goes along, who may.

use std::sync::Arc;

use axum::extract::Request as HttpRequest;
use axum::http::HeaderMap;
use axum::http::request::Parts;

use super::error::{Fault, Result};
use super::readers::{self, Reading};
use super::request::Talk;
use super::shared::Links;
use super::words::{Side, Trail, letters};
use crate::engine::core::commands;
use crate::engine::{Follow, SubmittedAsked};
use crate::http::{self, Door, Who};
use crate::model::{Asked, Before, ConversationId, Digest, Inbound, Key, ProfileName, SessionId};

/// How long an idempotency key is remembered: a day.
const KEY_KEPT_MS: i64 = 24 * 60 * 60 * 1000;
/// Headers that name the conversation, the first that is there.
const NAMING: &[&str] = &["x-switchboard-conversation", "x-openwebui-chat-id"];
const LONGEST_NAME: usize = 256;
/// Says how often a request was sent before.
const RETRIES: &str = "x-stainless-retry-count";

/// A message that was taken.
pub(super) struct Taken {
    pub follow: Follow,
    pub reading: Reading,
    pub session: SessionId,
    /// What was left out of it.
    pub left_out: Vec<String>,
    /// Where links in its answer lead.
    pub links: Links,
}

/// A request that may be taken up, with its body; large ones wait for each other.
pub(super) async fn received(door: &Door, request: HttpRequest) -> Result<(Parts, http::Held<'_>)> {
    let (head, body) = request.into_parts();
    if !door.is_open() {
        return Err(Fault::closing("The server is closing; nothing was taken. Send it again soon."));
    }
    let held = http::read_body(&head.headers, body, &door.large_bodies).await?;
    Ok((head, held))
}

/// Takes the last message of a talk into the session the rest of it belongs to. `after`: the talk goes on from
/// the place with this digest, which its app names.
pub(super) async fn take(
    door: &Arc<Door>,
    who: &Who,
    profile: ProfileName,
    head: &Parts,
    talk: Talk<'_>,
    after: Option<Digest>,
    streams: bool,
) -> Result<Taken> {
    let headers = &head.headers;
    let named = conversation_name(headers)?;
    let mut trail = match after {
        None => Trail::begin(&profile, named.as_deref()),
        Some(digest) => Trail::from(digest),
    };
    let mut before = after.map(|digest| Before { digest, answer: None });
    let mut before_last = trail;
    for (side, text) in &talk.before {
        before_last = trail;
        let answer = (*side == Side::Agent).then(|| (trail.digest(), text));
        trail = trail.then(*side, text);
        before = Some(Before { digest: trail.digest(), answer: answer.map(|(d, t)| (d, letters(t))) });
    }
    let more_of = match (talk.wants_more, talk.before.last()) {
        (true, Some((_, answer))) => Some((before_last, answer.clone())),
        _ => None,
    };
    let told = talk.told();
    let whole = trail.then(Side::Person, &talk.last.shown());
    let checked = http::check_files(&talk.last.files)?;
    let files = http::keep_files(&door.engine, checked).await?;
    let body = body_digest(&talk.last.shown(), files.iter().map(|f| f.digest));
    let mut text = talk.last.text;
    for note in &talk.last.left_out {
        text.push_str(&format!("\n({note})"));
    }
    let read = commands::read_text(&text, false);
    let asked = Asked {
        owner: who.principal.clone(),
        others: who.rights.decide,
        before,
        whole: whole.digest(),
        body,
        retried: is_retried(headers),
        command: !matches!(read, Ok(None)),
        named: named.is_some(),
        told,
        system: talk.system,
    };
    let conversation = match &named {
        Some(name) => ConversationId::new("openai", &profile, &format!("{}/{name}", who.principal.0)),
        None => ConversationId::new("openai", &profile, ""),
    };
    let key = http::idempotency_key(headers)?.map(|key| Key {
        text: format!("openai:{}:{profile}:{key}", who.principal.0),
        body: Digest::of(format!("{} {body}", whole.digest()).as_bytes()),
        kept_ms: KEY_KEPT_MS,
    });
    let inbound = Inbound {
        conversation,
        profile: profile.clone(),
        session: None,
        key,
        from: who.principal.clone(),
        rights: who.rights,
        text,
        files,
        manner: readers::manner(),
        origin: None,
    };
    let SubmittedAsked { receipt, place, conversation, session } =
        door.engine.submit_asked(inbound, asked).await?;
    tracing::debug!(message = receipt.message.0, ?place, "asked with all that was said before");
    let reading = Reading {
        message: receipt.message,
        conversation,
        profile,
        from: who.principal.clone(),
        rights: who.rights,
        trail: whole,
        more_of,
        streams,
    };
    let links = Links::of(door, head);
    Ok(Taken { follow: door.engine.follow(receipt), reading, session, left_out: talk.last.left_out, links })
}

fn body_digest(shown: &str, files: impl Iterator<Item = Digest>) -> Digest {
    let files: String = files.map(|digest| format!("\0{digest}")).collect();
    Digest::of(format!("{shown}{files}").as_bytes())
}

fn is_retried(headers: &HeaderMap) -> bool {
    let count = headers.get(RETRIES).and_then(|v| v.to_str().ok()?.trim().parse::<u32>().ok());
    count.is_some_and(|count| count > 0)
}

/// The name an app gives its talk in a header.
fn conversation_name(headers: &HeaderMap) -> Result<Option<String>> {
    let Some(value) = NAMING.iter().find_map(|name| headers.get(*name)) else { return Ok(None) };
    match value.to_str().map(str::trim) {
        Ok("") => Ok(None),
        Ok(name) if name.len() <= LONGEST_NAME => Ok(Some(name.to_owned())),
        _ => Err(Fault::field(
            NAMING[0],
            "The header that names the conversation must be 1 to 256 visible ASCII characters.",
        )),
    }
}

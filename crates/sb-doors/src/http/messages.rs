//! Taking a message: who may, to which conversation, once under its key; then its answer or its stream.
//!
//! The order matters: rights by the headers, then the body, then everything it says is judged, then its
//! files are kept, and last the message is taken. From then on it is answered, whoever still listens.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};

use super::body::{self, MessageBody};
use super::error::{Code, HttpError, Result};
use super::stream;
use super::who::{Who, shown_name};
use super::{Door, Segments, answer, files};
use crate::engine::{Follow, ReplyEvent};
use crate::model::{ConversationId, Digest, Inbound, Key, Manner, ProfileName, SessionId};

/// How long a key is remembered: a day.
const KEY_KEPT_MS: i64 = 24 * 60 * 60 * 1000;
const LONGEST_KEY: usize = 255;

/// Where a message is to go.
pub(crate) enum Target {
    /// To the conversation its body names.
    Profile(ProfileName),
    /// To one session, while it is its conversation's current one.
    Session(SessionId, ConversationId, ProfileName),
}

/// `POST /v1/profiles/{profile}/messages`
pub(crate) async fn to_profile(
    State(door): State<Arc<Door>>,
    Extension(who): Extension<Who>,
    Segments(profile): Segments<String>,
    request: Request,
) -> Result<Response> {
    let profile = ProfileName(profile);
    who.reaches(&profile, door.engine.has_profile(&profile))?;
    let (head, body) = request.into_parts();
    take(door, who, Target::Profile(profile), &head.headers, body).await
}

/// Takes a message to its target, and answers as it asks.
pub(crate) async fn take(
    door: Arc<Door>,
    who: Who,
    target: Target,
    headers: &HeaderMap,
    body: Body,
) -> Result<Response> {
    if !door.is_open() {
        return Err(HttpError::new(
            Code::Closing,
            "The server is closing; nothing was taken. Send it again soon.",
        ));
    }
    let key = idempotency_key(headers)?;
    let held = body::read(headers, body, &door.large_bodies).await?;
    let named = matches!(target, Target::Profile(_));
    let message = MessageBody::read(&held.bytes, named, who.types)?;
    let checked = files::check(&message.files)?;
    let (conversation, profile, session) = match target {
        Target::Profile(profile) => {
            (who.conversation(&profile, message.conversation.as_deref()), profile, None)
        }
        Target::Session(id, conversation, profile) => (conversation, profile, Some(id)),
    };
    let (streams, shown, rest) = (message.stream, shown_name(&conversation), stream::Rest::of(&who));
    let inbound = Inbound {
        key: key.map(|key| Key {
            text: format!("http:{}:{profile}:{key}", who.principal.0),
            body: body_digest(&held.bytes, session),
            kept_ms: KEY_KEPT_MS,
        }),
        conversation,
        profile,
        session,
        from: who.principal,
        rights: who.rights,
        text: message.text,
        files: files::keep(&door.engine, checked).await?,
        manner: Manner {
            busy: message.busy,
            debounce_ms: 0,
            commands_wait: false,
            stop_words: message.terminal,
            names_writers: false,
            ask_expiry_ms: None,
        },
        origin: None,
    };
    drop(held);
    let submitted = door.engine.submit(inbound).await?;
    let follow = door.engine.follow(submitted.receipt);
    match streams {
        true => stream::respond(door, follow, shown, rest).await,
        false => whole(&door, follow, &shown).await,
    }
}

/// The answer all at once, when it has its ending.
async fn whole(door: &Door, mut follow: Follow, shown: &str) -> Result<Response> {
    loop {
        let event = tokio::select! {
            event = follow.next() => event?,
            () = door.closing.cancelled() => return Err(HttpError::closing()),
        };
        match event {
            Some(ReplyEvent::Ended(ending)) => {
                return Ok(answer::answer(door, &follow, shown, ending).await?.sending.into_response());
            }
            Some(_) => {}
            None => return Err(HttpError::new(Code::Internal, "The message has no ending.")),
        }
    }
}

/// The same bytes to the same session are the same message.
fn body_digest(bytes: &[u8], session: Option<SessionId>) -> Digest {
    match session {
        None => Digest::of(bytes),
        Some(id) => Digest::of(format!("{id}\0{}", Digest::of(bytes)).as_bytes()),
    }
}

/// The key a request names, if it does.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>> {
    let mut all = headers.get_all("idempotency-key").iter();
    let (first, second) = (all.next(), all.next());
    let Some(value) = first else { return Ok(None) };
    match value.to_str() {
        Ok(key)
            if second.is_none()
                && (1..=LONGEST_KEY).contains(&key.len())
                && key.bytes().all(|b| b.is_ascii_graphic()) =>
        {
            Ok(Some(key.to_owned()))
        }
        _ => Err(HttpError::new(
            Code::BadKey,
            "An Idempotency-Key is one header of 1 to 255 visible ASCII characters, without spaces.",
        )),
    }
}

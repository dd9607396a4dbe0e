//! Who asks: the bearer token of a request, judged by its headers alone, before any of its body is read.
//!
//! What a token may do comes only from what is stored about it, never from the request. Tokens are
//! compared as digests, in constant time. Guessing is limited before a token is looked up.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;
use tokio::time::Instant;

use super::Gate;
use super::error::{Code, HttpError, Result};
use super::guesses::{Peer, Source};
use crate::model::{ConversationId, Digest, Principal, ProfileName, Rights, Secret};

/// No token is longer; a longer one is not looked up.
const LONGEST_TOKEN: usize = 512;
/// Fewest characters of the machine's token.
pub const SHORTEST_MACHINE_TOKEN: usize = 16;

/// The profiles somebody reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reach {
    All,
    Only(ProfileName),
}

/// Somebody, as the handlers know them; the same for the public door and the home's own socket.
#[derive(Debug, Clone)]
pub(crate) struct Who {
    pub principal: Principal,
    pub rights: Rights,
    pub reach: Reach,
    /// Where a message goes that names no conversation: the way in, and the name there.
    pub own: (&'static str, String),
    /// Whether it may say that a person types here.
    pub types: bool,
}

impl Who {
    /// Refuses a profile that is not reached, or is not there.
    pub fn reaches(&self, profile: &ProfileName, exists: bool) -> Result<()> {
        match &self.reach {
            Reach::Only(own) if own != profile => Err(HttpError::new(
                Code::OtherProfile,
                "This token does not reach this profile. Use one of the profile's own tokens.",
            )),
            Reach::All if !exists => Err(HttpError::new(
                Code::UnknownProfile,
                format!(
                    "There is no profile {:?}. `switchboard profile list` shows those there are.",
                    profile.0
                ),
            )),
            _ => Ok(()),
        }
    }

    /// The conversation of this name; without one, this caller's own.
    pub fn conversation(&self, profile: &ProfileName, name: Option<&str>) -> ConversationId {
        match name {
            None | Some("default") => ConversationId::new(self.own.0, profile, &self.own.1),
            Some(name) => ConversationId::new("http", profile, name),
        }
    }
}

/// The name of a conversation as its callers know it.
pub(crate) fn shown_name(conversation: &ConversationId) -> String {
    match conversation.0.split(':').next() {
        Some("http-default" | "cli") => "default".to_owned(),
        _ => conversation.name().to_owned(),
    }
}

/// Whether a token may be the machine's; the sentence says why not.
pub fn check_machine_token(token: &Secret) -> std::result::Result<(), String> {
    let text = token.expose();
    if text.chars().count() < SHORTEST_MACHINE_TOKEN {
        return Err(format!(
            "SWITCHBOARD_TOKEN is too short: it must have {SHORTEST_MACHINE_TOKEN} characters or more."
        ));
    }
    if text.len() > LONGEST_TOKEN || !text.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(
            "SWITCHBOARD_TOKEN must be at most 512 visible ASCII characters, without spaces.".to_owned()
        );
    }
    Ok(())
}

/// Lets a request through as whoever its token says, or refuses it.
pub(crate) async fn authenticate(
    State(gate): State<Arc<Gate>>,
    mut request: Request,
    next: Next,
) -> Response {
    let asking = match Asking::unless_guessing(&gate, &request) {
        Ok(asking) => asking,
        Err(wait) => return guessed_too_often(wait),
    };
    match asking.identify(&gate).await {
        Ok(who) => {
            request.extensions_mut().insert(who);
            next.run(request).await
        }
        Err(why) => why.into_response(),
    }
}

/// Lets only the machine's token through.
pub(crate) async fn machine_only(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let asking = match Asking::unless_guessing(&gate, &request) {
        Ok(asking) => asking,
        Err(wait) => return guessed_too_often(wait),
    };
    match asking.identify(&gate).await {
        Ok(who) if who.reach == Reach::All => next.run(request).await,
        Err(why) if why.code != Code::BadToken => why.into_response(),
        // A known token that does not reach this is told the same, but is no guess.
        Ok(_) | Err(_) => {
            HttpError::new(Code::BadToken, "Only the machine's token reaches this.").into_response()
        }
    }
}

/// Where a request comes from, and what it shows.
struct Asking {
    source: Source,
    token: Result<Shown>,
}

/// A token as it was shown.
struct Shown {
    token: Secret,
    digest: Digest,
}

impl Asking {
    /// Unless too much that was wrong came from there; then how long it must wait.
    fn unless_guessing(gate: &Gate, request: &Request) -> std::result::Result<Self, Duration> {
        let peer = request.extensions().get::<Peer>().copied();
        let source = Source::find(peer, request.headers(), gate.behind_proxy);
        let token = bearer(request.headers()).map(|token| {
            let digest = Digest::of(token.expose().as_bytes());
            Shown { token, digest }
        });
        let guesses = gate.guesses.lock().unwrap_or_else(PoisonError::into_inner);
        guesses.may(source, token.as_ref().ok().map(|t| &t.digest), Instant::now())?;
        Ok(Self { source, token })
    }

    /// Who it is. A wrong token counts against where it came from.
    async fn identify(self, gate: &Gate) -> Result<Who> {
        let (digest, who) = match self.token {
            Ok(shown) => (Some(shown.digest), whose(gate, &shown).await),
            Err(why) => (None, Err(why)),
        };
        let mut guesses = gate.guesses.lock().unwrap_or_else(PoisonError::into_inner);
        match (&who, digest) {
            (Ok(_), Some(digest)) => guesses.right(self.source, digest, Instant::now()),
            (Err(why), digest) if why.code == Code::BadToken => {
                guesses.wrong(self.source, Instant::now());
                if let Some(digest) = digest {
                    guesses.forget(self.source, &digest);
                }
                metrics::counter!("switchboard_http_wrong_tokens_total").increment(1);
            }
            _ => {}
        }
        who
    }
}

fn guessed_too_often(wait: Duration) -> Response {
    let seconds = wait.as_secs_f64().ceil();
    let error = HttpError::new(
        Code::TooManyGuesses,
        format!(
            "Too many wrong tokens came from this address. Try again in {seconds} s, with one that is known here."
        ),
    );
    let mut response = error.into_response();
    let after = HeaderValue::from_str(&seconds.to_string()).unwrap_or(HeaderValue::from_static("60"));
    response.headers_mut().insert(header::RETRY_AFTER, after);
    response
}

async fn whose(gate: &Gate, shown: &Shown) -> Result<Who> {
    if is_machine(gate.machine.as_ref(), &shown.digest) {
        return Ok(Who {
            principal: Principal("http:machine".to_owned()),
            rights: Rights::ALL,
            reach: Reach::All,
            own: ("http-default", "machine".to_owned()),
            types: false,
        });
    }
    match gate.door.engine.find_token(&shown.token).await? {
        Some(known) => Ok(Who {
            principal: Principal(format!("http:token {}", known.id)),
            rights: Rights { decide: known.decide, instruct: known.instruct },
            reach: Reach::Only(known.profile),
            own: ("http-default", known.id.0),
            types: false,
        }),
        None => Err(bad_token()),
    }
}

/// Whether the token is the machine's; in constant time, and of equal length whatever came.
fn is_machine(machine: Option<&Digest>, given: &Digest) -> bool {
    machine.is_some_and(|own| bool::from(own.0.ct_eq(&given.0)))
}

fn bearer(headers: &HeaderMap) -> Result<Secret> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let no_token = || {
        HttpError::new(
            Code::NoToken,
            "A bearer token is needed: send the header `Authorization: Bearer <token>`.",
        )
    };
    let (Some(value), None) = (all.next(), all.next()) else { return Err(no_token()) };
    let text = value.to_str().map_err(|_| bad_token())?;
    let (scheme, token) = text.trim().split_once(' ').ok_or_else(no_token)?;
    if !scheme.eq_ignore_ascii_case("bearer") || token.trim().is_empty() {
        return Err(no_token());
    }
    if token.len() > LONGEST_TOKEN {
        return Err(bad_token());
    }
    Ok(Secret::new(token.trim()))
}

fn bad_token() -> HttpError {
    HttpError::new(
        Code::BadToken,
        "This token is not known here. `switchboard profile token add <profile>` makes one.",
    )
}

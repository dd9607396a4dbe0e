//! Cards of profiles: what an agent is and where it is asked, and nothing of what its operator told it.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sb_wire::a2a::{Card, Interface, Shape, Skill, Version};

use super::Shared;
use crate::http::{Code, HttpError, Result, Segments};
use crate::model::{Digest, ProfileName};

/// How long a card may be kept.
const KEPT: &str = "public, max-age=60";

/// `GET /.well-known/agent-card.json`
pub(super) async fn first(State(shared): State<Shared>, headers: HeaderMap) -> Result<Response> {
    match shared.offer.profiles.first().cloned() {
        Some(profile) => answer(&shared, &profile, &headers),
        None => Err(HttpError::new(Code::NotFound, "No profile is offered to other agents here.")),
    }
}

/// `GET /v1/profiles/{profile}/agent-card.json`
pub(super) async fn of_profile(
    State(shared): State<Shared>,
    Segments(profile): Segments<String>,
    headers: HeaderMap,
) -> Result<Response> {
    answer(&shared, &ProfileName(profile), &headers)
}

fn answer(shared: &Shared, profile: &ProfileName, headers: &HeaderMap) -> Result<Response> {
    if !shared.offer.offers(profile) || !shared.door.engine.has_profile(profile) {
        return Err(HttpError::new(Code::NotFound, "There is no agent's card at this address."));
    }
    let named = headers.get("a2a-version").and_then(|v| v.to_str().ok()).map(str::trim);
    let shape = match named.filter(|v| !v.is_empty()).map(Version::read) {
        None => Shape::Merged,
        // A reader of a version nobody knows takes what it can.
        Some(None) => Shape::Merged,
        Some(Some(version)) => Shape::Only(version),
    };
    let body = card(shared, profile, headers).write(shape).to_string();
    let tag = format!("\"{}\"", &Digest::of(body.as_bytes()).to_string()[..16]);
    let asked = headers.get(header::IF_NONE_MATCH).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let same = asked.split(',').any(|one| one.trim().trim_start_matches("W/") == tag || one.trim() == "*");
    let mut response = match same {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
    };
    let out = response.headers_mut();
    out.insert(header::CACHE_CONTROL, HeaderValue::from_static(KEPT));
    out.insert(header::VARY, HeaderValue::from_static("A2A-Version, Host"));
    let modified = jiff::Timestamp::from_millisecond(shared.offer.begun.0).ok();
    let modified = modified.map(|at| at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string());
    for (name, value) in [(header::ETAG, Some(tag)), (header::LAST_MODIFIED, modified)] {
        if let Some(value) = value.and_then(|text| HeaderValue::from_str(&text).ok()) {
            out.insert(name, value);
        }
    }
    Ok(response)
}

/// The card of a profile.
pub(super) fn card(shared: &Shared, profile: &ProfileName, headers: &HeaderMap) -> Card {
    let url = format!("{}/v1/profiles/{profile}/a2a", base(shared, headers));
    let interface = |version: Version| Interface {
        url: url.clone(),
        binding: "JSONRPC".to_owned(),
        version: version.name().to_owned(),
        tenant: None,
    };
    let any = || vec!["text/plain".to_owned(), "application/octet-stream".to_owned(), "image/*".to_owned()];
    Card {
        name: profile.0.clone(),
        description: format!("The agent {profile}, reached through Switchboard. Write to it in plain words."),
        version: shared.offer.version.to_owned(),
        interfaces: vec![interface(Version::V1_0), interface(Version::V0_3)],
        streaming: true,
        push: true,
        extended: true,
        bearer: true,
        extensions: Vec::new(),
        inputs: any(),
        outputs: any(),
        skills: vec![Skill {
            id: "chat".to_owned(),
            name: "Chat".to_owned(),
            description: "Takes a message in plain words, with files, and answers it.".to_owned(),
            tags: vec!["chat".to_owned()],
            examples: Vec::new(),
        }],
    }
}

/// Where we are reached, as was said, or as the request came.
fn base(shared: &Shared, headers: &HeaderMap) -> String {
    if let Some(url) = &shared.offer.public_url {
        return url.clone();
    }
    let host = headers.get(header::HOST).and_then(|h| h.to_str().ok()).unwrap_or("localhost");
    // It comes back in a card, so it is a host or nothing.
    let plain = |c: char| c.is_ascii_alphanumeric() || "-.:[]_".contains(c);
    let host = if host.chars().all(plain) && !host.is_empty() { host } else { "localhost" };
    format!("{}://{host}", if shared.offer.tls { "https" } else { "http" })
}

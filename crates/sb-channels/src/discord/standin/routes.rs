//! The addresses: who asks is looked at first, then how fast, then what.

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Path, Request, State, WebSocketUpgrade};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use sb_channel::standin::{Breakage, SeenFile};
use serde_json::{Value, json};

use super::people::number;
use super::platform::{GUILD, Platform};
use super::posts::Body;
use super::refusal::Refusal;
use super::{Calls, Shared, TOKEN, gateway};

const LARGEST_BODY: usize = 25 * 1024 * 1024;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/api/v10/{*path}", any(call))
        .route("/gw", get(listen))
        .route("/gw/", get(listen))
        .route("/attachments/{room}/{file}/{name}", get(file))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .with_state(shared)
}

/// How whoever asks reaches us.
fn host(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    let named = headers.get(HOST).and_then(|host| host.to_str().ok()).map(str::to_owned);
    named.or_else(|| uri.authority().map(ToString::to_string))
}

async fn listen(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    uri: Uri,
    upgrade: WebSocketUpgrade,
) -> Response {
    let how = shared.with(|platform| {
        platform.was_asked("GET /gw".to_owned());
        platform.host = host(&headers, &uri).unwrap_or_else(|| platform.host.clone());
        let at = platform.planned.iter().position(|(of, _)| *of == Calls::Gateway);
        at.map(|at| platform.planned.remove(at).1)
    });
    match how {
        Some(how) if how != Breakage::Revoked => Refusal::of(how).into_response(),
        how => upgrade.on_upgrade(move |socket| gateway::serve(shared, socket, how)),
    }
}

async fn file(
    State(shared): State<Arc<Shared>>,
    Path((_, id, _)): Path<(u64, u64, String)>,
    uri: Uri,
) -> Response {
    let found = shared.look(|platform| {
        let good = uri.query().is_some_and(|query| query.ends_with(&format!("hm={}", platform.links)));
        platform.files.iter().find(|(known, _)| good && *known == id).cloned()
    });
    match found {
        Some((_, file)) => {
            let kind = HeaderValue::from_str(&file.media_type);
            let kind = kind.unwrap_or_else(|_| HeaderValue::from_static("application/octet-stream"));
            ([(CONTENT_TYPE, kind)], file.bytes).into_response()
        }
        None => (StatusCode::NOT_FOUND, "This content is no longer available.").into_response(),
    }
}

/// One request to the API.
async fn call(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (method, uri, headers) = (request.method().clone(), request.uri().clone(), request.headers().clone());
    let path: Vec<String> = uri.path().trim_start_matches("/api/v10/").split('/').map(decoded).collect();
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    shared.with(|platform| {
        platform.was_asked(format!("{method} {}", uri.path()));
        platform.host = host(&headers, &uri).unwrap_or_else(|| platform.host.clone());
    });
    let body = match check(&path, &headers) {
        Ok(()) => read(request, &headers).await,
        Err(refusal) => Err(refusal),
    };
    let (bucket, of) = bucket(&method, &path);
    let free = matches!(path[0], "interactions" | "webhooks");
    shared.with(|platform| {
        let body = match body {
            Ok(body) => body,
            Err(refusal) => return refusal.into_response(),
        };
        let counted = if free { Ok((20, 19, 1.0)) } else { platform.count(bucket, of) };
        let (most, left, seconds) = match counted {
            Ok(counted) => counted,
            Err(refusal) => return with_limits(refusal.into_response(), bucket, None),
        };
        let query = uri.query().unwrap_or_default();
        let response = match platform.act(&method, &path, query, &body) {
            Ok(Value::Null) => StatusCode::NO_CONTENT.into_response(),
            Ok(answer) => Json(answer).into_response(),
            Err(refusal) => refusal.into_response(),
        };
        with_limits(response, bucket, Some((most, left, seconds)))
    })
}

/// Whether whoever asks may: everything but answers to interactions wants the token, and all want a name.
fn check(path: &[&str], headers: &HeaderMap) -> Result<(), Refusal> {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    // Not looked at for interactions: discord.py gives another name there.
    let is_free = matches!(path, ["interactions" | "webhooks", ..] | ["gateway"]);
    if !is_free && !header(USER_AGENT).starts_with("DiscordBot (") {
        return Err(Refusal::new(403, 40_333, "internal network error"));
    }
    match is_free || header(AUTHORIZATION) == format!("Bot {TOKEN}") {
        true => Ok(()),
        false => Err(Refusal::new(401, 0, "401: Unauthorized")),
    }
}

/// The bucket of a route, and the id for which it counts.
fn bucket(method: &Method, path: &[&str]) -> (&'static str, u64) {
    let of = path.get(1).map(|id| number(id)).unwrap_or_default();
    let name = match (method.as_str(), path) {
        ("POST", ["channels", _, "messages"]) => "posts",
        ("PATCH", ["channels", _, "messages", _]) => "edits",
        (_, ["channels", _, "typing"]) => "typing",
        (_, ["channels", _, "messages", _, "reactions", ..]) => "reactions",
        _ => "others",
    };
    (name, of)
}

fn with_limits(mut response: Response, bucket: &'static str, left: Option<(u32, u32, f64)>) -> Response {
    let headers = response.headers_mut();
    let mut put = |name: &'static str, value: String| {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    };
    put("x-ratelimit-bucket", format!("bucket-of-{bucket}"));
    if let Some((most, left, seconds)) = left {
        put("x-ratelimit-limit", most.to_string());
        put("x-ratelimit-remaining", left.to_string());
        put("x-ratelimit-reset-after", format!("{seconds:.3}"));
        put("x-ratelimit-reset", "4000000000.000".to_owned());
    }
    response
}

async fn read(request: Request, headers: &HeaderMap) -> Result<Body, Refusal> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_owned();
    let broken = || Refusal::new(400, 50_109, "The request body contains invalid JSON.");
    if kind.starts_with("multipart/form-data") {
        let mut parts = Multipart::from_request(request, &()).await.map_err(|_| broken())?;
        let mut body = Body::default();
        while let Some(part) = parts.next_field().await.map_err(|_| broken())? {
            let name = part.name().unwrap_or_default().to_owned();
            let at = name.strip_prefix("files[").and_then(|at| at.strip_suffix(']')?.parse().ok());
            let (file, kind) = (part.file_name().map(str::to_owned), part.content_type().map(str::to_owned));
            let bytes =
                part.bytes().await.map_err(|_| Refusal::new(413, 40_005, "Request entity too large"))?;
            match at {
                Some(at) => {
                    let media_type = kind.unwrap_or_else(|| "application/octet-stream".to_owned());
                    body.files.push((at, SeenFile { name: file.unwrap_or_default(), media_type, bytes }));
                }
                None => body.fields = serde_json::from_slice(&bytes).map_err(|_| broken())?,
            }
        }
        return Ok(body);
    }
    let bytes = axum::body::to_bytes(request.into_body(), LARGEST_BODY).await;
    let bytes = bytes.map_err(|_| Refusal::new(413, 40_005, "Request entity too large"))?;
    if bytes.is_empty() {
        return Ok(Body::default());
    }
    if !kind.starts_with("application/json") {
        return Err(Refusal::body(
            "_errors",
            "CONTENT_TYPE_INVALID",
            "Expected \"Content-Type\" header to be one of {'application/json'}.",
        ));
    }
    Ok(Body { fields: serde_json::from_slice(&bytes).map_err(|_| broken())?, files: Vec::new() })
}

impl Platform {
    /// Acts on a request; `null` is an answer without a body.
    fn act(&mut self, method: &Method, path: &[&str], query: &str, body: &Body) -> Result<Value, Refusal> {
        let fields = &body.fields;
        match (method.as_str(), path) {
            ("GET", ["gateway"]) => Ok(json!({"url": format!("ws://{}/gw", self.host)})),
            ("GET", ["gateway", "bot"]) => Ok(json!({
                "url": format!("ws://{}/gw", self.host), "shards": 1,
                "session_start_limit": {
                    "total": 1000, "remaining": self.starts_left, "reset_after": 14_400_000, "max_concurrency": 1,
                },
            })),
            ("GET", ["users", "@me"]) => Ok(self.user(super::BOT)),
            ("GET", ["applications" | "oauth2", ..]) if path.last() == Some(&"@me") => Ok(self.application()),
            ("POST", ["users", "@me", "channels"]) => {
                let person = super::posts::id(&fields["recipient_id"]).unwrap_or_default();
                if !self.people.contains_key(&person) {
                    return Err(Refusal::new(400, 50_007, "Cannot send messages to this user"));
                }
                let id = self.direct(person);
                Ok(self.rooms.get(&id).map(|room| self.channel(room)).unwrap_or_default())
            }
            ("GET", ["guilds", id]) if number(id) == GUILD => Ok(self.guild()),
            ("GET", ["guilds", id, "roles"]) if number(id) == GUILD => Ok(self.roles()),
            ("GET", ["applications", _, "commands"]) => Ok(self.commands.clone().into()),
            ("PUT", ["applications", _, "commands"]) => self.set_menu(fields),
            ("POST", ["interactions", id, token, "callback"]) => {
                self.answer(number(id), token, fields)?;
                let wanted = query.contains("with_response=true") || query.contains("with_response=1");
                Ok(if wanted { self.answered(number(id)) } else { Value::Null })
            }
            ("PATCH", ["webhooks", _, token, "messages", "@original"]) => self.follow_up(token, true, fields),
            ("POST", ["webhooks", _, token]) => self.follow_up(token, false, fields),
            (_, ["channels", id, rest @ ..]) => self.in_channel(method, number(id), rest, query, body),
            _ => Err(Refusal::new(404, 0, "404: Not Found")),
        }
    }

    fn in_channel(
        &mut self,
        method: &Method,
        id: u64,
        rest: &[&str],
        query: &str,
        body: &Body,
    ) -> Result<Value, Refusal> {
        match (method.as_str(), rest) {
            ("GET", []) => {
                self.reach(id)?;
                Ok(self.rooms.get(&id).map(|room| self.channel(room)).unwrap_or_default())
            }
            ("GET", ["messages"]) => self.history(id, query),
            ("POST", ["messages"]) => self.post(id, body),
            ("GET", ["messages", message]) => {
                let message =
                    self.reach(id)?.message(number(message)).ok_or_else(Refusal::unknown_message)?.clone();
                Ok(self.shown(id, &message))
            }
            ("PATCH", ["messages", message]) => self.change(id, number(message), &body.fields),
            ("DELETE", ["messages", message]) => {
                self.reach(id)?.message(number(message)).ok_or_else(Refusal::unknown_message)?;
                self.delete(id, number(message));
                Ok(Value::Null)
            }
            ("POST", ["messages", message, "threads"]) => {
                self.start_thread(id, number(message), &body.fields)
            }
            ("PUT", ["messages", message, "reactions", emoji, "@me"]) => {
                self.mark(id, number(message), emoji, true)
            }
            ("DELETE", ["messages", message, "reactions", emoji, "@me"]) => {
                self.mark(id, number(message), emoji, false)
            }
            ("POST", ["typing"]) => self.types(id),
            _ => Err(Refusal::new(404, 0, "404: Not Found")),
        }
    }

    /// Messages of a channel, the newest first: those right after one, or the newest ones.
    fn history(&mut self, id: u64, query: &str) -> Result<Value, Refusal> {
        let lost = self.breaks(Calls::History)?;
        let asked = |name: &str| {
            query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')?.parse::<u64>().ok())
        };
        let limit = usize::try_from(asked("limit").unwrap_or(50).clamp(1, 100)).unwrap_or(50);
        self.reach(id)?;
        let Some(room) = self.rooms.get(&id) else { return Err(Refusal::unknown_channel()) };
        let mut found: Vec<Value> = match asked("after") {
            Some(after) => {
                let later = room.messages.iter().filter(|message| message.id > after).take(limit);
                later.map(|message| self.message(room, message)).collect()
            }
            None => {
                let newest = room.messages.iter().skip(room.messages.len().saturating_sub(limit));
                newest.map(|message| self.message(room, message)).collect()
            }
        };
        found.reverse();
        // Where they are is known to whoever asks.
        for message in found.iter_mut().filter_map(Value::as_object_mut) {
            message.remove("channel_type");
        }
        lost.map_or(Ok(found.into()), Err)
    }
}

/// A part of an address, its percent signs undone.
fn decoded(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match hex.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

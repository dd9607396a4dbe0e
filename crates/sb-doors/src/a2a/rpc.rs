//! The endpoint: one JSON-RPC request, told apart by method and header, and its answer or its stream.

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use sb_wire::a2a::{Code, Operation, Unreadable, Version, failure, names_field};
use sb_wire::jsonrpc::{self, Failure, INTERNAL, Message, NO_SUCH_METHOD};
use sb_wire::sse;
use serde_json::Value;

use super::{Shared, card, hooks, stream, tasks};
use crate::engine::EngineError;
use crate::http::{Code as HttpCode, HttpError, Segments, Who, read_body};
use crate::model::{Principal, ProfileName};

/// It is no JSON.
const NO_JSON: i64 = -32700;
/// It is no request.
const NO_REQUEST: i64 = -32600;

/// One request, once it is known what it asks.
pub(super) struct Asked {
    pub shared: Shared,
    pub profile: ProfileName,
    pub who: Who,
    pub version: Version,
    pub id: Value,
    pub params: Value,
}

impl Asked {
    pub fn wrong(&self, why: &Unreadable) -> Failure {
        names_field(why, self.version)
    }

    pub fn fails(&self, code: Code, said: &str, about: &[(&str, &str)]) -> Failure {
        failure(code, said, about, self.version)
    }

    pub fn no_task(&self, id: &str) -> Failure {
        self.fails(Code::TaskNotFound, "There is no such task.", &[("taskId", id)])
    }
}

/// What failed of ours, as the protocol tells it.
pub(super) fn engine_failed(why: EngineError) -> Failure {
    Failure::new(INTERNAL, HttpError::from(why).said)
}

/// `POST /v1/profiles/{profile}/a2a`
pub(super) async fn asked(
    State(shared): State<Shared>,
    Extension(mut who): Extension<Who>,
    Segments(profile): Segments<String>,
    request: Request,
) -> Response {
    let profile = ProfileName(profile);
    if let Err(why) = who.reaches(&profile, shared.door.engine.has_profile(&profile)) {
        return why.into_response();
    }
    if !shared.offer.offers(&profile) {
        return HttpError::new(HttpCode::NotFound, "This profile is not offered to other agents.")
            .into_response();
    }
    // Whoever asks this way is another agent.
    let name = who.principal.0.split_once(':').map_or("", |(_, name)| name).to_owned();
    who.principal = Principal(format!("a2a:{name}"));
    let (head, body) = request.into_parts();
    let held = match read_body(&head.headers, body, &shared.door.large_bodies).await {
        Ok(held) => held,
        Err(why) => return why.into_response(),
    };
    let read = read(&head.headers, &held.bytes);
    drop(held);
    match read {
        Ok((operation, version, id, params)) => {
            let asked = Asked { shared, profile, who, version, id, params };
            perform(operation, asked, &head.headers).await
        }
        Err((id, failure)) => whole(id, Err(failure)),
    }
}

async fn perform(operation: Operation, asked: Asked, headers: &HeaderMap) -> Response {
    let (id, version) = (asked.id.clone(), asked.version);
    let done = match operation {
        Operation::Stream => {
            return stream::send(asked).await.unwrap_or_else(|why| refused(version, id, why));
        }
        Operation::Follow => {
            return stream::follow(asked).await.unwrap_or_else(|why| refused(version, id, why));
        }
        Operation::Send => tasks::send(&asked).await,
        Operation::Get => tasks::get(&asked).await,
        Operation::List => tasks::list(&asked).await,
        Operation::Cancel => tasks::cancel(&asked).await,
        Operation::PushSet => hooks::set(&asked).await,
        Operation::PushGet => hooks::get(&asked).await,
        Operation::PushList => hooks::list(&asked).await,
        Operation::PushDelete => hooks::delete(&asked).await,
        Operation::ExtendedCard => {
            let shape = sb_wire::a2a::Shape::Only(asked.version);
            Ok(card::card(&asked.shared, &asked.profile, headers).write(shape))
        }
    };
    whole(id, done)
}

type Read = Result<(Operation, Version, Value, Value), (Value, Failure)>;

/// What a request asks, and in which version.
fn read(headers: &HeaderMap, body: &[u8]) -> Read {
    let none = |code, said: &str| (Value::Null, Failure::new(code, said));
    let value: Value = serde_json::from_slice(body).map_err(|_| {
        let declared = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or("json");
        match declared.contains("json") {
            true => none(NO_JSON, "The body is not JSON."),
            false => none(Code::ContentTypeNotSupported.number(), "Send JSON, as application/json."),
        }
    })?;
    let Value::Object(mut object) = value else {
        return Err(none(NO_REQUEST, "One request at a time is taken, as a JSON object."));
    };
    let id = match object.remove("id") {
        None | Some(Value::Null) => Value::Null,
        Some(Value::String(id)) => Value::String(id),
        Some(Value::Number(id)) if id.is_i64() || id.is_u64() => Value::Number(id),
        Some(_) => return Err(none(NO_REQUEST, "An id is a string, a whole number or null.")),
    };
    let wrong = |failure| (id.clone(), failure);
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(wrong(Failure::new(NO_REQUEST, "A request says \"jsonrpc\": \"2.0\".")));
    }
    let Some(Value::String(method)) = object.remove("method") else {
        return Err(wrong(Failure::new(NO_REQUEST, "A request names its method.")));
    };
    let named = headers.get("a2a-version").and_then(|v| v.to_str().ok()).map(str::trim);
    let said = named.filter(|v| !v.is_empty());
    let unknown = said.filter(|v| Version::read(v).is_none());
    let known = Operation::named(&method);
    let version = known.map_or(Version::V1_0, |(_, version)| version);
    if unknown.is_some() {
        let told = "Versions 1.0 and 0.3 are spoken here.";
        return Err(wrong(failure(Code::VersionNotSupported, told, &[], Version::V1_0)));
    }
    let Some((operation, _)) = known else {
        return Err(wrong(Failure::new(NO_SUCH_METHOD, "There is no such method.")));
    };
    if version == Version::V1_0 && said.and_then(Version::read) == Some(Version::V0_3) {
        let told = "This method is of version 1.0, and the header says 0.3.";
        return Err(wrong(failure(Code::VersionNotSupported, told, &[], Version::V1_0)));
    }
    let params = match object.remove("params") {
        None | Some(Value::Null) => Value::Object(serde_json::Map::new()),
        Some(params @ Value::Object(_)) => params,
        Some(_) => {
            let why = Unreadable { field: "params".to_owned(), why: "they are an object".to_owned() };
            return Err(wrong(names_field(&why, version)));
        }
    };
    Ok((operation, version, id, params))
}

/// A refusal where a stream was asked for: in 0.3 it is the stream's one event, in 1.0 a plain answer.
fn refused(version: Version, id: Value, why: Failure) -> Response {
    if version == Version::V1_0 {
        return whole(id, Err(why));
    }
    let event = sse::encode("", &jsonrpc::line(&Message::Answer { id, result: Err(why) }));
    ([(header::CONTENT_TYPE, "text/event-stream")], event).into_response()
}

/// One answer.
pub(super) fn whole(id: Value, result: Result<Value, Failure>) -> Response {
    let answer = Message::Answer { id, result };
    ([(header::CONTENT_TYPE, "application/json")], jsonrpc::line(&answer)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(version: Option<&str>, body: &str) -> i64 {
        let mut headers = HeaderMap::new();
        if let Some(version) = version {
            headers.insert("a2a-version", version.parse().expect("a value"));
        }
        read(&headers, body.as_bytes()).map_or_else(|(_, failure)| failure.code, |_| 0)
    }

    #[test]
    fn a_request_is_told_apart_by_its_method_and_its_header() {
        let get = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{}}"#;
        let old = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get"}"#;
        for (version, body, expected) in [
            (None, get, 0),
            (Some(""), get, 0),
            (Some("1.0.1"), get, 0),
            (Some("0.3"), get, -32009),
            (Some("9.9"), get, -32009),
            (None, old, 0),
            (Some("0.3"), old, 0),
            (Some("1.0"), old, 0),
            (Some("0.5"), old, -32009),
            (None, "{", -32700),
            (None, "[]", -32600),
            (None, "7", -32600),
            (None, r#"{"jsonrpc":"2.0","id":{},"method":"GetTask"}"#, -32600),
            (None, r#"{"jsonrpc":"2.0","id":1.5,"method":"GetTask"}"#, -32600),
            (None, r#"{"jsonrpc":"1.0","id":1,"method":"GetTask"}"#, -32600),
            (None, r#"{"jsonrpc":"2.0","id":1}"#, -32600),
            (None, r#"{"jsonrpc":"2.0","id":1,"method":"dance"}"#, -32601),
            (None, r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}"#, -32602),
        ] {
            assert_eq!(code(version, body), expected, "{version:?} {body}");
        }
    }
}

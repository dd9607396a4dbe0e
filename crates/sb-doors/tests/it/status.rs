//! What the server says of itself, and what it says to those who lost their way.

use std::collections::BTreeSet;

use reqwest::Method;
use sb_doors::http;
use serde_json::{Value, json};

use crate::server::{MACHINE, Server, reply};

#[tokio::test]
async fn health_and_readiness_need_no_token() {
    let server = Server::start().await;
    for (path, word) in [("/healthz", "ok"), ("/readyz", "ready")] {
        let answer = reply(server.request(Method::GET, path)).await.succeeded();
        assert_eq!(answer.json, json!({"status": word}));
    }
}

#[tokio::test]
async fn metrics_are_for_the_machines_token_only() {
    let server = Server::start().await;
    let (token, _) = server.app.token("assistant", true).await;
    server.get(&token, "/metrics").await.is_error(401, "bad_token");
    let answer = server.get(MACHINE, "/metrics").await;
    assert_eq!(answer.status, 200);
    assert!(answer.headers["content-type"].to_str().unwrap().starts_with("text/plain; version=0.0.4"));
}

#[tokio::test]
async fn strays_are_answered_in_json() {
    let server = Server::start().await;
    for path in ["/", "/v1", "/v1/profiles", "/v1/sessions/", "/desk/server", "/v2/x"] {
        reply(server.request(Method::GET, path)).await.is_error(404, "not_found");
    }
    let wrong = server.get(MACHINE, "/v1/profiles/assistant/messages").await;
    wrong.is_error(405, "wrong_method");
    assert_eq!(wrong.headers["allow"], "POST");
    let wrong = reply(server.request(Method::POST, "/healthz")).await;
    wrong.is_error(405, "wrong_method");
    assert_eq!(wrong.headers["allow"], "GET,HEAD");
}

async fn document(server: &Server) -> Value {
    let answer = reply(server.request(Method::GET, "/openapi.json")).await.succeeded();
    assert_eq!(answer.headers["content-type"], "application/json");
    answer.json
}

#[tokio::test]
async fn the_openapi_document_names_every_route_with_its_answers() {
    let server = Server::start().await;
    let document = document(&server).await;
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let paths: BTreeSet<&str> = document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    let all = [
        "/.well-known/agent-card.json",
        "/healthz",
        "/metrics",
        "/openapi.json",
        "/readyz",
        "/v1/chat/completions",
        "/v1/files/{id}",
        "/v1/files/{id}/content",
        "/v1/models",
        "/v1/models/{id}",
        "/v1/profiles/{profile}/.well-known/agent-card.json",
        "/v1/profiles/{profile}/a2a",
        "/v1/profiles/{profile}/agent-card.json",
        "/v1/profiles/{profile}/messages",
        "/v1/responses",
        "/v1/sessions/{id}",
    ];
    assert_eq!(paths, BTreeSet::from(all));
    for path in all {
        let tried = path.replace("{profile}", "assistant").replace("{id}", "0123456789abcdef");
        let takes = ["messages", "completions", "responses", "a2a"].iter().any(|end| path.ends_with(end));
        let (method, other) = if takes { (Method::POST, "get") } else { (Method::GET, "post") };
        let found = reply(server.request(method.clone(), &tried).bearer_auth(MACHINE).body("{}")).await;
        let operation = &document["paths"][path][method.as_str().to_lowercase()];
        assert!(operation["responses"][found.status.to_string()].is_object(), "{path} gave {}", found.status);
        assert_eq!(document["paths"][path].get(other), None);
    }
}

/// The document's rules for one value, as far as our own schemas use them.
fn fits(document: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str().and_then(|r| r.strip_prefix("#/components/schemas/")) {
        return fits(document, &document["components"]["schemas"][name], value);
    }
    if let Some(any) = schema["oneOf"].as_array() {
        let found = any.iter().filter(|s| fits(document, s, value).is_ok()).count();
        return if found > 0 { Ok(()) } else { Err(format!("{value} fits none of {schema}")) };
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        fits(document, part, value)?;
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(some) => some.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if !types.is_empty() && !types.contains(&is) {
        return Err(format!("{value} is no {types:?}"));
    }
    if let (Some(words), false) = (schema["enum"].as_array(), value.is_null())
        && !words.contains(value)
    {
        return Err(format!("{value} is none of {words:?}"));
    }
    for field in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let inner = value.get(field).ok_or(format!("{value} lacks {field}"))?;
        fits(document, &schema["properties"][field], inner)?;
    }
    for item in value.as_array().into_iter().flatten() {
        fits(document, &schema["items"], item)?;
    }
    Ok(())
}

/// Whether an object has no field its schema does not name.
fn names_all(document: &Value, schema: &str, value: &Value) {
    let known = document["components"]["schemas"][schema]["properties"].as_object().unwrap();
    for field in value.as_object().unwrap().keys() {
        assert!(known.contains_key(field), "{schema} does not name {field}");
    }
}

#[tokio::test]
async fn real_answers_fit_their_schemas() {
    let server = Server::start().await;
    let document = document(&server).await;
    let fit = |name: &str, value: &Value| {
        let schema = json!({"$ref": format!("#/components/schemas/{name}")});
        fits(&document, &schema, value).unwrap_or_else(|why| panic!("{name}: {why}"));
        if name != "Line" {
            names_all(&document, name, value);
        }
    };
    let share = "!tool share_file {\"name\": \"a.txt\", \"text\": \"a\"}\n!tool write_file {}";
    let answer = server.say(MACHINE, json!({"text": share})).await.succeeded().json;
    fit("Answer", &answer);
    let path = format!("/v1/sessions/{}", answer["session"].as_str().unwrap());
    let waiting = server.get(MACHINE, &path).await.succeeded().json;
    fit("SessionShown", &waiting);
    fit("WaitingShown", &waiting["waiting"]);
    let done = server.say(MACHINE, json!({"text": "/decline no"})).await.succeeded().json;
    fit("Answer", &done);
    fit(
        "FileOut",
        &done["files"].get(0).cloned().unwrap_or(answer["files"].get(0).cloned().unwrap_or(json!({
            "name": "", "media_type": "", "size": 0, "base64": null
        }))),
    );
    fit("SessionShown", &server.get(MACHINE, &path).await.succeeded().json);
    fit("Problem", &server.say(MACHINE, json!({})).await.json);
    fit("Status", &reply(server.request(Method::GET, "/healthz")).await.json);
    for (name, data) in server.stream(MACHINE, json!({"text": "!tool list_files {}"})).await.rest().await {
        let schema = match name.as_str() {
            "session" => "SessionEvent",
            "delta" => "DeltaEvent",
            "tool" => "ToolEvent",
            _ => "Answer",
        };
        fit(schema, &data);
    }
}

#[test]
fn every_code_is_one_word_with_a_sentence_and_its_own_place() {
    let all: Vec<_> = http::codes().collect();
    let words: BTreeSet<_> = all.iter().map(|(word, ..)| word).collect();
    assert_eq!(words.len(), all.len());
    for (word, status, when) in all {
        assert!(word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'), "{word}");
        assert!((400..600).contains(&status), "{word}");
        assert!(when.ends_with('.') || when.ends_with(')'), "{word}");
    }
}

#[tokio::test]
async fn a_request_body_takes_the_fields_its_schema_names() {
    let server = Server::start().await;
    let document = document(&server).await;
    let fields = document["components"]["schemas"]["MessageRequest"]["properties"].as_object().unwrap();
    let answer = server.say(MACHINE, json!({"text": "hi", "odd": 1})).await;
    let said = answer.json["error"].as_str().unwrap();
    let taken: BTreeSet<&str> =
        said.split("it takes ").nth(1).unwrap().trim_end_matches('.').split(", ").collect();
    assert_eq!(taken, fields.keys().map(String::as_str).collect());
}

//! What is spoken at the door: MCP over streamable HTTP, as much of it as a server of plain tools needs.
//!
//! One message a request; calls are answered on a stream, all else at once. No sessions of the wire's own are kept:
//! the pass says whose call it is. Pages of the web are no agents, so whoever names an origin is refused.
//! Source: the specification of 2025-11-25 and its two forerunners, whose tools are the same.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use sb_harness::ToolDef;
use sb_harness::model::ToolClass;
use sb_wire::jsonrpc::{self, BAD_PARAMS, Failure, Message, NO_SUCH_METHOD};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::calls::{Waiting, answering, result};
use super::{Given, Passes, Slot, Wanted, locked};

/// Versions that are spoken, the newest first.
const VERSIONS: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
const TOLD: &str = "Tools of whoever runs you here, for what you cannot do with your own: giving the person a file, notes that last \
     over sessions, messages to other conversations, the ledger. A call may wait until a person allows it.";
const NO_TURN: &str = "This can be called only while you answer somebody.";
const TOO_MANY: &str = "Too many calls wait already. Wait until one of them is answered.";

pub(super) fn router(passes: Arc<Passes>) -> Router {
    Router::new().route("/mcp", post(take)).with_state(passes)
}

async fn take(State(passes): State<Arc<Passes>>, headers: HeaderMap, body: String) -> Response {
    if headers.contains_key(header::ORIGIN) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let Some(slot) = shown.strip_prefix("Bearer ").and_then(|token| passes.of(token)) else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    match jsonrpc::read(&body) {
        None => (StatusCode::BAD_REQUEST, "This is no JSON-RPC message.").into_response(),
        Some(Message::Request { id, method, params }) if method == "tools/call" => {
            called(&slot, id, &params).await
        }
        Some(Message::Request { id, method, params }) => {
            at_once(id, answer(&slot, passes.version, &method, &params))
        }
        Some(Message::Notification { method, params }) => {
            if method == "notifications/cancelled" {
                slot.in_flight.give_up(&params["requestId"]);
            }
            StatusCode::ACCEPTED.into_response()
        }
        Some(Message::Answer { .. }) => StatusCode::ACCEPTED.into_response(),
    }
}

fn answer(slot: &Slot, version: &str, method: &str, params: &Value) -> Result<Value, Failure> {
    match method {
        "initialize" => {
            let asked = params["protocolVersion"].as_str().unwrap_or_default();
            let spoken = VERSIONS.into_iter().find(|version| *version == asked).unwrap_or(VERSIONS[0]);
            let info = json!({"name": "switchboard", "title": "Switchboard", "version": version});
            Ok(json!({"protocolVersion": spoken, "capabilities": {"tools": {}}, "serverInfo": info,
                "instructions": TOLD}))
        }
        "ping" => Ok(json!({})),
        "tools/list" => {
            let tools: Vec<Value> = locked(&slot.lent).iter().map(listed).collect();
            Ok(json!({"tools": tools}))
        }
        _ => Err(Failure::new(NO_SUCH_METHOD, "This is not offered.")),
    }
}

/// A tool as the wire lists it. The hints say what it does; what may be done says the gate alone.
fn listed(tool: &ToolDef) -> Value {
    let hints = json!({
        "readOnlyHint": tool.class == ToolClass::Read,
        "destructiveHint": matches!(tool.class, ToolClass::Spend | ToolClass::Destructive),
        "openWorldHint": matches!(tool.class, ToolClass::Outside | ToolClass::Spend),
    });
    json!({"name": tool.name, "description": tool.description, "inputSchema": tool.schema, "annotations": hints})
}

async fn called(slot: &Slot, id: Value, params: &Value) -> Response {
    let Some(tool) = params["name"].as_str() else {
        return at_once(id, Err(Failure::new(BAD_PARAMS, "The tool has no name.")));
    };
    let input = match &params["arguments"] {
        Value::Null => json!({}),
        given => given.clone(),
    };
    let refused = |why: &str| Ok(result(&Given { ok: false, text: why.to_owned() }));
    let Some(given_up) = slot.in_flight.enter(&id) else { return at_once(id, refused(TOO_MANY)) };
    let turn = locked(&slot.turn).clone();
    let (answer, given) = oneshot::channel();
    let wanted = Wanted { tool: tool.to_owned(), input, answer };
    let brought = match turn {
        Some(turn) => turn.send(wanted).await.is_ok(),
        None => false,
    };
    if !brought {
        return at_once(id, refused(NO_TURN));
    }
    let token = Some(&params["_meta"]["progressToken"]).filter(|token| !token.is_null()).cloned();
    answering(Waiting { id, token, given, given_up }).into_response()
}

fn at_once(id: Value, result: Result<Value, Failure>) -> Response {
    let json = [(header::CONTENT_TYPE, "application/json")];
    (json, jsonrpc::line(&Message::Answer { id, result })).into_response()
}

//! JSON-RPC 2.0, one message a value: what both sides send, as they mean it.
//!
//! Source: the JSON-RPC 2.0 specification. Batches are not spoken by any protocol here.

use serde_json::{Value, json};

/// The parameters or the method are not known (`-32601`).
pub const NO_SUCH_METHOD: i64 = -32601;
/// The parameters do not fit (`-32602`).
pub const BAD_PARAMS: i64 = -32602;
/// Something went wrong inside (`-32603`).
pub const INTERNAL: i64 = -32603;

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Wants an answer under the same id, which may be a string, a number or null.
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    Answer {
        id: Value,
        result: Result<Value, Failure>,
    },
}

/// Why a request was not done.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub code: i64,
    pub message: String,
    pub data: Value,
}

impl Failure {
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: Value::Null }
    }
}

/// Reads one message; none: it is no JSON-RPC.
pub fn read(text: &str) -> Option<Message> {
    let Value::Object(mut object) = serde_json::from_str(text).ok()? else { return None };
    let mut take = |key: &str| object.remove(key);
    let (id, params) = (take("id"), take("params").unwrap_or(Value::Null));
    if let Some(Value::String(method)) = take("method") {
        return Some(match id {
            Some(id) => Message::Request { id, method, params },
            None => Message::Notification { method, params },
        });
    }
    let result = match (take("result"), take("error")) {
        (_, Some(error @ Value::Object(_))) => Err(Failure {
            code: error["code"].as_i64().unwrap_or(INTERNAL),
            message: error["message"].as_str().unwrap_or_default().to_owned(),
            data: error["data"].clone(),
        }),
        (Some(result), _) => Ok(result),
        _ => return None,
    };
    Some(Message::Answer { id: id?, result })
}

/// A message on one line, without its end.
pub fn line(message: &Message) -> String {
    let mut value = match message {
        Message::Request { id, method, params } => json!({"id": id, "method": method, "params": params}),
        Message::Notification { method, params } => json!({"method": method, "params": params}),
        Message::Answer { id, result: Ok(result) } => json!({"id": id, "result": result}),
        Message::Answer { id, result: Err(failure) } => {
            let mut error = json!({"code": failure.code, "message": failure.message});
            if !failure.data.is_null() {
                error["data"] = failure.data.clone();
            }
            json!({"id": id, "error": error})
        }
    };
    value["jsonrpc"] = "2.0".into();
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let failure = Failure { data: json!({"why": "x"}), ..Failure::new(-32000, "no\nline") };
        let messages = [
            Message::Request { id: json!("a"), method: "m".into(), params: json!({"x": [1]}) },
            Message::Request { id: Value::Null, method: "m".into(), params: Value::Null },
            Message::Notification { method: "n".into(), params: json!([]) },
            Message::Answer { id: json!(7), result: Ok(Value::Null) },
            Message::Answer { id: json!(7), result: Err(failure) },
        ];
        for message in messages {
            let text = line(&message);
            assert!(!text.contains('\n'));
            assert_eq!(read(&text), Some(message), "{text}");
        }
    }

    #[test]
    fn what_is_no_message_is_none() {
        for odd in
            ["", "npm warn", "[]", "7", "{}", r#"{"id":1}"#, r#"{"result":1}"#, r#"{"method":7,"id":1}"#]
        {
            assert_eq!(read(odd), None, "{odd}");
        }
    }
}

//! A call's parameters, in any of the four encodings Telegram takes: JSON, form, multipart, query.

use std::collections::BTreeMap;

use axum::body::{Body, Bytes};
use axum::extract::{Form, FromRequest, Multipart, Query, Request};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

/// The largest body that is read.
pub(super) const LARGEST_BODY: usize = 60 * 1024 * 1024;

/// The parameters of one call.
#[derive(Default)]
pub(super) struct Params {
    fields: Map<String, Value>,
    uploads: BTreeMap<String, Upload>,
}

/// A file that came with a call.
#[derive(Clone)]
pub(super) struct Upload {
    pub name: String,
    pub media_type: String,
    pub bytes: Bytes,
}

/// A call that is not answered with a success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Zero: the connection breaks off.
    pub code: u16,
    pub description: String,
    pub retry_after: Option<u32>,
    pub migrate_to: Option<i64>,
}

impl Refusal {
    pub(super) fn new(code: u16, description: impl Into<String>) -> Self {
        Self { code, description: description.into(), retry_after: None, migrate_to: None }
    }
    /// What is wrong with a request, as Telegram begins to say it.
    pub(super) fn bad(what: &str) -> Self {
        Self::new(400, format!("Bad Request: {what}"))
    }
    /// The connection breaks off.
    pub(super) fn lost() -> Self {
        Self::new(0, "")
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        if self.code == 0 {
            return sb_channel::standin::lost_answer();
        }
        let mut body = json!({"ok": false, "error_code": self.code, "description": self.description});
        if let Some(seconds) = self.retry_after {
            body["parameters"] = json!({"retry_after": seconds});
        }
        if let Some(to) = self.migrate_to {
            body["parameters"] = json!({"migrate_to_chat_id": to});
        }
        let status = axum::http::StatusCode::from_u16(self.code).unwrap_or_default();
        (status, axum::Json(body)).into_response()
    }
}

impl Params {
    /// Reads them from the query and the body.
    pub(super) async fn read(request: Request) -> Result<Self, Refusal> {
        let mut params = Self::default();
        // Read to its very end: a connection with something left in it would be closed.
        let (head, body) = request.into_parts();
        let body = axum::body::to_bytes(body, LARGEST_BODY).await;
        let body = body.map_err(|_| Refusal::new(413, "Request Entity Too Large"))?;
        let request = Request::from_parts(head, Body::from(body.clone()));
        if let Ok(Query(pairs)) = Query::<Vec<(String, String)>>::try_from_uri(request.uri()) {
            params.add(pairs);
        }
        let media_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = media_type.unwrap_or_default().to_ascii_lowercase();
        if media_type.starts_with("multipart/form-data") {
            params.take_parts(request).await?;
        } else if media_type.starts_with("application/x-www-form-urlencoded") {
            if let Ok(Form(pairs)) = Form::<Vec<(String, String)>>::from_request(request, &()).await {
                params.add(pairs);
            }
        } else {
            // Some clients name JSON and send nothing.
            if !body.is_empty() {
                let object = serde_json::from_slice::<Map<String, Value>>(&body);
                params.fields.extend(object.map_err(|_| Refusal::bad("can't parse JSON object"))?);
            }
        }
        Ok(params)
    }

    fn add(&mut self, pairs: Vec<(String, String)>) {
        self.fields.extend(pairs.into_iter().map(|(name, text)| (name, Value::String(text))));
    }

    async fn take_parts(&mut self, request: Request) -> Result<(), Refusal> {
        let unreadable = || Refusal::bad("the body is no multipart form");
        let mut parts = Multipart::from_request(request, &()).await.map_err(|_| unreadable())?;
        while let Some(part) = parts.next_field().await.map_err(|_| unreadable())? {
            let name = part.name().unwrap_or_default().to_owned();
            let Some(file) = part.file_name().map(ToOwned::to_owned) else {
                let text = part.text().await.map_err(|_| unreadable())?;
                self.fields.insert(name, Value::String(text));
                continue;
            };
            let media_type = part.content_type().unwrap_or("application/octet-stream").to_owned();
            let bytes = part.bytes().await;
            let bytes = bytes.map_err(|_| Refusal::new(413, "Request Entity Too Large"))?;
            self.uploads.insert(name, Upload { name: file, media_type, bytes });
        }
        Ok(())
    }

    /// A number, also where it is written as text.
    pub(super) fn int(&self, name: &str) -> Option<i64> {
        match self.fields.get(name)? {
            Value::String(text) => text.trim().parse().ok(),
            other => other.as_i64(),
        }
    }
    /// A text that is not empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str().filter(|text| !text.is_empty())
    }
    /// A yes or no, also where it is written as text.
    pub(super) fn flag(&self, name: &str) -> bool {
        match self.fields.get(name) {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::String(text)) => text.eq_ignore_ascii_case("true") || text == "1",
            _ => false,
        }
    }
    /// An object or a list, also where it is written as text.
    pub(super) fn json(&self, name: &str) -> Result<Option<Value>, Refusal> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(Value::String(text)) => serde_json::from_str(text)
                .map(Some)
                .map_err(|_| Refusal::bad(&format!("can't parse {name} JSON object"))),
            Some(other) => Ok(Some(other.clone())),
        }
    }
    /// The items of a list.
    pub(super) fn list(&self, name: &str) -> Result<Vec<Value>, Refusal> {
        match self.json(name)? {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(Refusal::bad(&format!("{name} must be an Array"))),
        }
    }
    /// The file of a field: uploaded under its name, or named there by `attach://`.
    pub(super) fn upload(&self, name: &str) -> Option<&Upload> {
        let attached = self.text(name).and_then(|text| text.strip_prefix("attach://"));
        self.uploads.get(attached.unwrap_or(name))
    }
    /// The file of that very name.
    pub(super) fn attached(&self, reference: &str) -> Option<&Upload> {
        self.uploads.get(reference.strip_prefix("attach://")?)
    }
}

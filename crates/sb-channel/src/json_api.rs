//! [`JsonApi`]: a platform that is asked with JSON and answers with JSON.

use std::time::Duration;

use sb_net::model::{Fault, Secret};
use sb_net::{Content, Http, Method, Request};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Result;

/// How long an answer is waited for, unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where such a platform is, and what goes along with every request. One request each: nothing is tried twice.
#[derive(Clone)]
pub struct JsonApi {
    http: Http,
    root: String,
    secrets: Vec<(&'static str, &'static str, Secret)>,
    patience: Duration,
    meaning: fn(&Value, Fault) -> Fault,
}

impl JsonApi {
    /// `root` has no slash at its end.
    pub fn new(http: Http, root: String) -> Self {
        Self { http, root, secrets: Vec::new(), patience: PATIENCE, meaning: |_, by_status| by_status }
    }

    /// A header of every request: its name, what stands before the secret, the secret.
    pub fn with_secret(mut self, header: &'static str, before: &'static str, secret: &Secret) -> Self {
        self.secrets.push((header, before, secret.clone()));
        self
    }

    /// Waits so long for an answer: a platform that holds polls open needs more than usual.
    pub fn patient_for(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// What a refusal means where its body says more than its status, by which the given fault is sorted.
    pub fn refusing(self, meaning: fn(&Value, Fault) -> Fault) -> Self {
        Self { meaning, ..self }
    }

    /// Asks for what is at `path`.
    ///
    /// # Errors
    /// If there is no answer, a refusal, or another answer than a `T`.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.ask(Method::Get, path, Content::Nothing).await
    }

    /// Sends a document to `path`.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub async fn post<T: DeserializeOwned>(&self, path: &str, document: Value) -> Result<T> {
        self.ask(Method::Post, path, Content::Json(document.to_string().into())).await
    }

    /// Sends anything to `path`, which may have a query. An answer without a body is read as `null`.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub async fn ask<T: DeserializeOwned>(&self, method: Method, path: &str, content: Content) -> Result<T> {
        let url = Secret::new(format!("{}/{path}", self.root));
        let mut request = Request::new(method, url, content).patient_for(self.patience);
        request.secret_headers.clone_from(&self.secrets);
        let reply = self.http.send(request).await?;
        if !reply.is_success() {
            let said = serde_json::from_slice(&reply.body).unwrap_or_default();
            return Err((self.meaning)(&said, reply.fault()));
        }
        let body: &[u8] = if reply.body.is_empty() { b"null" } else { &reply.body };
        serde_json::from_slice(body).map_err(|_| reply.garbled("what was asked for"))
    }
}

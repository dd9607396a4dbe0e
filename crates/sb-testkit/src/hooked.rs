//! Where a stand-in's calls arrive: at the engine itself, without a socket.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, OnceLock};

use sb_channel::WebhookRequest;
use sb_engine::Engine;
use sb_engine::model::Slug;
use sb_harness::net::{Answering, Lost, Service};

/// An engine that can be called once it is there. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Hooked(Arc<OnceLock<Engine>>);

impl Hooked {
    pub fn serve(&self, engine: Engine) {
        self.0.set(engine).ok().unwrap();
    }
}

impl Service for Hooked {
    fn call(&self, request: axum::http::Request<reqwest::Body>) -> Answering {
        let engine = self.0.get().cloned();
        Box::pin(async move {
            let engine = engine.ok_or(Lost { arrived: false })?;
            let path = request.uri().path_and_query().map_or("", |path| path.as_str());
            let rest = path.strip_prefix("/hooks/").unwrap_or_default();
            let slug = rest.split(['/', '?']).next().unwrap_or_default().to_owned();
            let text = |value: &axum::http::HeaderValue| value.to_str().unwrap_or_default().to_owned();
            let call = WebhookRequest {
                method: request.method().to_string(),
                path: rest.strip_prefix(&slug).unwrap_or_default().to_owned(),
                headers: request.headers().iter().map(|(n, v)| (n.to_string(), text(v))).collect(),
                body: request.body().as_bytes().map(bytes::Bytes::copy_from_slice).unwrap_or_default(),
                at: engine.now(),
            };
            let reply = engine.hook(&Slug(slug), call).await;
            let answer = axum::http::Response::builder().status(reply.status);
            Ok(answer.header("content-type", reply.media_type).body(reply.body.into()).unwrap())
        })
    }
}

//! A running door, and what a test sends to it.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use sb_doors::a2a::A2aOffer;
use sb_doors::http::{self, HttpDoor};
use sb_doors::model::Secret;
use sb_testkit::app::TestApp;
use sb_wire::sse::Decoder;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub const MACHINE: &str = "machine-token-of-a-test";

/// The public door of a [`TestApp`], listening.
pub struct Server {
    pub app: TestApp,
    pub address: std::net::SocketAddr,
    pub closing: CancellationToken,
    pub serving: JoinHandle<std::io::Result<()>>,
    pub http: Client,
    /// What it serves.
    pub router: axum::Router,
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub json: Value,
}

impl Reply {
    /// The error's code, if it is one.
    pub fn code(&self) -> &str {
        self.json["code"].as_str().unwrap_or_default()
    }
    pub fn said(&self) -> &str {
        self.json["said"].as_str().unwrap_or_default()
    }
    pub fn lines(&self) -> Vec<&str> {
        self.json["lines"].as_array().unwrap().iter().filter_map(Value::as_str).collect()
    }
    /// Insists on an error with a sentence.
    pub fn is_error(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.code()), (status, code), "{}", self.json);
        let sentence = self.json["error"].as_str().unwrap_or_default();
        assert!(sentence.len() > 10 && sentence.ends_with('.'), "no sentence: {}", self.json);
        assert_eq!(self.json.as_object().unwrap().len(), 2, "{}", self.json);
    }
    /// Insists on a success.
    pub fn succeeded(self) -> Self {
        assert_eq!(self.status, 200, "{}", self.json);
        self
    }
}

impl Server {
    pub async fn start() -> Self {
        Self::over(TestApp::new().await).await
    }

    pub async fn over(app: TestApp) -> Self {
        Self::with_machine_token(app, Some(MACHINE)).await
    }

    pub async fn with_machine_token(app: TestApp, token: Option<&str>) -> Self {
        Self::listening(app, token, false, &[], None).await
    }

    pub async fn behind_proxy() -> Self {
        Self::listening(TestApp::new().await, Some(MACHINE), true, &[], None).await
    }

    /// Pages of these origins may use OpenAI's API.
    pub async fn allowing(origins: &[&str]) -> Self {
        Self::listening(TestApp::new().await, Some(MACHINE), false, origins, None).await
    }

    /// With profiles that are offered to other agents.
    pub async fn offering(app: TestApp, offer: Arc<A2aOffer>) -> Self {
        Self::listening(app, Some(MACHINE), false, &[], Some(offer)).await
    }

    async fn listening(
        app: TestApp,
        token: Option<&str>,
        behind_proxy: bool,
        origins: &[&str],
        a2a: Option<Arc<A2aOffer>>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let closing = CancellationToken::new();
        let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
        let door = HttpDoor {
            engine: app.engine.clone(),
            machine_token: token.map(Secret::new),
            metrics: Some(recorder.handle()),
            behind_proxy,
            only_loopback: http::is_only_loopback(address, behind_proxy),
            cors_origins: origins.iter().map(|&o| o.to_owned()).collect(),
            closing: closing.clone(),
        };
        let router = http::router_with(door, a2a);
        let serving = tokio::spawn(http::serve(listener, 900, router.clone(), closing.clone()));
        Self { app, address, closing, serving, http: client(), router }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("http://{}{path}", self.address))
    }

    /// A request to talk to `assistant`, not yet sent.
    pub fn post(&self, token: &str, body: Value) -> RequestBuilder {
        self.request(Method::POST, "/v1/profiles/assistant/messages")
            .bearer_auth(token)
            .body(body.to_string())
    }

    /// Says something to `assistant`.
    pub async fn say(&self, token: &str, body: Value) -> Reply {
        reply(self.post(token, body)).await
    }

    pub async fn get(&self, token: &str, path: &str) -> Reply {
        reply(self.request(Method::GET, path).bearer_auth(token)).await
    }

    /// The answer as a stream.
    pub async fn stream(&self, token: &str, mut body: Value) -> Events {
        body["stream"] = Value::Bool(true);
        Events::of(self.post(token, body)).await
    }

    /// Waits until nothing runs in a session.
    pub async fn ends(&self, session: &str) {
        let engine = &self.app.engine;
        let view = engine.session(session.parse().unwrap()).await.unwrap();
        if let Some(message) = view.following {
            let ending = engine.follow_message(message).ending();
            tokio::time::timeout(Duration::from_secs(20), ending).await.expect("it ends").unwrap();
        }
    }

    /// Asks for a session until it is as it should be.
    pub async fn until(&self, session: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let path = format!("/v1/sessions/{session}");
        sb_testkit::until("the session as it should be", async || {
            Some(self.get(MACHINE, &path).await.succeeded().json).filter(&wanted)
        })
        .await
    }
}

#[allow(clippy::disallowed_methods, reason = "a test's own client")]
pub fn client() -> Client {
    // Chooses the process's cryptography, which a client asks for even where it speaks plain HTTP.
    sb_doors::engine::harness::net::Http::new().unwrap();
    Client::builder().tls_certs_only([]).no_proxy().timeout(Duration::from_secs(10)).build().unwrap()
}

/// Sends, and reads a JSON answer.
pub async fn reply(request: RequestBuilder) -> Reply {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await.unwrap();
    let json = serde_json::from_str(&text).unwrap_or(Value::String(text));
    Reply { status, headers, json }
}

/// Server-sent events as they come.
pub struct Events {
    response: reqwest::Response,
    decoder: Decoder,
}

impl Events {
    pub async fn of(request: RequestBuilder) -> Self {
        Self::from(request.send().await.unwrap())
    }

    pub fn from(response: reqwest::Response) -> Self {
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, decoder: Decoder::new(64 * 1024 * 1024) }
    }

    /// The next event; none at the end.
    pub async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some(event) = self.decoder.pull() {
                return Some((event.name, serde_json::from_str(&event.data).unwrap()));
            }
            let piece = self.response.chunk().await.ok()??;
            self.decoder.push(&piece).unwrap();
        }
    }

    /// The next event of this name.
    pub async fn await_event(&mut self, name: &str) -> Value {
        while let Some((found, data)) = self.next().await {
            if found == name {
                return data;
            }
        }
        panic!("the stream ended without {name}");
    }

    /// All that is left.
    pub async fn rest(mut self) -> Vec<(String, Value)> {
        let mut all = Vec::new();
        while let Some(event) = self.next().await {
            all.push(event);
        }
        all
    }
}

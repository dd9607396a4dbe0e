//! The one HTTP client, and the streamed answer; and by the same way, bare streams.
//!
//! A request has no limit on its whole length, since models write for minutes; what is limited is the
//! time to connect and every silence between two pieces. Dropping an [`Answer`] or its [`Body`] closes
//! the connection at once: that is how a model is cut off.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Once};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use reqwest::header::{HeaderName, HeaderValue};
use sb_model::{Fault, FaultKind, Secret};
use tokio::time::{Instant, Sleep};

use crate::dial::{self, Remote, Stream as Wire};
use crate::{fault, host_of};

const CONNECT: Duration = Duration::from_secs(5);
/// Most of an error's body that is read.
const ERROR_BODY: usize = 64 * 1024;

/// One request. Header values that are secret are given apart, so that they never reach an error.
#[derive(Debug, Clone)]
pub struct Ask {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    /// Headers whose value holds a secret: name, what stands before the secret, the secret.
    pub secret_headers: Vec<(&'static str, &'static str, Secret)>,
    /// A JSON document.
    pub body: Bytes,
    /// Longest silence before and within the answer.
    pub idle: Duration,
}

/// The one HTTP client; clones share its connections.
#[derive(Clone)]
pub struct Http {
    way: Way,
}

/// How requests leave.
#[derive(Clone)]
enum Way {
    Network(reqwest::Client),
    InProcess(Arc<dyn Service>),
}

/// A server called in process, for tests: no socket, no real time.
pub trait Service: Send + Sync + 'static {
    /// Answers one request. An error is a lost answer: the request may have been acted on.
    fn call(&self, request: http::Request<reqwest::Body>) -> Answering;
    /// Our end of a stream to that server; none where only requests are answered.
    fn open(&self, _to: &Remote) -> Option<Box<dyn Wire>> {
        None
    }
}
/// What [`Service::call`] gives.
pub type Answering = Pin<Box<dyn Future<Output = Result<http::Response<reqwest::Body>, Lost>> + Send>>;

/// An answer that was lost on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// The request came through before.
    pub arrived: bool,
}

/// Why there is no answer.
pub(crate) enum NoAnswer {
    Network(reqwest::Error),
    Lost(Lost),
}

/// A successful answer whose body is still coming.
pub struct Answer {
    pub status: u16,
    /// In lower case, without parameters; empty if not told.
    pub media_type: String,
    pub body: Body,
}

/// The pieces of an answer's body. Ends after the first error.
pub struct Body {
    inner: Option<Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>>,
    silence: Pin<Box<Sleep>>,
    idle: Duration,
    url: String,
}

impl Http {
    /// A client with the machine's trusted certificates and proxy settings.
    ///
    /// # Errors
    /// If the machine's certificates cannot be read.
    #[expect(clippy::disallowed_methods, reason = "this is the one client")]
    pub fn new() -> Result<Self, Fault> {
        Self::of(reqwest::Client::builder())
    }

    /// A client that connects to these addresses for this host, by no proxy, and keeps no connection.
    #[expect(clippy::disallowed_methods, reason = "this is the one client, pinned")]
    pub(crate) fn pinned(host: &str, addresses: &[SocketAddr]) -> Result<Self, Fault> {
        let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0);
        Self::of(client.resolve_to_addrs(host, addresses))
    }

    fn of(client: reqwest::ClientBuilder) -> Result<Self, Fault> {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            // Fails only if another part of the process chose already; then that choice stands.
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let client = client
            .connect_timeout(CONNECT)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("switchboard/", env!("CARGO_PKG_VERSION")))
            .build();
        client.map(|client| Self { way: Way::Network(client) }).map_err(|why| Fault {
            kind: FaultKind::Refused,
            doing: "setting up HTTP".to_owned(),
            detail: why.without_url().to_string(),
            maybe_done: false,
            status: None,
        })
    }

    /// A client whose every request goes to `service`, whatever its address.
    pub fn in_process(service: Arc<dyn Service>) -> Self {
        Self { way: Way::InProcess(service) }
    }

    /// The client itself, for an SDK that speaks a protocol of its own over it; none in process.
    pub fn client(&self) -> Option<reqwest::Client> {
        match &self.way {
            Way::Network(client) => Some(client.clone()),
            Way::InProcess(_) => None,
        }
    }

    /// Opens a stream of bytes, for a protocol that is no HTTP. It goes by no proxy.
    ///
    /// # Errors
    /// A server that cannot be reached, or is another than meant; a certificate of ours that is none.
    pub async fn open(&self, to: &Remote) -> Result<Box<dyn Wire>, Fault> {
        match &self.way {
            Way::Network(_) => dial::connect(to).await,
            Way::InProcess(service) => service.open(to).ok_or_else(|| {
                let doing = format!("connecting to {}:{}", to.host, to.port);
                Fault::new(FaultKind::Passing { wait_ms: None }, doing, "nobody listens there")
            }),
        }
    }

    /// Agrees on TLS over a stream that is open already, for protocols that ask for it in between.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn secure(&self, to: &Remote, stream: Box<dyn Wire>) -> Result<Box<dyn Wire>, Fault> {
        match &self.way {
            Way::Network(_) => dial::secure(to, stream).await,
            Way::InProcess(_) => Ok(stream),
        }
    }

    pub(crate) async fn execute(&self, request: reqwest::Request) -> Result<reqwest::Response, NoAnswer> {
        match &self.way {
            Way::Network(client) => client.execute(request).await.map_err(NoAnswer::Network),
            Way::InProcess(service) => {
                let request = http::Request::try_from(request).map_err(NoAnswer::Network)?;
                service.call(request).await.map(Into::into).map_err(NoAnswer::Lost)
            }
        }
    }

    /// Posts a JSON document and gives the answer as soon as its head has come.
    ///
    /// # Errors
    /// Any answer but a success, a silence, or a broken connection, sorted as in [`Fault`].
    pub async fn post(&self, ask: Ask) -> Result<Answer, Fault> {
        let request = self.request(&ask)?;
        let sent = tokio::time::timeout(ask.idle, self.execute(request)).await;
        let response = sent
            .map_err(|_| fault::of_silence(&ask.url, ask.idle.as_secs()))?
            .map_err(|why| fault::of_lost(&ask.url, &why))?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let mut body = Body {
            inner: Some(Box::pin(response.bytes_stream())),
            silence: Box::pin(tokio::time::sleep(ask.idle)),
            idle: ask.idle,
            url: ask.url,
        };
        if !(200..300).contains(&status) {
            let said = body.beginning(ERROR_BODY).await;
            let secrets: Vec<&Secret> = ask.secret_headers.iter().map(|(_, _, s)| s).collect();
            return Err(fault::of_answer(&body.url, status, &headers, &said, &secrets));
        }
        let media_type = headers.get("content-type").and_then(|v| v.to_str().ok()).unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        Ok(Answer { status, media_type, body })
    }

    fn request(&self, ask: &Ask) -> Result<reqwest::Request, Fault> {
        let unusable = || unusable(&ask.url);
        let url = reqwest::Url::parse(&ask.url).map_err(|_| unusable())?;
        let mut request = reqwest::Request::new(reqwest::Method::POST, url);
        let headers = request.headers_mut();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        for (name, value) in &ask.headers {
            headers.insert(*name, HeaderValue::from_str(value).map_err(|_| unusable())?);
        }
        for (name, before, secret) in &ask.secret_headers {
            let value = HeaderValue::from_str(&format!("{before}{}", secret.expose()));
            let mut value = value.map_err(|_| bad_key(&ask.url))?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        *request.body_mut() = Some(ask.body.clone().into());
        Ok(request)
    }
}

/// An address or a header that cannot be sent at all.
fn unusable(url: &str) -> Fault {
    Fault {
        kind: FaultKind::Refused,
        doing: format!("asking {}", host_of(url)),
        detail: format!("{} is no address that can be asked", host_of(url)),
        maybe_done: false,
        status: None,
    }
}

/// A key that no header can hold, such as one with a line break pasted along.
fn bad_key(url: &str) -> Fault {
    Fault {
        kind: FaultKind::Auth,
        doing: format!("asking {}", host_of(url)),
        detail: "the key holds characters that cannot be sent".to_owned(),
        maybe_done: false,
        status: None,
    }
}

impl Body {
    /// Up to `most` bytes; what comes after a failure or the limit is left.
    async fn beginning(&mut self, most: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while let Some(Ok(piece)) = self.next().await {
            bytes.extend_from_slice(&piece[..piece.len().min(most - bytes.len())]);
            if bytes.len() >= most {
                break;
            }
        }
        bytes
    }
}

impl Stream for Body {
    type Item = Result<Bytes, Fault>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let Some(inner) = this.inner.as_mut() else { return Poll::Ready(None) };
        let fault = match inner.as_mut().poll_next(cx) {
            Poll::Ready(Some(Ok(piece))) => {
                let until = Instant::now() + this.idle;
                this.silence.as_mut().reset(until);
                return Poll::Ready(Some(Ok(piece)));
            }
            Poll::Ready(None) => {
                this.inner = None;
                return Poll::Ready(None);
            }
            Poll::Ready(Some(Err(why))) => fault::of_failure(&this.url, &why),
            Poll::Pending => match this.silence.as_mut().poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(()) => fault::of_silence(&this.url, this.idle.as_secs()),
            },
        };
        this.inner = None;
        Poll::Ready(Some(Err(fault)))
    }
}

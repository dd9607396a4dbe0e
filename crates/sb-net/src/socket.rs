//! A WebSocket to a server, for platforms that tell of what happens there as it happens.
//!
//! What is said is text; other frames than that mean nothing here. Pings are answered by reading on, so whoever
//! holds a socket keeps asking for what comes next. Invariant: the address holds a ticket, so it reaches no error.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http::Uri;
use sb_model::{Fault, FaultKind, Secret};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::{Error, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Message, client::IntoClientRequest};

use crate::dial::{Remote, Stream, Tls};
use crate::http::Http;

/// The longest message that is read.
const LARGEST: usize = 16 * 1024 * 1024;
/// How long the two sides may take to agree.
const PATIENCE: Duration = Duration::from_secs(10);

/// An open socket. Dropping it closes the connection without a word.
pub struct Socket {
    stream: WebSocketStream<Box<dyn Stream>>,
    host: String,
}

/// What comes over a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    Text(String),
    /// The server is still there: it pinged, or answered ours.
    Alive,
    /// The server closed the socket, with its code if it gave one.
    Closed {
        code: Option<u16>,
        why: String,
    },
}

impl Http {
    /// Opens a WebSocket at an address that begins with `wss://` or `ws://`.
    ///
    /// # Errors
    /// An address that is none, a server that cannot be reached or does not agree.
    pub async fn socket(&self, url: &Secret) -> Result<Socket, Fault> {
        let wrong = || Fault::new(FaultKind::Refused, "opening a socket", "this is no address of one");
        let uri: Uri = url.expose().parse().map_err(|_| wrong())?;
        let host = uri.host().ok_or_else(wrong)?.trim_matches(['[', ']']).to_owned();
        let (tls, port) = match uri.scheme_str() {
            Some("wss") => (Some(Tls::default()), 443),
            Some("ws") => (None, 80),
            _ => return Err(wrong()),
        };
        let to = Remote { host: host.clone(), port: uri.port_u16().unwrap_or(port), tls };
        let stream = self.open(&to).await?;
        let request = url.expose().into_client_request().map_err(|_| wrong())?;
        let config = WebSocketConfig::default().max_message_size(Some(LARGEST)).max_frame_size(Some(LARGEST));
        let agreed = tokio_tungstenite::client_async_with_config(request, stream, Some(config));
        match tokio::time::timeout(PATIENCE, agreed).await {
            Ok(Ok((stream, _))) => Ok(Socket { stream, host }),
            Ok(Err(Error::Http(answer))) => Err(refused(&host, answer.status().as_u16())),
            Ok(Err(why)) => Err(broken(&host, "opening a socket", &why)),
            Err(_) => Err(passing(&host, "opening a socket", "it took too long")),
        }
    }
}

impl Socket {
    /// What comes next. May be dropped at any await: nothing is lost then.
    ///
    /// # Errors
    /// If the connection breaks off. What was closed in an orderly way is a [`Frame`].
    pub async fn next(&mut self) -> Result<Frame, Fault> {
        loop {
            return Ok(match self.stream.next().await {
                Some(Ok(Message::Text(text))) => Frame::Text(text.to_string()),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => Frame::Alive,
                Some(Ok(Message::Close(said))) => Frame::Closed {
                    code: said.as_ref().map(|said| said.code.into()),
                    why: said.map(|said| said.reason.to_string()).unwrap_or_default(),
                },
                Some(Ok(Message::Binary(_) | Message::Frame(_))) => continue,
                Some(Err(why)) => return Err(broken(&self.host, "reading a socket", &why)),
                None => Frame::Closed { code: None, why: String::new() },
            });
        }
    }

    /// Says something.
    ///
    /// # Errors
    /// If the connection is gone.
    pub async fn say(&mut self, text: String) -> Result<(), Fault> {
        self.put(Message::text(text)).await
    }

    /// Asks whether the server is there: [`Frame::Alive`] tells that it is.
    ///
    /// # Errors
    /// If the connection is gone.
    pub async fn ping(&mut self) -> Result<(), Fault> {
        self.put(Message::Ping(Default::default())).await
    }

    async fn put(&mut self, message: Message) -> Result<(), Fault> {
        self.stream.send(message).await.map_err(|why| broken(&self.host, "writing to a socket", &why))
    }
}

fn passing(host: &str, doing: &str, detail: &str) -> Fault {
    Fault::new(FaultKind::Passing { wait_ms: None }, format!("{doing} at {host}"), detail)
}

/// The server answers, and will not have a socket.
fn refused(host: &str, status: u16) -> Fault {
    let kind = match status {
        401 | 403 => FaultKind::Auth,
        429 | 500.. => FaultKind::Passing { wait_ms: None },
        _ => FaultKind::Refused,
    };
    let fault = Fault::new(kind, format!("opening a socket at {host}"), format!("it answered {status}"));
    Fault { status: Some(status), ..fault }
}

fn broken(host: &str, doing: &str, why: &Error) -> Fault {
    let detail = match why {
        Error::ConnectionClosed | Error::AlreadyClosed => "it is closed",
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => "the connection broke off",
        Error::Io(_) => "the connection broke off",
        Error::Capacity(_) => "what came is too large",
        _ => "the server does not keep to the protocol",
    };
    passing(host, doing, detail)
}

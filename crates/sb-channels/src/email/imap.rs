//! A session at the mail server: connected, with TLS, logged in; and what its failures mean.
//!
//! Each step has its time, since a dead connection looks like a quiet one. A server is believed to be no
//! enemy, but what it sends at once is bounded all the same.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use async_imap::error::Error;
use async_imap::imap_proto::{Response, Status};
use async_imap::{Authenticator, Client};
use futures_util::StreamExt;
use sb_channel::Result;
use sb_channel::model::text::one_line;
use sb_channel::model::{Fault, FaultKind};
use sb_channel::net::{Http, Stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::settings::Server;
use super::tokens::Key;

/// For each command.
const PATIENCE: Duration = Duration::from_secs(60);
/// For the first words: a server that waits for TLS says none.
const GREETING: Duration = Duration::from_secs(30);
/// Bytes that one command may bring.
const MOST_AT_ONCE: u64 = 64 * 1024 * 1024;

pub(super) type Session = async_imap::Session<Wire>;

/// A stream that brings so much, and no more, until it is allowed more.
pub(super) struct Wire {
    stream: Box<dyn Stream>,
    left: u64,
}

impl fmt::Debug for Wire {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a connection")
    }
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, into);
        let read_now = (into.filled().len() - before) as u64;
        match self.left.checked_sub(read_now) {
            Some(left) => self.left = left,
            None => return Poll::Ready(Err(io::Error::other("the server sends more than is taken at once"))),
        }
        read
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        // A new command: its answer may bring as much again.
        self.left = MOST_AT_ONCE;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

fn client(stream: Box<dyn Stream>) -> Client<Wire> {
    Client::new(Wire { stream, left: MOST_AT_ONCE })
}

/// Connects and logs in.
pub(super) async fn open(http: &Http, server: &Server, key: &Key) -> Result<Session> {
    let mut plain = client(server.connect(http).await?);
    greeting(&mut plain).await.map_err(|fault| server.advised(fault))?;
    if server.starts_plain {
        plain = begin_tls(http, server, plain).await?;
    }
    let logging_in = async {
        match key {
            Key::Password { user, password } => plain.login(user, password.expose()).await,
            Key::Token { .. } => plain.authenticate("XOAUTH2", XOAuth2(Some(key.xoauth2()))).await,
        }
    };
    let doing = "logging in to read mail";
    match tokio::time::timeout(PATIENCE, logging_in).await {
        Ok(Ok(session)) => Ok(session),
        Ok(Err((why, _))) => Err(fault(doing, &why, true)),
        Err(_) => Err(silent(doing, PATIENCE)),
    }
}

async fn greeting(client: &mut Client<Wire>) -> Result<()> {
    let doing = "connecting to the mail server";
    let read = tokio::time::timeout(GREETING, client.read_response()).await.map_err(|_| silent(doing, GREETING))?;
    let greeting = read.map_err(|why| fault(doing, &Error::Io(why), false))?;
    let passing = FaultKind::Passing { wait_ms: None };
    let greeting = greeting.ok_or_else(|| Fault::new(passing.clone(), doing, "it closed the connection"))?;
    match greeting.parsed() {
        Response::Data { status: Status::Ok, .. } => Ok(()),
        Response::Data { status: Status::PreAuth, .. } => {
            Err(Fault::new(FaultKind::Refused, doing, "it lets anybody in without logging in, which is not used"))
        }
        _ => Err(Fault::new(passing, doing, "it is not ready")),
    }
}

async fn begin_tls(http: &Http, server: &Server, mut client: Client<Wire>) -> Result<Client<Wire>> {
    let doing = "agreeing on TLS";
    let asked = tokio::time::timeout(PATIENCE, client.run_command_and_check_ok("STARTTLS", None)).await;
    match asked.map_err(|_| silent(doing, PATIENCE))? {
        Ok(()) => {
            // What was sent along with the answer came before TLS, and is thrown away with the client.
            let plain = client.into_inner().stream;
            Ok(self::client(http.secure(&server.remote, plain).await?))
        }
        Err(Error::No(_) | Error::Bad(_)) if server.may_stay_plain => Ok(client),
        Err(Error::No(_) | Error::Bad(_)) => {
            let detail = "it offers no STARTTLS, so nothing secret is said to it: write imaps://HOST if it speaks TLS from the first byte";
            Err(Fault::new(FaultKind::Refused, doing, detail))
        }
        Err(why) => Err(fault(doing, &why, false)),
    }
}

/// The token, once; a refusal told as JSON is answered with nothing.
struct XOAuth2(Option<String>);

impl Authenticator for XOAuth2 {
    type Response = String;
    fn process(&mut self, _: &[u8]) -> String {
        self.0.take().unwrap_or_default()
    }
}

/// Does something with a session in its time.
pub(super) async fn timed<T>(
    doing: &'static str,
    step: impl Future<Output = std::result::Result<T, Error>>,
) -> Result<T> {
    match tokio::time::timeout(PATIENCE, step).await {
        Ok(done) => done.map_err(|why| fault(doing, &why, false)),
        Err(_) => Err(silent(doing, PATIENCE)),
    }
}

/// The whole mail, or its first bytes; none if it is not there any more.
pub(super) async fn body(session: &mut Session, uid: u32, most: Option<u64>) -> Result<Option<Vec<u8>>> {
    let part = most.map(|most| format!("<0.{most}>")).unwrap_or_default();
    let fetching = async {
        let mut found = session.uid_fetch(uid.to_string(), format!("(UID BODY.PEEK[]{part})")).await?;
        let mut body = None;
        while let Some(one) = found.next().await {
            let one = one?;
            if one.uid == Some(uid) && one.body().is_some() {
                body = one.body().map(<[u8]>::to_vec);
            }
        }
        Ok(body)
    };
    let doing = "reading a mail";
    if let Some(body) = timed(doing, fetching).await? {
        return Ok(Some(body));
    }
    // It may be gone, or the connection: a mail that is there must not be passed over.
    let there = timed(doing, session.uid_search(format!("UID {uid}"))).await?;
    timed(doing, session.noop()).await?;
    if there.contains(&uid) {
        let passing = FaultKind::Passing { wait_ms: None };
        return Err(Fault::new(passing, doing, "the server has it and did not give it"));
    }
    Ok(None)
}

/// Text within quotation marks, as a command takes it.
pub(super) fn quoted(text: &str) -> String {
    let plain: String = text.chars().filter(|c| !c.is_control()).collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}

pub(super) fn fault(doing: &str, why: &Error, logging_in: bool) -> Fault {
    let passing = FaultKind::Passing { wait_ms: None };
    let (kind, detail) = match why {
        Error::No(said) => {
            let upper = said.to_ascii_uppercase();
            let may_pass = ["UNAVAILABLE", "INUSE", "LIMIT", "TRY AGAIN"].iter().any(|word| upper.contains(word));
            let kind = match (may_pass, logging_in) {
                (true, _) => passing,
                (false, true) => FaultKind::Auth,
                (false, false) => FaultKind::Refused,
            };
            (kind, format!("the server said NO ({})", one_line(said, 200)))
        }
        Error::Bad(said) => (FaultKind::Refused, format!("the server said BAD ({})", one_line(said, 200))),
        // What it could not read is not told: it might be somebody's mail.
        Error::Parse(_) => (passing, "the server answered with what cannot be read".to_owned()),
        Error::Validate(_) => (FaultKind::Auth, "user and password cannot hold line breaks".to_owned()),
        other => (passing, format!("the connection broke off ({})", one_line(&other.to_string(), 200))),
    };
    Fault::new(kind, doing, detail)
}

fn silent(doing: &str, patience: Duration) -> Fault {
    let detail = format!("the server said nothing for {} seconds", patience.as_secs());
    Fault::new(FaultKind::Passing { wait_ms: None }, doing, detail)
}

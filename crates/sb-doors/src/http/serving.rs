//! Serving a router on a listener until the server closes, and no longer than a few seconds beyond.
//!
//! What a stranger can hold before showing a token is bounded here: how many connections there are and
//! one source has, how long a request's head may take, and how large it may be.

use std::fmt::Debug;
use std::future::ready;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::http::Request;
use axum::serve::{Listener, ListenerExt};
use axum::{Extension, Router};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::crowd::{Crowd, Held};
use super::{Peer, Tls};

/// How long a connection may be silent at first when the server closes.
const JUST_CONNECTED: Duration = Duration::from_millis(500);
/// How long open requests may take to end once the server closes.
const GRACE: Duration = Duration::from_secs(4);
/// Largest head of a request, in bytes.
const LARGEST_HEAD: usize = 64 * 1024;

/// What a listener gives to those who connect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Connections at once; further ones wait to be accepted.
    pub connections: usize,
    /// From the end of one request, or the connection's beginning, to the end of the next one's head.
    pub head_within: Duration,
}

impl Limits {
    const fn public(connections: usize) -> Self {
        Self { connections, head_within: Duration::from_secs(10) }
    }
}

/// How many connections a server takes at once that may have so many files open. Half of them are left for
/// the other side of each (a model's connection, an agent's pipes); but with few, most are idle anyway.
pub fn places(files: u64) -> usize {
    let half = usize::try_from(files / 2).unwrap_or(usize::MAX);
    half.saturating_sub(SET_ASIDE).clamp(FEWEST, MOST)
}

/// Open files for everything else: the store, logs, the socket for commands.
const SET_ASIDE: usize = 100;
/// Fewer than the 1,024 open files that systems give a program unless told otherwise.
const FEWEST: usize = 900;
const MOST: usize = 32_768;

/// Marks requests that came over TLS of our own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OverTls;

/// Serves until `closing` is cancelled; then takes no more, and ends within five seconds. It holds so many
/// connections at once, of which one source elsewhere has half at most: see [`places`].
pub async fn serve(
    listener: TcpListener,
    places: usize,
    router: Router,
    closing: CancellationToken,
) -> io::Result<()> {
    let greet = |io, from: SocketAddr| ready(Some((io, Peer(Some(from.ip())))));
    serve_within(Limits::public(places), at_once(listener, places / 2), greet, router, closing).await;
    Ok(())
}

/// As [`serve`], over TLS.
pub async fn serve_tls(
    listener: TcpListener,
    places: usize,
    tls: Tls,
    router: Router,
    closing: CancellationToken,
) -> io::Result<()> {
    let greet = |io, from| tls.clone().greet(io, from);
    let router = router.layer(Extension(OverTls));
    serve_within(Limits::public(places), at_once(listener, places / 2), greet, router, closing).await;
    Ok(())
}

/// A listener whose connections send the pieces of a stream as they are written, and that no source fills.
fn at_once(listener: TcpListener, of_one: usize) -> impl Listener<Io = Held<TcpStream>, Addr = SocketAddr> {
    let listener = listener.tap_io(|socket| {
        if let Err(why) = socket.set_nodelay(true) {
            tracing::debug!(error = %why, "a connection keeps its small pieces back");
        }
    });
    Crowd::new(listener, of_one)
}

/// As [`serve`], on whatever listens, with these limits. `greet` makes of a connection what requests are
/// read from, and says where it comes from; it holds up no other connection, and bounds its own time.
pub(crate) async fn serve_within<L, G, F, I>(
    limits: Limits,
    mut listener: L,
    greet: G,
    router: Router,
    closing: CancellationToken,
) where
    L: Listener,
    L::Addr: Debug,
    G: Fn(L::Io, L::Addr) -> F,
    F: Future<Output = Option<(I, Peer)>> + Send + 'static,
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let places = Arc::new(Semaphore::new(limits.connections));
    let (open, over) = (TaskTracker::new(), CancellationToken::new());
    // Whatever is still open when we leave is cut.
    let _cut = over.clone().drop_guard();
    let mut next = async || {
        let place = places.clone().acquire_owned().await.ok()?;
        Some((place, listener.accept().await))
    };
    loop {
        let (place, (io, from)) = tokio::select! {
            biased;
            () = closing.cancelled() => break,
            accepted = next() => match accepted {
                Some(accepted) => accepted,
                None => break,
            },
        };
        let (greeting, router, closing) = (greet(io, from), router.clone(), closing.clone());
        let over = over.clone();
        open.spawn(async move {
            let serving = async {
                let greeted = tokio::select! {
                    greeted = greeting => greeted,
                    () = closing.cancelled() => None,
                };
                if let Some((io, peer)) = greeted {
                    connection(limits, io, peer, router, closing).await;
                }
            };
            tokio::select! {
                () = serving => {}
                () = over.cancelled_owned() => {}
            }
            drop(place);
        });
    }
    open.close();
    if tokio::time::timeout(GRACE, open.wait()).await.is_err() {
        tracing::info!("the server closed with requests still open");
    }
}

/// One connection: request after request, until it ends, or the one at hand is answered once we close.
async fn connection<I>(limits: Limits, io: I, peer: Peer, router: Router, closing: CancellationToken)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.head_within).max_buf_size(LARGEST_HEAD);
    let asked = Arc::new(Notify::new());
    let asks = Arc::clone(&asked);
    let service = service_fn(move |mut request: Request<Incoming>| {
        asks.notify_one();
        request.extensions_mut().insert(peer);
        router.clone().oneshot(request)
    });
    let serving = builder.serve_connection(TokioIo::new(io), service);
    let mut serving = pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = closing.cancelled() => {
            // Whoever has only just connected may still say what it wants: hung up on, it could not know whether
            // that was done.
            tokio::select! {
                ended = serving.as_mut() => ended,
                () = first_words(&asked) => {
                    serving.as_mut().graceful_shutdown();
                    serving.await
                }
            }
        }
    };
    if let Err(why) = ended {
        // Clients leave as they like.
        tracing::debug!(error = %why, "a connection ended early");
    }
}

/// Waits for a connection's first request, which may be over long since, or for as long as one may take to come.
async fn first_words(asked: &Notify) {
    let _ = tokio::time::timeout(JUST_CONNECTED, asked.notified()).await;
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn start(connections: usize) -> (std::net::SocketAddr, CancellationToken) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let slow = async || {
            tokio::time::sleep(Duration::from_millis(300)).await;
            "at last"
        };
        let router = Router::new().route("/", get(async || "hello")).route("/slow", get(slow));
        let closing = CancellationToken::new();
        let limits = Limits { connections, head_within: Duration::from_millis(100) };
        let greet = |io, _| ready(Some((io, Peer(None))));
        tokio::spawn(serve_within(limits, listener, greet, router, closing.clone()));
        (address, closing)
    }

    #[allow(clippy::disallowed_methods, reason = "a raw connection shows what no client would send")]
    async fn send(to: std::net::SocketAddr, text: &str) -> TcpStream {
        let mut socket = TcpStream::connect(to).await.expect("a connection");
        socket.write_all(text.as_bytes()).await.expect("sent");
        socket
    }

    async fn all(mut socket: TcpStream) -> String {
        let mut text = String::new();
        socket.read_to_string(&mut text).await.expect("closed in order");
        text
    }

    #[test]
    fn as_many_connections_as_there_are_files_for_both_of_their_sides() {
        assert_eq!([256, 1_024, 20_000, u64::MAX].map(places), [900, 900, 9_900, 32_768]);
    }

    #[tokio::test]
    async fn a_head_that_does_not_end_is_not_waited_for() {
        let (address, _closing) = start(10).await;
        let stalled = all(send(address, "GET / HTTP/1.1\r\nHost: x\r\n").await).await;
        assert!(!stalled.contains("200"), "{stalled}");
        assert!(!all(send(address, "").await).await.contains("200"));
    }

    #[tokio::test]
    async fn an_answer_may_take_longer_than_a_head() {
        let (address, _closing) = start(10).await;
        let request = "GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        assert!(all(send(address, request).await).await.ends_with("at last"));
    }

    #[tokio::test]
    async fn a_connection_too_many_waits_for_another_to_end() {
        let (address, _closing) = start(1).await;
        let _idle = send(address, "").await;
        let answer = all(send(address, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await).await;
        assert!(answer.ends_with("hello"), "{answer}");
    }

    #[tokio::test]
    async fn idle_connections_end_when_the_server_closes() {
        let (address, closing) = start(10).await;
        let mut idle = send(address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
        let mut answer = String::new();
        while !answer.ends_with("hello") {
            answer.push(char::from(idle.read_u8().await.expect("more of the answer")));
        }
        closing.cancel();
        assert_eq!(all(idle).await, "");
    }
}

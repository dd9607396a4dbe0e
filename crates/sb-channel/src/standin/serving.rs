//! How a stand-in is reached: in process, or on a socket.
//!
//! In process, requests are calls of its router; what wants a connection of its own, as a WebSocket does, gets one whose
//! two ends are both here.
//!
//! A stand-in is a router. What a router cannot say by itself is that an answer was lost after the call
//! had been acted on: such an answer carries [`LostAnswer`], and here it becomes a connection that
//! breaks off, whichever way it is reached.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::{ConnectInfo, Request, connect_info::Connected};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::serve::{IncomingStream, Listener};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use sb_net::{Answering, Http, Lost, Remote, Service, Stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt;

/// Marks an answer that never reaches the caller, though the call was acted on.
#[derive(Debug, Clone, Copy)]
pub struct LostAnswer;

/// An answer that breaks the connection off.
pub fn lost_answer() -> Response {
    let mut response = ().into_response();
    response.extensions_mut().insert(LostAnswer);
    response
}

/// A client whose every request reaches `router`, without a socket.
pub fn in_process(router: Router) -> Http {
    Http::in_process(Arc::new(InProcess(router)))
}

struct InProcess(Router);

impl Service for InProcess {
    fn call(&self, request: axum::http::Request<reqwest::Body>) -> Answering {
        let router = self.0.clone();
        Box::pin(async move {
            let Ok(response) = router.oneshot(request.map(axum::body::Body::new)).await;
            match response.extensions().get::<LostAnswer>() {
                Some(_) => Err(Lost { arrived: true }),
                None => Ok(response.map(|body| reqwest::Body::wrap_stream(body.into_data_stream()))),
            }
        })
    }

    fn open(&self, _: &Remote) -> Option<Box<dyn Stream>> {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let service = TowerToHyperService::new(self.0.clone());
        tokio::spawn(async move {
            let serving = http1::Builder::new().serve_connection(TokioIo::new(theirs), service);
            // It ends with whoever is at the other end.
            drop(serving.with_upgrades().await);
        });
        Some(Box::new(ours))
    }
}

/// Serves `router` until the task is dropped.
///
/// # Errors
/// If the listener fails for good.
pub async fn serve(listener: TcpListener, router: Router) -> io::Result<()> {
    let router = router.layer(from_fn(cut_if_lost));
    axum::serve(Lines(listener), router.into_make_service_with_connect_info::<Line>()).await
}

async fn cut_if_lost(ConnectInfo(line): ConnectInfo<Line>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    if response.extensions().get::<LostAnswer>().is_some() {
        line.0.store(true, Ordering::Relaxed);
    }
    response
}

/// A connection's switch: once it is set, nothing more is written and the connection closes.
#[derive(Clone)]
struct Line(Arc<AtomicBool>);

struct Lines(TcpListener);

struct Wire {
    stream: TcpStream,
    line: Line,
}

impl Listener for Lines {
    type Io = Wire;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Wire, SocketAddr) {
        let (stream, from) = Listener::accept(&mut self.0).await;
        (Wire { stream, line: Line(Arc::default()) }, from)
    }
    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl Connected<IncomingStream<'_, Lines>> for Line {
    fn connect_info(stream: IncomingStream<'_, Lines>) -> Self {
        stream.io().line.clone()
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.line.0.load(Ordering::Relaxed) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

//! How many connections one source may hold, so that no single stranger takes every place.
//!
//! A connection too many is closed as soon as it is accepted. Sources on this machine are not counted:
//! there a proxy and everything local share one address. Invariant: a source is in the book only as long
//! as it holds a connection.

use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::guesses::Source;

/// A listener each of whose sources may hold so many connections.
pub(crate) struct Crowd<L> {
    listener: L,
    most: usize,
    held: Arc<Mutex<HashMap<Source, usize>>>,
}

impl<L> Crowd<L> {
    pub fn new(listener: L, most: usize) -> Self {
        Self { listener, most, held: Arc::default() }
    }

    /// A place for a connection from there, if it has one left.
    fn place(&self, from: SocketAddr) -> Option<Place> {
        if from.ip().to_canonical().is_loopback() {
            return Some(Place { source: None, held: self.held.clone() });
        }
        let source = Source::of(from.ip());
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let count = held.entry(source).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Place { source: Some(source), held: self.held.clone() })
    }
}

impl<L: Listener<Addr = SocketAddr>> Listener for Crowd<L> {
    type Io = Held<L::Io>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            let (io, from) = self.listener.accept().await;
            match self.place(from) {
                Some(place) => return (Held { io, _place: place }, from),
                None => tracing::debug!(%from, "too many connections from one address"),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A source's place, free again once dropped.
struct Place {
    /// None: it is not counted.
    source: Option<Source>,
    held: Arc<Mutex<HashMap<Source, usize>>>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(source) = self.source else { return };
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = held.get_mut(&source) {
            *count -= 1;
            if *count == 0 {
                held.remove(&source);
            }
        }
    }
}

/// A connection and its place.
pub(crate) struct Held<I> {
    io: I,
    _place: Place,
}

impl<I: AsyncRead + Unpin> AsyncRead for Held<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, to)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Held<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, pieces)
    }
    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use tokio::io::{AsyncReadExt, DuplexStream, duplex};

    use super::*;

    /// Those who connect, in order; then nobody.
    struct Script(VecDeque<(DuplexStream, SocketAddr)>);

    impl Script {
        fn connect(&mut self, from: &str) -> DuplexStream {
            let (ours, theirs) = duplex(64);
            self.0.push_back((theirs, SocketAddr::new(from.parse().expect("an address"), 1)));
            ours
        }
    }

    impl Listener for Script {
        type Io = DuplexStream;
        type Addr = SocketAddr;
        async fn accept(&mut self) -> (DuplexStream, SocketAddr) {
            match self.0.pop_front() {
                Some(next) => next,
                None => std::future::pending().await,
            }
        }
        fn local_addr(&self) -> io::Result<SocketAddr> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    #[tokio::test]
    async fn one_source_holds_so_many_connections_and_leaves_the_others_to_others() {
        let mut script = Script(VecDeque::new());
        let _first = [script.connect("192.0.2.1"), script.connect("::ffff:192.0.2.1")];
        let mut refused = script.connect("192.0.2.1");
        let _other = script.connect("192.0.2.2");
        let _here = [(); 5].map(|()| script.connect("127.0.0.1"));
        let mut crowd = Crowd::new(script, 2);
        let mut held = Vec::new();
        for _ in 0..8 {
            held.push(crowd.accept().await);
        }
        let ips: Vec<_> = held.iter().map(|(_, from)| from.ip().to_canonical().to_string()).collect();
        assert_eq!(ips[..4], ["192.0.2.1", "192.0.2.1", "192.0.2.2", "127.0.0.1"]);
        assert_eq!(refused.read(&mut [0]).await.expect("closed in order"), 0);
        held.remove(0);
        let _again = crowd.listener.connect("192.0.2.1");
        assert_eq!(crowd.accept().await.1.ip().to_string(), "192.0.2.1");
        drop(held);
        assert!(crowd.held.lock().expect("not poisoned").is_empty(), "who left is forgotten");
    }
}

//! Serving a router on a listener until the server closes, and no longer than a few seconds beyond.

use std::fmt::Debug;
use std::future::IntoFuture;
use std::io;
use std::time::Duration;

use axum::Router;
use axum::serve::{Listener, ListenerExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// How long open requests may take to end once the server closes.
const GRACE: Duration = Duration::from_secs(4);

/// Serves until `closing` is cancelled; then takes no more, and ends within five seconds.
pub async fn serve(listener: TcpListener, router: Router, closing: CancellationToken) -> io::Result<()> {
    // Pieces of a stream go out as they are written.
    let listener = listener.tap_io(|socket| {
        if let Err(why) = socket.set_nodelay(true) {
            tracing::debug!(error = %why, "a connection keeps its small pieces back");
        }
    });
    serve_any(listener, router, closing).await
}

/// As [`serve`], on whatever listens.
pub(crate) async fn serve_any<L>(listener: L, router: Router, closing: CancellationToken) -> io::Result<()>
where
    L: Listener,
    L::Addr: Debug,
{
    let over = closing.clone().cancelled_owned();
    let serving = axum::serve(listener, router).with_graceful_shutdown(over).into_future();
    let too_long = async {
        closing.cancelled().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        ended = serving => ended,
        () = too_long => Ok(()),
    }
}

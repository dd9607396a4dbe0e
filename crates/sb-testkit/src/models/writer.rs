//! A streamed body, written by a task that notices when the client is gone.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Response, header};
use bytes::Bytes;
use sb_wire::sse;
use tokio::sync::mpsc;

use super::state::{Models, Quirks};

/// Where a stand-in writes its stream.
pub(super) struct Writer {
    out: mpsc::Sender<std::io::Result<Bytes>>,
    models: Models,
    quirks: Quirks,
}

/// The client hung up.
pub(super) struct Gone;

/// A response whose body is what `Writer` is given.
pub(super) fn stream(models: &Models) -> (Writer, Response<Body>) {
    let (out, bytes) = mpsc::channel::<std::io::Result<Bytes>>(1);
    let body = futures_util::stream::unfold(bytes, async |mut bytes| bytes.recv().await.map(|b| (b, bytes)));
    let mut response = Response::new(Body::from_stream(body));
    let kind = header::HeaderValue::from_static("text/event-stream; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    (Writer { out, models: models.clone(), quirks: models.quirks() }, response)
}

impl Writer {
    /// Writes one event.
    pub async fn event(&self, name: &str, data: &str) -> Result<(), Gone> {
        let mut text = sse::encode(name, data);
        if self.quirks.crlf {
            text = (sse::comment("PROCESSING") + &text).replace('\n', "\r\n");
        }
        let size = if self.quirks.piece == 0 { text.len() } else { self.quirks.piece };
        for piece in text.as_bytes().chunks(size.max(1)) {
            self.put(Ok(Bytes::copy_from_slice(piece))).await?;
        }
        Ok(())
    }

    /// Says nothing for a while.
    pub async fn pause(&self, time: Duration) -> Result<(), Gone> {
        tokio::select! {
            () = self.out.closed() => Err(self.gone()),
            () = tokio::time::sleep(time) => Ok(()),
        }
    }

    /// Breaks the connection off.
    pub async fn break_off(&self) -> Result<(), Gone> {
        self.put(Err(std::io::ErrorKind::ConnectionReset.into())).await
    }

    async fn put(&self, bytes: std::io::Result<Bytes>) -> Result<(), Gone> {
        self.out.send(bytes).await.map_err(|_| self.gone())
    }

    fn gone(&self) -> Gone {
        self.models.count_hangup();
        Gone
    }
}

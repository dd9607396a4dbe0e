//! An answer on its way out: its words at hand, its files read piece by piece as they are taken.
//!
//! However many read large answers and however slowly, each holds one piece of a file. The JSON is the
//! same, byte for byte, as if it had been written at once.

use std::collections::VecDeque;
use std::io;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::Stream;

use super::answer::Answer;
use super::error::{Code, HttpError, Result};
use crate::engine::Engine;
use crate::model::Attachment;

/// Bytes of a file in memory at once. Divisible by three, so that the pieces' base64 is the whole's.
const PIECE: u32 = 48 * 1024;
/// Where the bytes of a file go. Quotes within strings are escaped, so nothing else in the JSON is this.
const HOLE: &str = "\"base64\":\"\"";

/// See the module.
pub(crate) struct Sending {
    engine: Engine,
    parts: VecDeque<Part>,
    /// How far the first part was read, if it is a file.
    at: u64,
}

enum Part {
    Text(Bytes),
    File(Attachment),
}

impl Sending {
    /// An answer, and the files whose bytes it carries, in order. They are looked at before anything is
    /// sent, since afterwards an error could no longer be told.
    pub async fn new(engine: &Engine, answer: &Answer, files: Vec<Attachment>) -> Result<Self> {
        for file in &files {
            engine.blob_piece(file, file.size.saturating_sub(1), 1).await.map_err(|why| {
                tracing::error!(error = %why, "a shared file cannot be read");
                HttpError::new(
                    Code::Internal,
                    "A file of this answer cannot be read. The server's log says more.",
                )
            })?;
        }
        let text = serde_json::to_string(answer).map_err(|_| unwritten())?;
        let texts: Vec<&str> = text.split(HOLE).collect();
        if texts.len() != files.len() + 1 {
            return Err(unwritten());
        }
        let mut files = files.into_iter();
        let mut parts = VecDeque::with_capacity(texts.len() * 2);
        let mut close = "";
        for text in texts {
            let file = files.next();
            let open = if file.is_some() { "\"base64\":\"" } else { "" };
            parts.push_back(Part::Text(format!("{close}{text}{open}").into()));
            parts.extend(file.map(Part::File));
            close = "\"";
        }
        Ok(Self { engine: engine.clone(), parts, at: 0 })
    }

    /// With text around it.
    pub fn within(mut self, before: &'static str, after: &'static str) -> Self {
        self.parts.push_front(Part::Text(before.into()));
        self.parts.push_back(Part::Text(after.into()));
        self
    }

    /// The next piece. An error cuts the answer off.
    pub async fn next(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            match self.parts.pop_front()? {
                Part::Text(text) => return Some(Ok(text)),
                Part::File(file) if self.at < file.size => {
                    let piece = self.engine.blob_piece(&file, self.at, PIECE).await;
                    self.parts.push_front(Part::File(file));
                    return Some(match piece {
                        Ok(piece) => {
                            self.at += piece.len() as u64;
                            Ok(STANDARD.encode(piece).into())
                        }
                        Err(why) => {
                            tracing::error!(error = %why, "an answer was cut off");
                            Err(io::Error::other(why))
                        }
                    });
                }
                Part::File(_) => self.at = 0,
            }
        }
    }

    /// How long it is in all.
    fn length(&self) -> u64 {
        let of = |part: &Part| match part {
            Part::Text(text) => text.len() as u64,
            Part::File(file) => file.size.div_ceil(3) * 4,
        };
        self.parts.iter().map(of).sum()
    }

    fn pieces(self) -> impl Stream<Item = io::Result<Bytes>> {
        futures_util::stream::unfold(self, |mut sending| async {
            let piece = sending.next().await?;
            Some((piece, sending))
        })
    }
}

fn unwritten() -> HttpError {
    HttpError::new(Code::Internal, "The answer could not be written.")
}

impl IntoResponse for Sending {
    fn into_response(self) -> Response {
        let headers = [
            (header::CONTENT_TYPE, "application/json".to_owned()),
            (header::CONTENT_LENGTH, self.length().to_string()),
        ];
        (headers, Body::from_stream(self.pieces())).into_response()
    }
}

#[cfg(test)]
mod tests {
    use sb_testkit::app::TestApp;

    use super::*;
    use crate::http::answer::{FileOut, State};

    fn answer(files: &[(&Attachment, Option<String>)]) -> Answer {
        let out = |(file, base64): &(&Attachment, Option<String>)| FileOut {
            name: file.name.clone(),
            media_type: file.media_type.clone(),
            size: file.size,
            base64: base64.clone(),
        };
        Answer {
            conversation: "ops".to_owned(),
            session: None,
            said: "\"base64\":\"\" is no hole.".to_owned(),
            lines: vec!["\"base64\":\"\"".to_owned()],
            files: files.iter().map(out).collect(),
            state: State::Done,
            request: None,
        }
    }

    #[tokio::test]
    async fn an_answer_in_pieces_is_the_same_json_and_no_piece_is_large() {
        let app = TestApp::new().await;
        let mut kept = Vec::new();
        for size in [0, 1, 2, 3, PIECE - 1, PIECE, PIECE + 1, 4 * PIECE + 7] {
            let bytes: Vec<u8> = (0..size).map(|n| (n * 31 % 251) as u8).collect();
            let name = format!("\"base64\":\"\" {size}.bin");
            let digest = app.engine.keep_blob(&bytes).await.expect("kept");
            let file = Attachment { name, media_type: "a/b".to_owned(), size: size.into(), digest };
            kept.push((file, STANDARD.encode(&bytes)));
        }
        let (last, others) = kept.split_last().expect("some");
        let mut at_once: Vec<_> = others.iter().map(|(f, b)| (f, Some(b.clone()))).collect();
        let mut holes: Vec<_> = others.iter().map(|(f, _)| (f, Some(String::new()))).collect();
        at_once.insert(3, (&last.0, None));
        holes.insert(3, (&last.0, None));
        let whole = serde_json::to_string(&answer(&at_once)).expect("json");
        let files = others.iter().map(|(f, _)| f.clone()).collect();
        let mut sending = Sending::new(&app.engine, &answer(&holes), files).await.expect("there");
        assert_eq!(sending.length(), whole.len() as u64);
        let mut sent = Vec::new();
        while let Some(piece) = sending.next().await {
            let piece = piece.expect("read");
            assert!(piece.len() <= PIECE as usize * 4 / 3);
            sent.extend_from_slice(&piece);
        }
        assert_eq!(String::from_utf8(sent).expect("text"), whole);
    }

    #[tokio::test]
    async fn twenty_megabytes_come_whole_as_an_answer_and_as_an_event() {
        let app = TestApp::new().await;
        let bytes = b"0123456789abcdef".repeat(1_250_000);
        let digest = app.engine.keep_blob(&bytes).await.expect("kept");
        let size = bytes.len() as u64;
        let file = Attachment { name: "a".to_owned(), media_type: "a/b".to_owned(), size, digest };
        let whole = serde_json::to_string(&answer(&[(&file, Some(STANDARD.encode(&bytes)))])).expect("json");
        let sending = async || {
            let answer = answer(&[(&file, Some(String::new()))]);
            Sending::new(&app.engine, &answer, vec![file.clone()]).await.expect("there")
        };
        let response = sending().await.into_response();
        assert_eq!(response.headers()[header::CONTENT_LENGTH], whole.len().to_string());
        let sent = axum::body::to_bytes(response.into_body(), usize::MAX).await.expect("whole");
        assert!(sent == whole, "not the same");
        let mut event = sending().await.within("data: ", "\n\n");
        let mut sent = Vec::new();
        while let Some(piece) = event.next().await {
            sent.extend_from_slice(&piece.expect("read"));
        }
        assert!(sent == format!("data: {whole}\n\n").as_bytes(), "not the same");
    }

    #[tokio::test]
    async fn a_file_that_is_not_there_or_too_short_is_an_error_before_anything_is_sent() {
        let app = TestApp::new().await;
        let digest = app.engine.keep_blob(b"abc").await.expect("kept");
        let short = Attachment { name: "a".to_owned(), media_type: "a/b".to_owned(), size: 4, digest };
        let none = Attachment { digest: crate::model::Digest([7; 32]), ..short.clone() };
        for file in [short, none] {
            let answer = answer(&[(&file, Some(String::new()))]);
            let refused =
                Sending::new(&app.engine, &answer, vec![file.clone()]).await.err().expect("refused");
            assert_eq!(refused.code, Code::Internal);
        }
    }
}

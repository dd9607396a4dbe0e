//! One request to a platform and its whole answer, or its answer poured into a file.
//!
//! Unlike a model's stream, an answer here is small and read at once, and every status comes back: only
//! the adapter knows what its platform says in the body of a refusal. [`Reply::fault`] sorts it by its
//! status for the rest. The address is a secret as a whole, since some platforms put the key into it.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::multipart::{Form, Part as FormPart};
use sb_model::{Fault, FaultKind, Secret};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::http::Http;
use crate::{fault, host_of};

/// The largest answer that is read.
const LARGEST_ANSWER: usize = 8 * 1024 * 1024;
/// Bytes of a file sent at once.
const PIECE: usize = 64 * 1024;

/// One request.
#[derive(Debug)]
pub struct Request {
    pub method: Method,
    pub url: Secret,
    pub headers: Vec<(&'static str, String)>,
    /// Headers whose value holds a secret: name, what stands before the secret, the secret.
    pub secret_headers: Vec<(&'static str, &'static str, Secret)>,
    pub content: Content,
    /// Longest wait for the answer's head, and longest silence within it.
    pub patience: Duration,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// What is sent along.
#[derive(Debug)]
pub enum Content {
    Nothing,
    /// A JSON document.
    Json(Bytes),
    /// Fields, as a form on a web page.
    Form(Vec<(String, String)>),
    /// Fields and files.
    Parts(Vec<Part>),
    /// Bytes of a media type.
    Bytes(&'static str, Bytes),
}

/// One field of [`Content::Parts`].
#[derive(Debug)]
pub enum Part {
    Text { name: String, text: String },
    File { name: String, file_name: String, media_type: String, size: u64, file: tokio::fs::File },
}

/// A whole answer, whatever its status.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    headers: HeaderMap,
    pub body: Bytes,
    url: Secret,
}

impl Request {
    /// A request without headers; the answer is waited for 20 seconds.
    pub fn new(method: Method, url: Secret, content: Content) -> Self {
        let patience = Duration::from_secs(20);
        Self { method, url, headers: Vec::new(), secret_headers: Vec::new(), content, patience }
    }

    /// With another patience, such as a long poll's.
    pub fn patient_for(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

impl Reply {
    /// Whether the status is a success.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A header's value, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|v| v.to_str().ok())
    }

    /// The fault this answer is, sorted by its status; an adapter changes its kind where the body says more.
    pub fn fault(&self) -> Fault {
        fault::of_answer(self.url.expose(), self.status, &self.headers, &self.body, &[])
    }

    /// The fault of an answer that cannot be read as what it should be.
    pub fn garbled(&self, what: &str) -> Fault {
        Fault {
            kind: FaultKind::Garbled,
            doing: format!("asking {}", host_of(self.url.expose())),
            detail: format!("its answer is not {what}"),
            maybe_done: true,
            status: Some(self.status),
        }
    }
}

impl Http {
    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    /// If there is no answer: a silence, a broken connection, an answer larger than 8 MB. Any status is a
    /// [`Reply`].
    pub async fn send(&self, request: Request) -> Result<Reply, Fault> {
        let (url, patience) = (request.url.clone(), request.patience);
        let response = self.head(request).await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut pieces = std::pin::pin!(response.bytes_stream());
        let mut body = Vec::new();
        while let Some(piece) = next(&url, patience, &mut pieces).await? {
            if body.len() + piece.len() > LARGEST_ANSWER {
                return Err(too_large(&url, status));
            }
            body.extend_from_slice(&piece);
        }
        Ok(Reply { status, headers, body: body.into(), url })
    }

    /// Pours the body of a successful answer into `into`, `most` bytes at most: how many they were.
    ///
    /// # Errors
    /// Any answer but a success, more bytes than allowed, a silence, a broken connection, a failing writer.
    pub async fn pour(
        &self,
        request: Request,
        into: &mut (dyn AsyncWrite + Unpin + Send),
        most: u64,
    ) -> Result<u64, Fault> {
        let (url, patience) = (request.url.clone(), request.patience);
        let response = self.head(request).await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut pieces = std::pin::pin!(response.bytes_stream());
        let mut poured = 0;
        if !(200..300).contains(&status) {
            let said = next(&url, patience, &mut pieces).await?.unwrap_or_default();
            return Err(fault::of_answer(url.expose(), status, &headers, &said, &[]));
        }
        while let Some(piece) = next(&url, patience, &mut pieces).await? {
            poured += piece.len() as u64;
            if poured > most {
                return Err(too_large(&url, status));
            }
            into.write_all(&piece).await.map_err(|why| Fault {
                kind: FaultKind::Passing { wait_ms: None },
                doing: "keeping a file".to_owned(),
                detail: why.to_string(),
                maybe_done: false,
                status: None,
            })?;
        }
        Ok(poured)
    }

    async fn head(&self, request: Request) -> Result<reqwest::Response, Fault> {
        let (url, patience) = (request.url.clone(), request.patience);
        let request = build(request)?;
        let sent = tokio::time::timeout(patience, self.execute(request)).await;
        sent.map_err(|_| fault::of_silence(url.expose(), patience.as_secs()))?
            .map_err(|why| fault::of_lost(url.expose(), &why))
    }
}

fn build(request: Request) -> Result<reqwest::Request, Fault> {
    let bad = |what: &str| Fault {
        kind: FaultKind::Refused,
        doing: format!("asking {}", host_of(request.url.expose())),
        detail: what.to_owned(),
        maybe_done: false,
        status: None,
    };
    let url = reqwest::Url::parse(request.url.expose()).map_err(|_| bad("the address is none"))?;
    let method = match request.method {
        Method::Get => reqwest::Method::GET,
        Method::Post => reqwest::Method::POST,
        Method::Put => reqwest::Method::PUT,
        Method::Patch => reqwest::Method::PATCH,
        Method::Delete => reqwest::Method::DELETE,
    };
    let mut built = reqwest::Request::new(method, url);
    for (name, value) in &request.headers {
        let value = HeaderValue::from_str(value).map_err(|_| bad("a header cannot be sent"))?;
        built.headers_mut().insert(HeaderName::from_static(name), value);
    }
    for (name, before, secret) in &request.secret_headers {
        let value = HeaderValue::from_str(&format!("{before}{}", secret.expose()));
        let mut value = value.map_err(|_| bad("the key holds characters that cannot be sent"))?;
        value.set_sensitive(true);
        built.headers_mut().insert(HeaderName::from_static(name), value);
    }
    let mut typed = |media_type: &str| -> Result<(), Fault> {
        let value = HeaderValue::from_str(media_type).map_err(|_| bad("a media type cannot be sent"))?;
        built.headers_mut().insert(reqwest::header::CONTENT_TYPE, value);
        Ok(())
    };
    match request.content {
        Content::Nothing => {}
        Content::Json(json) => {
            typed("application/json")?;
            *built.body_mut() = Some(json.into());
        }
        Content::Bytes(media_type, bytes) => {
            typed(media_type)?;
            *built.body_mut() = Some(bytes.into());
        }
        Content::Form(fields) => {
            typed("application/x-www-form-urlencoded")?;
            let mut form = reqwest::Url::parse("form:").map_err(|_| bad("a form cannot be written"))?;
            form.query_pairs_mut().extend_pairs(&fields);
            *built.body_mut() = Some(form.query().unwrap_or_default().to_owned().into());
        }
        Content::Parts(parts) => {
            let form = form(parts)?;
            typed(&format!("multipart/form-data; boundary={}", form.boundary()))?;
            *built.body_mut() = Some(reqwest::Body::wrap_stream(form.into_stream()));
        }
    }
    Ok(built)
}

fn form(parts: Vec<Part>) -> Result<Form, Fault> {
    let mut form = Form::new();
    for part in parts {
        form = match part {
            Part::Text { name, text } => form.text(name, text),
            Part::File { name, file_name, media_type, size, file } => {
                let body = reqwest::Body::wrap_stream(pieces(file));
                let made = FormPart::stream_with_length(body, size).file_name(file_name);
                let typed = made.mime_str(known_or_bytes(&media_type));
                form.part(name, typed.map_err(|why| fault::of_failure("", &why))?)
            }
        };
    }
    Ok(form)
}

/// A media type that is none goes as plain bytes.
fn known_or_bytes(media_type: &str) -> &str {
    let token =
        |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b));
    let is_type = media_type.split_once('/').is_some_and(|(kind, sub)| token(kind) && token(sub));
    if is_type { media_type } else { "application/octet-stream" }
}

/// The pieces of a file, read as they are wanted.
fn pieces(
    file: impl AsyncRead + Unpin + Send + 'static,
) -> impl Stream<Item = std::io::Result<Bytes>> + Send {
    futures_util::stream::try_unfold(file, async |mut file| {
        let mut piece = vec![0; PIECE];
        let read = file.read(&mut piece).await?;
        piece.truncate(read);
        Ok((read > 0).then(|| (Bytes::from(piece), file)))
    })
}

async fn next<S>(url: &Secret, patience: Duration, pieces: &mut S) -> Result<Option<Bytes>, Fault>
where
    S: Stream<Item = reqwest::Result<Bytes>> + Unpin,
{
    let piece = tokio::time::timeout(patience, pieces.next()).await;
    let piece = piece.map_err(|_| fault::of_silence(url.expose(), patience.as_secs()))?;
    piece.transpose().map_err(|why| fault::of_failure(url.expose(), &why))
}

fn too_large(url: &Secret, status: u16) -> Fault {
    Fault {
        kind: FaultKind::Refused,
        doing: format!("asking {}", host_of(url.expose())),
        detail: "what it gives is larger than is taken".to_owned(),
        maybe_done: true,
        status: Some(status),
    }
}

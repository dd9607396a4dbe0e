//! Files: uploaded before a message names them, looked up before they are fetched.
//!
//! Invariant: the token goes to Meta's own servers only, wherever an answer points.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sb_channel::model::{Fault, FaultKind, FileRef, Secret};
use sb_channel::net::{Content, Method, Part, Request};
use sb_channel::{OutFile, Result};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio::io::AsyncWrite;

use super::WhatsApp;
use super::faults::refused;

/// How long an upload may stay without an answer.
pub(super) const UPLOAD: Duration = Duration::from_secs(120);
/// Where files lie: Meta's content servers.
const HOSTS: [&str; 2] = ["lookaside.fbsbx.com", "scontent.whatsapp.net"];

#[derive(Deserialize)]
struct Uploaded {
    id: String,
}

#[derive(Deserialize)]
struct Found {
    url: String,
    file_size: Option<u64>,
    /// In hexadecimal digits or in Base64.
    sha256: Option<String>,
}

impl WhatsApp {
    /// Lays a file down at WhatsApp: its id there.
    pub(super) async fn upload(&self, file: &OutFile) -> Result<String> {
        let content = file.content.open().await;
        let content = content.map_err(|why| refused(format!("{} cannot be read: {why}", file.name)))?;
        let text = |name: &str, text: &str| Part::Text { name: name.to_owned(), text: text.to_owned() };
        let media_type = laid_down_as(&file.media_type);
        let parts = vec![
            text("messaging_product", "whatsapp"),
            text("type", media_type),
            Part::File {
                name: "file".to_owned(),
                file_name: file.name.clone(),
                media_type: media_type.to_owned(),
                size: file.size,
                file: content,
            },
        ];
        let path = format!("{}/media", self.phone_number_id);
        let uploads = self.api.clone().patient_for(UPLOAD);
        let uploaded: Result<Uploaded> = uploads.ask(Method::Post, &path, Content::Parts(parts)).await;
        // Nothing is in the chat yet, so another upload harms nothing.
        uploaded.map(|uploaded| uploaded.id).map_err(|why| Fault { maybe_done: false, ..why })
    }

    /// Pours a file that somebody sent.
    pub(super) async fn pour(
        &self,
        file: &FileRef,
        into: &mut (dyn AsyncWrite + Unpin + Send),
        most: u64,
    ) -> Result<u64> {
        let (id, told) = file.reference.split_once(' ').unwrap_or((&file.reference, ""));
        if !is_id(id) {
            return Err(refused("this is no file of WhatsApp's"));
        }
        let found: Found = self.api.get(&format!("{id}?phone_number_id={}", self.phone_number_id)).await?;
        if found.file_size.is_some_and(|size| size > most) {
            return Err(refused("the file is larger than is taken"));
        }
        if !self.is_metas(&found.url) {
            return Err(refused("WhatsApp says that the file lies with somebody else"));
        }
        let mut request = Request::new(Method::Get, Secret::new(found.url), Content::Nothing);
        request.secret_headers.push(("authorization", "Bearer ", self.token.clone()));
        let mut digesting = Digesting { into, digest: Sha256::new() };
        let poured = self.http.pour(request, &mut digesting, most).await?;
        let digest = digesting.digest.finalize();
        let all = [told.to_owned(), found.sha256.unwrap_or_default()];
        match all.iter().filter(|known| !known.is_empty()).all(|known| is_digest(known, &digest)) {
            true => Ok(poured),
            false => Err(Fault::new(FaultKind::Garbled, "fetching a file", "its bytes are not what was sent")),
        }
    }

    /// Whether the token may be shown there: to Meta's content servers, or to the API server itself.
    fn is_metas(&self, url: &str) -> bool {
        let host = url.strip_prefix("https://").and_then(|rest| rest.split('/').next());
        let same = url.strip_prefix(&self.root).is_some_and(|rest| rest.starts_with('/'));
        same || host.is_some_and(|host| HOSTS.contains(&host))
    }
}

/// The media type a file is uploaded under: of texts, WhatsApp knows plain ones only, whatever their names say.
fn laid_down_as(media_type: &str) -> &str {
    if media_type.starts_with("text/") { "text/plain" } else { media_type }
}

/// Whether it can stand in an address as it is.
fn is_id(id: &str) -> bool {
    !id.is_empty() && !id.contains("..") && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

/// Whether a text is this digest, in hexadecimal digits or in Base64.
fn is_digest(text: &str, digest: &[u8]) -> bool {
    text.eq_ignore_ascii_case(&hex::encode(digest)) || text == STANDARD.encode(digest)
}

/// Looks at bytes as they pass.
struct Digesting<'a> {
    into: &'a mut (dyn AsyncWrite + Unpin + Send),
    digest: Sha256,
}

impl AsyncWrite for Digesting<'_> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut *self.into).poll_write(cx, bytes);
        if let Poll::Ready(Ok(many)) = written {
            self.digest.update(bytes.get(..many).unwrap_or_default());
        }
        written
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.into).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.into).poll_shutdown(cx)
    }
}

//! What a platform's call to `/hooks/<slug>` is judged by.

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use sb_net::model::{Secret, Timestamp};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::Batch;

/// One call, its body whole and bounded.
#[derive(Debug, Clone)]
pub struct WebhookRequest {
    pub method: String,
    /// What stands after `/hooks/<slug>`, with the query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    pub at: Timestamp,
}

impl WebhookRequest {
    /// A header's value, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }
}

/// Judges and translates a call. Pure.
pub trait Webhook: Send + Sync {
    fn accept(&self, request: &WebhookRequest) -> Verdict;
}

/// What is made of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It is the platform's: take this in, and once it is stored answer so.
    Take(Batch, WebhookReply),
    /// It is not, or cannot be read.
    Refuse(WebhookReply),
}

/// What a call is answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookReply {
    pub status: u16,
    pub media_type: &'static str,
    pub body: String,
}

impl WebhookReply {
    /// A status without words.
    pub fn status(status: u16) -> Self {
        Self { status, media_type: "text/plain", body: String::new() }
    }
}

/// Whether what came is the secret, compared in constant time.
pub fn is_same_secret(came: &str, secret: &Secret) -> bool {
    came.as_bytes().ct_eq(secret.expose().as_bytes()).into()
}

/// Whether `came`, in hexadecimal digits of either case, is the HMAC-SHA256 of these bytes with the secret's text as
/// its key; compared in constant time.
pub fn is_signed_hex(came: &str, secret: &Secret, bytes: &[u8]) -> bool {
    let mut given = [0; 32];
    let signed = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes());
    hex::decode_to_slice(came, &mut given).is_ok()
        && signed.is_ok_and(|mac| mac.chain_update(bytes).verify_slice(&given).is_ok())
}

/// The HMAC-SHA256 of these bytes in hexadecimal digits, as [`is_signed_hex`] takes it: how a stand-in signs.
#[cfg(feature = "standins")]
pub fn signed_hex(secret: &str, bytes: &[u8]) -> String {
    let signed = Hmac::<Sha256>::new_from_slice(secret.as_bytes());
    signed.map(|mac| hex::encode(mac.chain_update(bytes).finalize().into_bytes())).unwrap_or_default()
}

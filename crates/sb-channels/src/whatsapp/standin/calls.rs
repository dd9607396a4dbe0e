//! How it calls the webhook: signed, over the bytes it sends.

use sb_channel::model::Secret;
use sb_channel::net::{Content, Http, Method, Request};
use sb_channel::signed_hex;
use sb_channel::standin::Platform;
use serde_json::Value;

use super::APP_SECRET;

/// Where it was told to call.
pub(super) const ADDRESS: &str = "address";
/// What it asks when it is told.
const CHALLENGE: &str = "1158201444";

/// The call by which something is told.
pub(super) fn told(platform: &Platform, update: &Value) -> Option<Request> {
    let body = escaped(&update.to_string());
    let signature = format!("sha256={}", signed_hex(APP_SECRET, body.as_bytes()));
    let content = Content::Json(body.into());
    let mut request = Request::new(Method::Post, platform.kept(ADDRESS)?, content);
    request.headers.push(("x-hub-signature-256", signature));
    Some(request)
}

/// Whether whoever is there wants to be called, and knows the word.
pub(super) async fn is_wanted(outside: &Http, address: &str, word: &str) -> bool {
    let word: String = word.bytes().map(|b| format!("%{b:02x}")).collect();
    let asked = format!("{address}?hub.mode=subscribe&hub.verify_token={word}&hub.challenge={CHALLENGE}");
    let reply = outside.send(Request::new(Method::Get, Secret::new(asked), Content::Nothing)).await;
    reply.is_ok_and(|reply| reply.is_success() && reply.body == CHALLENGE)
}

/// JSON without anything beyond ASCII, as Meta writes it.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter.is_ascii() {
            true => text.push(letter),
            false => {
                let mut units = [0; 2];
                let units = letter.encode_utf16(&mut units).iter();
                units.for_each(|unit| text.push_str(&format!("\\u{unit:04x}")));
            }
        }
    }
    text
}

//! How it refuses: a code, a sentence, and the status that goes with it.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use sb_channel::standin::Breakage;
use serde_json::json;

/// One of Meta's codes, with what is said beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal(pub u32, pub &'static str);

/// A field that cannot be.
pub(super) const BAD: Refusal = Refusal(131_009, "Parameter value is not valid");
/// Something that is not there.
pub(super) const NOT_HERE: Refusal = Refusal(100, "Unsupported request: the object does not exist");
pub(super) const NO_TOKEN: Refusal = Refusal(190, "Invalid OAuth access token");
pub(super) const TOO_LATE: Refusal = Refusal(131_047, "Re-engagement message");

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Refusal(code, title) = self;
        let status = match code {
            190 => StatusCode::UNAUTHORIZED,
            131_000 => StatusCode::INTERNAL_SERVER_ERROR,
            131_056 => StatusCode::TOO_MANY_REQUESTS,
            _ => StatusCode::BAD_REQUEST,
        };
        let error = json!({
            "message": format!("(#{code}) {title}"),
            "type": "OAuthException",
            "code": code,
            "error_data": {"messaging_product": "whatsapp", "details": title},
            "fbtrace_id": "AstandinTrace",
        });
        (status, Json(json!({"error": error}))).into_response()
    }
}

/// What was planned.
pub(super) fn planned(how: Breakage) -> Response {
    match how {
        Breakage::Flaky | Breakage::LostAnswer => Refusal(131_000, "Something went wrong").into_response(),
        Breakage::RateLimit(seconds) => {
            let refusal = Refusal(131_056, "Pair rate limit hit");
            ([("retry-after", seconds.to_string())], refusal).into_response()
        }
        Breakage::Revoked => NO_TOKEN.into_response(),
        Breakage::ChatGone => Refusal(131_026, "Message undeliverable").into_response(),
        Breakage::Format | Breakage::Refused => BAD.into_response(),
    }
}

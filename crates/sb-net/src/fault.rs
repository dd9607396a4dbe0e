//! Sorts what went wrong with an HTTP request into the fault that says how to treat it.
//!
//! The only place that knows what a status code means. The sentence it writes names the host and a
//! short, redacted excerpt of what the other side said.

use reqwest::header::HeaderMap;
use sb_model::{Clock, Fault, FaultKind, Secret};
use serde_json::Value;

use crate::http::NoAnswer;
use crate::redact::redact;
use crate::{SystemClock, host_of};

/// The fault of an answer that is no success.
pub(crate) fn of_answer(
    url: &str,
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
    secrets: &[&Secret],
) -> Fault {
    let passing = FaultKind::Passing { wait_ms: wait_asked(headers) };
    let kind = match (text_of(headers, "x-should-retry"), status) {
        (_, 401 | 403) => FaultKind::Auth,
        (Some("true"), _) => passing,
        (Some("false"), _) => FaultKind::Refused,
        (_, 408 | 409 | 429 | 500..) => passing,
        _ => FaultKind::Refused,
    };
    let said = redact(&said_in(body), secrets);
    let host = host_of(url);
    let detail = if said.is_empty() {
        format!("{host} answered {status}")
    } else {
        format!("{host} answered {status}: {said}")
    };
    // A gateway that gives up waiting may have passed the request on.
    let maybe_done = matches!(status, 408 | 502 | 504);
    Fault { kind, doing: doing(url), detail, maybe_done, status: Some(status) }
}

/// The fault of a request whose answer never began.
pub(crate) fn of_lost(url: &str, why: &NoAnswer) -> Fault {
    match why {
        NoAnswer::Network(error) => of_failure(url, error),
        NoAnswer::Lost(lost) => Fault {
            kind: FaultKind::Passing { wait_ms: None },
            doing: doing(url),
            detail: format!("the connection to {} broke off", host_of(url)),
            maybe_done: lost.arrived,
            status: None,
        },
    }
}

/// The fault of a request that got no answer, or lost it half-way.
pub(crate) fn of_failure(url: &str, error: &reqwest::Error) -> Fault {
    let host = host_of(url);
    let (detail, maybe_done) = match error {
        e if e.is_builder() => {
            let detail = format!("{host} is no address that can be asked");
            return Fault {
                kind: FaultKind::Refused,
                doing: doing(url),
                detail,
                maybe_done: false,
                status: None,
            };
        }
        e if e.is_connect() && e.is_timeout() => (format!("{host} did not answer in time"), false),
        e if e.is_connect() => (format!("{host} could not be reached ({})", root_of(e)), false),
        e => (format!("the connection to {host} broke off ({})", root_of(e)), true),
    };
    Fault { kind: FaultKind::Passing { wait_ms: None }, doing: doing(url), detail, maybe_done, status: None }
}

/// The fault of a silence longer than allowed.
pub(crate) fn of_silence(url: &str, seconds: u64) -> Fault {
    Fault {
        kind: FaultKind::Passing { wait_ms: None },
        doing: doing(url),
        detail: format!("{} said nothing for {seconds} seconds", host_of(url)),
        maybe_done: true,
        status: None,
    }
}

fn doing(url: &str) -> String {
    format!("asking {}", host_of(url))
}

/// The innermost cause, which alone says something, redacted since it may name the whole address.
fn root_of(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    redact(&cause.to_string(), &[])
}

/// What an error body says: type, code and message where it is JSON of a known shape, else its text.
fn said_in(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let Ok(whole) = serde_json::from_str::<Value>(&text) else { return text.into_owned() };
    let error = whole.get("error").unwrap_or(&whole);
    let field = |name: &str| error.get(name).and_then(Value::as_str).filter(|s| !s.is_empty());
    let message = error
        .as_str()
        .or_else(|| field("message"))
        .or_else(|| field("detail"))
        .or_else(|| field("description"));
    let marks: Vec<&str> = [field("type"), field("code")].into_iter().flatten().collect();
    match (message, marks.is_empty()) {
        (Some(message), true) => message.to_owned(),
        (Some(message), false) => format!("{message} ({})", marks.join(", ")),
        (None, _) => text.into_owned(),
    }
}

fn text_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|v| v.to_str().ok()).map(str::trim)
}

/// Nobody is told to wait longer than a day.
const LONGEST_ASKED_MS: u64 = 24 * 60 * 60 * 1000;

/// How long the other side asks us to wait, in milliseconds.
fn wait_asked(headers: &HeaderMap) -> Option<u64> {
    let finite = |n: f64| (n.is_finite() && n >= 0.0).then_some((n as u64).min(LONGEST_ASKED_MS));
    if let Some(ms) = text_of(headers, "retry-after-ms").and_then(|v| v.parse().ok()).and_then(finite) {
        return Some(ms);
    }
    let text = text_of(headers, "retry-after")?;
    if let Ok(seconds) = text.parse::<f64>() {
        return finite(seconds * 1000.0);
    }
    let at = jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true).parse_timestamp(text).ok()?;
    let wait = u64::try_from(at.as_millisecond() - SystemClock.now().0).unwrap_or(0);
    Some(wait.min(LONGEST_ASKED_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(k, v)| (k.parse().expect("name"), v.parse().expect("value"))).collect()
    }
    fn kind(status: u16, pairs: &[(&'static str, &str)]) -> FaultKind {
        of_answer("https://api.example.org/v1?key=abc", status, &headers(pairs), b"{}", &[]).kind
    }

    #[test]
    fn a_status_says_how_a_failure_is_treated() {
        for status in [408, 409, 429, 500, 503, 529] {
            assert_eq!(kind(status, &[]), FaultKind::Passing { wait_ms: None }, "{status}");
        }
        assert_eq!(kind(401, &[]), FaultKind::Auth);
        assert_eq!(kind(403, &[]), FaultKind::Auth);
        for status in [400, 402, 404, 413, 422] {
            assert_eq!(kind(status, &[]), FaultKind::Refused, "{status}");
        }
    }

    #[test]
    fn the_wait_asked_for_is_read_in_every_form() {
        let wait = |pairs: &[(&'static str, &str)]| match kind(429, pairs) {
            FaultKind::Passing { wait_ms } => wait_ms,
            other => panic!("{other:?}"),
        };
        assert_eq!(wait(&[("retry-after", "2")]), Some(2000));
        assert_eq!(wait(&[("retry-after", "0.5")]), Some(500));
        assert_eq!(wait(&[("retry-after-ms", "70"), ("retry-after", "2")]), Some(70));
        assert_eq!(wait(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")]), Some(0));
        assert!(wait(&[("retry-after", "Fri, 31 Dec 2199 23:59:59 GMT")]).is_some_and(|ms| ms > 1_000_000));
        assert_eq!(wait(&[("retry-after", "soon")]), None);
    }

    #[test]
    fn the_other_side_may_say_whether_to_try_again() {
        assert_eq!(kind(500, &[("x-should-retry", "false")]), FaultKind::Refused);
        assert_eq!(kind(400, &[("x-should-retry", "true")]), FaultKind::Passing { wait_ms: None });
    }

    /// Holds: F-47.
    #[test]
    fn the_sentence_names_the_host_and_what_was_said_and_no_key() {
        let body =
            br#"{"error":{"type":"invalid_request_error","code":"bad","message":"Wrong key k3y-value"}}"#;
        let key = Secret::new("k3y-value");
        let url = "https://user:pw@api.example.org/v1/x?key=k3y-value";
        let fault = of_answer(url, 401, &HeaderMap::new(), body, &[&key]);
        assert_eq!(
            fault.to_string(),
            "asking api.example.org: api.example.org answered 401: Wrong key ••• (invalid_request_error, bad)"
        );
    }
}

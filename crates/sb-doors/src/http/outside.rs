//! What stands around every route: strays answered in JSON, panics caught, pages of other origins refused.
//!
//! A page can have its own name lead to this machine, and then is of the same origin as the server it
//! finds there. So one that is reached on this machine only is asked for by a name of this machine.

use std::any::Any;
use std::net::IpAddr;

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use tower_http::catch_panic::CatchPanicLayer;

use super::error::{Code, HttpError};

/// Puts around a router what every one of ours has.
pub(crate) fn envelope(router: Router) -> Router {
    router
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn(counted))
        .layer(CatchPanicLayer::custom(panicked))
}

/// There is nothing at this address.
async fn unknown_path() -> HttpError {
    HttpError::new(Code::NotFound, "There is nothing at this address. /openapi.json lists what there is.")
}

/// The address takes other methods.
pub(crate) async fn wrong_method(method: Method) -> HttpError {
    HttpError::new(Code::WrongMethod, format!("This address does not take {method}; see the header Allow."))
}

fn panicked(_: Box<dyn Any + Send>) -> Response {
    tracing::error!("a request's handler panicked");
    HttpError::new(Code::Internal, "Something of ours failed. The server's log says more.").into_response()
}

async fn counted(request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let route = path.as_ref().map_or("other", MatchedPath::as_str).to_owned();
    let status = response.status().as_u16().to_string();
    metrics::counter!("switchboard_http_requests_total", "route" => route, "status" => status).increment(1);
    response
}

/// Refuses what a page of another origin asks: browsers say where a request comes from.
pub(crate) async fn same_origin(request: Request, next: Next) -> Response {
    match is_same_origin(request.headers(), request.uri().authority().map(|a| a.as_str())) {
        true => next.run(request).await,
        false => HttpError::new(
            Code::CrossOrigin,
            "Pages of other origins may not ask here. Call from a program, or from a page of this address.",
        )
        .into_response(),
    }
}

/// Whether a request comes from a page of this address, or from no page at all.
pub(crate) fn is_same_origin(headers: &HeaderMap, authority: Option<&str>) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else { return true };
    let host = headers.get(header::HOST).and_then(|h| h.to_str().ok()).or(authority);
    let from = origin.to_str().ok().and_then(|o| o.split_once("://")).map(|(_, host)| host);
    origins.next().is_none() && from.is_some() && from == host
}

/// Refuses what asks for another host than this machine.
pub(crate) async fn loopback_host(request: Request, next: Next) -> Response {
    match is_loopback_host(request.headers(), request.uri().authority().map(|a| a.as_str())) {
        true => next.run(request).await,
        false => HttpError::new(
            Code::WrongHost,
            "This server is reached on this machine only: ask for 127.0.0.1 or localhost, or put a proxy in front and say so with --behind-proxy.",
        )
        .into_response(),
    }
}

/// Whoever names no host is no browser.
fn is_loopback_host(headers: &HeaderMap, authority: Option<&str>) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    hosts.all(|host| host.to_str().is_ok_and(is_loopback)) && authority.is_none_or(is_loopback)
}

/// Whether a host is this machine by its name.
pub(crate) fn is_loopback(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, "")) => (name, ""),
        Some((name, port)) => (name, port.strip_prefix(':').unwrap_or("none")),
        None => host.split_once(':').unwrap_or((host, "")),
    };
    let is_here = match name.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback() && address.is_ipv6() == host.starts_with('['),
        Err(_) => name.eq_ignore_ascii_case("localhost") && !host.starts_with('['),
    };
    is_here && port.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    async fn breaks() -> Response {
        panic!("as a test wants it")
    }

    #[tokio::test]
    async fn a_handler_that_panics_is_an_error_in_json() {
        let router = envelope(Router::new().route("/", get(breaks)));
        let answer = router.oneshot(Request::new(Body::empty())).await.expect("an answer");
        assert_eq!(answer.status(), 500);
        let body = axum::body::to_bytes(answer.into_body(), 1000).await.expect("a body");
        assert!(String::from_utf8_lossy(&body).contains("\"code\":\"internal\""));
    }

    #[test]
    fn an_origin_is_the_hosts_own_or_refused() {
        let case = |origin: &str, host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ORIGIN, origin.parse().expect("a value"));
            headers.insert(header::HOST, host.parse().expect("a value"));
            is_same_origin(&headers, None)
        };
        assert!(case("http://127.0.0.1:8790", "127.0.0.1:8790"));
        assert!(case("https://agents.example", "agents.example"));
        for (origin, host) in [
            ("http://127.0.0.1:8791", "127.0.0.1:8790"),
            ("http://localhost:8790", "127.0.0.1:8790"),
            ("null", "127.0.0.1:8790"),
            ("http://evil.example/127.0.0.1:8790", "127.0.0.1:8790"),
            ("127.0.0.1:8790", "127.0.0.1:8790"),
        ] {
            assert!(!case(origin, host), "{origin}");
        }
        assert!(is_same_origin(&HeaderMap::new(), None));
    }

    #[test]
    fn a_host_is_this_machine_or_not() {
        for host in [
            "localhost",
            "LocalHost:8790",
            "127.0.0.1",
            "127.0.0.1:1",
            "127.9.8.7:8790",
            "[::1]",
            "[::1]:8790",
            "[::ffff:127.0.0.1]:8790",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8790",
            "localhost.evil.example",
            "127.0.0.1.evil.example:8790",
            "127.0.0.1@evil.example",
            "127.0.0.1:8790@evil.example",
            "localhost:evil.example",
            "[::1]evil.example",
            "[::1].evil.example:8790",
            "[localhost]",
            "[127.0.0.1]",
            "::1",
            "[::2]",
            "0.0.0.0:8790",
            "192.0.2.1",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn every_host_a_request_names_must_be_this_machine() {
        let case = |hosts: &[&str], authority| {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(header::HOST, host.parse().expect("a value"));
            }
            is_loopback_host(&headers, authority)
        };
        assert!(case(&[], None) && case(&["localhost"], None) && case(&["localhost"], Some("127.0.0.1:1")));
        assert!(!case(&["evil.example"], None));
        assert!(!case(&["localhost", "evil.example"], None));
        assert!(!case(&["localhost"], Some("evil.example")));
        assert!(!case(&["evil.example"], Some("localhost")));
    }
}

//! The HTTP client: silences, broken connections, hang-ups, redirects.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect};
use axum::routing::post;
use bytes::Bytes;
use futures_util::StreamExt;
use sb_net::model::{FaultKind, Secret};
use sb_net::{Ask, Http};
use tokio::sync::{Notify, mpsc};

const KEY: &str = "a-key-of-no-known-form";

/// A body that gives what it is sent, and tells when nobody reads it any more.
fn slow_body(gone: Arc<Notify>) -> Body {
    let (out, pieces) = mpsc::channel::<Result<Bytes, std::io::Error>>(4);
    tokio::spawn(async move {
        let _ = out.send(Ok(Bytes::from_static(b"one"))).await;
        out.closed().await;
        gone.notify_one();
    });
    Body::from_stream(futures_util::stream::unfold(pieces, async |mut p| {
        p.recv().await.map(|piece| (piece, p))
    }))
}

fn broken_body() -> Body {
    let pieces = [Ok(Bytes::from_static(b"half")), Err(std::io::Error::other("broken"))];
    Body::from_stream(futures_util::stream::iter(pieces))
}

async fn serve(gone: Arc<Notify>) -> String {
    let echo = async |headers: HeaderMap| {
        let key = headers["authorization"].to_str().unwrap_or_default().to_owned();
        (StatusCode::BAD_REQUEST, format!("{{\"error\":{{\"message\":\"bad header {key}\"}}}}"))
    };
    let router = Router::new()
        .route("/slow", post(async move || slow_body(gone.clone())))
        .route("/silent", post(std::future::pending::<StatusCode>))
        .route("/broken", post(async || broken_body()))
        .route("/echo", post(echo))
        .route("/away", post(async || Redirect::temporary("http://192.0.2.1/").into_response()));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

fn ask(url: String, idle_ms: u64) -> Ask {
    Ask {
        url,
        headers: vec![("x-plain", "yes".into())],
        secret_headers: vec![("authorization", "Bearer ", Secret::new(KEY))],
        body: Bytes::from_static(b"{}"),
        idle: Duration::from_millis(idle_ms),
    }
}

#[tokio::test]
async fn dropping_an_answer_closes_its_connection() {
    let gone = Arc::new(Notify::new());
    let base = serve(gone.clone()).await;
    let mut answer = Http::new().expect("a client").post(ask(base + "/slow", 60_000)).await.expect("begins");
    assert_eq!(answer.body.next().await, Some(Ok(Bytes::from_static(b"one"))));
    drop(answer);
    tokio::time::timeout(Duration::from_secs(20), gone.notified()).await.expect("the server sees it");
}

#[tokio::test]
async fn a_silence_ends_the_answer_before_it_and_within_it() {
    let base = serve(Arc::new(Notify::new())).await;
    let http = Http::new().expect("a client");
    let fault = http.post(ask(format!("{base}/silent"), 100)).await.err().expect("silent");
    assert_eq!((fault.kind, fault.maybe_done), (FaultKind::Passing { wait_ms: None }, true));
    let mut answer = http.post(ask(format!("{base}/slow"), 100)).await.expect("begins");
    assert!(answer.body.next().await.is_some_and(|piece| piece.is_ok()));
    let fault = answer.body.next().await.expect("an end").expect_err("silent");
    assert!(fault.detail.contains("said nothing"), "{fault}");
    assert!(answer.body.next().await.is_none());
}

#[tokio::test]
async fn a_broken_connection_may_have_done_its_work() {
    let base = serve(Arc::new(Notify::new())).await;
    // Whether the head has left the server before it breaks off is chance.
    let fault = match Http::new().expect("a client").post(ask(base + "/broken", 60_000)).await {
        Ok(answer) => answer.body.filter_map(async |piece| piece.err()).boxed().next().await.expect("broken"),
        Err(fault) => fault,
    };
    assert!(fault.maybe_done && fault.detail.contains("broke off"), "{fault}");
}

#[tokio::test]
async fn nobody_there_has_done_nothing() {
    let fault = Http::new().expect("a client").post(ask("http://127.0.0.1:9/x".into(), 60_000)).await;
    let fault = fault.err().expect("nobody there");
    assert!(!fault.maybe_done && fault.detail.contains("127.0.0.1:9 could not be reached"), "{fault}");
}

#[tokio::test]
async fn a_key_that_is_repeated_back_is_struck_out() {
    let base = serve(Arc::new(Notify::new())).await;
    let fault =
        Http::new().expect("a client").post(ask(base + "/echo", 60_000)).await.err().expect("refused");
    assert_eq!((fault.kind.clone(), fault.status), (FaultKind::Refused, Some(400)));
    assert!(!format!("{fault:?}").contains(KEY), "{fault}");
}

#[tokio::test]
async fn a_key_that_no_header_holds_is_a_matter_of_the_key() {
    let mut ask = ask("http://127.0.0.1:9/".into(), 60_000);
    ask.secret_headers[0].2 = Secret::new("two\nlines");
    let fault = Http::new().expect("a client").post(ask).await.err().expect("refused");
    assert_eq!(fault.kind, FaultKind::Auth);
    assert!(!format!("{fault:?}").contains("lines"), "{fault}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let base = serve(Arc::new(Notify::new())).await;
    let fault =
        Http::new().expect("a client").post(ask(base + "/away", 60_000)).await.err().expect("refused");
    assert_eq!((fault.kind, fault.status), (FaultKind::Refused, Some(307)));
}

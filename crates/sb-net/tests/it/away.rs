//! Going to places somebody else chose: names that lie, redirects inward, names that change their mind.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request};
use axum::response::{IntoResponse, Redirect};
use axum::routing::get;
use sb_net::{Away, Fetch, Fetched, Looking, Resolve};

/// Names as a test has them. The n-th look-up gives the n-th answer, and the last one ever after.
struct Names {
    answers: Vec<&'static str>,
    asked: AtomicUsize,
}

impl Names {
    fn new(answers: &[&'static str]) -> Arc<Self> {
        Arc::new(Self { answers: answers.to_vec(), asked: AtomicUsize::new(0) })
    }
}

impl Resolve for Names {
    fn addresses<'a>(&'a self, _: &'a str) -> Looking<'a> {
        let nth = self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers[nth.min(self.answers.len() - 1)];
        let found = answer.split(' ').map(|a| a.parse::<IpAddr>().expect("an address")).collect();
        Box::pin(async move { Ok(found) })
    }
}

/// A server that tells what it was asked. Its port.
async fn serve() -> u16 {
    let router = Router::new()
        .route(
            "/",
            get(async |request: Request| {
                let host = request.headers()["host"].to_str().unwrap_or_default().to_owned();
                (
                    ([("content-type", "text/plain; charset=utf-8")]),
                    format!("asked as {host}, {} headers", request.headers().len()),
                )
            }),
        )
        .route(
            "/to/{n}",
            get(async |Path(n): Path<u32>| {
                if n == 0 {
                    "there".into_response()
                } else {
                    Redirect::temporary(&format!("/to/{}", n - 1)).into_response()
                }
            }),
        )
        .route("/inward", get(async || Redirect::temporary("http://169.254.169.254/latest/").into_response()))
        .route("/other", get(async || Redirect::temporary("http://127.0.0.1:1/").into_response()))
        .route("/file", get(async || Redirect::temporary("file:///etc/passwd").into_response()))
        .route("/large", get(async || vec![b'x'; 5000]))
        .route(
            "/endless",
            get(async || {
                Body::from_stream(futures_util::stream::pending::<Result<bytes::Bytes, std::io::Error>>())
            }),
        );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move { axum::serve(listener, router).await });
    port
}

fn fetch(url: String, let_in: &[String]) -> Fetch {
    Fetch { url, let_in: let_in.to_vec(), most: 1000, limit: Duration::from_secs(20) }
}

async fn get_from(names: &Arc<Names>, url: String, let_in: &[String]) -> Result<Fetched, String> {
    Away::new(names.clone()).get(&fetch(url, let_in)).await.map_err(|refused| refused.0)
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused_before_anything_is_sent() {
    let port = 8080;
    for address in
        ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "93.184.215.14 192.168.1.1"]
    {
        let names = Names::new(&[address]);
        let why = get_from(&names, format!("http://innocent.example:{port}/"), &[]).await.expect_err(address);
        assert!(why.contains("innocent.example leads to") && why.contains("not asked"), "{why}");
    }
}

#[tokio::test]
async fn a_host_the_operator_let_in_is_asked_by_its_own_name() {
    let port = serve().await;
    let names = Names::new(&["127.0.0.1"]);
    let let_in = [format!("wiki.internal:{port}")];
    let page = get_from(&names, format!("http://wiki.internal:{port}/#part"), &let_in).await.expect("let in");
    assert_eq!((page.status, page.content_type.as_str()), (200, "text/plain; charset=utf-8"));
    let said = String::from_utf8_lossy(&page.body).into_owned();
    assert_eq!(said, format!("asked as wiki.internal:{port}, 3 headers"), "host, accept and who we are");
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_the_connection_goes_where_that_led() {
    let port = serve().await;
    // Public to whoever looks first, this machine to whoever looks again.
    let names = Names::new(&["192.0.2.1", "127.0.0.1"]);
    let why = get_from(&names, format!("http://rebinds.example:{port}/"), &[]).await.expect_err("refused");
    assert!(why.contains("Port"), "{why}");
    let names = Names::new(&["127.0.0.1", "10.9.9.9"]);
    let let_in = [format!("here.example:{port}")];
    get_from(&names, format!("http://here.example:{port}/"), &let_in)
        .await
        .expect("pinned to the first answer");
    assert_eq!(names.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn every_redirect_is_judged_again() {
    let port = serve().await;
    let let_in = [format!("here.example:{port}")];
    for (path, expected) in [
        ("inward", "169.254.169.254 is a link-local address"),
        ("other", "Port 1 is not asked"),
        ("file", "Only http"),
        ("to/6", "more than 5 times"),
    ] {
        let names = Names::new(&["127.0.0.1"]);
        let why =
            get_from(&names, format!("http://here.example:{port}/{path}"), &let_in).await.expect_err(path);
        assert!(why.contains(expected), "{path}: {why}");
    }
    // The second look-up, for the second hop, leads inside.
    let names = Names::new(&["127.0.0.1", "169.254.169.254"]);
    let why =
        get_from(&names, format!("http://here.example:{port}/to/1"), &let_in).await.expect_err("rebinds");
    assert!(why.contains("link-local"), "{why}");
    let names = Names::new(&["127.0.0.1"]);
    let page = get_from(&names, format!("http://here.example:{port}/to/5"), &let_in)
        .await
        .expect("five are followed");
    assert_eq!((&page.body[..], page.url), (&b"there"[..], format!("http://here.example:{port}/to/0")));
}

#[tokio::test]
async fn what_is_long_is_cut_and_what_never_comes_is_given_up() {
    let port = serve().await;
    let let_in = [format!("127.0.0.1:{port}")];
    let names = Names::new(&["127.0.0.1"]);
    let page = get_from(&names, format!("http://127.0.0.1:{port}/large"), &let_in).await.expect("read");
    assert_eq!((page.body.len(), page.cut), (1000, true));
    let mut endless = fetch(format!("http://127.0.0.1:{port}/endless"), &let_in);
    endless.limit = Duration::from_millis(200);
    let why = Away::new(names).get(&endless).await.expect_err("given up").0;
    assert!(why.contains("did not answer within"), "{why}");
}

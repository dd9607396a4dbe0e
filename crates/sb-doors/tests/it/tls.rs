//! The public door over TLS, with the certificates beside this file.

use std::path::{Path, PathBuf};

use reqwest::{Certificate, Client};
use sb_doors::http::{self, HttpDoor, Tls};
use sb_doors::model::Secret;
use sb_testkit::app::TestApp;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::server::{MACHINE, client, reply};

/// Certificates for 127.0.0.1 and localhost that nobody trusts, and their keys; good until 2126.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tls").join(name)
}

fn read() -> Result<Tls, String> {
    Tls::read(&file("cert.pem"), &file("key.pem"))
}

/// A client that trusts this certificate and no other.
#[allow(clippy::disallowed_methods, reason = "a test's own client")]
fn trusting(certificate: &str) -> Client {
    // Chooses the process's cryptography.
    drop(client());
    let trusted = Certificate::from_pem(&std::fs::read(file(certificate)).unwrap()).unwrap();
    Client::builder().tls_certs_only([trusted]).no_proxy().build().unwrap()
}

async fn start(app: &TestApp, tls: Tls) -> (std::net::SocketAddr, CancellationToken) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, closing) = (listener.local_addr().unwrap(), CancellationToken::new());
    let router = http::router(HttpDoor {
        engine: app.engine.clone(),
        machine_token: Some(Secret::new(MACHINE)),
        metrics: None,
        behind_proxy: false,
        only_loopback: true,
        cors_origins: Vec::new(),
        closing: closing.clone(),
    });
    tokio::spawn(http::serve_tls(listener, 900, tls, router, closing.clone()));
    (address, closing)
}

/// Holds: W-36.
#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "a raw connection shows what no client would do")]
async fn with_a_certificate_the_channel_speaks_tls_and_nothing_else() {
    let app = TestApp::new().await;
    let (address, _closing) = start(&app, read().unwrap()).await;
    // Those who connect and say nothing hold up nobody.
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    let http = trusting("cert.pem");
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("https://{host}:{}/v1/profiles/assistant/messages", address.port());
        let request = http.post(url).bearer_auth(MACHINE).body(json!({"text": "hi"}).to_string());
        reply(request).await.succeeded();
    }
    let plain = client().get(format!("http://{address}/healthz")).send().await;
    assert!(plain.is_err(), "{plain:?}");
    let stranger = trusting("other.pem").get(format!("https://{address}/healthz")).send().await;
    assert!(stranger.is_err(), "another's certificate is not ours");
}

/// Holds: O-16.
#[tokio::test]
async fn over_tls_the_link_of_a_shared_file_is_one_of_tls_on_this_machine_too() {
    let app = TestApp::new().await;
    let (address, _closing) = start(&app, read().unwrap()).await;
    let http = trusting("cert.pem");
    let shares = "!tool share_file {\"name\":\"a.txt\",\"text\":\"All is well.\"}\n!say Here.";
    let body = json!({"model": "assistant", "messages": [{"role": "user", "content": shares}]});
    let asked = http.post(format!("https://{address}/v1/chat/completions")).bearer_auth(MACHINE);
    // Nobody stands in front, so nobody's word on how it came counts.
    let asked = asked.header("X-Forwarded-Proto", "http").header("X-Forwarded-Host", "elsewhere.example");
    let answer = reply(asked.body(body.to_string())).await.succeeded().json;
    let text = answer["choices"][0]["message"]["content"].as_str().unwrap();
    let link = text.rsplit_once("](").expect("a link").1.trim_end_matches(')');
    assert!(link.starts_with(&format!("https://{address}/v1/files/")), "{text}");
    let file = http.get(link).bearer_auth(MACHINE).send().await.unwrap();
    assert_eq!(file.text().await.unwrap(), "All is well.");
}

#[test]
fn what_is_wrong_with_a_certificate_or_key_is_said_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (certificate, key, none) = (file("cert.pem"), file("key.pem"), file("none.pem"));
    let case = |certificate: &Path, key: &Path, words: &[&str]| {
        let said = Tls::read(certificate, key).err().unwrap();
        assert!(words.iter().all(|word| said.contains(word)), "{said} lacks one of {words:?}");
    };
    case(&none, &key, &["none.pem", "--tls-cert", "cannot be read"]);
    case(&certificate, &none, &["none.pem", "--tls-key", "cannot be read"]);
    case(&key, &key, &["key.pem", "has no certificate"]);
    case(&certificate, &certificate, &["cert.pem", "has no key"]);
    case(&certificate, &file("other_key.pem"), &["other_key.pem", "cert.pem", "not that of"]);
    let text = std::fs::read_to_string(&certificate).unwrap();
    case(&write("cut.pem", &text[..text.len() / 2]), &key, &["cut.pem", "PEM"]);
    let odd = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    case(&write("odd.pem", odd), &key, &["odd.pem", "cannot be used"]);
    let odd = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    case(&certificate, &write("odd.key", odd), &["odd.key", "cannot be used"]);
    let locked = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    case(&certificate, &write("locked.key", locked), &["locked.key", "password"]);
}

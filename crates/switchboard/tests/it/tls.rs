//! A server with a certificate.

use std::path::Path;

use crate::world::{Server, UP, World};

/// Holds: W-36.
#[tokio::test]
async fn with_a_certificate_a_public_address_is_served_and_the_line_to_paste_says_https() {
    let world = World::new();
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sb-doors/tests/it/tls");
    let (certificate, key) = (files.join("cert.pem"), files.join("key.pem"));
    let up = |certificate: &Path| {
        let mut words = ["up", "--listen", "0.0.0.0:0", "--tls-cert"].map(str::to_owned).to_vec();
        words.extend([certificate.display().to_string(), "--tls-key".into(), key.display().to_string()]);
        words
    };
    let said = world.refused(&up(&key), 1).await;
    assert!(said.contains("key.pem") && said.contains("has no certificate"), "{said}");
    let said = world.refused(&["up", "--tls-key", "key.pem"], 2).await;
    assert!(said.contains("--tls-cert"), "{said}");
    let mut program = world.program();
    program.args(up(&certificate));
    let server = Server::start(program, UP).await;
    let curl = server.line("curl ");
    assert!(curl.contains(" https://127.0.0.1:"), "{curl}");
    let pasted = format!("export CURL_CA_BUNDLE={}; {curl}", certificate.display());
    let answer: serde_json::Value = serde_json::from_str(&world.paste(&pasted).await.out).expect("JSON");
    assert_eq!(answer["said"], "You said: \"Hello\"");
}

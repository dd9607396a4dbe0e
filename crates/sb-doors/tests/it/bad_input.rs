//! What cannot be used is refused by name, before anything is taken.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Body, Method};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::server::{MACHINE, Server, reply};

async fn raw(server: &Server, body: impl Into<Body>) -> crate::server::Reply {
    let request = server.request(Method::POST, "/v1/profiles/assistant/messages").bearer_auth(MACHINE);
    reply(request.body(body)).await
}

#[tokio::test]
async fn a_body_that_is_no_json_says_where_it_breaks() {
    let server = Server::start().await;
    for body in ["", "hello", "[1]", "\"text\"", "{\"text\": \"a\",}", "{\"text\": \"a\"} x", "null"] {
        let answer = raw(&server, body).await;
        answer.is_error(400, "not_json");
    }
    let answer = raw(&server, "{\"text\":\n \"a\" \"b\"}").await;
    assert!(answer.json["error"].as_str().unwrap().contains("line 2 column"), "{}", answer.json);
    raw(&server, vec![b'{', b'"', 0xff, b'"', b':', b'1', b'}']).await.is_error(400, "not_json");
    raw(&server, format!("{{\"text\": {}", "[".repeat(100_000))).await.is_error(400, "not_json");
}

#[tokio::test]
async fn a_field_that_does_not_exist_is_named() {
    let server = Server::start().await;
    for (body, odd) in [
        (json!({"text": "hi", "converstaion": "ops"}), "converstaion"),
        (json!({"text": "hi", "terminal": true}), "terminal"),
        (json!({"text": "hi", "files": [{"base64": "", "path": "x"}]}), "path"),
    ] {
        let answer = server.say(MACHINE, body).await;
        answer.is_error(400, "unknown_field");
        assert!(answer.json["error"].as_str().unwrap().contains(odd), "{}", answer.json);
    }
}

#[tokio::test]
async fn a_field_of_the_wrong_sort_is_named_with_what_it_must_be() {
    let server = Server::start().await;
    for (field, value) in [
        ("text", json!(5)),
        ("conversation", json!(["ops"])),
        ("stream", json!("yes")),
        ("busy", json!("maybe")),
        ("files", json!({})),
        ("files", json!(["x"])),
        ("files", json!([{"name": "x"}])),
        ("files", json!([{"base64": 5}])),
        ("files", json!([{"base64": "aGk=", "media_type": "words"}])),
    ] {
        let mut body = json!({"text": "hi"});
        body[field] = value;
        server.say(MACHINE, body).await.is_error(400, "bad_field");
    }
}

#[tokio::test]
async fn a_message_without_words_or_files_is_refused() {
    let server = Server::start().await;
    for body in [json!({}), json!({"text": ""}), json!({"text": " \n"}), json!({"text": null, "files": []})] {
        server.say(MACHINE, body).await.is_error(400, "no_text");
    }
}

#[tokio::test]
async fn a_conversations_name_is_short_and_plain() {
    let server = Server::start().await;
    for name in [&"x".repeat(257), &"ä".repeat(129), "a\nb", "a\u{0}b", "\u{7f}", ""] {
        server
            .say(MACHINE, json!({"text": "hi", "conversation": name}))
            .await
            .is_error(400, "bad_conversation");
    }
    for name in [&"x".repeat(256), "a:b:c", "../ops", "Küche 🍲"] {
        let answer = server.say(MACHINE, json!({"text": "hi", "conversation": name})).await.succeeded();
        assert_eq!(answer.json["conversation"], *name);
    }
}

async fn with_file(server: &Server, file: Value) -> crate::server::Reply {
    server.say(MACHINE, json!({"text": "look", "files": [file]})).await
}

#[tokio::test]
async fn a_file_name_with_a_path_in_it_is_refused() {
    let server = Server::start().await;
    let long = "x".repeat(256);
    for name in ["a/b", "/etc/passwd", "..", ".", "..\\x", "a\\b", "", "  ", "a\u{0}.txt", "a\nb", &long] {
        with_file(&server, json!({"base64": "aGk=", "name": name})).await.is_error(400, "bad_file_name");
    }
    for name in ["..txt", "a..b", ".env", "Küche.txt"] {
        with_file(&server, json!({"base64": "aGk=", "name": name})).await.succeeded();
    }
}

#[tokio::test]
async fn bytes_that_are_no_base64_are_refused() {
    let server = Server::start().await;
    for base64 in ["a", "%%%%", "aGk=aGk=", "data:text/plain;base64,aGk="] {
        with_file(&server, json!({"base64": base64})).await.is_error(400, "bad_base64");
    }
    for base64 in ["", "aGk=", "aGk", "aG\nk=\n"] {
        with_file(&server, json!({"base64": base64})).await.succeeded();
    }
}

#[tokio::test]
async fn a_picture_that_is_none_is_refused() {
    let server = Server::start().await;
    let text = STANDARD.encode("this is no picture");
    let cut = STANDARD.encode(b"\x89PNG\r\n\x1a\n\x00\x00");
    for file in [
        json!({"base64": text, "media_type": "image/png"}),
        json!({"base64": text, "name": "cat.JPEG"}),
        json!({"base64": text, "name": "cat.webp", "media_type": "text/plain"}),
        json!({"base64": cut, "media_type": "image/png"}),
        json!({"base64": "", "name": "cat.gif"}),
    ] {
        with_file(&server, file).await.is_error(400, "bad_picture");
    }
}

#[tokio::test]
async fn more_files_than_a_message_may_have_are_refused() {
    let server = Server::start().await;
    let files = vec![json!({"base64": "aGk="}); 65];
    server.say(MACHINE, json!({"text": "look", "files": files})).await.is_error(400, "too_many_files");
}

#[tokio::test]
async fn a_key_is_short_and_visible() {
    let server = Server::start().await;
    for key in ["", "a b", &"k".repeat(256)] {
        let request = server.post(MACHINE, json!({"text": "hi"})).header("idempotency-key", key);
        reply(request).await.is_error(400, "bad_key");
    }
    let twice = server.post(MACHINE, json!({"text": "hi"}));
    reply(twice.header("idempotency-key", "a").header("idempotency-key", "b")).await.is_error(400, "bad_key");
}

/// Holds: W-34.
#[tokio::test]
async fn a_body_over_thirty_two_megabytes_is_refused_whole_or_in_pieces() {
    let server = Server::start().await;
    let body = vec![b' '; 32 * 1024 * 1024 + 1];
    raw(&server, body.clone()).await.is_error(413, "too_large");
    let pieces =
        body.chunks(1024 * 1024).map(|piece| Ok::<_, std::io::Error>(piece.to_vec())).collect::<Vec<_>>();
    raw(&server, Body::wrap_stream(futures_util::stream::iter(pieces))).await.is_error(413, "too_large");
    // Exactly as much is taken.
    let mut most = br#"{"text": "hi"}"#.to_vec();
    most.resize(32 * 1024 * 1024, b' ');
    raw(&server, most).await.succeeded();
}

#[tokio::test]
async fn a_stranger_is_refused_before_a_byte_of_the_body_is_read() {
    let server = Server::start().await;
    let mut socket = connect(&server).await;
    let head = "POST /v1/profiles/assistant/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000000\r\n\r\n";
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    socket.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 401");
}

#[tokio::test]
async fn a_file_over_twenty_five_megabytes_is_refused_within_a_body_that_is_not() {
    let server = Server::start().await;
    for (size, status) in [(25_000_001, 413), (24_999_999, 200)] {
        let body = format!("{{\"files\": [{{\"base64\": \"{}\"}}]}}", STANDARD.encode(vec![0; size]));
        assert!(body.len() < 32 * 1024 * 1024);
        let answer = raw(&server, body).await;
        assert_eq!(answer.status, status, "{}", answer.json);
    }
}

#[tokio::test]
async fn a_sender_that_asks_first_hears_at_once_that_it_is_too_much() {
    let server = Server::start().await;
    let mut socket = connect(&server).await;
    let head = format!(
        "POST /v1/profiles/assistant/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {MACHINE}\r\nContent-Length: 900000000\r\nExpect: 100-continue\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    socket.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}

#[allow(clippy::disallowed_methods, reason = "a raw connection shows what no client would send")]
async fn connect(server: &Server) -> tokio::net::TcpStream {
    tokio::net::TcpStream::connect(server.address).await.unwrap()
}

#[tokio::test]
async fn nothing_refused_is_taken() {
    let server = Server::start().await;
    let first = server.say(MACHINE, json!({"text": "hi", "conversation": "ops"})).await.succeeded();
    with_file(&server, json!({"base64": "%"})).await.is_error(400, "bad_base64");
    let session = first.json["session"].as_str().unwrap();
    let shown = server.get(MACHINE, &format!("/v1/sessions/{session}")).await.succeeded();
    assert_eq!(shown.json["usage"]["messages"], 1);
    assert_eq!(server.app.engine.sessions(None, 10).await.unwrap().len(), 1);
}

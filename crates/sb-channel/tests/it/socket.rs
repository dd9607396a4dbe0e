//! A WebSocket to a stand-in, without a socket of the system's and without real time.

use std::time::Duration;

use axum::Router;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::routing::get;
use sb_channel::model::{FaultKind, Secret};
use sb_channel::net::{Frame, Http};
use sb_channel::standin::in_process;

async fn talk(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        match message {
            Message::Text(text) if text.as_str() == "ping me" => {
                drop(socket.send(Message::Ping(Default::default())).await);
            }
            Message::Text(text) if text.as_str() == "leave" => {
                let close = CloseFrame { code: 4004, reason: "told to".into() };
                drop(socket.send(Message::Close(Some(close))).await);
            }
            Message::Text(text) if text.as_str() == "break off" => return,
            Message::Text(text) => drop(socket.send(Message::text(format!("heard {text}"))).await),
            _ => {}
        }
    }
}

fn http() -> Http {
    let upgrade = get(async |upgrade: WebSocketUpgrade| upgrade.on_upgrade(talk));
    let refuse = get(async || axum::http::StatusCode::UNAUTHORIZED);
    in_process(Router::new().route("/link", upgrade).route("/closed", refuse))
}

fn url(path: &str) -> Secret {
    Secret::new(format!("wss://standin.example{path}"))
}

#[tokio::test(start_paused = true)]
async fn what_is_said_is_heard_both_ways_and_a_close_has_its_code() {
    let mut socket = http().socket(&url("/link?ticket=1")).await.expect("opens");
    socket.say("hello".to_owned()).await.expect("said");
    assert_eq!(socket.next().await.expect("a frame"), Frame::Text("heard hello".to_owned()));
    socket.ping().await.expect("said");
    assert_eq!(socket.next().await.expect("a frame"), Frame::Alive, "it answers a ping");
    socket.say("ping me".to_owned()).await.expect("said");
    assert_eq!(socket.next().await.expect("a frame"), Frame::Alive);
    socket.say("leave".to_owned()).await.expect("said");
    let closed = socket.next().await.expect("a frame");
    assert_eq!(closed, Frame::Closed { code: Some(4004), why: "told to".to_owned() });
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_dropped_loses_nothing() {
    let mut socket = http().socket(&url("/link")).await.expect("opens");
    for n in 0..50 {
        socket.say(n.to_string()).await.expect("said");
        // Dropped at its first pause, or answered at once.
        let early = tokio::time::timeout(Duration::ZERO, socket.next()).await;
        let frame = match early {
            Ok(frame) => frame,
            Err(_) => socket.next().await,
        };
        assert_eq!(frame.expect("a frame"), Frame::Text(format!("heard {n}")));
    }
}

#[tokio::test(start_paused = true)]
async fn what_goes_wrong_is_sorted_and_names_no_address() {
    let mut socket = http().socket(&url("/link?ticket=secret")).await.expect("opens");
    socket.say("break off".to_owned()).await.expect("said");
    match socket.next().await {
        Err(why) => {
            assert!(matches!(why.kind, FaultKind::Passing { .. }) && !why.to_string().contains("secret"))
        }
        Ok(frame) => assert!(matches!(frame, Frame::Closed { code: None, .. }), "{frame:?}"),
    }
    let kind = async |path: &str| http().socket(&url(path)).await.err().map(|why| (why.kind, why.status));
    assert_eq!(kind("/closed").await, Some((FaultKind::Auth, Some(401))));
    assert_eq!(kind("/nowhere").await, Some((FaultKind::Refused, Some(404))));
    for wrong in ["https://standin.example/link", "wss://", "link"] {
        let why = http().socket(&Secret::new(wrong)).await.err().expect("no address of a socket");
        assert_eq!(why.kind, FaultKind::Refused);
    }
}

//! Over real sockets: what works in process works there, and a lost answer is a broken connection.

use std::sync::Arc;

use sb_channel::model::{FaultKind, Timestamp};
use sb_channel::net::{Http, ManualClock};
use sb_channel::{Channel, Inlet, Piece};
use sb_channels::telegram::standin::{self, Break, Calls, TelegramStandIn};

use super::{attempt, context, file, settings, words};

async fn served() -> (TelegramStandIn, Arc<dyn Channel>) {
    let clock = Arc::new(ManualClock::at(Timestamp(1_796_000_000_000)));
    let platform = TelegramStandIn::new(clock, standin::TOKEN);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = format!("http://{}/", listener.local_addr().expect("an address"));
    tokio::spawn(standin::serve(listener, platform.clone()));
    let pairs = [("token", standin::TOKEN), ("api_url", &address)];
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let http = Http::new().expect("a client");
    let bot = (sb_channels::telegram::KIND.open)(context(http, false), &settings(pairs)).expect("a bot");
    (platform, bot)
}

#[tokio::test]
async fn over_a_socket_all_is_as_in_process() {
    let (platform, bot) = served().await;
    bot.check().await.expect("who we are");
    let ann = platform.person("Ann");
    let chat = platform.direct(&ann);
    platform.say(&chat, &ann, "hi");
    let Inlet::Feeds(feeds) = bot.inlet() else { panic!("it polls") };
    let mut updates = feeds[0].1.open(None).await.expect("open");
    assert_eq!(updates.next().await.expect("a batch").events.len(), 1);
    let large = vec![7; 3 * 1024 * 1024];
    let files = [file("a.bin", "application/octet-stream", &large)];
    let piece = Piece::Files { files: &files, caption: None, answers: None };
    bot.send(&chat, piece, &attempt()).await.expect("sent");
    let seen = platform.seen_of_us(&chat);
    assert_eq!(seen[0].file.as_ref().map(|file| file.bytes.len()), Some(large.len()));
}

#[tokio::test]
async fn over_a_socket_a_lost_answer_is_perhaps_done() {
    let (platform, bot) = served().await;
    let chat = platform.direct(&platform.person("Ann"));
    platform.break_next(Break::LostAnswer, Calls::Posts, 1);
    let hello = words("hi");
    let piece = Piece::Text { words: &hello, choices: &[], answers: None };
    let fault = bot.send(&chat, piece, &attempt()).await.expect_err("lost");
    assert_eq!((fault.kind, fault.maybe_done), (FaultKind::Passing { wait_ms: None }, true));
    assert_eq!(platform.seen_of_us(&chat).len(), 1);
    bot.send(&chat, piece, &attempt()).await.expect("sent");
}

#[tokio::test]
async fn where_nobody_listens_nothing_was_done() {
    let pairs = [("token", standin::TOKEN), ("api_url", "http://127.0.0.1:9")];
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let http = Http::new().expect("a client");
    let bot = (sb_channels::telegram::KIND.open)(context(http, false), &settings(pairs)).expect("a bot");
    let hello = words("hi");
    let piece = Piece::Text { words: &hello, choices: &[], answers: None };
    let chat = sb_channel::model::Chat::direct("5");
    let fault = bot.send(&chat, piece, &attempt()).await.expect_err("unreachable");
    assert_eq!((&fault.kind, fault.maybe_done), (&FaultKind::Passing { wait_ms: None }, false));
    assert!(!fault.to_string().contains("stand-in_token"), "{fault}");
}

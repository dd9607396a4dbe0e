//! Following: words as they are written, for however many readers, however late or slow.

use sb_engine::ReplyEvent;
use sb_engine::model::*;
use sb_testkit::app::TestApp;

use crate::chat::Chat;

#[tokio::test]
async fn a_late_and_a_slow_reader_see_all_the_words_once() {
    let app = TestApp::new().await;
    let chat = Chat::of(&app, "ops");
    let submitted = chat.engine.submit(chat.inbound("!stream 30 2\n!say The end.")).await.unwrap();
    let id = submitted.receipt.message;
    let mut first = chat.engine.follow(submitted.receipt);
    let mut words = String::new();
    while words.is_empty() {
        if let Some(ReplyEvent::Delta(text)) = first.next().await.unwrap() {
            words.push_str(&text);
        }
    }
    let mut late = chat.engine.follow_message(id);
    let mut heard = String::new();
    let ending = loop {
        match late.next().await.unwrap().expect("an ending comes last") {
            ReplyEvent::Delta(text) => heard.push_str(&text),
            ReplyEvent::Ended(ending) => break ending,
            _ => {}
        }
    };
    // This one reads only now, all at once.
    while let Some(event) = first.next().await.unwrap() {
        if let ReplyEvent::Delta(text) = event {
            words.push_str(&text);
        }
    }
    assert_eq!(words, ending.said);
    assert_eq!(heard, ending.said);
    assert_eq!(chat.engine.follow_message(id).ending().await.unwrap(), ending);
}

#[tokio::test]
async fn a_reader_that_goes_away_does_not_end_the_turn() {
    let app = TestApp::new().await;
    let chat = Chat::of(&app, "ops");
    let submitted = chat.engine.submit(chat.inbound("!stream 20 2")).await.unwrap();
    let id = submitted.receipt.message;
    drop(chat.engine.follow(submitted.receipt));
    assert_eq!(chat.engine.follow_message(id).ending().await.unwrap().kind, EndKind::Replied);
}

#[tokio::test]
async fn turns_beyond_the_places_wait_and_one_that_asks_a_person_gives_its_place_back() {
    let app = TestApp::with_parallel(1).await;
    let (asking, other) = (Chat::of(&app, "a"), Chat::of(&app, "b"));
    assert_eq!(asking.say("!tool write_file {\"path\":\"a\"}").await.kind, EndKind::Waiting);
    assert_eq!(other.say("hello").await.kind, EndKind::Replied);
    let mut long = other.send("!wait 60").await;
    long.next().await.unwrap();
    let decided = asking.send("/approve").await;
    assert_eq!(asking.engine.health().awake, 2);
    other.say("/stop").await;
    assert_eq!(decided.ending().await.unwrap().kind, EndKind::Replied);
}

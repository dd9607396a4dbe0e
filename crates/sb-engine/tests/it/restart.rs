//! Restarts: what was taken is answered, what was decided is kept, who was cut off is told.

use sb_engine::EngineErrorKind;
use sb_engine::model::*;
use sb_testkit::app::TestApp;

use crate::chat::Chat;

#[tokio::test]
async fn a_turn_cut_off_by_a_restart_is_taken_up_again_and_what_waited_follows() {
    let app = TestApp::new().await;
    let chat = Chat::of(&app, "ops");
    let first = chat.engine.submit(chat.inbound("!wait 0.4\n!say The first.")).await.unwrap();
    let second = chat.engine.submit(chat.inbound("!say The second.")).await.unwrap();
    let ids = (first.receipt.message, second.receipt.message);
    let mut follow = chat.engine.follow(first.receipt);
    follow.next().await.unwrap();
    drop((chat, follow, second));
    let app = app.reopen().await;
    let first = app.engine.follow_message(ids.0).ending().await.unwrap();
    assert!(
        first.said.starts_with("I was restarted") && first.said.ends_with("The first."),
        "{}",
        first.said
    );
    assert_eq!(app.engine.follow_message(ids.1).ending().await.unwrap().said, "The second.");
}

/// Only crashes count toward giving a turn up; an operator may restart as often as they like.
#[tokio::test]
async fn a_turn_outlives_any_number_of_clean_restarts() {
    let mut app = TestApp::new().await;
    let submitted = app.engine.submit(Chat::of(&app, "ops").inbound("!wait 0.3\n!say Done.")).await.unwrap();
    let id = submitted.receipt.message;
    app.engine.follow(submitted.receipt).next().await.unwrap();
    for _ in 0..5 {
        app = app.reopen().await;
        app.engine.follow_message(id).next().await.unwrap();
    }
    let ending = app.engine.follow_message(id).ending().await.unwrap();
    assert!(ending.said.ends_with("Done."), "{}", ending.said);
}

#[tokio::test]
async fn a_request_that_waits_over_a_restart_is_decided_afterwards() {
    let app = TestApp::new().await;
    let waiting = Chat::of(&app, "ops").say("!tool write_file {\"path\":\"a\"}").await;
    let app = app.reopen().await;
    let chat = Chat::of(&app, "ops");
    assert_eq!(chat.said("/status").await, waiting.said);
    let request = waiting.waiting.unwrap().short();
    assert_eq!(chat.say(&format!("/approve {request}")).await.kind, EndKind::Replied);
    let decided = chat.log(waiting.session.unwrap()).await.into_iter().find_map(|r| match r {
        Record::Decided { by, call, .. } => Some((by.0, call.tool)),
        _ => None,
    });
    assert_eq!(decided, Some(("http:token 3046d92e".to_owned(), "write_file".to_owned())));
}

#[tokio::test]
async fn a_known_key_gives_the_first_answer_also_after_a_restart() {
    let app = TestApp::new().await;
    let key = |body: &[u8]| Some(Key { text: "http:1:k".into(), body: Digest::of(body), kept_ms: 60_000 });
    let chat = Chat::of(&app, "ops");
    let first = chat
        .try_send(Inbound { key: key(b"a"), ..chat.inbound("hello") })
        .await
        .unwrap()
        .ending()
        .await
        .unwrap();
    drop(chat);
    let app = app.reopen().await;
    let chat = Chat::of(&app, "ops");
    let submitted = chat.engine.submit(Inbound { key: key(b"a"), ..chat.inbound("hello") }).await.unwrap();
    assert!(submitted.known);
    assert_eq!(chat.engine.follow(submitted.receipt).ending().await.unwrap(), first);
    let other = chat.engine.submit(Inbound { key: key(b"b"), ..chat.inbound("bye") }).await.err().unwrap();
    assert_eq!(other.kind, EngineErrorKind::OtherBody);
}

#[tokio::test]
async fn a_full_disk_refuses_the_message_before_it_is_taken_and_recovers_with_room() {
    let app = TestApp::new().await;
    let chat = Chat::of(&app, "ops");
    chat.say("hello").await;
    app.engine.store().limit_size(1).await.unwrap();
    let refused = chat.engine.submit(chat.inbound(&"x".repeat(100_000))).await.err().unwrap();
    assert_eq!(refused.kind, EngineErrorKind::DiskFull);
    app.engine.store().limit_size(1 << 40).await.unwrap();
    assert_eq!(chat.say("hello again").await.kind, EndKind::Replied);
}

/// A conversation that cannot be read harms no other, and nobody is left waiting for it.
#[tokio::test]
async fn a_damaged_conversation_is_told_and_the_others_go_on() {
    let app = TestApp::new().await;
    Chat::of(&app, "broken").say("/system XYZZY").await;
    let app = app
        .reopen_after(|home| {
            let db = home.join("switchboard.db");
            let mut bytes = std::fs::read(&db).unwrap();
            let at = bytes.windows(16).position(|w| w == br#""system":"XYZZY""#).expect("it is stored");
            bytes[at..at + 8].copy_from_slice(b"........");
            std::fs::write(&db, bytes).unwrap();
        })
        .await;
    let why = Chat::of(&app, "broken").send("hello").await.ending().await.expect_err("it cannot be answered");
    assert!(why.said.contains("damaged"), "{}", why.said);
    assert!(app.engine.trouble().is_some());
    assert_eq!(Chat::of(&app, "whole").say("hello").await.kind, EndKind::Replied);
}

#[tokio::test]
async fn a_closed_engine_takes_nothing() {
    let app = TestApp::new().await;
    let chat = Chat::of(&app, "ops");
    app.engine.close().await.unwrap();
    let refused = chat.engine.submit(chat.inbound("hello")).await.err().unwrap();
    assert_eq!(refused.kind, EngineErrorKind::Closing);
}

//! Sessions of a conversation: begun, left, found again, shortened, forgotten.

use sb_engine::model::*;
use sb_testkit::app::TestApp;

use crate::chat::Chat;

/// Holds: C-01, V-04.
#[tokio::test]
async fn a_conversation_is_one_session_and_equal_names_of_two_profiles_never_meet() {
    let app = TestApp::new().await;
    app.add_profile("other").await;
    let chat = Chat::of(&app, "ops");
    let (first, second) = (chat.say("one").await, chat.say("two").await);
    assert!(first.session.is_some() && first.session == second.session);
    let mut inbound = chat.inbound("three");
    inbound.profile = "other".into();
    inbound.conversation = ConversationId::new("http", &inbound.profile, "ops");
    let elsewhere = chat.try_send(inbound).await.unwrap().ending().await.unwrap();
    assert_ne!(elsewhere.session, first.session);
    let said = chat.log(first.session.unwrap()).await;
    assert_eq!(said.iter().filter(|r| matches!(r, Record::Said { .. })).count(), 2);
}

/// Holds: C-25, C-32, C-33, C-34.
#[tokio::test]
async fn a_new_session_starts_over_and_the_old_one_is_listed_and_reachable() {
    let app = TestApp::new().await;
    let chat = Chat::of(&app, "ops");
    Chat::of(&app, "elsewhere").say("hello").await;
    let old = chat.say("hello").await.session.unwrap();
    assert!(chat.said("/title The first one").await.contains("The first one"));
    assert!(chat.said("/new").await.contains("new session"));
    let new = chat.say("hello again").await.session.unwrap();
    assert_ne!(old, new);
    let listed = chat.said("/sessions").await;
    assert_eq!(listed.lines().count(), 2, "this conversation's only: {listed}");
    assert!(
        listed.contains(&old.to_string()) && listed.contains("The first one") && listed.contains("(current)")
    );
    assert!(chat.said(&format!("/resume {}", &old.to_string()[..8])).await.contains("Back in session"));
    assert_eq!(chat.say("and here again").await.session, Some(old));
    let missing = chat.say("/resume 0000000000000000").await;
    assert_eq!(missing.refusal, Some(Refusal::Unknown));
}

/// Holds: C-26, C-27.
#[tokio::test]
async fn status_says_where_the_session_stands_and_runs_nothing() {
    let app = TestApp::new().await;
    let chat = Chat::of(&app, "ops");
    assert!(chat.said("/status").await.contains("Nothing has been said"));
    let answer = chat.say("hello").await;
    let status = chat.say("/status").await;
    assert_eq!((status.said, status.turn), (answer.said, None));
    let mut working = chat.send("!wait 60").await;
    working.next().await.unwrap();
    assert!(chat.said("/status").await.starts_with("Working"));
    chat.say("/stop").await;
    chat.say("!tool write_file {\"path\":\"a\"}").await;
    assert!(chat.said("/status").await.starts_with("waiting for your approval: write_file"));
}

/// Holds: C-28.
#[tokio::test]
async fn retry_answers_the_last_message_again_in_place_of_its_first_answer() {
    let app = TestApp::new().await;
    let chat = Chat::of(&app, "ops");
    assert_eq!(chat.say("/retry").await.refusal, Some(Refusal::Unknown));
    let first = chat.say("hello").await;
    let again = chat.say("/retry").await;
    assert_eq!(first.said, again.said);
    assert_ne!(first.turn, again.turn);
    // Again and again, it is the person's words that are answered, never "/retry".
    assert_eq!(chat.say("/retry").await.said, first.said);
    let undone = chat.log(first.session.unwrap()).await;
    assert_eq!(undone.iter().filter(|r| matches!(r, Record::Undone { .. })).count(), 2);
}

#[tokio::test]
async fn undo_goes_back_one_exchange_at_a_time() {
    let app = TestApp::new().await;
    let chat = Chat::of(&app, "ops");
    chat.say("the first").await;
    chat.say("the second").await;
    assert!(chat.said("/undo").await.contains("the second"));
    assert!(chat.said("/undo").await.contains("the first"));
    assert_eq!(chat.say("/undo").await.refusal, Some(Refusal::Unknown));
}

/// Holds: C-05, C-15.
#[tokio::test]
async fn a_stop_word_overtakes_the_queue_and_ends_the_run_at_once() {
    let app = TestApp::new().await;
    let chat = Chat::of(&app, "ops");
    let mut running = chat.send("!stream 1000 1000").await;
    running.next().await.unwrap();
    let waiting = chat.send("and another thing").await;
    assert_eq!(chat.said("hold on").await, "Stopped.");
    assert_eq!(running.ending().await.unwrap().kind, EndKind::Stopped);
    assert_eq!(waiting.ending().await.unwrap().kind, EndKind::Dropped);
}

/// What unblocks a conversation is taken however much waits in it.
#[tokio::test]
async fn a_full_queue_takes_no_more_words_and_still_takes_stop() {
    let app = TestApp::new().await;
    let chat = Chat::of(&app, "ops");
    chat.send("!wait 60").await.next().await.unwrap();
    let full = loop {
        if let Err(refused) = chat.try_send(chat.inbound("more")).await {
            break refused;
        }
    };
    assert_eq!(full.kind, sb_engine::EngineErrorKind::Full);
    assert!(chat.said("/status").await.starts_with("Working"));
    assert_eq!(chat.said("/stop").await, "Stopped.");
    assert_eq!(chat.say("hello").await.kind, EndKind::Replied);
}

#[tokio::test]
async fn a_profile_that_is_gone_takes_no_message() {
    let app = TestApp::new().await;
    let chat = Chat::of(&app, "ops");
    let waiting = chat.say("!tool write_file {\"path\":\"a\"}").await;
    assert_eq!(waiting.kind, EndKind::Waiting);
    app.engine.remove_profile(&"assistant".into()).await.unwrap();
    let refused = chat.try_send(chat.inbound("hello")).await.err().expect("refused");
    assert_eq!(refused.kind, sb_engine::EngineErrorKind::NoProfile);
}

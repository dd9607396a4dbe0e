//! A sender's budget of a day, over conversations and restarts.

use sb_engine::model::{EndKind, Refusal};
use sb_testkit::app::TestApp;

use crate::chat::Chat;

#[tokio::test]
async fn a_sender_who_used_up_their_day_is_told_so_in_every_conversation_and_after_a_restart() {
    let app = TestApp::new().await;
    let mut profile = app.profile("assistant");
    profile.budgets.sender = "tokens=2".parse().expect("a budget");
    app.engine.put_profile(profile, None).await.expect("a change");
    let first = Chat::of(&app, "a").say("!say Here.").await;
    assert_eq!(first.kind, EndKind::Replied);
    let app = app.reopen().await;
    let chat = Chat::of(&app, "b");
    let second = chat.say("!say Here too.").await;
    assert_eq!((second.kind, second.refusal), (EndKind::Refused, Some(Refusal::Budget)));
    assert!(second.said.contains("Your budget of a day, 2 tokens"), "{}", second.said);
    let usage = chat.say("/usage").await;
    assert!(usage.said.contains("The budget of yours for today: 2 of 2 tokens."), "{}", usage.said);
    let mut other = chat.inbound("!say Here.");
    other.from.0.push_str(" somebody else");
    let answered = chat.try_send(other).await.unwrap().ending().await.unwrap();
    assert_eq!(answered.kind, EndKind::Replied);
}

//! What a chat chooses: models, instructions, tools; and who is asking.

use sb_engine::model::*;
use sb_testkit::app::TestApp;

use crate::chat::Chat;

async fn with_two_models() -> TestApp {
    let app = TestApp::new().await;
    let models = vec!["scripted".parse().unwrap(), "scripted:other".parse().unwrap()];
    app.engine.put_profile(Profile { models, ..app.profile("assistant") }, None).await.unwrap();
    app
}

/// Holds: C-35, C-36, C-59.
#[tokio::test]
async fn a_chat_picks_among_its_profiles_models_and_keeps_the_choice_over_a_restart() {
    let app = with_two_models().await;
    let chat = Chat::of(&app, "ops");
    assert_eq!(chat.said("/model").await, "1. scripted (in use)\n2. scripted:other");
    assert!(chat.said("/model 2").await.contains("scripted:other"));
    assert_eq!(chat.say("/model 3").await.refusal, Some(Refusal::Unknown));
    let app = app.reopen().await;
    let chat = Chat::of(&app, "ops");
    assert_eq!(chat.said("/model").await, "1. scripted\n2. scripted:other (in use)");
    assert_eq!(Chat::of(&app, "other").said("/model").await, "1. scripted (in use)\n2. scripted:other");
}

/// Holds: C-37.
#[tokio::test]
async fn a_chat_says_what_it_asks_of_the_agent_and_takes_it_back() {
    let app = TestApp::new().await;
    let chat = Chat::of(&app, "ops");
    assert!(chat.said("/system").await.contains("nothing"));
    chat.say("/system Answer in verse.").await;
    assert!(chat.said("/system").await.contains("Answer in verse."));
    chat.say("/system off").await;
    assert!(chat.said("/system").await.contains("nothing"));
}

/// Holds: C-39.
#[tokio::test]
async fn a_chat_narrows_the_tools_and_gives_them_back() {
    let app = TestApp::new().await;
    let chat = Chat::of(&app, "ops");
    assert!(chat.said("/tools").await.contains("all its tools"));
    assert!(chat.said("/tools read_file").await.contains("only these here: read_file"));
    let session = chat.say("!tool write_file {\"path\":\"a\"}").await.session.unwrap();
    let refused = chat.log(session).await.into_iter().any(|r| matches!(r, Record::Result { ok: false, .. }));
    assert!(refused, "a tool the chat took away is refused, not asked about");
    assert_eq!(chat.say("/tools fly").await.refusal, Some(Refusal::Unknown));
    assert!(chat.said("/tools all").await.contains("all its tools"));
    assert_eq!(chat.say("!tool write_file {\"path\":\"a\"}").await.kind, EndKind::Waiting);
}

/// Holds: C-41.
#[tokio::test]
async fn whoami_tells_the_asker_name_and_rights() {
    let app = TestApp::new().await;
    let chat = Chat::of(&app, "ops");
    let all = chat.said("/whoami").await;
    assert!(all.contains("http:token 3046d92e") && all.contains("may approve and decline"), "{all}");
    let talking = Inbound { rights: Rights::TALK, ..chat.inbound("/whoami") };
    let said = chat.try_send(talking).await.unwrap().ending().await.unwrap().said;
    assert!(said.contains("may neither approve nor decline"), "{said}");
}

//! Tokens at the engine: found, remembered, taken back.

use sb_engine::model::*;
use sb_testkit::app::TestApp;

/// However often it was used before, a token that is taken back opens nothing from then on.
#[tokio::test]
async fn a_token_taken_back_opens_nothing_from_then_on() {
    let app = TestApp::new().await;
    app.add_profile("other").await;
    let assistant: ProfileName = "assistant".into();
    let (kept, stays) = app.engine.add_token(&assistant, Rights::TALK).await.unwrap();
    let (gone, opened) = app.engine.add_token(&assistant, Rights::ALL).await.unwrap();
    let (_, of_other) = app.engine.add_token(&"other".into(), Rights::TALK).await.unwrap();
    for _ in 0..3 {
        assert_eq!(app.engine.find_token(&opened).await.unwrap(), Some(gone.clone()));
        assert_eq!(app.engine.find_token(&Secret::new("sb_nobody")).await.unwrap(), None);
    }
    app.engine.find_token(&of_other).await.unwrap().unwrap();
    app.engine.remove_token(&assistant, &gone.id).await.unwrap();
    app.engine.remove_profile(&"other".into()).await.unwrap();
    assert_eq!(app.engine.find_token(&opened).await.unwrap(), None);
    assert_eq!(app.engine.find_token(&of_other).await.unwrap(), None);
    assert_eq!(app.engine.find_token(&stays).await.unwrap(), Some(kept));
}

//! The mode an agent works in, and its model.

use super::*;

const STAND: &str = "how do you stand";

#[tokio::test]
async fn modes_and_models_that_are_options_are_set_as_such_and_again_when_it_is_taken_up() {
    for flags in ["--options", "--options --load"] {
        let app = app_with(|p| {
            (p.harness, p.models) = (agent(flags), vec!["maker:big".parse().unwrap()]);
        })
        .await;
        assert_eq!(
            say(&app, STAND).await.said,
            format!("mode ask, model maker/big. prompt 1, 0 pictures: {STAND}")
        );
        let app = app.reopen().await;
        end_process(&app).await;
        let said = say(&app, STAND).await.said;
        assert_eq!(said, format!("mode ask, model maker/big. prompt 2, 0 pictures: {STAND}"), "{flags}");
    }
}

#[tokio::test]
async fn a_mode_that_is_named_is_set_in_either_form_or_the_turn_is_refused() {
    for (flags, mode, expected) in [
        ("--options", "careful", Ok("mode careful")),
        ("", "ask", Ok("mode ask")),
        ("--options", "timid", Err("auto, ask, careful")),
    ] {
        let app = app_with(|p| (p.harness, p.harness_mode) = (agent(flags), Some(mode.into()))).await;
        let ending = say(&app, STAND).await;
        match expected {
            Ok(part) => assert!(ending.said.starts_with(part), "{}", ending.said),
            Err(part) => {
                assert_eq!(ending.kind, EndKind::Failed);
                assert!(ending.said.contains(part), "{}", ending.said);
            }
        }
    }
}

#[tokio::test]
async fn a_model_it_does_not_offer_is_refused_and_another_is_set_while_it_runs() {
    let models = |names: &[&str]| names.iter().map(|n| n.parse().unwrap()).collect::<Vec<ModelRef>>();
    let app =
        app_with(|p| (p.harness, p.models) = (agent("--options"), models(&["own:small", "maker:big"]))).await;
    assert!(say(&app, STAND).await.said.contains("model small"));
    say(&app, "/model 2").await;
    assert!(say(&app, STAND).await.said.starts_with("mode ask, model maker/big. prompt 2"));
    for (flags, part) in [("--options", "it offers small, maker/big"), ("", "lets nobody choose")] {
        let app = app_with(|p| (p.harness, p.models) = (agent(flags), models(&["own:huge"]))).await;
        let failed = say(&app, STAND).await;
        assert_eq!(failed.kind, EndKind::Failed);
        assert!(failed.said.contains("own:huge") && failed.said.contains(part), "{}", failed.said);
    }
}

#[tokio::test]
async fn one_that_leaves_the_mode_in_which_it_asks_is_set_back_or_ended() {
    let app = app().await;
    let done = say(&app, "!tool fault {\"kind\":\"mode\"}").await;
    assert_eq!((done.kind, done.said.as_str()), (EndKind::Replied, "set to ask"));
    let noted = |r: &Record| matches!(r, Record::Noted { text, .. } if text.contains("set back to ask"));
    assert!(log(&app, &done).await.iter().any(noted));
    let ended = say(&app, "!tool fault {\"kind\":\"mode\",\"refuse\":true}\n!wait 60000").await;
    assert_eq!(ended.kind, EndKind::Failed);
    assert!(ended.said.contains("could not be set back"), "{}", ended.said);
}

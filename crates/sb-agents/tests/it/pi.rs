//! A program that speaks as pi does, a process of its own, under the whole engine.

use sb_engine::model::*;
use sb_testkit::app::TestApp;

use crate::world::*;

async fn pi() -> TestApp {
    pi_with(|_| ()).await
}

async fn pi_with(change: impl FnOnce(&mut Profile)) -> TestApp {
    app_with(|p| {
        (p.harness, p.autonomy) = (HarnessRef::Pi(example("pi_agent", "")), Level::L5);
        change(p);
    })
    .await
}

#[tokio::test]
async fn it_answers_and_knows_its_session_from_message_to_message_and_over_a_restart() {
    let app = pi_with(|p| p.instructions = "Be kind.".into()).await;
    assert!(say(&app, "hello").await.said.ends_with("Be kind.\n\nhello"));
    assert_eq!(say(&app, "more").await.said, "4 messages, 0 pictures: more");
    let app = app.reopen().await;
    end_process(&app).await;
    assert_eq!(say(&app, "and more").await.said, "6 messages, 0 pictures: and more");
    // Its own file is gone: it begins anew, says so, and is told what was said.
    end_process(&app).await;
    for entry in std::fs::read_dir(app.workspace()).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let anew = say(&app, "once more").await.said;
    assert!(anew.contains("pi could not take this conversation up") && anew.contains("> and more"), "{anew}");
}

/// Whoever would be asked, pi does not ask: so it is not run for them.
#[tokio::test]
async fn it_runs_only_where_nothing_would_be_asked() {
    let app = pi().await;
    let set = |change: fn(&mut Profile)| {
        let mut profile = app.profile("assistant");
        (profile.harness, profile.models) = (HarnessRef::Pi(String::new()), Vec::new());
        profile.autonomy = Level::L5;
        change(&mut profile);
        profile
    };
    for (change, part) in [
        ((|p| p.autonomy = Level::L4) as fn(&mut Profile), "--autonomy L5 or more"),
        (|p| p.workspace = None, "--workspace DIR"),
        (|p| p.tools = ToolSet::Only(vec!["shell".into()]), "--tools all"),
        (|p| p.base_url = Some("http://127.0.0.1:1".into()), "models.json"),
    ] {
        let refused = app.engine.put_profile(set(change), None).await.expect_err("refused").to_string();
        assert!(refused.contains(part), "{refused}");
    }
}

#[tokio::test]
async fn what_it_does_is_told_and_stands_in_the_log() {
    let app = pi().await;
    let text = "!say Looking.\n!tool write {\"path\":\"a.txt\",\"content\":\"x\"}\n!tool ledger_pay {\"to\":\"bob\"}\n!say Done.";
    let done = say(&app, text).await;
    assert_eq!((done.kind, done.said.as_str()), (EndKind::Replied, "Looking.\n\nDone."));
    assert!(app.workspace().join("a.txt").exists());
    let log = log(&app, &done).await;
    let calls: Vec<&str> = log
        .iter()
        .filter_map(|r| if let Record::Answered { calls, .. } = r { Some(calls) } else { None })
        .flatten()
        .map(|call| call.tool.as_str())
        .collect();
    assert_eq!(calls, ["write_file", "other"]);
    let results =
        log.iter().filter(|r| matches!(r, Record::Result { ok: true, text, .. } if text.starts_with("did ")));
    assert_eq!(results.count(), 2);
    let usage = app.engine.session(done.session.unwrap()).await.unwrap().session.usage;
    assert_eq!((usage.calls, usage.input, usage.cost_micros), (3, 36, 750));
}

#[tokio::test]
async fn a_stop_aborts_it_and_it_goes_on_with_the_next_message() {
    let app = pi().await;
    let mut stream = send(&app, "!stream 1000 20").await;
    while !stream.next().await.unwrap().is_some_and(|event| format!("{event:?}").contains("word3")) {}
    assert_eq!(say(&app, "/stop").await.kind, EndKind::Stopped);
    assert_eq!(say(&app, "hello").await.said, "4 messages, 0 pictures: hello", "the same process goes on");
}

#[tokio::test]
async fn a_crash_is_a_failed_turn_with_its_last_words_and_the_next_message_starts_it_again() {
    let app = pi().await;
    let failed = say(&app, "!say First.\n!tool die {}").await;
    assert_eq!(failed.kind, EndKind::Failed);
    for part in ["First.", "pi ended with exit code 7", "the disk is on fire"] {
        assert!(failed.said.contains(part), "{}", failed.said);
    }
    assert_eq!(say(&app, "hello").await.said, "4 messages, 0 pictures: hello");
}

#[tokio::test]
async fn a_failure_of_its_model_is_told_and_one_it_gets_over_is_not() {
    let app = pi().await;
    let failed = say(&app, "!tool fail {}").await;
    assert_eq!(failed.kind, EndKind::Failed);
    assert!(failed.said.contains("pi failed: 529 overloaded"), "{}", failed.said);
    let done = say(&app, "!tool retry {}").await;
    assert_eq!((done.kind, done.said.as_str()), (EndKind::Replied, "Whole."));
    let done = say(&app, "!tool dialog {}").await;
    assert_eq!(done.said, "cancelled: true", "nobody is there to answer an extension");
}

#[tokio::test]
async fn one_that_cannot_be_started_says_what_to_do() {
    let app = pi_with(|p| p.harness = HarnessRef::Pi("/no/such/pi".into())).await;
    let failed = say(&app, "hello").await;
    assert!(failed.said.contains("npm install -g @mariozechner/pi-coding-agent"), "{}", failed.said);
    let app = pi_with(|p| p.models = vec!["fake:unknown".parse().unwrap()]).await;
    let failed = say(&app, "hello").await;
    assert!(failed.said.contains("Model \"unknown\" not found"), "{}", failed.said);
}

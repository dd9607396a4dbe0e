//! The scripted agent of `examples/acp_agent`, a process of its own, under the whole engine.

use sb_engine::model::*;

use crate::world::*;

mod choices;
mod files;
mod lent;
mod settings;

fn write(path: &str) -> String {
    format!("!tool write_file {{\"path\":\"{path}\",\"content\":\"x\"}}\n!say After it.")
}

#[tokio::test]
async fn it_answers_and_knows_its_session_from_message_to_message_and_over_a_restart() {
    let app = app().await;
    assert_eq!(say(&app, "hello").await.said, "prompt 1, 0 pictures: hello");
    assert_eq!(say(&app, "more").await.said, "prompt 2, 0 pictures: more");
    let app = app.reopen().await;
    end_process(&app).await;
    assert_eq!(say(&app, "and more").await.said, "prompt 3, 0 pictures: and more");
}

#[tokio::test]
async fn it_is_told_the_instructions_and_after_an_undo_what_is_left() {
    let app = app_with(|p| p.instructions = "Be kind.".into()).await;
    assert!(say(&app, "one").await.said.ends_with("Be kind.|one"));
    say(&app, "two").await;
    say(&app, "/undo").await;
    let said = say(&app, "three").await.said;
    assert!(said.contains("prompt 1") && said.contains("> one") && !said.contains("> two"), "{said}");
}

/// Holds: H-27.
#[tokio::test]
async fn what_it_asks_waits_for_a_person_and_is_done_once_allowed() {
    let app = app().await;
    let asked = say(&app, &write("a.txt")).await;
    assert_eq!(asked.kind, EndKind::Waiting);
    assert!(
        asked.said.contains("write_file {\"content\":\"x\",\"path\":\"a.txt\"} (a write at autonomy L3"),
        "{}",
        asked.said
    );
    assert!(!app.workspace().join("a.txt").exists(), "nothing is done before");
    let done = say(&app, "/approve").await;
    assert_eq!((done.kind, done.said.as_str()), (EndKind::Replied, "After it."));
    assert!(app.workspace().join("a.txt").exists());
    let log = log(&app, &done).await;
    let at = |wanted: fn(&Record) -> bool| log.iter().position(wanted).expect("it stands in the log");
    let acting = at(|r| matches!(r, Record::Acting { .. }));
    let result = at(|r| matches!(r, Record::Result { ok: true, .. }));
    assert!(at(|r| matches!(r, Record::Decided { allowed: true, .. })) < acting && acting < result);
}

#[tokio::test]
async fn always_is_remembered_here_and_never_told_to_it() {
    let app = app().await;
    say(&app, &write("notes/a.txt")).await;
    std::fs::create_dir_all(app.workspace().join("notes")).unwrap();
    say(&app, "/approve always write_file(notes/:*)").await;
    let again = say(&app, &write("notes/b.txt")).await;
    assert_eq!((again.kind, app.workspace().join("notes/b.txt").exists()), (EndKind::Replied, true));
    assert_eq!(say(&app, &write("other.txt")).await.kind, EndKind::Waiting, "the rule reaches no further");
}

#[tokio::test]
async fn a_refusals_reason_reaches_it() {
    let app = app().await;
    say(&app, &write("a.txt")).await;
    let done = say(&app, "/decline not on a Sunday").await;
    assert!(done.said.contains("prompt 2") && done.said.contains("not on a Sunday"), "{}", done.said);
    say(&app, &write("a.txt")).await;
    let done = say(&app, "/decline").await;
    assert_eq!(done.kind, EndKind::Silent, "without a reason there is nothing to tell it: {}", done.said);
    assert!(!app.workspace().join("a.txt").exists());
}

#[tokio::test]
async fn levels_hold_for_it() {
    for (level, expected) in [(Level::L2, EndKind::Replied), (Level::L4, EndKind::Replied)] {
        let app = app_with(|p| p.autonomy = level).await;
        assert_eq!(say(&app, &write("a.txt")).await.kind, expected, "nobody is asked at {level}");
        assert_eq!(app.workspace().join("a.txt").exists(), level == Level::L4, "{level}");
    }
    let app = app_with(|p| p.autonomy = Level::L4).await;
    let outside = say(&app, "!tool web_fetch {\"url\":\"https://example.org\"}").await;
    assert_eq!(outside.kind, EndKind::Waiting);
}

#[tokio::test]
async fn a_file_outside_its_folder_is_refused_without_asking_anybody() {
    let app = app_with(|p| p.autonomy = Level::L4).await;
    let target = app.home().join("outside.txt");
    let text = format!("!tool write_file {{\"path\":\"{}\"}}", target.display());
    let done = say(&app, &text).await;
    assert_ne!(done.kind, EndKind::Waiting);
    assert!(!target.exists());
    let noted =
        |r: &Record| matches!(r, Record::Noted { text, .. } if text.contains("outside the workspace"));
    assert!(log(&app, &done).await.iter().any(noted));
}

#[tokio::test]
async fn files_it_asks_us_for_are_its_folders_and_a_write_passes_the_gate() {
    let app = app().await;
    std::fs::write(app.workspace().join("in.txt"), "one\ntwo\nthree\n").unwrap();
    let asked = say(&app, "!tool fault {\"kind\":\"files\"}").await;
    assert!(asked.said.starts_with("two. refused. refused."), "{}", asked.said);
    assert!(asked.said.contains("write_file {\"content\":\"x\",\"path\":\"new/in.txt\"}"), "{}", asked.said);
    assert!(!app.workspace().join("new").exists());
    assert!(say(&app, "/approve").await.said.contains("done."));
    assert!(app.workspace().join("new/in.txt").exists() && !app.home().join("out.txt").exists());
}

#[tokio::test]
async fn two_questions_at_once_are_put_one_after_the_other() {
    let app = app().await;
    assert!(say(&app, "!tool fault {\"kind\":\"twice\"}").await.said.contains("a.txt"));
    assert!(say(&app, "/approve").await.said.contains("b.txt"));
    assert_eq!(say(&app, "/decline").await.said.lines().next_back(), Some("a: yes, b: no"));
}

#[tokio::test]
async fn garbage_and_what_nobody_knows_are_passed_over() {
    let app = app().await;
    let said =
        say(&app, "!tool fault {\"kind\":\"garbage\"}\n!say Fine.\n!tool fault {\"kind\":\"late\"}").await;
    assert_eq!((said.kind, said.said.as_str()), (EndKind::Replied, "Fine."));
    assert_eq!(say(&app, "on").await.said, "prompt 2, 0 pictures: on");
}

#[tokio::test]
async fn a_crash_is_a_failed_turn_with_its_last_words_and_the_next_message_starts_it_again() {
    let app = app().await;
    let failed = say(&app, "!say First.\n!tool fault {\"kind\":\"die\"}").await;
    assert_eq!(failed.kind, EndKind::Failed);
    for part in ["First.", "acp_agent ended with exit code 7", "the disk is on fire"] {
        assert!(failed.said.contains(part), "{}", failed.said);
    }
    assert_eq!(say(&app, "hello").await.said, "prompt 2, 0 pictures: hello");
}

#[tokio::test]
async fn a_stop_ends_it_at_work_or_at_a_question() {
    let app = app().await;
    let asked = send(&app, &write("a.txt")).await;
    asked.ending().await.expect("it waits");
    assert_eq!(say(&app, "/stop").await.kind, EndKind::Stopped);
    assert_eq!(say(&app, "/approve").await.kind, EndKind::Refused);
    assert!(!app.workspace().join("a.txt").exists());
    assert_eq!(say(&app, "hello").await.said, "prompt 2, 0 pictures: hello", "the same process goes on");
}

#[tokio::test]
async fn one_that_cannot_be_made_to_ask_is_refused() {
    let app = app_with(|p| p.harness = agent("--no-modes")).await;
    let said = say(&app, "hello").await;
    assert_eq!(said.kind, EndKind::Failed);
    assert!(said.said.contains("no mode that asks") && said.said.contains("--harness-mode"), "{}", said.said);
    let app = app_with(|p| {
        p.harness = agent("--no-modes");
        p.harness_mode = Some("asks".into());
    })
    .await;
    assert_eq!(say(&app, "hello").await.kind, EndKind::Replied);
    let app = app_with(|p| (p.harness, p.autonomy) = (agent("--no-modes"), Level::L5)).await;
    assert_eq!(say(&app, "hello").await.kind, EndKind::Replied, "from L5 on there is little to ask");
}

#[tokio::test]
async fn a_question_open_at_a_restart_is_closed_and_its_turn_runs_again() {
    let app = app().await;
    let asked = say(&app, &write("a.txt")).await;
    let (session, request) = (asked.session, asked.waiting.unwrap().short());
    let app = app.reopen().await;
    // The turn runs again by itself and asks anew, under another id.
    let again = sb_testkit::until("a second question", async || {
        let view = app.engine.session(session.unwrap()).await.unwrap();
        let asked = view.log.iter().filter(|e| matches!(e.record, Record::Asked { .. })).count();
        (asked == 2).then_some(view)
    })
    .await;
    assert!(again.log.iter().any(|e| matches!(e.record, Record::Restarted { .. })));
    assert_eq!(say(&app, &format!("/approve {request}")).await.kind, EndKind::Refused);
    assert_eq!(say(&app, "/approve").await.said.lines().next_back(), Some("After it."));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_with_what_to_do() {
    let app = app().await;
    let mut profile = Profile { models: Vec::new(), ..app.profile("assistant") };
    profile.harness = HarnessRef::Acp("codexx".into());
    let refused = app.engine.put_profile(profile.clone(), None).await.expect_err("refused");
    assert!(refused.to_string().contains("claude-code, codex"), "{refused}");
    profile.harness = HarnessRef::Acp("/no/such/agent --acp".into());
    app.engine.put_profile(profile, None).await.expect("a command may be installed later");
    let failed = say(&app, "hello").await;
    assert_eq!(failed.kind, EndKind::Failed);
    assert!(failed.said.contains("/no/such/agent cannot be started"), "{}", failed.said);
}

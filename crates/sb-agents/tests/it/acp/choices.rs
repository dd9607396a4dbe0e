//! Questions whose answers the agent names itself.

use super::*;

const PLAN: &str = r#"!tool choose {"options":[["allow_always","acceptEdits","Yes, and auto-accept"],
    ["allow_once","auto","Yes, in my own way"],["allow_once","north","Go **north**"],["allow_once","south","Go south"],
    ["reject_once","stay","No, keep planning"]]}"#;

fn plan() -> String {
    PLAN.replace("\n    ", "")
}

fn one(name: &str) -> String {
    format!(
        r#"!tool choose {{"options":[["allow_always","aa","Always"],["allow_once","a","{name}"],["reject_once","r","No"]]}}"#
    )
}

#[tokio::test]
async fn several_ways_are_put_by_name_and_the_one_that_is_chosen_is_answered() {
    let app = app().await;
    let asked = say(&app, &plan()).await;
    assert_eq!(asked.kind, EndKind::Waiting);
    assert!(asked.said.contains("in one of these ways: 1. Go north, 2. Go south)"), "{}", asked.said);
    assert!(asked.said.contains("# Plan\n1. go\n"), "a plan is read as it is: {}", asked.said);
    // A yes that does not say which decides nothing.
    for unclear in ["/approve", "/approve always", "/approve 3"] {
        let refused = say(&app, unclear).await;
        assert_eq!(refused.kind, EndKind::Refused, "{unclear}");
        assert!(refused.said.contains("2. Go south"), "{}", refused.said);
    }
    let done = say(&app, "/approve 2").await;
    assert!(done.said.ends_with("It was south."), "{}", done.said);
    let log = log(&app, &done).await;
    let chosen = |r: &Record| matches!(r, Record::Decided { allowed: true, why, .. } if why == "Go south");
    assert!(log.iter().any(chosen), "the log says which");
}

#[tokio::test]
async fn no_level_and_no_rule_chooses_for_a_person() {
    let app = app_with(|p| p.autonomy = Level::L6).await;
    let asked = say(&app, &plan()).await;
    assert_eq!(asked.kind, EndKind::Waiting);
    assert!(asked.said.contains("several ways"), "{}", asked.said);
    assert!(say(&app, "/decline").await.said.ends_with("It was stay."));
    let done = say(&app, &one("Yes, and open the door")).await;
    assert_eq!((done.kind, done.said.as_str()), (EndKind::Replied, "It was a."), "one way is no choice");
}

#[tokio::test]
async fn what_would_end_its_asking_is_never_answered_whatever_it_is_called() {
    let app = app().await;
    for name in ["Yes, and don't ask again", "Yes, for this session", "Yes, and auto-accept edits"] {
        let done = say(&app, &one(name)).await;
        assert_eq!((done.kind, done.said.as_str()), (EndKind::Replied, "It was r."), "{name}");
        let noted = |r: &Record| matches!(r, Record::Noted { text, .. } if text.contains("stop asking"));
        assert!(log(&app, &done).await.iter().any(noted), "{name}");
    }
    let lasting = r#"!tool choose {"options":[["allow_once","auto","Yes"],["reject_always","never","No"]]}"#;
    let done = say(&app, lasting).await;
    assert_eq!(done.said, "It was cancelled.", "nothing of these is for once only");
}

#[tokio::test]
async fn a_change_is_read_as_a_diff_before_it_is_allowed_and_in_the_log() {
    let app = app().await;
    let edit = r#"!tool edit {"path":"a.txt","old":"one\ntwo\nthree\n","new":"one\n2\nthree\n"}"#;
    let asked = say(&app, edit).await;
    let diff = "```diff\n--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n```";
    assert!(asked.said.contains(diff), "{}", asked.said);
    assert!(asked.said.contains("write_file {\"path\":\"a.txt\"} (a write"), "{}", asked.said);
    let done = say(&app, "/approve").await;
    let calls: Vec<Call> = log(&app, &done)
        .await
        .into_iter()
        .filter_map(|r| if let Record::Answered { calls, .. } = r { Some(calls) } else { None })
        .flatten()
        .collect();
    assert!(calls[0].lines().is_some_and(|(_, text)| text.contains("\n-two\n+2\n")), "{calls:?}");
}

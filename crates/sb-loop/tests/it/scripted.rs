//! The loop with the scripted model: tools, permission, parking, stopping, failing, shortening.

use std::time::Duration;

use sb_harness::model::*;
use sb_harness::{HarnessEvent, HarnessInput};

use crate::world::{Ran, Ring, Says, World};

fn world() -> World {
    World::new(&["scripted"], Ring::default())
}

fn results(world: &World) -> Vec<(bool, String)> {
    let result = |e: &Entry| match &e.record {
        Record::Result { ok, text, .. } => Some((*ok, text.clone())),
        _ => None,
    };
    world.log.iter().filter_map(result).collect()
}

fn done(ran: &Ran) -> &Ran {
    assert_eq!(ran.ended, Ok(StopReason::Done), "{ran:?}");
    ran
}

/// Holds: H-04.
#[tokio::test]
async fn a_message_is_answered_at_once() {
    let ran = world().ask("Hello!").await;
    assert_eq!(done(&ran).reply(), "You said: \"Hello!\"");
    assert_eq!((ran.usage().calls, ran.usage().input, ran.usage().output), (1, 1, 3));
}

#[tokio::test]
async fn a_call_runs_after_go_and_its_result_comes_back() {
    let mut world = world();
    let ran = world
        .ask("!tool write_file {\"path\":\"a.txt\",\"content\":\"hi\"}\n!tool read_file {\"path\":\"a.txt\"}")
        .await;
    assert_eq!(done(&ran).reply(), "Made a.txt (2 bytes).\n\nhi");
    let classes: Vec<ToolClass> = ran.calls().iter().map(|c| c.class).collect();
    assert_eq!(classes, [ToolClass::Write, ToolClass::Read]);
    let states: Vec<&str> = ran
        .events
        .iter()
        .filter_map(|e| if let HarnessEvent::Tool(t) = e { Some(t.state) } else { None })
        .collect();
    assert_eq!(states, ["running", "done", "running", "done"]);
}

#[tokio::test]
async fn a_call_that_waits_parks_the_turn_and_it_goes_on_from_the_log() {
    let mut world = world();
    world.says = [Says::Wait].into();
    let ran = world.ask("!say before\n!tool shell {\"command\":\"echo ran >> made\"}\n!say after").await;
    assert_eq!((ran.ended.clone(), ran.reply().as_str()), (Ok(StopReason::Parked), "before"));
    assert!(!world.path().join("made").exists());
    let ran = world.go_on().await;
    assert_eq!(done(&ran).reply(), "after");
    assert_eq!(std::fs::read_to_string(world.path().join("made")).expect("made"), "ran\n");
}

#[tokio::test]
async fn a_call_that_is_refused_is_told_to_the_model() {
    let mut world = world();
    world.says = [Says::No("Declined by ada.")].into();
    let ran = world.ask("!tool shell {\"command\":\"touch made\"}").await;
    assert_eq!(done(&ran).reply(), "Declined by ada.");
    assert_eq!(results(&world), [(false, "Declined by ada.".to_owned())]);
    assert!(!world.path().join("made").exists());
}

#[tokio::test]
async fn a_call_cut_off_by_a_crash_is_not_run_again() {
    let mut world = world();
    world.says = [Says::Wait].into();
    world.ask("!tool shell {\"command\":\"touch made\"}").await;
    world.add(Record::Acting { call: "call_1".into() });
    world.add(Record::Restarted { starts: 2 });
    let ran = world.go_on().await;
    done(&ran);
    assert!(results(&world)[0].1.contains("may have been done"));
    assert!(ran.calls().is_empty() && !world.path().join("made").exists());
}

#[tokio::test]
async fn what_cannot_be_run_is_told_without_asking_anyone() {
    let mut world = world();
    world.choices.tools = Some(vec!["read_file".into()]);
    let ran =
        world.ask("!tool dance {}\n!tool shell {\"command\":\"ls\"}\n!tool read_file {\"file\":\"a\"}").await;
    assert!(done(&ran).calls().is_empty());
    let said: Vec<String> = results(&world).into_iter().map(|(ok, text)| format!("{ok} {text}")).collect();
    assert!(
        said[0].starts_with("false There is no such tool as \"dance\"") && said[1].contains("\"shell\""),
        "{said:?}"
    );
    assert!(said[2].contains("It must match this schema"), "{said:?}");
}

/// Holds: H-09.
#[tokio::test]
async fn a_shared_file_reaches_the_person_and_the_log() {
    let mut world = world();
    std::fs::write(world.path().join("r.txt"), "report").expect("written");
    let ran = world.ask("!tool share_file {\"path\":\"r.txt\"}\n!say here").await;
    let file =
        ran.events.iter().find_map(|e| if let HarnessEvent::File(f) = e { Some(f.clone()) } else { None });
    let file = file.expect("a file");
    assert_eq!((file.name.as_str(), file.size), ("r.txt", 6));
    assert!(world.log.iter().any(|e| e.record == Record::Shared { file: file.clone() }));
}

#[tokio::test]
async fn stopping_keeps_the_words_so_far() {
    let mut world = world();
    let mut running = world.begin("!stream 1000 20");
    world.until(&mut running, |e| matches!(e, HarnessEvent::Text(t) if t.contains("word3"))).await;
    running.tell.send(HarnessInput::Stop).expect("running");
    let ran = world.finish(running).await;
    assert_eq!(ran.ended, Ok(StopReason::Stopped));
    let Some(Record::Answered { text, cut: true, calls, .. }) = world.log.last().map(|e| &e.record) else {
        panic!("the words are logged: {:?}", world.log)
    };
    assert!(text.starts_with("word1 word2 word3") && calls.is_empty());
    let after = world.ask("again").await;
    done(&after);
}

/// Holds: C-10, C-11.
#[tokio::test]
async fn stopping_kills_the_running_command() {
    let mut world = world();
    let mut running = world.begin("!tool shell {\"command\":\"echo $$ > pid; sleep 600\"}");
    world.until(&mut running, |e| matches!(e, HarnessEvent::Tool(_))).await;
    let pid = loop {
        match std::fs::read_to_string(world.path().join("pid")) {
            Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
            _ => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    };
    running.tell.send(HarnessInput::Stop).expect("running");
    let ran = world.finish(running).await;
    assert_eq!(ran.ended, Ok(StopReason::Stopped));
    assert_eq!(results(&world), [(false, "Stopped by a person before it was done.".to_owned())]);
    for _ in 0..1000 {
        match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
            Ok(stat) if !stat.contains(") Z") => tokio::time::sleep(Duration::from_millis(10)).await,
            _ => return,
        }
    }
    panic!("the command lives on");
}

#[tokio::test]
async fn words_said_meanwhile_reach_the_model_before_its_next_answer() {
    let mut world = world();
    let mut running = world.begin("!tool shell {\"command\":\"sleep 0.2\"}\n!say the old script goes on");
    world.until(&mut running, |e| matches!(e, HarnessEvent::Tool(_))).await;
    let record = World::said("and be quick", vec![]);
    running.tell.send(HarnessInput::Steer(MessageId(7), record)).expect("running");
    let ran = world.finish(running).await;
    assert_eq!(done(&ran).reply(), "You said: \"and be quick\"");
    assert!(ran.events.contains(&HarnessEvent::Took(MessageId(7))));
}

#[tokio::test]
async fn words_said_during_the_last_answer_are_not_taken() {
    let mut world = world();
    let mut running = world.begin("!stream 5 20");
    world.until(&mut running, |e| matches!(e, HarnessEvent::Text(_))).await;
    running.tell.send(HarnessInput::Steer(MessageId(7), World::said("late", vec![]))).expect("running");
    let ran = world.finish(running).await;
    assert!(!done(&ran).events.contains(&HarnessEvent::Took(MessageId(7))));
}

#[tokio::test(start_paused = true)]
async fn failures_are_told_by_their_kind() {
    let cases = [
        ("overloaded", TurnFaultKind::Overloaded, 3),
        ("rate_limit", TurnFaultKind::RateLimited, 3),
        ("network", TurnFaultKind::Network, 3),
        ("credit", TurnFaultKind::Credit, 1),
        ("auth", TurnFaultKind::Auth, 1),
        ("refused", TurnFaultKind::Refused, 1),
        ("context", TurnFaultKind::ContextFull, 1),
        ("crash", TurnFaultKind::Crashed, 1),
    ];
    for (kind, expected, attempts) in cases {
        let ran = world().ask(&format!("!fail {kind}")).await;
        assert_eq!(ran.fault().kind, expected, "{kind}");
        assert_eq!(ran.usage().calls, attempts, "{kind}");
        assert!(ran.fault().detail.len() > 30, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn once_words_were_shown_the_next_model_is_asked_and_they_are_void() {
    let mut world = World::new(&["scripted", "scripted:second"], Ring::default());
    let ran = world.ask("!say half\n!fail network").await;
    assert_eq!(ran.fault().kind, TurnFaultKind::Network);
    assert!(ran.fault().detail.contains("scripted:second"));
    assert_eq!(ran.events.iter().filter(|e| **e == HarnessEvent::Void).count(), 1);
    assert_eq!(ran.usage().calls, 2, "each model once");
    assert_eq!(ran.reply(), "half", "the last attempt's words stand");
    assert!(matches!(world.log.last().map(|e| &e.record), Some(Record::Answered { cut: true, .. })));
}

#[tokio::test]
async fn the_chosen_model_is_asked_first() {
    let mut world = World::new(&["scripted", "scripted:second"], Ring::default());
    world.choices.model = Some("scripted:second".into());
    done(&world.ask("hi").await);
    assert!(matches!(&world.log[1].record, Record::Answered { model, .. } if model == "scripted:second"));
}

#[tokio::test]
async fn compacting_spares_the_last_exchange_and_says_so() {
    let mut world = world();
    assert!(world.compact().await.reply().contains("nothing to shorten"));
    for text in ["first words", "second words", "third words"] {
        world.ask(text).await;
    }
    let ran = world.compact().await;
    assert!(done(&ran).reply().starts_with("Shortened: 2 earlier exchanges are"), "{}", ran.reply());
    let Some(Record::Summary { text, covers }) = world.log.last().map(|e| &e.record) else {
        panic!("{:?}", world.log)
    };
    assert!(text.contains("first words") && text.contains("second words") && !text.contains("third"));
    assert_eq!(*covers, Seq(4));
    assert!(world.compact().await.reply().contains("nothing to shorten"));
    done(&world.ask("fourth words").await);
}

#[tokio::test]
async fn a_full_context_is_shortened_once_and_then_told() {
    let mut world = world();
    world.ask("first").await;
    let ran = world.ask("!fail context").await;
    assert_eq!(ran.fault().kind, TurnFaultKind::ContextFull);
    let summaries = world.log.iter().filter(|e| matches!(e.record, Record::Summary { .. })).count();
    assert_eq!((summaries, ran.usage().calls), (1, 3), "tried, shortened, tried");
}

#[tokio::test]
async fn a_turn_has_at_most_a_hundred_answers() {
    let mut world = world();
    let script = "!tool list_files {\"path\":\".\"}\n".repeat(120);
    let ran = world.ask(&script).await;
    assert_eq!((ran.ended.clone(), ran.usage().calls), (Ok(StopReason::Limit), 100));
    let ids: std::collections::HashSet<_> = ran.calls().iter().map(|c| c.id.clone()).collect();
    assert_eq!(ids.len(), 100, "every call has an id of its own");
}

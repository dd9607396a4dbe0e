//! The agent of `a2a_agent`, at an address of its own, under the whole engine.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use sb_agents::{A2aContext, A2aHarness, A2aKeys};
use sb_engine::Agents;
use sb_engine::harness::Harness;
use sb_engine::model::*;
use sb_harness::net::{Away, Looking, Resolve};
use sb_testkit::app::TestApp;
use sb_wire::a2a::{Content, Operation, Version};

use crate::a2a_agent::{Manner as PeerManner, Peer};
use crate::world::{log, say, send_with};

/// Whatever it is told.
#[derive(Default)]
struct Key(Mutex<Option<&'static str>>);

impl A2aKeys for Key {
    fn key(&self, _: &Profile) -> Option<Secret> {
        self.0.lock().unwrap().map(Secret::new)
    }
}

/// Every name means this machine.
struct Here;

impl Resolve for Here {
    fn addresses<'a>(&'a self, _: &'a str) -> Looking<'a> {
        Box::pin(async { Ok(vec!["127.0.0.1".parse().unwrap()]) })
    }
}

struct Elsewhere(Arc<A2aHarness>);

#[async_trait]
impl Agents for Elsewhere {
    fn harness(&self, _: &Profile) -> Arc<dyn Harness> {
        self.0.clone()
    }
    fn tools(&self, _: &Profile) -> Vec<String> {
        Vec::new()
    }
    fn check(&self, profile: &Profile) -> Result<(), String> {
        A2aHarness::check(profile)
    }
    async fn changed(&self, _: &ProfileName) {}
}

async fn app_at(address: &str, key: Option<&'static str>) -> TestApp {
    let keys = Arc::new(Key(Mutex::new(key)));
    let harness = A2aHarness::new(A2aContext { away: Away::new(Arc::new(Here)), keys });
    let app = TestApp::with_agents(Arc::new(Elsewhere(Arc::new(harness))), 4).await;
    let harness = HarnessRef::A2a(address.to_owned());
    let profile = Profile { harness, models: Vec::new(), workspace: None, ..app.profile("assistant") };
    app.engine.put_profile(profile, None).await.unwrap();
    app
}

async fn app(manner: PeerManner) -> (TestApp, Peer) {
    let peer = Peer::start(manner).await;
    (app_at(&peer.address, None).await, peer)
}

fn said(message: &sb_wire::a2a::Message) -> String {
    message.said()
}

#[tokio::test]
async fn its_words_are_the_reply_in_either_version_streamed_or_not() {
    for version in [Version::V0_3, Version::V1_0] {
        for streaming in [true, false] {
            let (app, peer) = app(PeerManner { version, streaming, ..PeerManner::default() }).await;
            let first = say(&app, "hello").await;
            assert_eq!((first.kind, first.said.as_str()), (EndKind::Replied, "message 1, 0 files: hello"));
            assert_eq!(say(&app, "more").await.said, "message 2, 0 files: more", "the same context");
            let app = app.reopen().await;
            assert_eq!(say(&app, "again").await.said, "message 3, 0 files: again", "after a restart too");
            let sent = peer.sent();
            assert!(sent.iter().all(|message| message.task.is_none()));
            assert!(
                sent[0].id != sent[1].id && sent[0].context.is_none() && sent[1].context == sent[2].context
            );
        }
    }
}

#[tokio::test]
async fn pieces_grow_into_one_answer_and_progress_stands_in_the_trace() {
    let (app, _peer) = app(PeerManner::default()).await;
    let done = say(&app, "stream").await;
    assert_eq!(done.said, "85 USD left.");
    let noted =
        |r: &Record| matches!(r, Record::Noted { text, told: false, .. } if text.contains("- looking"));
    assert!(log(&app, &done).await.iter().any(noted));
}

#[tokio::test]
async fn what_it_says_is_content_from_outside() {
    let (app, _peer) = app(PeerManner::default()).await;
    let done = say(&app, "message").await;
    assert_eq!(done.said, "Just words.");
    let view = app.engine.session(done.session.unwrap()).await.unwrap();
    assert!(view.session.tainted, "the session has read what another agent says");
    let outside =
        |r: &Record| matches!(r, Record::Result { text, outside: true, .. } if text == "Just words.");
    assert!(log(&app, &done).await.iter().any(outside));
}

#[tokio::test]
async fn its_question_is_the_reply_and_the_next_message_goes_to_the_same_task() {
    for streaming in [true, false] {
        let (app, peer) = app(PeerManner { streaming, ..PeerManner::default() }).await;
        let asked = say(&app, "ask").await;
        assert_eq!((asked.kind, asked.said.as_str()), (EndKind::Replied, "Which one?"));
        let app = app.reopen().await;
        assert_eq!(say(&app, "the red one").await.said, "message 2, 0 files: the red one");
        assert_eq!(peer.sent()[1].task.as_deref(), Some("task-1"));
        say(&app, "on").await;
        assert_eq!(peer.sent()[2].task, None, "that task is done");
    }
}

#[tokio::test]
async fn a_task_or_context_it_no_longer_knows_is_begun_anew_and_the_person_is_told() {
    let (app, peer) = app(PeerManner::default()).await;
    say(&app, "ask").await;
    peer.forget();
    let done = say(&app, "the red one").await;
    assert!(done.said.contains("begins anew"), "{}", done.said);
    let last = said(peer.sent().last().unwrap());
    assert!(last.contains("> ask") && last.ends_with("the red one"), "{last}");
}

#[tokio::test]
async fn files_go_both_ways_and_no_name_is_a_path() {
    let (app, peer) = app(PeerManner { inputs: vec!["text/plain".into()], ..PeerManner::default() }).await;
    let mut files = Vec::new();
    for (name, media_type) in [("in.txt", "text/plain"), ("in.png", "image/png")] {
        let digest = app.engine.keep_blob(b"hello").await.unwrap();
        files.push(Attachment { name: name.into(), media_type: media_type.into(), size: 5, digest });
    }
    let done = send_with(&app, "look", files).await.ending().await.unwrap();
    assert!(done.said.contains("message 1, 1 files: look"), "{}", done.said);
    assert!(done.said.contains("in.png was not passed on: this agent takes no image/png"), "{}", done.said);
    let raw = peer.sent()[0].parts.iter().find(|p| matches!(p.content, Content::Raw(_))).cloned().unwrap();
    assert_eq!((raw.content, raw.name.as_deref()), (Content::Raw("aGVsbG8=".into()), Some("in.txt")));
    let given = say(&app, "file").await;
    let names: Vec<&str> = given.files.iter().map(|f| f.name.as_str()).collect();
    assert_eq!((names, given.files[0].size), (vec!["note.txt"], 5));
    assert!(
        given.said.starts_with("Here.") && given.said.contains("odd.bin could not be read"),
        "{}",
        given.said
    );
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_taken_up_again_and_nothing_is_sent_twice() {
    let (app, peer) = app(PeerManner::default()).await;
    let done = say(&app, "break").await;
    assert_eq!((done.kind, done.said.as_str()), (EndKind::Replied, "one two three"));
    assert_eq!((peer.sent().len(), peer.asked(Operation::Follow)), (1, 1));
}

#[tokio::test]
async fn one_that_breaks_off_before_it_says_anything_fails_and_is_not_sent_twice() {
    let (app, peer) = app(PeerManner::default()).await;
    let failed = say(&app, "break early").await;
    assert_eq!((failed.kind, peer.sent().len()), (EndKind::Failed, 1), "{}", failed.said);
    assert_eq!(say(&app, "hello").await.kind, EndKind::Replied);
}

#[tokio::test]
async fn a_stop_cancels_its_task_and_keeps_what_it_said() {
    let (app, peer) = app(PeerManner::default()).await;
    let hangs = send_with(&app, "hang", Vec::new()).await;
    begun(&app, &peer).await;
    assert_eq!(say(&app, "/stop").await.kind, EndKind::Stopped);
    assert_eq!(peer.cancelled(), ["task-1"]);
    assert!(hangs.ending().await.unwrap().said.starts_with("Working on it."));
}

/// Its task is known here, for good.
async fn begun(app: &TestApp, peer: &Peer) {
    let opened = |r: &Record| matches!(r, Record::Opened { id } if id.contains("(task task-1)"));
    sb_testkit::until("a task", async || {
        let session = app.engine.sessions(None, 1).await.unwrap().pop()?;
        let view = app.engine.session(session.id).await.unwrap();
        (view.log.iter().any(|e| opened(&e.record)) && !peer.sent().is_empty()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_task_begun_before_a_restart_is_looked_up_and_not_sent_again() {
    let (app, peer) = app(PeerManner::default()).await;
    let _hangs = send_with(&app, "hang", Vec::new()).await;
    begun(&app, &peer).await;
    let app = app.reopen().await;
    peer.finish();
    let next = say(&app, "hello").await;
    assert!(next.said.starts_with("message 2"), "{}", next.said);
    let view = app.engine.session(next.session.unwrap()).await.unwrap();
    let ended = |r: &Record| matches!(r, Record::Answered { text, .. } if text == "In the end.");
    assert!(view.log.iter().any(|e| ended(&e.record)));
    assert_eq!(peer.sent().len(), 2);
}

#[tokio::test]
async fn how_a_task_ended_badly_is_told_in_its_own_words() {
    let (app, _peer) = app(PeerManner::default()).await;
    for (text, kind, part) in [
        ("fail", TurnFaultKind::Crashed, "peer failed: The disk is on fire."),
        ("reject", TurnFaultKind::Refused, "peer would not do this: Not my job."),
        ("auth", TurnFaultKind::Auth, "Log in at the desk."),
        ("refuse", TurnFaultKind::Crashed, "my head hurts"),
        ("odd", TurnFaultKind::Crashed, "in a state that is not known here"),
        ("garbage", TurnFaultKind::Crashed, "cannot be read"),
        ("flood", TurnFaultKind::Crashed, "more than one reply may hold"),
    ] {
        let failed = say(&app, text).await;
        assert_eq!(failed.fault.as_ref().map(|f| f.kind), Some(kind), "{text}: {}", failed.said);
        assert!(failed.said.contains(part), "{text}: {}", failed.said);
        assert_eq!(say(&app, "/new").await.kind, EndKind::Replied);
    }
}

#[tokio::test]
async fn what_never_arrived_is_sent_again() {
    let (app, peer) = app(PeerManner::default()).await;
    peer.down(2);
    assert_eq!(say(&app, "hello").await.said, "message 1, 0 files: hello");
    assert_eq!(peer.sent().len(), 1);
}

#[tokio::test]
async fn it_is_told_the_instructions_once() {
    let (app, peer) = app(PeerManner::default()).await;
    let stored = app.engine.profile(&"assistant".into()).await.unwrap();
    app.engine.put_profile(Profile { instructions: "Be kind.".into(), ..stored }, None).await.unwrap();
    say(&app, "one").await;
    say(&app, "two").await;
    let sent: Vec<String> = peer.sent().iter().map(said).collect();
    assert!(sent[0].contains("Be kind.") && !sent[1].contains("Be kind."), "{sent:?}");
    say(&app, "/undo").await;
    say(&app, "three").await;
    let sent = said(peer.sent().last().unwrap());
    assert!(sent.contains("Be kind.") && sent.contains("> one") && !sent.contains("> two"), "{sent}");
}

#[tokio::test]
async fn a_key_is_shown_to_the_place_that_was_named_and_no_other() {
    let peer = Peer::start(PeerManner { key: Some("s3cret"), ..PeerManner::default() }).await;
    let without = say(&app_at(&peer.address, None).await, "hello").await;
    assert_eq!(without.fault.as_ref().map(|f| f.kind), Some(TurnFaultKind::Auth));
    assert!(without.said.contains("--api-key-stdin"), "{}", without.said);
    let wrong = say(&app_at(&peer.address, Some("other")).await, "hello").await;
    assert!(wrong.said.contains("does not take our key"), "{}", wrong.said);
    assert_eq!(say(&app_at(&peer.address, Some("s3cret")).await, "hello").await.kind, EndKind::Replied);
    let other = Peer::start(PeerManner::default()).await;
    let leads = PeerManner { elsewhere: Some(format!("{}/a2a", other.address)), ..PeerManner::default() };
    let peer = Peer::start(leads).await;
    let refused = say(&app_at(&peer.address, Some("s3cret")).await, "hello").await;
    assert!(refused.said.contains("our key is not shown there"), "{}", refused.said);
    assert!(other.sent().is_empty());
}

#[tokio::test]
async fn a_card_leads_to_no_private_place_that_nobody_named() {
    let other = Peer::start(PeerManner::default()).await;
    let port = other.address.rsplit(':').next().unwrap().to_owned();
    for elsewhere in [
        format!("{}/a2a", other.address),
        format!("http://rebinds.example:{port}/a2a"),
        "http://rebinds.example/a2a".to_owned(),
        "http://169.254.169.254/a2a".to_owned(),
        "http://localhost/a2a".to_owned(),
        "http://0x7f.1/a2a".to_owned(),
    ] {
        let peer =
            Peer::start(PeerManner { elsewhere: Some(elsewhere.clone()), ..PeerManner::default() }).await;
        let refused = say(&app_at(&peer.address, None).await, "hello").await;
        assert_eq!(refused.kind, EndKind::Failed, "{elsewhere}");
        assert!(refused.said.contains("another place than the one that was named"), "{}", refused.said);
    }
    assert!(other.sent().is_empty());
}

#[tokio::test]
async fn what_is_no_card_here_is_told_with_what_to_do() {
    let peer = Peer::start(PeerManner { says: Some("9.9"), ..PeerManner::default() }).await;
    for (address, part) in [
        (peer.address.clone(), "offers JSONRPC 9.9"),
        (format!("{}/garbage.json", peer.address), "no agent's card"),
        (format!("{}/moved", peer.address), "which is not followed"),
        (format!("{}/none", peer.address), "answered 404"),
    ] {
        let failed = say(&app_at(&address, None).await, "hello").await;
        assert!(failed.said.contains(part), "{address}: {}", failed.said);
    }
    let app = app_at(&peer.address, None).await;
    let named = HarnessRef::A2a("http://user:pw@x".into());
    let profile = Profile { harness: named, models: Vec::new(), ..app.profile("assistant") };
    let refused = app.engine.put_profile(profile, None).await.expect_err("refused").to_string();
    assert!(refused.contains("--api-key-stdin") && !refused.contains("pw"), "{refused}");
}

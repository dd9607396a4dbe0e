//! What goes out: words nobody is called by, buttons, files, marks, changes.

use sb_channel::model::{Chat, FaultKind, FileRef, Tone};
use sb_channel::standin::{SeenFile, StandIn};
use sb_channel::{Command, Gesture, Mark, Piece};

use super::{attempt, choice, file, next, said, words, world};

#[tokio::test]
async fn whatever_is_said_nobody_is_called_by_it() {
    let world = world();
    let asked = world.platform.say(&world.lab, &world.ann, "Who is there?");
    let text = format!("@everyone @here <@{}> all of you", world.ann.id.as_deref().unwrap_or_default());
    let words = words(&text);
    let at = sb_channel::model::MessageRef(format!("{}:{asked}", world.lab.id));
    let piece = Piece::Text { words: &words, choices: &[], answers: Some(&at) };
    world.bot.send(&world.lab, piece, &attempt("k")).await.expect("sent");
    let seen = world.platform.seen(&world.lab);
    let ours = seen.ours().next().expect("a message");
    assert_eq!((ours.text.as_str(), ours.answers.as_ref()), (text.as_str(), Some(&at)));
    let id = |reference: &str| reference.split(':').next_back().unwrap_or_default().to_owned();
    assert_eq!(world.platform.pings(&id(&ours.reference.0)), Vec::<String>::new());
    world.bot.edit(&world.lab, &ours.reference, piece).await.expect("changed");
    assert_eq!(world.platform.pings(&id(&ours.reference.0)), Vec::<String>::new());
    world.send_files(&world.lab, &[file("a.txt", "text/plain", b"a")], &text).await.expect("sent");
    let seen = world.platform.seen(&world.lab);
    let last = seen.ours().last().expect("a file");
    assert_eq!(world.platform.pings(&id(&last.reference.0)), Vec::<String>::new());
}

#[tokio::test]
async fn what_is_answered_may_be_gone_or_elsewhere() {
    let world = world();
    for at in ["123456789012345678", "1"] {
        for channel in [&world.lab.id, &world.chat.id] {
            let at = sb_channel::model::MessageRef(format!("{channel}:{at}"));
            let words = words("Well.");
            let piece = Piece::Text { words: &words, choices: &[], answers: Some(&at) };
            world.bot.send(&world.lab, piece, &attempt(&at.0)).await.expect("sent");
        }
    }
    assert!(world.platform.seen(&world.lab).ours().all(|message| message.answers.is_none()));
}

#[tokio::test]
async fn a_question_has_its_buttons_until_it_is_closed() {
    let world = world();
    let many: Vec<_> =
        (1..=12).map(|n| choice(&format!("Choice {n}"), &n.to_string(), Tone::Plain)).collect();
    let at = world.send_as("q", &world.chat, "Which?", &many).await.expect("sent");
    let seen = world.platform.seen(&world.chat);
    assert_eq!(seen.messages[0].buttons.len(), 12);
    let long = choice(&"long ".repeat(40), "says", Tone::Good);
    world.send_as("l", &world.chat, "Which?", &[long]).await.expect("a label is cut to fit");
    let done = words("The third.");
    let piece = Piece::Text { words: &done, choices: &[], answers: None };
    world.bot.edit(&world.chat, &at, piece).await.expect("closed");
    let seen = world.platform.seen(&world.chat);
    assert_eq!((seen.messages[0].text.as_str(), seen.messages[0].buttons.len()), ("The third.", 0));
}

/// Holds: M-discord-01.
#[tokio::test(start_paused = true)]
async fn files_go_out_together_and_come_in_by_links_that_run_out() {
    let world = world();
    let files = [file("a.txt", "text/plain", b"first"), file("b.png", "image/png", b"second")];
    world.send_files(&world.chat, &files, "Two of them.").await.expect("sent");
    let seen = world.platform.seen(&world.chat);
    let shown: Vec<_> = seen.messages[0].files.iter().map(|f| (f.name.as_str(), &f.bytes[..])).collect();
    assert_eq!(
        (seen.messages[0].text.as_str(), shown),
        ("Two of them.", vec![("a.txt", &b"first"[..]), ("b.png", &b"second"[..])])
    );
    let large = file("large.bin", "application/octet-stream", &vec![0; 10 * 1024 * 1024 + 1]);
    let fault = world.send_files(&world.chat, &[large], "").await.expect_err("too large");
    assert_eq!(fault.kind, FaultKind::Refused);
    assert!(fault.detail.contains("this large"), "{fault}");

    let mut updates = world.listening(None).await;
    let sent =
        SeenFile { name: "notes.txt".into(), media_type: "text/plain".into(), bytes: "some notes".into() };
    world.platform.send_files(&world.chat, &world.ann, "", &[sent]);
    let batch = next(&mut updates).await;
    let came: FileRef = said(&batch).files[0].clone();
    assert_eq!((came.name.as_str(), came.size), ("notes.txt", Some(10)));
    let mut into = Vec::new();
    assert_eq!(world.bot.fetch(&came, &mut into, 100).await.expect("fetched"), 10);
    assert_eq!(into, b"some notes");
    assert!(world.bot.fetch(&came, &mut Vec::new(), 5).await.is_err(), "more than allowed");
    world.platform.expire_links();
    let mut into = Vec::new();
    assert_eq!(world.bot.fetch(&came, &mut into, 100).await.expect("by a new link"), 10);
    world.platform.delete(came.reference.split(['/', ' ']).nth(1).unwrap_or_default());
    assert!(world.bot.fetch(&came, &mut Vec::new(), 100).await.is_err(), "its message is gone");
    let elsewhere = FileRef { reference: "1/2/3 https://example.org/a".into(), ..came };
    assert_eq!(
        world.bot.fetch(&elsewhere, &mut Vec::new(), 9).await.expect_err("not Discord").kind,
        FaultKind::Refused
    );
}

/// Holds: M-discord-02.
#[tokio::test]
async fn it_is_shown_to_be_at_work_for_ten_seconds() {
    let world = world();
    world.bot.gesture(&world.chat, Gesture::Typing(true)).await.expect("typing");
    world.clock.pass_ms(9_000);
    assert!(world.platform.seen(&world.chat).typing);
    world.clock.pass_ms(2_000);
    assert!(!world.platform.seen(&world.chat).typing);
    let manifest = (sb_channels::discord::KIND.manifest)();
    let sb_channel::Typing::Renew { every } = manifest.direct.typing else { panic!("shown again") };
    assert_eq!(every.as_secs(), 9);
    let sb_channel::Live::Edit { .. } = manifest.group.live else { panic!("by changes") };
}

/// Holds: M-discord-03.
#[tokio::test(start_paused = true)]
async fn marks_go_one_after_the_other_and_the_last_one_stands() {
    let world = world();
    let message = world.platform.say(&world.lab, &world.ann, "Hello");
    let at = sb_channel::model::MessageRef(format!("{}:{message}", world.lab.id));
    let mark = async |mark| {
        // The reactions' bucket holds one for a quarter of a second.
        world.clock.pass_ms(250);
        world.bot.gesture(&world.lab, Gesture::Mark(&at, mark)).await
    };
    let shown = || world.platform.seen(&world.lab).messages[0].mark.clone();
    mark(Some(Mark::Taken)).await.expect("marked");
    assert_eq!(shown().as_deref(), Some("👀"));
    mark(None).await.expect("taken off");
    assert_eq!(shown(), None);
    mark(Some(Mark::Taken)).await.expect("marked");
    // Both requests of one mark: the second waits for its turn.
    let advancing = async {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        world.clock.pass_ms(250);
    };
    world.clock.pass_ms(250);
    let (failed, ()) =
        tokio::join!(world.bot.gesture(&world.lab, Gesture::Mark(&at, Some(Mark::Failed))), advancing);
    failed.expect("marked");
    assert_eq!(shown().as_deref(), Some("⚠️"));
    let gone = sb_channel::model::MessageRef(format!("{}:1", world.lab.id));
    world.clock.pass_ms(250);
    let fault =
        world.bot.gesture(&world.lab, Gesture::Mark(&gone, Some(Mark::Taken))).await.expect_err("gone");
    assert_eq!(fault.kind, FaultKind::Lost);
}

#[tokio::test]
async fn an_old_message_that_was_changed_enough_is_given_up() {
    let world = world();
    let at = world.send(&world.chat, "old").await.expect("sent");
    world.clock.pass_ms(3_600_001);
    let words = words("new");
    let piece = Piece::Text { words: &words, choices: &[], answers: None };
    for _ in 0..5 {
        world.bot.edit(&world.chat, &at, piece).await.expect("changed");
        world.clock.pass_ms(5_000);
    }
    assert_eq!(world.bot.edit(&world.chat, &at, piece).await.expect_err("too often").kind, FaultKind::Lost);
    let files = Piece::Files { files: &[], caption: None, answers: None };
    assert_eq!(
        world.bot.edit(&world.chat, &at, files).await.expect_err("files").kind,
        FaultKind::Unsupported
    );
}

#[tokio::test(start_paused = true)]
async fn commands_and_presses_are_answered_in_time_and_told_as_typed() {
    let world = world();
    let command = |name: &str, help: &str| Command { name: name.into(), help: help.into() };
    assert!(world.bot.offer(&[]).await.is_err(), "who we are is not known yet");
    let mut updates = world.listening(None).await;
    let menu =
        [command("status", &"How it goes. ".repeat(20)), command("Odd Name", "x"), command("stop", "Stop")];
    world.bot.offer(&menu).await.expect("offered");
    assert_eq!(world.platform.menu(), ["status", "stop"]);
    world.platform.choose(&world.lab, &world.ann, "status", Some("now"));
    let batch = next(&mut updates).await;
    assert_eq!((said(&batch).text.as_str(), said(&batch).addressed), ("/status now", true));
    assert_eq!(world.platform.answers(), [Some(4)], "whoever chose it reads that it was taken");
    let yes = choice("Yes", "/approve 1", Tone::Good);
    let at = world.send_as("q", &world.chat, "May I?", &[yes]).await.expect("sent");
    assert!(world.platform.press(&world.chat, &world.ann, "Yes"));
    let batch = next(&mut updates).await;
    let [sb_channel::Event::Pressed(press)] = batch.events.as_slice() else { panic!("{batch:?}") };
    assert_eq!(
        (press.says.as_str(), press.on.as_ref(), &press.person),
        ("/approve 1", Some(&at), &world.ann)
    );
    world.bot.gesture(&world.chat, Gesture::Heard(&press.handle)).await.expect("heard");
    assert_eq!(world.platform.answers(), [Some(4), Some(6)]);
    // Twice, or too late: the press counts all the same.
    world.bot.gesture(&world.chat, Gesture::Heard(&press.handle)).await.expect("heard before");
    assert!(world.platform.press(&world.chat, &world.ann, "Yes"));
    let batch = next(&mut updates).await;
    let [sb_channel::Event::Pressed(press)] = batch.events.as_slice() else { panic!("{batch:?}") };
    world.clock.pass_ms(4_000);
    world.bot.gesture(&world.chat, Gesture::Heard(&press.handle)).await.expect("too late");
    assert_eq!(world.platform.answers(), [Some(4), Some(6), None]);
    assert_eq!(Chat::direct("1").thread, None);
}

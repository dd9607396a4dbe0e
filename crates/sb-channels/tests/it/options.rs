//! What a channel's options do, on Telegram under the whole engine.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sb_channel::model::{Busy, Isolation, Limit, Slug};
use sb_channels::telegram::standin::{SaidFile, Saying};
use sb_testkit::messenger::SLUG;

use crate::bridge::{said, telegram, until};

/// Holds: B-01, B-03.
#[test]
fn so_many_chats_at_once_and_whoever_waited_longest_is_next() {
    let (mut messenger, platform) = telegram(|options| options.allow = vec!["*".into()]);
    messenger.parallel = 1;
    messenger.live(async |life| {
        life.say("!wait 10\n!say The first.");
        life.pass(1_000).await;
        let waiting: Vec<_> = ["Bo", "Cy", "Di"]
            .map(|name| {
                let person = platform.person(name);
                (platform.direct(&person), person)
            })
            .into_iter()
            .collect();
        for (chat, person) in &waiting {
            platform.say(chat, person, "!wait 5\n!say In turn.");
            life.pass(200).await;
        }
        let answered = || waiting.iter().map(|(chat, _)| said(&platform, chat).len()).collect::<Vec<_>>();
        life.pass(5_000).await;
        assert_eq!((answered(), life.seen().count("The first.")), (vec![0, 0, 0], 0), "one at once");
        for expected in [[1, 0, 0], [1, 1, 0], [1, 1, 1]] {
            until(life, "the next one", || answered() == expected).await;
        }
    });
}

/// Holds: E-02.
#[test]
fn what_is_one_conversation_is_the_operators_choice() {
    for (isolate, expected) in [
        (Isolation::Chat, vec!["chat:G"]),
        (Isolation::Thread, vec!["chat:G", "chat:G:thread:T"]),
        (Isolation::Sender, vec!["sender:A", "sender:B"]),
        (Isolation::ChatAndSender, vec!["chat:G:sender:A", "chat:G:sender:B"]),
    ] {
        let (mut messenger, platform) = telegram(|options| {
            options.allow = vec!["*".into()];
            options.isolate = isolate;
        });
        platform.set_privacy(false);
        messenger.live(async |life| {
            let group = platform.group("The lab", false);
            let topic = platform.topic(&group, "One");
            let bo = platform.person("Bo");
            for (chat, person) in [(&group, &life.ann), (&topic, &life.ann), (&group, &bo)] {
                platform.say(chat, person, "Please.\n!say Yes.");
                life.pass(2_000).await;
            }
            life.rest().await;
            let names = |text: &str| {
                let parts = [(&group.id, "G"), (topic.thread.as_ref().unwrap(), "T")];
                let people = [(life.ann.id.as_ref().unwrap(), "A"), (bo.id.as_ref().unwrap(), "B")];
                let short = text.strip_prefix(&format!("{SLUG}:assistant:")).unwrap().split(':');
                let name = |part: &str| {
                    let known = parts.iter().chain(&people).find(|(id, _)| id.as_str() == part);
                    known.map_or(part, |(_, short)| short).to_owned()
                };
                short.map(name).collect::<Vec<_>>().join(":")
            };
            let sessions = life.engine.sessions(None, 10).await.unwrap();
            let mut found: Vec<_> = sessions.iter().map(|s| names(&s.conversation.0)).collect();
            found.sort();
            assert_eq!(found, expected, "{isolate:?}");
        });
    }
}

#[test]
fn what_is_older_than_catch_up_allows_is_passed_over_and_logged() {
    let (mut messenger, platform) = telegram(|options| options.catch_up_s = Some(60));
    messenger.live(async |life| life.rest().await);
    let (chat, ann) = (messenger.chat.clone(), messenger.ann.clone());
    platform.say(&chat, &ann, "!say Too old.");
    // An hour passes while nobody listens: the platform still has it.
    (0..3_600).for_each(|_| messenger.clock.end());
    platform.say(&chat, &ann, "!say Just now.");
    messenger.live(async |life| {
        life.until_said("Just now.").await;
        life.rest().await;
        assert_eq!(life.seen().count("Too old."), 0);
        let lines = life.engine.channel_status(&Slug::from(SLUG)).lines;
        assert!(lines.iter().any(|l| l.said.contains("--catch-up")), "{lines:#?}");
    });
}

#[test]
fn who_writes_more_than_the_limit_is_told_once_and_may_still_stop_and_decide() {
    let (mut messenger, platform) = telegram(|options| {
        options.allow = vec!["*".into()];
        options.limit = Some(Limit { messages: 2, per_s: 600 });
        options.debounce_ms = 0;
    });
    messenger.live(async |life| {
        let bo = platform.person("Bo");
        let to_bo = platform.direct(&bo);
        life.say("!say One.");
        life.until_said("One.").await;
        life.say("!wait 30\n!say Two.");
        life.pass(1_000).await;
        (3..=9).for_each(|n| drop(life.say(&format!("!say Number {n}."))));
        life.say("/stop");
        platform.say(&to_bo, &bo, "!say For Bo.");
        until(life, "Bo's own", || said(&platform, &to_bo).iter().any(|t| t.contains("For Bo."))).await;
        life.rest().await;
        let seen = life.seen();
        assert_eq!(
            (seen.count("Write again in 10 minutes"), seen.count("Number")),
            (1, 0),
            "{:#?}",
            seen.texts()
        );
        assert_eq!(seen.count("Two."), 0, "it was stopped: {:#?}", seen.texts());
        life.pass(600_000).await;
        life.say("!say Again.");
        life.until_said("Again.").await;
    });
}

#[test]
fn a_turn_outlives_a_clock_that_leaps() {
    let (mut messenger, _platform) = telegram(|_| {});
    let clock = Arc::clone(&messenger.clock);
    messenger.live(async |life| {
        life.say("!stream 30 200\n!say Whole.");
        life.pass(2_000).await;
        clock.leap(86_400_000);
        life.until_said("Whole.").await;
        life.say("!wait 5\n!say And next.");
        life.until_said("And next.").await;
    });
}

#[test]
fn a_final_answer_is_sent_fresh_when_what_was_shown_is_old() {
    let (mut messenger, platform) = telegram(|options| {
        options.allow = vec!["*".into()];
        options.fresh_final_s = Some(20);
    });
    platform.set_privacy(false);
    messenger.live(async |life| {
        let group = platform.group("The lab", false);
        platform.say(&group, &life.ann, "Please.\n!stream 60 500\n!wait 20\n!say The end.");
        until(life, "the end", || said(&platform, &group).iter().any(|t| t.contains("The end."))).await;
        life.rest().await;
        let texts = said(&platform, &group);
        assert_eq!(texts.len(), 2, "{texts:#?}");
        assert!(
            texts[1].contains("The end.") && texts[1].contains("word1 "),
            "the whole answer, as news: {texts:#?}"
        );
        assert!(!texts[0].contains("word"), "what was shown before says no more: {texts:#?}");
    });
}

/// Holds: B-04, B-09.
#[test]
fn messages_close_together_are_one_turn_and_what_is_collected_too() {
    let (mut messenger, _platform) = telegram(|options| {
        options.debounce_ms = 500;
        options.busy = Busy::Collect;
    });
    messenger.live(async |life| {
        for n in 1..=3 {
            life.say(&format!("!say Part {n}."));
            life.pass(200).await;
        }
        life.until_said("Part 3.").await;
        life.rest().await;
        let turns = async || life.engine.sessions(None, 1).await.unwrap()[0].usage.turns;
        assert_eq!((turns().await, life.seen().ours().count()), (1, 1), "{:#?}", life.seen().texts());
        life.say("!wait 10\n!say Done.");
        life.pass(2_000).await;
        life.say("!say Four.");
        life.pass(2_000).await;
        life.say("!say Five.");
        life.until_said("Five.").await;
        life.rest().await;
        assert_eq!(turns().await, 3);
    });
}

/// Holds: F-19, F-21.
#[test]
fn connected_receiving_and_sending_are_three_facts_from_what_really_passed() {
    let (mut messenger, platform) = telegram(|_| ());
    messenger.live(async |life| {
        let status = || life.engine.channel_status(&Slug::from(SLUG));
        life.pass(60_000).await;
        let quiet = status();
        assert!(quiet.connected.is_some() && quiet.received.is_none() && quiet.sent.is_none(), "{quiet:#?}");
        platform.break_next(
            sb_channels::telegram::standin::Break::Flaky,
            sb_channels::telegram::standin::Calls::Posts,
            3,
        );
        life.say("!say Hello.");
        life.pass(400).await;
        let heard = status();
        assert!(heard.received.is_some() && heard.sent.is_none(), "{heard:#?}");
        life.until_said("Hello.").await;
        life.pass(1_000).await;
        assert!(status().sent.is_some_and(|sent| Some(sent) >= heard.received));
        // A quiet chat is a healthy one.
        life.pass(3 * 60 * 60 * 1_000).await;
        assert_eq!(status().state, sb_testkit::messenger::BridgeState::Running);
    });
}

/// Holds: B-44, B-48, M-telegram-04.
#[test]
fn a_picture_is_one_by_its_bytes_and_a_file_that_is_too_large_is_named() {
    let (mut messenger, platform) = telegram(|_| ());
    messenger.live(async |life| {
        let document = |name: &str, bytes: Vec<u8>| SaidFile {
            sort: "document",
            name: name.into(),
            media_type: "image/png".into(),
            bytes: Bytes::from(bytes),
            duration: None,
        };
        let send =
            |file| platform.post(&life.chat, &life.ann, Saying { file: Some(file), ..Saying::default() });
        send(document("liar.png", b"only words".to_vec()));
        life.until_said("A file came with this. It is in your workspace as inbox/liar.png").await;
        send(document("large.png", vec![0; 21_000_000]));
        let seen = life.until_said("large.png").await;
        assert!(seen.texts().iter().any(|t| t.contains("larger than the 20 MB")), "{:#?}", seen.texts());
        life.pass(Duration::from_secs(5).as_millis() as u64).await;
    });
}

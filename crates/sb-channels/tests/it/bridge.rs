//! Telegram under the whole engine: what only Telegram has, and what only the engine can show.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sb_channel::model::{Busy, ChannelOptions, Chat, MessageRef, ProfileName, Slug};
use sb_channels::telegram::{KIND, standin::SaidFile, standin::Saying, standin::TelegramStandIn};
use sb_testkit::messenger::{Life, Messenger, SLUG, Subject};

thread_local! {
    static PLATFORM: RefCell<Option<TelegramStandIn>> = const { RefCell::new(None) };
}

/// A messenger on Telegram, and the platform itself.
pub fn telegram(change: impl FnOnce(&mut ChannelOptions)) -> (Messenger, TelegramStandIn) {
    let subject = Subject {
        kind: Arc::new(KIND),
        standin: |clock| {
            let platform = TelegramStandIn::new(clock, "123456:stand-in_token");
            PLATFORM.set(Some(platform.clone()));
            Arc::new(platform)
        },
    };
    let messenger = Messenger::with(&subject, change);
    let platform = PLATFORM.take().expect("it was made");
    (messenger, platform)
}

pub fn said(platform: &TelegramStandIn, chat: &Chat) -> Vec<String> {
    platform.seen_of_us(chat).into_iter().map(|m| m.text).collect()
}

pub async fn until(life: &Life, what: &str, check: impl Fn() -> bool) {
    for _ in 0..12_000 {
        if check() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("never: {what}. Ann sees {:#?}", life.seen().texts());
}

/// Holds: C-02, F-45, M-telegram-10.
#[test]
fn a_topic_is_a_conversation_of_its_own_and_is_answered_there() {
    let (mut messenger, platform) = telegram(|_| ());
    messenger.live(async |life| {
        let (one, two) = (platform.topic(&life.chat, "One"), platform.topic(&life.chat, "Two"));
        platform.say(&one, &life.ann, "!say In the first.");
        platform.say(&two, &life.ann, "!say In the second.");
        platform.say(&life.chat, &life.ann, "!say In none.");
        for (chat, words) in [(&one, "In the first."), (&two, "In the second.")] {
            until(life, words, || said(&platform, chat) == [words]).await;
        }
        life.until_said("In none.").await;
        let sessions = life.engine.sessions(None, 10).await.unwrap();
        let mut names: Vec<_> = sessions.iter().map(|s| s.conversation.0.clone()).collect();
        names.sort();
        let id = life.ann.id.as_deref().unwrap();
        let thread =
            |chat: &Chat| format!("{SLUG}:assistant:chat:{id}:thread:{}", chat.thread.as_deref().unwrap());
        assert_eq!(names, [format!("{SLUG}:assistant:chat:{id}"), thread(&one), thread(&two)]);
        // A topic that was closed meanwhile: the answer is said in the chat itself, not lost.
        platform.say(&one, &life.ann, "!wait 5\n!say After closing.");
        life.pass(1_000).await;
        platform.close_topic(&one, true);
        until(life, "an answer outside", || {
            said(&platform, &life.chat).iter().any(|t| t == "After closing.")
        })
        .await;
    });
}

/// Holds: F-12, B-11.
#[test]
fn a_voice_note_that_cannot_be_heard_is_said_plainly_and_waits_its_turn() {
    let (mut messenger, platform) = telegram(|options| options.busy = Busy::Steer);
    messenger.live(async |life| {
        life.say("!wait 10\n!say The first turn.");
        life.pass(1_000).await;
        let voice = SaidFile {
            sort: "voice",
            name: String::new(),
            media_type: "audio/ogg".into(),
            bytes: Bytes::from_static(b"OggS voice"),
            duration: Some(7),
        };
        platform.post(&life.chat, &life.ann, Saying { file: Some(voice), ..Saying::default() });
        let seen = life.until_said("voice note of 7 s").await;
        assert!(seen.count("could not be heard") == 1, "{:#?}", seen.texts());
        let first = seen.texts().iter().position(|t| t.contains("The first turn."));
        let heard = seen.texts().iter().position(|t| t.contains("voice note of 7 s"));
        assert!(first < heard, "it waited its turn");
    });
}

#[test]
fn a_group_that_becomes_a_supergroup_keeps_its_conversation_and_its_answer() {
    let (mut messenger, platform) = telegram(|options| options.allow = vec!["*".into()]);
    platform.set_privacy(false);
    messenger.live(async |life| {
        let group = platform.group("The lab", true);
        platform.say(&group, &life.ann, "Please.\n!wait 5\n!say After the move.");
        life.pass(1_000).await;
        let moved = platform.migrate(&group);
        until(life, "the answer in the new group", || said(&platform, &moved) == ["After the move."]).await;
        platform.say(&moved, &life.ann, "Please.\n!say Still here.");
        until(life, "the next answer", || said(&platform, &moved).len() == 2).await;
        assert_eq!(life.engine.sessions(None, 10).await.unwrap().len(), 1, "one conversation");
    });
}

/// Holds: M-telegram-05.
#[test]
fn the_stop_button_of_a_growing_reply_stops_the_turn_and_keeps_its_words() {
    let (mut messenger, platform) = telegram(|_| ());
    messenger.live(async |life| {
        life.say("!stream 400 100\n!say Never reached.");
        until(life, "a draft with words", || {
            platform.draft(&life.chat).is_some_and(|d| d.contains("word20"))
        })
        .await;
        assert!(platform.stop_draft(&life.chat), "it can be stopped");
        let seen = life.until_said("Stopped.").await;
        assert!(seen.texts()[0].contains("word20"), "{:#?}", seen.texts());
        assert_eq!(seen.count("Never reached."), 0);
    });
}

/// Holds: M-telegram-02.
#[test]
fn in_a_group_a_reply_grows_by_edits_at_the_platforms_pace() {
    let (mut messenger, platform) = telegram(|options| options.allow = vec!["*".into()]);
    platform.set_privacy(false);
    messenger.live(async |life| {
        let group = platform.group("The lab", false);
        platform.say(&group, &life.ann, "Please.\n!stream 300 100\n!say The end.");
        until(life, "the end", || said(&platform, &group).iter().any(|t| t.contains("The end."))).await;
        life.rest().await;
        let ours = platform.seen_of_us(&group);
        assert_eq!(ours.len(), 1, "one message: {ours:#?}");
        // Thirty seconds of writing, an edit every three, and the last one.
        assert!((6..=12).contains(&ours[0].edits), "{} edits", ours[0].edits);
        assert!(ours[0].answers.is_some(), "it points at what it answers");
    });
}

/// Holds: H-06.
#[test]
fn words_of_a_failed_attempt_stand_until_the_next_ones_come_and_are_gone_then() {
    let (mut messenger, platform) = telegram(|options| options.allow = vec!["*".into()]);
    platform.set_privacy(false);
    messenger.live(async |life| {
        let mut profile = life.engine.profile(&"assistant".into()).await.unwrap();
        profile.models = vec!["scripted".parse().unwrap(), "scripted:second".parse().unwrap()];
        life.engine.put_profile(profile, None).await.unwrap();
        let group = platform.group("The lab", false);
        // Either model writes for ten seconds and breaks off.
        platform.say(&group, &life.ann, "Please.\n!stream 100 100\n!fail network");
        let shown = || said(&platform, &group).concat();
        until(life, "the first model's words", || shown().contains("word70")).await;
        until(life, "only the second model's", || !shown().contains("word70")).await;
        assert!(shown().contains("word2 "), "they were replaced, not taken away: {}", shown());
        until(life, "its end", || shown().contains("word100")).await;
        life.rest().await;
        assert_eq!(shown().matches("word2 ").count(), 1, "{}", shown());
    });
}

/// Holds: F-09, E-03.
#[test]
fn what_nobody_knows_is_kept_listed_and_passed_over() {
    let (mut messenger, platform) = telegram(|_| ());
    messenger.live(async |life| {
        platform.tell_raw("a_kind_of_tomorrow", "{\"x\": 1}");
        life.say("!say Meanwhile.");
        life.until_said("Meanwhile.").await;
        let inbox = life.engine.inbox(None).await.unwrap();
        assert_eq!(inbox.len(), 1, "{inbox:#?}");
        assert!(
            inbox[0].detail.contains("a_kind_of_tomorrow") && inbox[0].raw.contains("\"x\""),
            "{inbox:#?}"
        );
        let again = life.engine.replay(inbox[0].number).await.unwrap();
        assert_eq!(again, sb_testkit::messenger::Replayed::Unknown, "it means nothing still, and is kept");
        assert_eq!(life.engine.inbox(None).await.unwrap().len(), 1);
    });
}

/// Holds: F-10.
#[test]
fn changing_a_channel_starts_only_it_anew_and_loses_nothing() {
    let (mut messenger, platform) = telegram(|_| ());
    messenger.live(async |life| {
        for n in 0..6 {
            life.say(&format!("!stream 10 100\n!say . Number {n}."));
            let mut config = life.engine.channel(&Slug::from(SLUG)).await.unwrap().config;
            config.options.debounce_ms = n * 10;
            life.engine.put_channel(config, Vec::new()).await.unwrap();
        }
        until(life, "all six", || (0..6).all(|n| life.seen().count(&format!("Number {n}.")) > 0)).await;
        life.rest().await;
        for n in 0..6 {
            assert_eq!(life.seen().count(&format!("Number {n}.")), 1, "{:#?}", life.seen().texts());
        }
        assert_eq!(platform.waiting(), 0);
    });
}

#[test]
fn what_is_answered_quoted_and_passed_on_is_told_apart() {
    let (mut messenger, platform) = telegram(|_| ());
    messenger.live(async |life| {
        life.say("!say The sky is green.");
        let ours = life.until_said("The sky is green.").await;
        let answers = Some(ours.ours().next().unwrap().reference.clone());
        platform.post(&life.chat, &life.ann, Saying { answers, ..Saying::text("Is it?") });
        life.until_said("(In answer to your message: \"The sky is green.\")").await;
        let forwarded = Some("Bo".to_owned());
        platform.post(&life.chat, &life.ann, Saying { forwarded, ..Saying::text("Buy now!") });
        life.until_said("(Passed on, the words of Bo:)").await;
    });
}

/// Holds: B-40.
#[test]
fn a_routed_chat_is_answered_by_another_profile_in_sessions_of_its_own() {
    let (mut messenger, _platform) = telegram(|_| ());
    messenger.live(async |life| {
        let other = sb_testkit::app::profile_in("other", std::path::Path::new("/nonexistent/nowhere"));
        life.engine.put_profile(other, None).await.unwrap();
        let mut config = life.engine.channel(&Slug::from(SLUG)).await.unwrap().config;
        config.options.routes.insert(life.chat.id.clone(), ProfileName::from("other"));
        life.engine.put_channel(config, Vec::new()).await.unwrap();
        life.say("/whoami");
        life.until_said("You may talk to other here").await;
        life.say("!say Routed.");
        life.until_said("Routed.").await;
        let sessions = life.engine.sessions(None, 10).await.unwrap();
        assert!(sessions.iter().all(|s| s.profile == ProfileName::from("other")), "{sessions:#?}");
    });
}

#[test]
fn an_edit_of_a_message_that_waits_changes_it_and_a_later_one_starts_nothing() {
    let (mut messenger, platform) = telegram(|options| options.busy = Busy::Queue);
    messenger.live(async |life| {
        life.say("!wait 20\n!say First.");
        life.pass(1_000).await;
        let key = life.say("!say Wrongg.");
        life.pass(1_000).await;
        platform.edit(&key, "!say Right.");
        life.until_said("Right.").await;
        platform.edit(&key, "!say Too late.");
        life.pass(60_000).await;
        assert_eq!(life.seen().texts(), ["First.", "Right."]);
    });
}

/// Holds: F-26, M-telegram-03.
#[test]
fn a_failed_turn_says_so_in_the_chat_and_marks_its_message() {
    let (mut messenger, platform) = telegram(|_| ());
    messenger.live(async |life| {
        let key = life.say("!wait 5\n!fail overloaded");
        let mark = || {
            platform
                .seen(&life.chat)
                .into_iter()
                .find(|m| m.reference == MessageRef(key.clone()))
                .unwrap()
                .mark
        };
        until(life, "that it was taken", || mark().as_deref() == Some("👀")).await;
        life.until_said("⚠️").await;
        until(life, "the mark", || mark().as_deref() == Some("😢")).await;
    });
}

/// Holds: F-28, B-15, B-20.
#[test]
fn words_before_and_after_a_tool_arrive_once_each_and_the_tool_shows_meanwhile() {
    let (mut messenger, platform) = telegram(|_| ());
    messenger.live(async |life| {
        life.say("!tool read_file {\"path\": \"a.txt\"}\n!wait 3\n!say Before.\n!tool read_file {\"path\": \"a.txt\"}\n!wait 3\n!say After.");
        until(life, "words while it works", || platform.draft(&life.chat).is_some_and(|d| d.contains("Before."))).await;
        life.until_said("After.").await;
        life.rest().await;
        let texts = life.seen();
        assert_eq!((texts.count("Before."), texts.count("After.")), (1, 1), "{:#?}", texts.texts());
        assert!(texts.texts().iter().all(|t| !t.contains("read_file")), "nothing of the tool stays");
    });
}

/// Holds: B-16, F-27.
#[test]
fn partial_shows_the_text_and_no_tool() {
    let (mut messenger, platform) =
        telegram(|options| options.stream = sb_channel::model::Streaming::Partial);
    messenger.live(async |life| {
        life.say("!tool read_file {\"path\": \"a.txt\"}\n!stream 30 100\n!say Done.");
        for _ in 0..60 {
            assert!(!platform.draft(&life.chat).is_some_and(|d| d.contains("read_file")));
            life.pass(50).await;
        }
        life.until_said("Done.").await;
    });
}

#[test]
fn a_chat_that_lets_us_in_again_gets_what_was_kept_for_it_also_after_a_restart() {
    let (mut messenger, platform) = telegram(|_| ());
    messenger.live(async |life| {
        life.say("!wait 5\n!say Kept for later.");
        life.pass(1_000).await;
        platform.block(&life.chat);
        life.pass(60_000).await;
        assert_eq!(said(&platform, &life.chat), Vec::<String>::new());
    });
    messenger.live(async |life| {
        life.pass(60_000).await;
        let asked = platform.calls("sendMessage");
        life.pass(600_000).await;
        assert_eq!(platform.calls("sendMessage"), asked, "a closed chat is left alone");
        platform.unblock(&life.chat);
        until(life, "what was kept", || said(&platform, &life.chat) == ["Kept for later."]).await;
    });
}

const WRITE: &str = "Please.\n!tool write_file {\"path\": \"a.txt\", \"text\": \"x\"}\n!say Written.";

#[test]
fn what_was_allowed_by_a_groups_old_id_stays_allowed_when_it_moves_in_mid_turn() {
    let (mut messenger, platform) = telegram(|options| options.allow.clear());
    platform.set_privacy(false);
    let group = platform.group("The lab", true);
    messenger.config.options.allow.push(group.id.clone());
    messenger.live(async |life| {
        let ben = platform.person("Ben");
        platform.say(&group, &ben, "Please.\n!stream 80 100\n!say The end.");
        life.pass(4_500).await;
        let moved = platform.migrate(&group);
        life.pass(10_000).await;
        let ends = |texts: Vec<String>| texts.iter().any(|t| t.contains("The end."));
        assert!(
            ends(said(&platform, &moved)),
            "the answer went to where the group is: {:#?}",
            said(&platform, &moved)
        );
        platform.say(&moved, &ben, "Please.\n!say Still let in.");
        until(life, "an answer", || said(&platform, &moved).iter().any(|t| t == "Still let in.")).await;
    });
}

#[test]
fn an_approver_decides_by_button_what_somebody_elses_conversation_asks() {
    let (mut messenger, platform) = telegram(|options| {
        options.allow = vec!["*".into()];
        options.isolate = sb_channel::model::Isolation::ChatAndSender;
    });
    platform.set_privacy(false);
    messenger.live(async |life| {
        let (group, ben) = (platform.group("The lab", false), platform.person("Ben"));
        platform.say(&group, &ben, WRITE);
        until(life, "the question", || platform.seen_of_us(&group).iter().any(|m| !m.buttons.is_empty()))
            .await;
        assert!(platform.press(&group, &ben, "Allow once"), "there is a button");
        life.pass(5_000).await;
        assert!(!said(&platform, &group).iter().any(|t| t.contains("Written.")), "Ben may not decide");
        assert!(platform.press(&group, &life.ann, "Allow once"));
        until(life, "the rest", || said(&platform, &group).iter().any(|t| t.contains("Written."))).await;
    });
}

#[test]
fn words_that_are_passed_on_decide_and_stop_nothing() {
    let (mut messenger, platform) = telegram(|_| ());
    messenger.live(async |life| {
        life.say(WRITE);
        life.until_said("May I run write_file").await;
        for words in ["1", "/approve", "stop"] {
            let forwarded = Some("Mallory".to_owned());
            platform.post(&life.chat, &life.ann, Saying { forwarded, ..Saying::text(words) });
            life.pass(3_000).await;
        }
        let seen = life.seen();
        assert_eq!((seen.count("Written."), seen.count("Stopped.")), (0, 0), "{:#?}", seen.texts());
        life.say("1");
        life.until_said("Written.").await;
    });
}

#[test]
fn another_bot_under_the_same_name_begins_with_messages_of_its_own() {
    let (mut messenger, _first) = telegram(|_| ());
    messenger.live(async |life| {
        life.say("!say From the first.");
        life.until_said("From the first.").await;
        life.rest().await;
    });
    // Another platform, whose messages and updates are numbered from the beginning again.
    let other = TelegramStandIn::new(messenger.clock.clone(), "654321:another_token");
    let ann = other.person("Ann");
    let chat = other.direct(&ann);
    messenger.standin = Arc::new(other.clone());
    messenger.chat = chat.clone();
    messenger.ann = ann;
    messenger.live(async |life| {
        let config = life.engine.channel(&Slug::from(SLUG)).await.unwrap().config;
        let token = ("token".to_owned(), sb_channel::model::Secret::new("654321:another_token"));
        life.engine.put_channel(config, vec![token]).await.unwrap();
        life.say("!say From the second.");
        until(life, "its answer", || said(&other, &chat) == ["From the second."]).await;
    });
}

/// After a question a reply goes on under a name of its own; what is shown of it is the message that stays.
#[test]
fn a_long_reply_after_a_question_grows_into_the_messages_that_stay() {
    let (mut messenger, platform) = telegram(|options| {
        options.allow = vec!["*".into()];
        options.approvers.clear();
    });
    messenger.config.options.approvers = messenger.ann.id.clone().into_iter().collect();
    platform.set_privacy(false);
    messenger.live(async |life| {
        let group = platform.group("The lab", false);
        let script = "!tool write_file {\"path\": \"a.txt\", \"text\": \"x\"}\n!stream 900 40\n!say The end.";
        for (chat, first) in [(&life.chat, ""), (&group, "Please.\n")] {
            platform.say(chat, &life.ann, &format!("{first}{script}"));
            until(life, "a question", || platform.seen_of_us(chat).iter().any(|m| !m.buttons.is_empty()))
                .await;
            platform.press(chat, &life.ann, "Allow once");
            until(life, "the end", || said(&platform, chat).iter().any(|t| t.contains("The end."))).await;
            life.rest().await;
            let texts = said(&platform, chat);
            assert_eq!(texts.iter().filter(|t| t.contains("word1 word2")).count(), 1, "{texts:#?}");
            assert_eq!(texts.len(), 3, "the card and two parts: {texts:#?}");
        }
    });
}

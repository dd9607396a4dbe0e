//! That what is said is answered: once, where it was said, whole and in order.

use sb_channel::Live;

use super::Subject;
use crate::messenger::Messenger;

/// Holds: F-33, F-44.
pub fn a_message_is_answered_once_where_it_came_from(subject: &Subject) {
    Messenger::new(subject).live(async |life| {
        life.say("!say Good morning, Ann.");
        life.until_said("Good morning, Ann.").await;
        life.rest().await;
        life.pass(120_000).await;
        assert_eq!(life.seen().count("Good morning"), 1, "{:#?}", life.seen());
        assert_eq!(life.standin.unacknowledged(), 0);
    });
}

/// Holds: F-14, F-25, F-44.
pub fn two_chats_never_mix(subject: &Subject) {
    let mut messenger = Messenger::with(subject, |options| options.allow = vec!["*".into()]);
    messenger.live(async |life| {
        let others: Vec<_> = (0..8)
            .map(|n| {
                let person = life.standin.person(&format!("Person {n}"));
                (n, life.standin.direct(&person), person)
            })
            .collect();
        for round in 0..3 {
            for (n, chat, person) in &others {
                life.standin.say(chat, person, &format!("!say Round {round} for person {n} alone."));
            }
        }
        life.pass(1_000).await;
        life.rest().await;
        for (n, chat, _) in &others {
            let seen = life.standin.seen(chat);
            for round in 0..3 {
                assert_eq!(seen.count(&format!("Round {round} for person {n} alone.")), 1, "{seen:#?}");
            }
            let strange = seen.texts().iter().any(|t| !t.contains(&format!("for person {n} ")));
            assert!(!strange, "something of another chat: {seen:#?}");
        }
    });
}

/// Holds: B-36.
pub fn replies_keep_their_order(subject: &Subject) {
    let mut messenger = Messenger::with(subject, |options| options.busy = sb_engine::model::Busy::Queue);
    messenger.live(async |life| {
        for n in 1..=6 {
            life.say(&format!("!say This is number {n} of six."));
        }
        life.until_said("number 6 of six").await;
        life.rest().await;
        let seen = life.seen();
        let order: Vec<&str> = seen.texts();
        let expected: Vec<String> = (1..=6).map(|n| format!("This is number {n} of six.")).collect();
        assert_eq!(order, expected);
    });
}

/// Holds: F-37, F-38, B-25.
pub fn a_long_reply_arrives_whole_in_parts(subject: &Subject) {
    let manifest = subject.kind.manifest();
    let words = (manifest.direct.text.fit.limit / 2).clamp(400, 9_000);
    Messenger::new(subject).live(async |life| {
        life.say(&format!("!stream {words} 0"));
        life.pass(1_000).await;
        life.rest().await;
        let seen = life.seen();
        let fit = manifest.direct.text.fit;
        for text in seen.texts() {
            assert!(fit.unit.count(text) <= fit.limit, "a part is too long: {} {:?}", text.len(), fit);
        }
        let all: Vec<String> =
            seen.texts().iter().flat_map(|t| t.split_whitespace()).map(str::to_owned).collect();
        assert_eq!(all.len(), words, "{} parts", seen.texts().len());
        assert!(seen.texts().len() > 1, "it did not need parts");
    });
}

/// Holds: F-30.
pub fn commands_are_answered_and_stop_ends_the_turn(subject: &Subject) {
    Messenger::new(subject).live(async |life| {
        life.say("/whoami");
        life.until("who Ann is", |seen| {
            seen.texts().iter().any(|t| t.contains(life.ann.id.as_deref().unwrap_or("?")))
        })
        .await;
        life.say("!say Before.\n!wait 3600\n!say After.");
        life.pass(2_000).await;
        life.say("/status");
        life.until("a status meanwhile", |seen| seen.texts().iter().any(|t| t.contains("Working"))).await;
        life.say("stop");
        life.until_said("Stopped.").await;
        life.rest().await;
        assert_eq!(life.seen().count("After."), 0);
    });
}

/// Holds: F-13.
pub fn our_own_messages_are_not_answered(subject: &Subject) {
    let mut messenger = Messenger::with(subject, |options| options.allow = vec!["*".into()]);
    messenger.live(async |life| {
        life.say("!say One answer.");
        life.until_said("One answer.").await;
        life.pass(600_000).await;
        let ours = life.seen().ours().count();
        let shown = if matches!(subject.kind.manifest().direct.live, Live::Off) { 1 } else { ours };
        assert_eq!(ours, shown.min(1), "{:#?}", life.seen());
    });
}

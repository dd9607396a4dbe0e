//! What follows when sending goes wrong.

use sb_channel::Repeats;
use sb_channel::standin::Breakage;
use sb_engine::model::Busy;

use super::Subject;
use crate::messenger::Messenger;

/// Holds: B-29.
pub fn what_may_pass_is_tried_again(subject: &Subject) {
    Messenger::new(subject).live(async |life| {
        life.standin.break_next(Breakage::Flaky, 2);
        life.say("!say In the end.");
        life.until_said("In the end.").await;
        life.rest().await;
        assert_eq!(life.seen().count("In the end."), 1);
    });
}

/// Holds: F-40.
pub fn a_limit_is_waited_for(subject: &Subject) {
    Messenger::new(subject).live(async |life| {
        life.pass(1_000).await;
        life.standin.break_next(Breakage::RateLimit(30), 1);
        let begun = tokio::time::Instant::now();
        life.say("!say In its time.");
        life.until_said("In its time.").await;
        life.rest().await;
        assert!(begun.elapsed().as_secs() >= 29, "it did not wait: {:?}", begun.elapsed());
        assert_eq!(life.seen().count("In its time."), 1);
    });
}

/// Holds: F-35, F-36.
pub fn a_lost_answer_loses_nothing_and_is_repeated_at_most_once(subject: &Subject) {
    let most = match subject.kind.manifest().direct.repeats {
        Repeats::Dropped | Repeats::Found => 1,
        Repeats::Seen => 2,
    };
    for lost in 1..=4 {
        let mut messenger = Messenger::with(subject, |options| {
            options.busy = Busy::Queue;
            options.stream = sb_engine::model::Streaming::Off;
        });
        messenger.live(async |life| {
            life.standin.break_next(Breakage::LostAnswer, lost);
            life.say("!say Perhaps twice.");
            life.pass(120_000).await;
            life.standin.mend();
            life.say("!say What comes after.");
            life.until_said("What comes after.").await;
            let seen = life.seen();
            let said = seen.count("Perhaps twice.");
            assert!(
                (1..=most).contains(&said),
                "{lost} lost answers, said {said} times: {:#?}",
                seen.texts()
            );
            let first = seen.texts().iter().position(|t| t.contains("Perhaps twice."));
            let after = seen.texts().iter().position(|t| t.contains("What comes after."));
            assert!(first < after, "the order is kept");
        });
    }
}

/// Holds: B-31.
pub fn a_closed_chat_is_left_alone_until_it_speaks(subject: &Subject) {
    Messenger::new(subject).live(async |life| {
        // A start looks through the outbox once; what is tried by that is none of this.
        life.pass(1_000).await;
        life.standin.break_next(Breakage::ChatGone, 1);
        life.say("!say Into the void.");
        life.pass(30_000).await;
        let asked = life.standin.requests();
        assert_eq!(life.seen().count("Into the void."), 0);
        // What comes next is longer than a message and grows before our eyes; what was held stands before it.
        life.say("!stream 1500 5");
        life.until("both", |seen| seen.count("Into the void.") > 0 && seen.count("word1500") > 0).await;
        life.rest().await;
        let seen = life.seen();
        let texts = seen.texts();
        assert_eq!(seen.count("Into the void."), 1, "what was held is said: {texts:#?}");
        let held = texts.iter().position(|t| t.contains("Into the void."));
        let next = texts.iter().position(|t| t.contains("word1 "));
        assert!(held < next, "what was held went first: {texts:#?}");
        assert!(life.standin.requests() >= asked);
    });
}

/// Holds: F-39.
pub fn refused_formatting_goes_as_plain_words(subject: &Subject) {
    let mut messenger = Messenger::with(subject, |options| options.stream = sb_engine::model::Streaming::Off);
    messenger.live(async |life| {
        life.standin.break_next(Breakage::Format, 1);
        life.say("!say Three **times** four is `3 * 4`.");
        life.until("the words", |seen| seen.texts().iter().any(|t| t.contains("3 * 4"))).await;
        life.rest().await;
        assert_eq!(life.seen().count("3 * 4"), 1, "{:#?}", life.seen().texts());
    });
}

//! That what a platform tells us is taken once and never lost.

use std::time::Duration;

use sb_channel::standin::Breakage;
use sb_engine::BridgeState;
use sb_engine::model::Slug;

use super::Subject;
use crate::messenger::{Messenger, SLUG};

/// Holds: F-01, F-03, F-04.
pub fn a_repeat_is_answered_once(subject: &Subject) {
    let mut messenger = Messenger::new(subject);
    let key = messenger.live(async |life| {
        let key = life.say("!say Only once.");
        life.until_said("Only once.").await;
        assert!(life.standin.say_again(&key), "the platform tells of it once more");
        life.pass(120_000).await;
        life.rest().await;
        assert_eq!(life.seen().count("Only once."), 1, "{:#?}", life.seen());
        key
    });
    // Also across a restart.
    messenger.live(async |life| {
        assert!(life.standin.say_again(&key), "the platform tells of it once more");
        life.pass(120_000).await;
        life.rest().await;
        assert_eq!(life.seen().count("Only once."), 1, "{:#?}", life.seen());
    });
}

/// Holds: F-08, F-18, B-38.
pub fn a_broken_feed_comes_back_and_nothing_is_lost(subject: &Subject) {
    Messenger::new(subject).live(async |life| {
        life.say("!say The first.");
        life.until_said("The first.").await;
        life.standin.break_receiving(Breakage::Flaky, 4);
        life.standin.drop_connections();
        life.say("!say The second.");
        life.until_said("The second.").await;
        life.standin.drop_connections();
        life.pass(200_000).await;
        life.say("!say The third.");
        life.until_said("The third.").await;
        let status = life.engine.channel_status(&Slug::from(SLUG));
        assert_eq!((status.state, status.trouble), (BridgeState::Running, None));
    });
}

/// Holds: F-07, F-08.
pub fn what_is_said_while_we_are_away_is_answered(subject: &Subject) {
    let mut messenger = Messenger::new(subject);
    messenger.live(async |life| {
        life.say("!say Here.");
        life.until_said("Here.").await;
        life.rest().await;
    });
    let (standin, chat, ann) = (messenger.standin.clone(), messenger.chat.clone(), messenger.ann.clone());
    standin.say(&chat, &ann, "!say Said meanwhile.");
    messenger.live(async |life| {
        life.until_said("Said meanwhile.").await;
        life.rest().await;
        assert_eq!(life.seen().count("Said meanwhile."), 1);
    });
}

/// Killed before anything could be stored, the platform must still have it.
///
/// Holds: F-02.
pub fn nothing_is_acknowledged_before_it_is_stored(subject: &Subject) {
    let mut messenger = Messenger::new(subject);
    messenger.live(async |life| {
        life.pass(1_000).await;
        // From here on nothing can be stored.
        life.engine.store().clone().close().await.expect("it closes");
        life.say("!say Kept by the platform.");
        life.pass(120_000).await;
        assert!(life.standin.unacknowledged() > 0, "it was acknowledged and is nowhere");
    });
    messenger.live(async |life| {
        life.until_said("Kept by the platform.").await;
        life.rest().await;
        assert_eq!(life.standin.unacknowledged(), 0);
        assert_eq!(life.seen().count("Kept by the platform."), 1);
    });
}

/// Holds: F-17, F-18, B-39.
pub fn rejected_credentials_are_shown_and_tried_again(subject: &Subject) {
    Messenger::new(subject).live(async |life| {
        life.say("!say Well.");
        life.until_said("Well.").await;
        life.standin.break_receiving(Breakage::Revoked, 3);
        life.standin.drop_connections();
        let slug = Slug::from(SLUG);
        for _ in 0..6_000 {
            if life.engine.channel_status(&slug).trouble.is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(life.engine.channel_status(&slug).trouble.is_some(), "nobody is told");
        life.say("!say Well again.");
        life.until_said("Well again.").await;
        assert_eq!(life.engine.channel_status(&slug).trouble, None);
    });
}

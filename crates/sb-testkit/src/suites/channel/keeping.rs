//! That nothing taken is lost, whatever happens to us.

use sb_channel::standin::Breakage;
use sb_engine::model::Busy;

use super::Subject;
use crate::messenger::Messenger;

/// Kills at many moments around taking, working and sending; each message is answered once.
///
/// Holds: F-05, F-06.
pub fn a_kill_at_any_moment_loses_nothing(subject: &Subject) {
    let mut messenger = Messenger::with(subject, |options| options.busy = Busy::Queue);
    for (round, wait) in [0, 1, 5, 20, 40, 80, 150, 300, 700, 1_500].into_iter().enumerate() {
        messenger.live(async |life| {
            life.say(&format!("!stream 20 30\n!say Done with round {round}."));
            life.pass(wait).await;
        });
        messenger.live(async |life| {
            let done = format!("Done with round {round}.");
            life.until_said(&done).await;
            life.rest().await;
            // A kill right after a message went out may repeat that message, once.
            let said = life.seen().count(&done);
            assert!((1..=2).contains(&said), "it was answered {said} times: {:#?}", life.seen().texts());
        });
    }
}

/// Holds: F-06, F-34.
pub fn a_cut_chat_is_told_once_and_answered(subject: &Subject) {
    let mut messenger = Messenger::new(subject);
    messenger.live(async |life| {
        life.say("!stream 400 50\n!say Finished.");
        life.pass(6_000).await;
    });
    messenger.live(async |life| {
        life.until_said("I was restarted").await;
        life.pass(2_000).await;
    });
    messenger.live(async |life| {
        life.until_said("Finished.").await;
        life.rest().await;
        let seen = life.seen();
        assert_eq!(seen.count("I was restarted"), 1, "{seen:#?}");
        assert_eq!(seen.count("Finished."), 1, "{seen:#?}");
        let told = seen.texts().iter().position(|t| t.contains("I was restarted"));
        let answered = seen.texts().iter().position(|t| t.contains("Finished."));
        // A message that was begun before the cut is finished where it stands.
        assert!(told.is_some() && answered.is_some(), "{seen:#?}");
    });
}

/// Holds: B-34, B-36, F-34.
pub fn what_was_unsent_goes_out_after_a_restart(subject: &Subject) {
    let mut messenger = Messenger::with(subject, |options| options.busy = Busy::Queue);
    messenger.live(async |life| {
        life.standin.break_next(Breakage::Flaky, 1_000);
        life.say("!say Unsent one.");
        life.say("!say Unsent two.");
        life.pass(60_000).await;
        assert_eq!(life.seen().count("Unsent"), 0);
        assert!(life.engine.store().count_unsent().await.expect("a count") > 0);
    });
    messenger.standin.mend();
    messenger.live(async |life| {
        life.until_said("Unsent two.").await;
        life.rest().await;
        assert_eq!(life.seen().texts().iter().filter(|t| t.contains("Unsent")).count(), 2);
        assert_eq!(life.seen().count("Unsent one."), 1);
    });
}

/// Holds: F-05, F-23.
pub fn a_flood_is_held_told_once_and_answered(subject: &Subject) {
    let mut messenger = Messenger::with(subject, |options| options.busy = Busy::Collect);
    messenger.live(async |life| {
        life.say("!wait 30\n!say After the wait.");
        life.pass(1_000).await;
        for n in 0..400 {
            life.say(&format!("Message {n} of a flood."));
        }
        life.until_said("is kept").await;
        life.rest().await;
        life.pass(60_000).await;
        life.rest().await;
        let seen = life.seen();
        assert_eq!(seen.count("is kept"), 1, "told once: {:#?}", seen.texts());
        assert!(seen.count("Message 399 of a flood.") >= 1, "the last one is answered");
        assert!(life.engine.store().held().await.expect("a list").is_empty(), "nothing is held any more");
    });
}

//! What is shown for the moment: that we are at work, and the reply while it is written.

use sb_channel::{Live, Marks};
use sb_engine::model::Streaming;

use super::Subject;
use crate::messenger::Messenger;

/// Holds: F-24, B-12, B-13.
pub fn we_are_shown_to_be_at_work_until_the_reply_is_out(subject: &Subject) {
    let mut messenger = Messenger::with(subject, |options| options.stream = Streaming::Off);
    messenger.live(async |life| {
        life.say("!wait 60\n!say Now.");
        life.until("typing", |seen| seen.typing).await;
        life.pass(30_000).await;
        assert!(life.seen().typing, "it is shown again before it lapses");
        life.until_said("Now.").await;
        life.rest().await;
        life.pass(20_000).await;
        assert!(!life.seen().typing, "it ends with the reply");
        // Nor does it stay when a turn fails, or waits for a person.
        life.say("!fail overloaded");
        life.until_said("⚠️").await;
        life.pass(20_000).await;
        assert!(!life.seen().typing, "it ends with a failure");
        life.say("!tool write_file {\"path\": \"a.txt\", \"text\": \"x\"}");
        life.until_said("May I run write_file").await;
        life.pass(20_000).await;
        assert!(!life.seen().typing, "it ends while a person is asked");
    });
}

/// Holds: B-26, B-27, B-28.
pub fn a_taken_message_is_marked_until_it_is_answered(subject: &Subject) {
    let marks = subject.kind.manifest().direct.marks;
    let taken = marks.taken.expect("it marks");
    let mark = |life: &crate::messenger::Life| {
        life.seen().messages.iter().rev().find(|m| !m.ours).and_then(|m| m.mark.clone())
    };
    Messenger::new(subject).live(async |life| {
        life.say("!wait 20\n!say Answered.");
        life.until("the mark", |_| mark(life).as_deref() == Some(taken)).await;
        life.until_said("Answered.").await;
        life.rest().await;
        let stays = Some(taken).filter(|taken| *taken == Marks::READ);
        life.until("no mark", |_| mark(life).as_deref() == stays).await;
        life.say("!fail credit");
        life.until_said("⚠️").await;
        life.until("the mark of failure", |_| mark(life).as_deref() == marks.failed).await;
    });
    // Where a read receipt is the mark, showing that we are at work gives it too.
    let mut unmarked =
        Messenger::with(subject, |options| (options.reactions, options.typing) = (false, false));
    unmarked.live(async |life| {
        life.say("!wait 5\n!say Answered.");
        life.pass(3_000).await;
        assert_eq!(mark(life), None);
        life.until_said("Answered.").await;
    });
}

/// Holds: B-14.
pub fn a_reply_is_shown_while_it_is_written(subject: &Subject) {
    Messenger::new(subject).live(async |life| {
        life.say("!stream 120 200\n!say The end.");
        let shows = |seen: &sb_channel::standin::Seen| {
            let growing = seen.growing.as_deref().is_some_and(|g| g.split_whitespace().count() > 10);
            growing || seen.texts().iter().any(|t| t.split_whitespace().count() > 10)
        };
        life.until("words before the end", |seen| shows(seen) && seen.count("The end.") == 0).await;
        life.until_said("The end.").await;
    });
}

/// Holds: B-21, F-33, F-41.
pub fn what_is_shown_live_becomes_the_reply_and_no_second_message(subject: &Subject) {
    Messenger::new(subject).live(async |life| {
        life.say("!stream 100 200\n!say The end of it.");
        life.until_said("The end of it.").await;
        life.rest().await;
        life.pass(60_000).await;
        let seen = life.seen();
        assert_eq!(seen.growing, None, "nothing grows any more");
        assert_eq!(seen.ours().count(), 1, "one message: {:#?}", seen.texts());
        let words = seen.texts()[0].split_whitespace().count();
        assert!(words >= 103, "the whole reply, not what was shown last: {words}");
    });
}

/// Holds: B-17.
pub fn switched_off_nothing_of_it_is_shown(subject: &Subject) {
    let mut messenger = Messenger::with(subject, |options| {
        options.stream = Streaming::Off;
        options.typing = false;
        options.reactions = false;
    });
    messenger.live(async |life| {
        life.say("!stream 50 200\n!say Whole.");
        for _ in 0..200 {
            let seen = life.seen();
            let quiet =
                seen.growing.is_none() && !seen.typing && seen.messages.iter().all(|m| m.mark.is_none());
            assert!(quiet, "{seen:#?}");
            assert!(seen.ours().all(|m| m.text.contains("Whole.")), "only the whole reply: {seen:#?}");
            life.pass(100).await;
        }
        life.until_said("Whole.").await;
    });
    assert!(!matches!(subject.kind.manifest().direct.live, Live::Edit { first: 0, .. }));
}

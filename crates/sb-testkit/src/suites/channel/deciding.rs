//! Who may talk, and who may decide.

use sb_engine::model::ChatSort;
use sb_engine::store::PairingAnswer;

use super::Subject;
use crate::messenger::Messenger;

const WRITE: &str = "!tool write_file {\"path\": \"a.txt\", \"text\": \"x\"}\n!say Written.";

/// Holds: B-60, B-64.
pub fn a_question_is_answered_by_its_number(subject: &Subject) {
    Messenger::new(subject).live(async |life| {
        life.say(WRITE);
        life.until_said("May I run write_file").await;
        life.until_said("1. Allow once").await;
        life.say("yes");
        life.until("the list again", |seen| seen.count("1. Allow once") == 2).await;
        assert_eq!(life.seen().count("Written."), 0, "a bare yes approves nothing");
        life.say("1");
        life.until_said("Written.").await;
    });
}

/// Holds: F-32, B-62.
pub fn a_button_decides_once_and_closes_the_question(subject: &Subject) {
    Messenger::new(subject).live(async |life| {
        life.say(WRITE);
        let seen = life.until_said("May I run write_file").await;
        let question = seen.ours().find(|m| !m.buttons.is_empty()).expect("buttons");
        assert_eq!(question.buttons, ["Allow once", "Always in this session", "Decline"]);
        assert!(life.standin.press(&life.chat, &life.ann, "Allow once"));
        let seen = life.until_said("Written.").await;
        life.rest().await;
        let closed = life.until("a closed card", |seen| seen.count("Allowed once by Ann") == 1).await;
        match subject.kind.manifest().direct.edits {
            true => assert!(closed.ours().all(|m| m.buttons.is_empty()), "{closed:#?}"),
            // What cannot be changed keeps its buttons: pressed once more they decide nothing.
            false => {
                assert!(life.standin.press(&life.chat, &life.ann, "Decline"));
                life.pass(20_000).await;
                life.rest().await;
                assert_eq!(life.seen().count("Declined by Ann"), 0, "{:#?}", life.seen().texts());
            }
        }
        assert!(seen.count("Written.") == 1);
        // Declined by a stranger's press: nothing.
        life.say(WRITE);
        life.until("another question", |seen| seen.ours().any(|m| !m.buttons.is_empty())).await;
        let eve = life.standin.person("Eve");
        life.standin.press(&life.chat, &eve, "Decline");
        life.pass(30_000).await;
        assert!(
            life.seen().ours().any(|m| !m.buttons.is_empty()),
            "somebody else decided: {:#?}",
            life.seen()
        );
        life.standin.press(&life.chat, &life.ann, "Decline");
        life.until_said("Declined by Ann").await;
    });
}

/// Holds: B-41.
pub fn a_stranger_is_let_in_by_a_code_and_in_direct_chats_only(subject: &Subject) {
    let groups = subject.kind.manifest().group.mentions;
    Messenger::new(subject).live(async |life| {
        life.say("!say For Ann.");
        life.until_said("For Ann.").await;
        let eve = life.standin.person("Eve");
        let hers = life.standin.direct(&eve);
        life.standin.say(&hers, &eve, "!say For Eve.");
        let seen = life.until_in(&hers, "a code", |seen| seen.count("I do not know you yet") == 1).await;
        assert_eq!(seen.count("For Eve."), 0);
        life.standin.say(&hers, &eve, "Hello?");
        life.pass(20_000).await;
        assert_eq!(life.standin.seen(&hers).count("I do not know you yet"), 1, "told once");
        let code = life.engine.pairings().await.expect("a list")[0].code.clone();
        assert_eq!(code.len(), 8);
        life.until_in(&hers, "the code", |seen| seen.count(&code) > 0).await;
        assert!(matches!(
            life.engine.approve_pairing("WRONGONE", None).await,
            Ok(PairingAnswer::NoSuchCode { .. })
        ));
        assert!(matches!(life.engine.approve_pairing(&code, None).await, Ok(PairingAnswer::LetIn(_))));
        life.standin.say(&hers, &eve, "!say For Eve.");
        life.until_in(&hers, "an answer", |seen| seen.count("For Eve.") == 1).await;
        if let Some(group) = life.standin.group("Everybody").filter(|_| groups) {
            life.standin.mention(&group, &eve, "!say In the group.");
            life.pass(30_000).await;
            assert_eq!(life.standin.seen(&group).ours().count(), 0, "a direct chat opens no group");
        }
    });
}

/// Holds: B-43.
pub fn in_a_group_only_what_is_meant_for_us_is_answered(subject: &Subject) {
    let mut messenger = Messenger::with(subject, |options| options.require_mention = true);
    messenger.live(async |life| {
        let Some(group) = life.standin.group("Everybody") else { return };
        assert_eq!(group.sort, ChatSort::Group);
        life.standin.say(&group, &life.ann, "!say Not asked.");
        life.standin.mention(&group, &life.ann, "!say Asked.");
        life.until_in(&group, "an answer", |seen| seen.count("Asked.") == 1).await;
        life.pass(30_000).await;
        assert_eq!(life.standin.seen(&group).count("Not asked."), 0);
        let answer = life.standin.seen(&group);
        assert!(answer.ours().all(|m| m.answers.is_some()), "it points at what it answers: {answer:#?}");
    });
}

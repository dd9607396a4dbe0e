//! Laws of messages that come with all that was said before: where each goes, and that nothing runs twice.

use sb_store::model::{
    Asked, Before, Change, Choices, ConversationId, Digest, EndKind, Ending, Inbound, Place, Principal,
    Record, Rights, Seq, SessionId, Timestamp,
};
use sb_store::{Placed, RETRY_WITHIN_MS, Store, Taken};

use super::Ground;
use super::samples::{NOON, commit, entry, inbound, logged};

fn digest(what: &str) -> Digest {
    Digest::of(what.as_bytes())
}

/// What is asked after `before`, as a talk whose digests are those of these words.
fn asked(before: Option<&str>, whole: &str) -> Asked {
    Asked {
        owner: Principal("http:token a".into()),
        others: false,
        before: before.map(|b| Before { digest: digest(b), answer: None }),
        whole: digest(whole),
        body: digest(whole),
        retried: false,
        command: false,
        named: false,
        told: before.map(str::to_owned),
        system: None,
    }
}

fn to(name: &str) -> ConversationId {
    ConversationId::new("openai", &"assistant".into(), name)
}

async fn take(store: &Store, name: &str, session: u64, asked: Asked, at: Timestamp) -> Placed {
    let message = Inbound { from: asked.owner.clone(), ..inbound(&to(name), "words") };
    store.take_asked(message, asked, SessionId(session), false, at).await.unwrap()
}

/// Gives a message that was just placed an answer, and notes it.
async fn answer(store: &Store, placed: &Placed, talk: &str) {
    let Taken::New(message) = &placed.taken else { panic!("not new: {placed:?}") };
    let (snapshot, _) = store.load(&placed.conversation).await.unwrap().unwrap();
    let session = snapshot.session.unwrap();
    let seq = session.last.next();
    let record = Record::Noted { text: talk.into(), by: message.from.clone(), told: true };
    let ending = Ending {
        turn: Some(sb_store::model::TurnId(7)),
        from: seq,
        to: seq,
        ..Ending::plain(EndKind::Replied, talk, Some(session.id))
    };
    let changes = vec![
        logged(session.id, entry(seq.0, None, record)),
        Change::Ended { message: message.id, ending: ending.clone() },
    ];
    commit(store, &placed.conversation, changes).await;
    store.note_answer(message.id, digest(talk), &ending, NOON).await.unwrap();
    store.note_answer(message.id, digest(talk), &ending, NOON).await.unwrap();
}

pub async fn a_talk_goes_on_at_its_tip_and_branches_before_it(ground: &impl Ground) {
    let store = ground.open().await;
    let first = take(&store, "a", 1, asked(None, "1"), NOON).await;
    assert_eq!((first.place, first.session), (Place::Begun, Some(SessionId(1))));
    answer(&store, &first, "1!").await;
    let store = ground.reopen(store).await;
    let second = take(&store, "b", 2, asked(Some("1!"), "1! 2"), NOON).await;
    assert_eq!((second.place, &second.conversation), (Place::Continued, &first.conversation));
    answer(&store, &second, "1! 2!").await;
    let mut changes = vec![Change::Tainted { session: SessionId(1), tainted: true }];
    changes.push(Change::Chose(Choices { model: Some("m".into()), ..Choices::default() }));
    commit(&store, &first.conversation, changes).await;
    let branch = take(&store, "c", 3, asked(Some("1!"), "1! 2b"), NOON).await;
    assert_eq!((branch.place, &branch.conversation), (Place::Branched, &to("c")));
    let (copy, _) = store.load(&to("c")).await.unwrap().unwrap();
    let session = copy.session.unwrap();
    assert_eq!((session.id, session.tainted, copy.choices.model.as_deref()), (SessionId(3), true, Some("m")));
    let log = store.log(SessionId(3), Seq(1), Seq(99)).await.unwrap();
    let texts: Vec<_> = log
        .iter()
        .map(|e| match &e.record {
            Record::Noted { text, .. } => text.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["1!", "went on from session 0000000000000001, entry 1"]);
    assert_eq!(session.last, Seq(2));
    // The old tip is where it was, and the branch has one of its own.
    answer(&store, &branch, "1! 2b!").await;
    let (on, other) = (asked(Some("1! 2!"), "x"), asked(Some("1! 2b!"), "y"));
    assert_eq!(take(&store, "d", 4, on, NOON).await.conversation, first.conversation);
    assert_eq!(take(&store, "e", 5, other, NOON).await.conversation, branch.conversation);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

pub async fn what_nobody_knows_is_told_as_content_from_outside(ground: &impl Ground) {
    let store = ground.open().await;
    let told = take(&store, "a", 1, asked(Some("said elsewhere"), "x"), NOON).await;
    assert_eq!(told.place, Place::Told);
    let (snapshot, _) = store.load(&to("a")).await.unwrap().unwrap();
    assert!(snapshot.session.unwrap().tainted);
    let log = store.log(SessionId(1), Seq(1), Seq(9)).await.unwrap();
    let expected = Record::Summary { text: "said elsewhere".into(), covers: Seq(0) };
    assert_eq!(log.iter().map(|e| &e.record).collect::<Vec<_>>(), [&expected]);
    // Another's talk is as unknown, unless others' count.
    let mine = take(&store, "b", 2, asked(None, "1"), NOON).await;
    answer(&store, &mine, "1!").await;
    let theirs = |others, whole: &str| Asked {
        owner: Principal("http:token b".into()),
        others,
        ..asked(Some("1!"), whole)
    };
    assert_eq!(take(&store, "c", 3, theirs(false, "y"), NOON).await.place, Place::Told);
    assert_eq!(take(&store, "d", 4, theirs(true, "z"), NOON).await.conversation, to("b"));
}

pub async fn a_retry_is_the_first_message_for_ten_seconds_after_its_answer(ground: &impl Ground) {
    let store = ground.open().await;
    let again = || Asked { retried: true, ..asked(None, "1") };
    let first = take(&store, "a", 1, asked(None, "1"), NOON).await;
    let Taken::New(message) = &first.taken else { panic!("not new") };
    let known = Taken::Known(message.id);
    let during = take(&store, "b", 2, again(), NOON.plus_ms(1_000_000)).await;
    assert_eq!((&during.taken, during.place, during.session), (&known, Place::Repeated, Some(SessionId(1))));
    let other = Asked { body: digest("another file"), ..again() };
    assert!(matches!(take(&store, "c", 3, other, NOON).await.taken, Taken::New(_)));
    answer(&store, &first, "1!").await;
    let at = |ms| NOON.plus_ms(RETRY_WITHIN_MS + ms);
    assert!(matches!(take(&store, "d", 4, asked(None, "1"), NOON).await.taken, Taken::New(_)), "no sign");
    // Without a sign: the same after the same, while it runs.
    let running = take(&store, "f", 6, asked(Some("1!"), "1! 2"), NOON).await;
    let Taken::New(message) = &running.taken else { panic!("not new") };
    let twice = take(&store, "g", 7, asked(Some("1!"), "1! 2"), NOON).await;
    assert_eq!(twice.taken, Taken::Known(message.id));
    answer(&store, &running, "1! 2!").await;
    let after = take(&store, "h", 8, asked(Some("1!"), "1! 2"), NOON).await;
    assert_eq!(after.place, Place::Branched);
    let retried = |name, session, at| {
        take(&store, name, session, Asked { retried: true, ..asked(Some("1!"), "q") }, at)
    };
    let one = retried("i", 9, NOON).await;
    answer(&store, &one, "q!").await;
    assert_eq!(retried("j", 10, at(0)).await.place, Place::Repeated);
    assert_ne!(retried("k", 11, at(1)).await.place, Place::Repeated);
}

pub async fn a_changed_system_text_is_a_command_before_the_message(ground: &impl Ground) {
    let store = ground.open().await;
    let with = |before: Option<&str>, whole: &str, system: &str| Asked {
        system: Some(system.into()),
        ..asked(before, whole)
    };
    let first = take(&store, "a", 1, with(None, "1", "Be brief."), NOON).await;
    assert_eq!(first.system, None, "a talk begins with it");
    let (snapshot, _) = store.load(&to("a")).await.unwrap().unwrap();
    assert_eq!(snapshot.choices.system.as_deref(), Some("Be brief."));
    answer(&store, &first, "1!").await;
    let same = take(&store, "b", 2, with(Some("1!"), "1! 2", "Be brief."), NOON).await;
    assert_eq!(same.system, None);
    answer(&store, &same, "1! 2!").await;
    let other = take(&store, "c", 3, with(Some("1! 2!"), "1! 2! 3", "Be long."), NOON).await;
    let (Some(command), Taken::New(message)) = (&other.system, &other.taken) else { panic!("{other:?}") };
    assert!(command.id < message.id);
    assert_eq!(
        (command.text.as_str(), command.rights),
        ("/system Be long.", Rights { decide: false, instruct: true })
    );
}

pub async fn an_answer_that_was_cut_off_is_known_by_its_beginning(ground: &impl Ground) {
    let store = ground.open().await;
    let first = take(&store, "a", 1, asked(None, "1"), NOON).await;
    answer(&store, &first, "a b c").await;
    let with = |letters: &str, whole: &str| Asked {
        before: Some(Before { digest: digest(letters), answer: Some((digest("1"), letters.into())) }),
        ..asked(Some("x"), whole)
    };
    assert_eq!(take(&store, "b", 2, with("abd", "p"), NOON).await.place, Place::Told);
    assert_eq!(take(&store, "c", 3, with("ab", "q"), NOON).await.conversation, to("a"));
    let gone_on = take(&store, "d", 4, with("ab", "r"), NOON).await;
    assert_eq!(gone_on.place, Place::Branched, "something was said after it");
}

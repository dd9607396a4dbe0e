//! Laws of taking in: a repeat is known, too much is refused, a full disk takes nothing.

use sb_store::model::{Digest, MessageId, ProfileName, Timestamp};
use sb_store::{MOST_WAITING, StoreErrorKind, Taken};

use super::Ground;
use super::samples::{NOON, commit, conversation, ended, inbound, keyed, say};

const DAY: i64 = 86_400_000;

pub async fn a_repeat_is_the_first_message_again(ground: &impl Ground) {
    let store = ground.open().await;
    let to = conversation("a");
    let one = || keyed(inbound(&to, "hello"), "http:key-1");
    let taken = store.take_in(vec![one(), one()], NOON).await.unwrap();
    let Taken::New(first) = &taken[0] else { panic!("not new: {taken:?}") };
    assert_eq!(taken[1], Taken::Known(first.id), "twice in one batch");
    let later = store.take_in(vec![one()], NOON.plus_ms(DAY - 1)).await.unwrap();
    assert_eq!(later, [Taken::Known(first.id)]);
    let store = ground.reopen(store).await;
    commit(&store, &to, vec![ended(first.id, "hi")]).await;
    let after = store.take_in(vec![one()], NOON.plus_ms(1)).await.unwrap();
    assert_eq!(after, [Taken::Known(first.id)], "answered, and after a restart");
    let (state, _) = store.load(&to).await.unwrap().unwrap();
    assert_eq!((state.waiting.len(), state.newest), (0, first.id));
}

pub async fn a_known_key_with_other_words_is_told_apart(ground: &impl Ground) {
    let store = ground.open().await;
    let to = conversation("a");
    let first = store.take_in(vec![keyed(inbound(&to, "hello"), "http:key-1")], NOON).await.unwrap();
    let Taken::New(first) = &first[0] else { panic!("not new") };
    let other = store.take_in(vec![keyed(inbound(&to, "goodbye"), "http:key-1")], NOON).await.unwrap();
    assert_eq!(other, [Taken::OtherBody(first.id)]);
    assert_eq!(store.load(&to).await.unwrap().unwrap().0.waiting.len(), 1);
}

pub async fn a_key_past_its_time_is_new(ground: &impl Ground) {
    let store = ground.open().await;
    let to = conversation("a");
    let one = || keyed(inbound(&to, "hello"), "http:key-1");
    let first = store.take_in(vec![one()], NOON).await.unwrap();
    let again = store.take_in(vec![one()], NOON.plus_ms(DAY)).await.unwrap();
    assert!(matches!((&first[0], &again[0]), (Taken::New(a), Taken::New(b)) if a.id < b.id));
    let purged = store.purge(NOON.plus_ms(DAY)).await.unwrap();
    assert_eq!(purged.keys, 0, "it was given to the new message, so it is kept");
    assert_eq!(store.purge(NOON.plus_ms(2 * DAY)).await.unwrap().keys, 1);
    let third = store.take_in(vec![one()], NOON.plus_ms(DAY + 1)).await.unwrap();
    assert!(matches!(third[0], Taken::New(_)), "purged keys are forgotten");
}

pub async fn a_conversation_holds_a_thousand_waiting_messages_and_no_more(ground: &impl Ground) {
    let store = ground.open().await;
    let to = conversation("a");
    let most = usize::try_from(MOST_WAITING).unwrap();
    let batch: Vec<_> = (0..most + 2).map(|n| keyed(inbound(&to, "x"), &format!("http:{n}"))).collect();
    let taken = store.take_in(batch, NOON).await.unwrap();
    assert_eq!(taken.iter().filter(|t| matches!(t, Taken::New(_))).count(), most);
    assert_eq!(taken[most..], [Taken::Full, Taken::Full]);
    let elsewhere = store.take_in(vec![inbound(&conversation("b"), "x")], NOON).await.unwrap();
    assert!(matches!(elsewhere[0], Taken::New(_)), "others are not held up");
    let Taken::New(first) = &taken[0] else { unreachable!() };
    commit(&store, &to, vec![ended(first.id, "done")]).await;
    let again = keyed(inbound(&to, "x"), &format!("http:{most}"));
    let again = store.take_in(vec![again], NOON).await.unwrap();
    assert!(matches!(again[0], Taken::New(_)), "what was refused may come again once there is room");
}

pub async fn a_conversation_keeps_the_profile_it_began_with(ground: &impl Ground) {
    let store = ground.open().await;
    let to = conversation("a");
    say(&store, &to, "hello").await;
    let mut other = inbound(&to, "again");
    other.profile = "other".into();
    store.take_in(vec![other], NOON).await.unwrap();
    let (state, _) = store.load(&to).await.unwrap().unwrap();
    assert_eq!((state.profile, state.waiting.len()), (ProfileName("assistant".into()), 2));
}

pub async fn a_message_is_found_by_its_receipt(ground: &impl Ground) {
    let store = ground.open().await;
    let to = conversation("a");
    let mut sent = inbound(&to, "héllo \u{0}\n\"");
    sent.files = vec![super::samples::attachment(Digest::of(b"hello"))];
    let Taken::New(message) = store.take_in(vec![sent], Timestamp(5)).await.unwrap().remove(0) else {
        panic!("not new")
    };
    let found = store.message(message.id).await.unwrap().unwrap();
    assert_eq!((&found.message, &found.conversation), (&message, &to));
    assert_eq!((found.profile.as_str(), &found.turn, &found.ending), ("assistant", &None, &None));
    commit(&store, &to, vec![ended(message.id, "hi")]).await;
    let found = store.message(message.id).await.unwrap().unwrap();
    assert_eq!(found.ending.unwrap().said, "hi");
    assert_eq!(store.message(MessageId(999)).await.unwrap(), None);
    assert_eq!(store.load(&conversation("nobody")).await.unwrap(), None);
}

pub async fn a_full_disk_takes_nothing_of_a_batch(ground: &impl Ground) {
    let store = ground.open().await;
    let to = conversation("a");
    let before = say(&store, &to, "before").await;
    store.limit_size(1).await.unwrap();
    let big = "x".repeat(100_000);
    let batch = vec![keyed(inbound(&to, "small"), "http:1"), keyed(inbound(&to, &big), "http:2")];
    let refused = store.take_in(batch, NOON).await.unwrap_err();
    assert_eq!(refused.kind, StoreErrorKind::DiskFull, "{refused}");
    let (state, _) = store.load(&to).await.unwrap().unwrap();
    assert_eq!(state.waiting, std::slice::from_ref(&before), "the small one went with the big one");
    store.limit_size(1 << 30).await.unwrap();
    let again = vec![keyed(inbound(&to, "small"), "http:1"), keyed(inbound(&to, &big), "http:2")];
    let taken = store.take_in(again, NOON).await.unwrap();
    assert!(taken.iter().all(|t| matches!(t, Taken::New(_))), "with room again: {taken:?}");
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

pub async fn what_many_write_at_once_all_lands(ground: &impl Ground) {
    let store = ground.open().await;
    let mut tasks = Vec::new();
    for writer in 0..64 {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            let to = conversation(&format!("writer {writer}"));
            for n in 0..10 {
                let message = say(&store, &to, &format!("{n}")).await;
                let (state, at) = store.load(&to).await.unwrap().unwrap();
                assert_eq!(state.newest, message.id, "what was answered is seen at once");
                store.commit(&to, at, vec![ended(message.id, "done")]).await.unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let store = ground.reopen(store).await;
    let counts = store.counts().await.unwrap();
    assert_eq!((counts.conversations, counts.unfinished), (64, 0));
    for id in 1..=640 {
        assert!(store.message(MessageId(id)).await.unwrap().is_some_and(|m| m.ending.is_some()));
    }
}

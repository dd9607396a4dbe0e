//! Laws of batches: what a messenger brings is whole with its cursor, known when it comes again, and
//! held where a conversation is full.

use sb_store::model::{ConversationId, Message, Slug, Timestamp};
use sb_store::{Intake, Kept, KeptWhy, MOST_WAITING_BRIDGED, Store, StoreErrorKind, Taken};

use super::Ground;
use super::samples::{NOON, batch, bridged, chat_of, commit, ended, slug};

const DAY: i64 = 86_400_000;

fn kept(key: Option<&str>, raw: &str) -> Kept {
    let (key, detail) = (key.map(str::to_owned), "a kind nobody knows".into());
    Kept { why: KeptWhy::Unknown, key, conversation: None, detail, raw: raw.into() }
}

async fn cursor(store: &Store) -> Option<String> {
    store.cursor(&slug("tg"), "updates").await.unwrap()
}

async fn waiting(store: &Store, of: &ConversationId) -> Vec<Message> {
    store.load(of).await.unwrap().map_or(Vec::new(), |(state, _)| state.waiting)
}

fn texts(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|m| m.text.as_str()).collect()
}

pub async fn a_batch_is_stored_whole_with_its_cursor_or_not_at_all(ground: &impl Ground) {
    let store = ground.open().await;
    let of = chat_of("tg", "7");
    let big = "x".repeat(100_000);
    let two = || batch("tg", "2", vec![bridged("tg", "7", "1", "one"), bridged("tg", "7", "2", &big)]);
    store.take_batch(batch("tg", "0", vec![]), vec![], NOON).await.unwrap();
    store.limit_size(1).await.unwrap();
    let refused = store.take_batch(two(), vec![], NOON).await.unwrap_err();
    assert_eq!(refused.kind, StoreErrorKind::DiskFull, "{refused}");
    assert_eq!(store.load(&of).await.unwrap(), None);
    store.limit_size(1 << 30).await.unwrap();
    let held = Kept { why: KeptWhy::Held, ..kept(None, "x") };
    let refused = store.take_batch(Intake { kept: vec![held], ..two() }, vec![], NOON).await.unwrap_err();
    assert_eq!(refused.kind, StoreErrorKind::Contradiction, "the store alone holds");
    assert_eq!((store.load(&of).await.unwrap(), cursor(&store).await), (None, Some("0".into())));
    let intake = Intake { kept: vec![kept(Some("tg:9"), "{}")], ..two() };
    let taken = store.take_batch(intake, vec![], NOON).await.unwrap();
    let [Taken::New(one), Taken::New(two)] = &taken[..] else { panic!("not new: {taken:?}") };
    assert!(one.id < two.id && one.origin == bridged("tg", "7", "1", "one").origin);
    let store = ground.reopen(store).await;
    assert_eq!(waiting(&store, &of).await, [one.clone(), two.clone()]);
    assert_eq!(cursor(&store).await.as_deref(), Some("2"));
    assert_eq!(store.cursor(&slug("tg"), "other").await.unwrap(), None);
    let inbox = store.inbox(None, 9).await.unwrap();
    assert_eq!((inbox.len(), inbox[0].raw.as_str(), inbox[0].why), (1, "{}", KeptWhy::Unknown));
}

pub async fn a_known_key_falls_out_of_a_batch_and_the_cursor_moves(ground: &impl Ground) {
    let store = ground.open().await;
    let of = chat_of("tg", "7");
    let one = || bridged("tg", "7", "1", "one");
    let taken = store.take_batch(batch("tg", "1", vec![one(), one()]), vec![], NOON).await.unwrap();
    let Taken::New(first) = &taken[0] else { panic!("not new: {taken:?}") };
    assert_eq!(taken[1], Taken::Known(first.id), "twice in one batch");
    let store = ground.reopen(store).await;
    commit(&store, &of, vec![ended(first.id, "done")]).await;
    let again = batch("tg", "2", vec![one(), bridged("tg", "7", "2", "two")]);
    let taken = store.take_batch(again, vec![], NOON.plus_ms(1)).await.unwrap();
    assert!(matches!(&taken[..], [Taken::Known(known), Taken::New(_)] if *known == first.id), "{taken:?}");
    assert_eq!(cursor(&store).await.as_deref(), Some("2"));
    let nowhere = Intake { cursor: None, ..batch("tg", "", vec![one()]) };
    store.take_batch(nowhere, vec![], NOON).await.unwrap();
    assert_eq!(cursor(&store).await.as_deref(), Some("2"), "none leaves it where it is");
    let kept_twice = || Intake { kept: vec![kept(Some("tg:9"), "a")], ..batch("tg", "3", vec![]) };
    store.take_batch(kept_twice(), vec![], NOON).await.unwrap();
    store.take_batch(kept_twice(), vec![], NOON).await.unwrap();
    assert_eq!(store.inbox(None, 9).await.unwrap().len(), 1, "what is kept has its key too");
}

pub async fn a_key_is_known_after_more_than_a_thousand_others_and_a_restart(ground: &impl Ground) {
    let store = ground.open().await;
    let event = |n: usize| bridged("tg", &format!("chat {}", n % 20), &n.to_string(), "hello");
    let first = store.take_batch(batch("tg", "0", vec![event(0)]), vec![], NOON).await.unwrap();
    let Taken::New(first) = &first[0] else { panic!("not new: {first:?}") };
    let many = (1..1500).map(event).collect();
    store.take_batch(batch("tg", "1", many), vec![], NOON.plus_ms(DAY / 2)).await.unwrap();
    store.purge(NOON.plus_ms(DAY - 1)).await.unwrap();
    let store = ground.reopen(store).await;
    let again = store.take_batch(batch("tg", "2", vec![event(0)]), vec![], NOON.plus_ms(DAY - 1)).await;
    assert_eq!(again.unwrap(), [Taken::Known(first.id)]);
}

pub async fn what_a_full_conversation_gets_is_held_and_released_in_order_once(ground: &impl Ground) {
    let store = ground.open().await;
    let (of, most) = (chat_of("tg", "7"), usize::try_from(MOST_WAITING_BRIDGED).unwrap());
    let event = |n: usize| bridged("tg", "7", &n.to_string(), &n.to_string());
    let full = (0..most + 2).map(event).collect();
    let taken = store.take_batch(batch("tg", "1", full), vec![], NOON).await.unwrap();
    assert_eq!(taken.iter().filter(|t| matches!(t, Taken::New(_))).count(), most);
    assert_eq!(taken[most..], [Taken::Held { first: true }, Taken::Held { first: false }]);
    let stop = bridged("tg", "7", "stop", "/stop");
    let others = vec![event(most), stop, bridged("tg", "8", "b", "elsewhere")];
    let taken = store.take_batch(batch("tg", "2", others), vec![false, true], NOON).await.unwrap();
    let [Taken::Held { first: false }, Taken::New(stop), Taken::New(_)] = &taken[..] else {
        panic!("a repeat is known, a command is taken, others are not held up: {taken:?}")
    };
    let store = ground.reopen(store).await;
    assert_eq!(store.held().await.unwrap(), std::slice::from_ref(&of));
    assert_eq!(store.release_held(&of, NOON).await.unwrap(), [], "no room yet");
    let full = waiting(&store, &of).await;
    commit(&store, &of, vec![ended(stop.id, "x"), ended(full[0].id, "x")]).await;
    let late = store.take_batch(batch("tg", "3", vec![event(most + 2)]), vec![], NOON).await.unwrap();
    assert_eq!(late, [Taken::Held { first: false }], "it does not overtake what is held");
    let released = store.release_held(&of, NOON).await.unwrap();
    assert_eq!(texts(&released), [most.to_string()], "as far as there is room");
    assert_eq!(released[0].origin, event(most).origin, "as it came");
    commit(&store, &of, full[1..9].iter().map(|m| ended(m.id, "x")).collect()).await;
    let rest = store.release_held(&of, NOON).await.unwrap();
    assert_eq!(texts(&rest), [(most + 1).to_string(), (most + 2).to_string()]);
    assert_eq!(store.release_held(&of, NOON).await.unwrap(), [], "once");
    assert_eq!(store.held().await.unwrap(), []);
    let again = store.take_batch(batch("tg", "4", vec![event(most), event(most + 2)]), vec![], NOON).await;
    assert_eq!(again.unwrap(), [Taken::Known(released[0].id), Taken::Known(rest[1].id)]);
}

pub async fn what_is_held_and_known_by_now_falls_out(ground: &impl Ground) {
    let store = ground.open().await;
    let of = chat_of("tg", "7");
    let event = |n: i64| bridged("tg", "7", &n.to_string(), "x");
    let full = (0..=MOST_WAITING_BRIDGED + 1).map(event).collect();
    store.take_batch(batch("tg", "1", full), vec![], NOON).await.unwrap();
    // The same message by another way in.
    let known = store.take_in(vec![event(MOST_WAITING_BRIDGED)], NOON).await.unwrap();
    let Taken::New(known) = &known[0] else { panic!("not new: {known:?}") };
    let all = waiting(&store, &of).await;
    commit(&store, &of, all.iter().map(|m| ended(m.id, "x")).collect()).await;
    let released = store.release_held(&of, NOON.plus_ms(5)).await.unwrap();
    assert_eq!((released.len(), released[0].at), (1, NOON.plus_ms(5)));
    assert!(released[0].id > known.id && store.held().await.unwrap().is_empty());
}

pub async fn a_message_is_found_by_its_key(ground: &impl Ground) {
    let store = ground.open().await;
    let of = chat_of("tg", "7");
    store.take_batch(batch("tg", "1", vec![bridged("tg", "7", "1", "one")]), vec![], NOON).await.unwrap();
    let found = store.message_by_key("tg:1", NOON).await.unwrap().unwrap();
    assert_eq!((&found.conversation, found.message.text.as_str(), &found.ending), (&of, "one", &None));
    commit(&store, &of, vec![ended(found.message.id, "done")]).await;
    let found = store.message_by_key("tg:1", NOON.plus_ms(DAY - 1)).await.unwrap().unwrap();
    assert_eq!(found.ending.unwrap().said, "done");
    assert_eq!(store.message_by_key("tg:1", NOON.plus_ms(DAY)).await.unwrap(), None);
    assert_eq!(store.message_by_key("tg:2", NOON).await.unwrap(), None);
}

pub async fn the_inbox_shows_the_newest_and_cuts_what_is_long(ground: &impl Ground) {
    let store = ground.open().await;
    let long = "é".repeat(40_000);
    let not_let_in = Kept {
        why: KeptWhy::NotLetIn,
        conversation: Some(chat_of("tg", "7")),
        ..kept(None, &format!("x{long}"))
    };
    let failed = Kept { why: KeptWhy::Failed, ..kept(None, "not JSON") };
    let intake = Intake { kept: vec![not_let_in, failed], ..batch("tg", "1", vec![]) };
    store.take_batch(intake, vec![], NOON).await.unwrap();
    let other = Intake { kept: vec![kept(None, "b")], ..batch("dc", "1", vec![]) };
    store.take_batch(other, vec![], NOON.plus_ms(1)).await.unwrap();
    let all = store.inbox(None, 9).await.unwrap();
    let shown: Vec<_> = all.iter().map(|i| (i.channel.as_str(), i.why)).collect();
    assert_eq!(shown, [("dc", KeptWhy::Unknown), ("tg", KeptWhy::Failed), ("tg", KeptWhy::NotLetIn)]);
    assert_eq!(all[0].at, NOON.plus_ms(1));
    assert_eq!(store.inbox(Some(&slug("tg")), 1).await.unwrap(), all[1..2]);
    assert_eq!((all[2].raw.len(), &all[2].conversation), (65_535, &Some(chat_of("tg", "7"))));
    assert_eq!(store.inbox_item(all[1].number).await.unwrap().as_ref(), Some(&all[1]));
    assert!(store.drop_inbox(all[1].number).await.unwrap());
    assert!(!store.drop_inbox(all[1].number).await.unwrap());
    assert_eq!(store.inbox_item(all[1].number).await.unwrap(), None);
}

pub async fn the_inbox_keeps_the_newest_ten_thousand_and_all_that_is_held(ground: &impl Ground) {
    let store = ground.open().await;
    let most = usize::try_from(sb_store::MOST_KEPT).unwrap();
    let full = (0..=MOST_WAITING_BRIDGED).map(|n| bridged("tg", "7", &n.to_string(), "x")).collect();
    store.take_batch(batch("tg", "1", full), vec![], NOON).await.unwrap();
    let flood = async |channel: &str, from: usize, to: usize| {
        let kept = (from..to).map(|n| kept(None, &n.to_string())).collect();
        let intake = Intake { kept, ..batch(channel, "2", vec![]) };
        store.take_batch(intake, vec![], Timestamp(NOON.0 + 1)).await.unwrap();
    };
    flood("dc", 0, 3).await;
    flood("tg", 0, most - 1).await;
    flood("tg", most - 1, most + 5).await;
    let of = |channel: &'static str| {
        let store = store.clone();
        async move { store.inbox(Some(&Slug(channel.into())), usize::MAX).await.unwrap() }
    };
    let tg = of("tg").await;
    assert_eq!(tg.len(), most + 1, "and the one that is held");
    assert_eq!((tg[0].raw.as_str(), tg[most - 1].raw.as_str()), ((most + 4).to_string().as_str(), "5"));
    assert_eq!(tg[most].why, KeptWhy::Held);
    assert_eq!(of("dc").await.len(), 3, "others are left alone");
}

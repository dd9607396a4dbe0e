//! Laws of guests and of pairing.

use sb_store::model::{Chat, Guest, Pairing, Timestamp};
use sb_store::{PairingAnswer, PairingOffer, Store};

use super::Ground;
use super::samples::{NOON, Seeded, slug};

const HOUR: i64 = 3_600_000;

async fn asks(store: &Store, channel: &str, id: &str, now: Timestamp, dice: &Seeded) -> PairingOffer {
    store
        .offer_pairing(&slug(channel), id, &format!("name of {id}"), &Chat::direct(id), now, dice)
        .await
        .unwrap()
}

/// Asks, and is shown a code.
async fn shown(store: &Store, id: &str, now: Timestamp, dice: &Seeded) -> Pairing {
    match asks(store, "tg", id, now, dice).await {
        PairingOffer::New(pairing) => pairing,
        other => panic!("not new: {other:?}"),
    }
}

pub async fn guests_are_let_in_and_out(ground: &impl Ground) {
    let store = ground.open().await;
    let guest = |channel: &str, id: &str, since| Guest {
        channel: slug(channel),
        id: id.into(),
        name: format!("{id} since {since}"),
        since: NOON.plus_ms(since),
    };
    for guest in [guest("tg", "2", 1), guest("tg", "1", 2), guest("dc", "1", 3), guest("tg", "2", 9)] {
        store.let_in(&guest).await.unwrap();
    }
    let store = ground.reopen(store).await;
    let first = Guest { name: "2 since 9".into(), ..guest("tg", "2", 1) };
    assert_eq!(store.guests(None).await.unwrap(), [first.clone(), guest("tg", "1", 2), guest("dc", "1", 3)]);
    assert_eq!(store.guests(Some(&slug("tg"))).await.unwrap(), [first, guest("tg", "1", 2)]);
    assert!(store.is_guest(&slug("tg"), "1").await.unwrap());
    for (channel, id) in [("tg", "3"), ("tg", ""), ("tg", "%"), ("dc", "2")] {
        assert!(!store.is_guest(&slug(channel), id).await.unwrap(), "{channel} {id}");
    }
    assert!(store.let_out(&slug("tg"), "1").await.unwrap());
    assert!(!store.let_out(&slug("tg"), "1").await.unwrap());
    assert!(!store.is_guest(&slug("tg"), "1").await.unwrap());
    assert!(store.is_guest(&slug("dc"), "1").await.unwrap());
}

pub async fn a_pairing_lives_an_hour_three_at_a_time(ground: &impl Ground) {
    let store = ground.open().await;
    let dice = Seeded::new(7);
    let first = shown(&store, "1", NOON, &dice).await;
    assert_eq!((first.code.len(), first.asked, first.until), (8, NOON, NOON.plus_ms(HOUR)));
    assert!(first.code.chars().all(|c| c.is_ascii_alphanumeric() && !"01IO".contains(c)), "{}", first.code);
    let again = asks(&store, "tg", "1", NOON.plus_ms(HOUR - 1), &dice).await;
    assert_eq!(again, PairingOffer::Again(first.clone()));
    let second = shown(&store, "2", NOON.plus_ms(1), &dice).await;
    let third = shown(&store, "3", NOON.plus_ms(2), &dice).await;
    let store = ground.reopen(store).await;
    assert_eq!(asks(&store, "tg", "4", NOON.plus_ms(3), &dice).await, PairingOffer::TooMany);
    assert!(matches!(asks(&store, "dc", "4", NOON.plus_ms(3), &dice).await, PairingOffer::New(_)));
    let of_tg: Vec<_> = store.pairings(NOON.plus_ms(3)).await.unwrap();
    assert_eq!(of_tg[..3], [first.clone(), second.clone(), third.clone()], "the oldest first");
    let later = NOON.plus_ms(HOUR);
    assert_eq!(store.pairings(later).await.unwrap()[..2], [second.clone(), third]);
    let gone = store.approve_pairing(&first.code, None, later).await.unwrap();
    assert!(matches!(gone, PairingAnswer::NoSuchCode { .. }), "{gone:?}");
    let other = shown(&store, "1", later, &dice).await;
    assert_ne!(other.code, first.code, "past its time it is offered anew");
    assert!(store.revoke_pairing(&second.code.to_lowercase()).await.unwrap());
    assert!(!store.revoke_pairing(&second.code).await.unwrap());
    shown(&store, "2", later, &dice).await;
}

pub async fn an_approved_code_lets_in_whoever_was_shown_it_once(ground: &impl Ground) {
    let store = ground.open().await;
    let dice = Seeded::new(7);
    let (one, two) = (shown(&store, "1", NOON, &dice).await, shown(&store, "2", NOON, &dice).await);
    let now = NOON.plus_ms(5);
    let elsewhere = store.approve_pairing(&one.code, Some(&slug("dc")), now).await.unwrap();
    assert_eq!(elsewhere, PairingAnswer::NoSuchCode { left: 9 });
    let typed = format!(" {}\n", one.code.to_lowercase());
    let answer = store.approve_pairing(&typed, Some(&slug("tg")), now).await.unwrap();
    let guest = Guest { channel: slug("tg"), id: "1".into(), name: "name of 1".into(), since: now };
    assert_eq!(answer, PairingAnswer::LetIn(guest.clone()));
    let again = store.approve_pairing(&one.code, None, now).await.unwrap();
    assert_eq!(again, PairingAnswer::NoSuchCode { left: 8 }, "a code is used once");
    assert_eq!(store.guests(None).await.unwrap(), [guest]);
    let by_hand = Guest { channel: slug("tg"), id: "2".into(), name: "Bob".into(), since: now };
    store.let_in(&by_hand).await.unwrap();
    assert_eq!(store.pairings(now).await.unwrap(), [], "who is in needs no code");
    assert!(!store.revoke_pairing(&two.code).await.unwrap());
}

pub async fn ten_wrong_codes_close_pairing_for_the_hour(ground: &impl Ground) {
    let store = ground.open().await;
    let dice = Seeded::new(7);
    let pairing = shown(&store, "1", NOON.plus_ms(HOUR / 2), &dice).await;
    let guess = async |store: &Store, code: &str, at: i64| {
        store.approve_pairing(code, None, NOON.plus_ms(at)).await.unwrap()
    };
    for left in (0..10).rev() {
        let at = (9 - left) * 1000;
        let answer = guess(&store, "WRONG234", at).await;
        assert_eq!(answer, PairingAnswer::NoSuchCode { left: u32::try_from(left).unwrap() });
    }
    let store = ground.reopen(store).await;
    let closed = PairingAnswer::Closed { until: NOON.plus_ms(HOUR) };
    assert_eq!(guess(&store, "WRONG234", 60_000).await, closed);
    assert_eq!(guess(&store, &pairing.code, HOUR - 1).await, closed, "the right one is not looked at either");
    assert_eq!(store.guests(None).await.unwrap(), []);
    assert_eq!(guess(&store, "WRONG234", HOUR).await, PairingAnswer::NoSuchCode { left: 9 });
    assert!(matches!(guess(&store, &pairing.code, HOUR).await, PairingAnswer::LetIn(_)));
}

//! What agents note: found by its words, of one profile only, bounded, and gone when it is forgotten.

use sb_store::StoreErrorKind;
use sb_store::model::{Memo, Profile, ProfileName, Timestamp};
use sb_testkit::suites::store::Ground;

use crate::Home;

const NOON: Timestamp = Timestamp(1_800_000_000_000);

fn words(found: Vec<Memo>) -> Vec<String> {
    found.into_iter().map(|m| m.words).collect()
}

#[tokio::test]
async fn notes_are_found_by_any_of_their_words_after_a_restart_too() {
    let home = Home::new();
    let (a, b): (ProfileName, ProfileName) = ("a".into(), "b".into());
    let store = home.open().await;
    store.remember(&a, "Ann's birthday is the 7th of May", false, NOON).await.unwrap();
    store.remember(&a, "The caf\u{e9} in the north opens at eight", true, NOON.plus_ms(1)).await.unwrap();
    store.remember(&b, "Bob's birthday is in June", false, NOON).await.unwrap();
    store.close().await.unwrap();
    let store = home.open().await;
    assert_eq!(
        words(store.recall(&a, "birthdays? birthday!", 8).await.unwrap()),
        ["Ann's birthday is the 7th of May"]
    );
    let found = store.recall(&a, "CAFE", 8).await.unwrap();
    assert_eq!((found[0].outside, found[0].at), (true, NOON.plus_ms(1)));
    assert_eq!(
        store.recall(&a, "birth open", 8).await.unwrap().len(),
        2,
        "the beginning of a word, any of them"
    );
    assert_eq!(store.recall(&a, "birth open", 1).await.unwrap().len(), 1);
    for odd in ["", "\"", "*", "NEAR(a b)", "words:birthday", "a AND", "-birthday OR", "');--", "\u{0}"] {
        store.recall(&a, odd, 8).await.expect(odd);
    }
}

#[tokio::test]
async fn what_is_forgotten_is_not_found_and_a_profile_takes_its_notes_along() {
    let home = Home::new();
    let a: ProfileName = "a".into();
    let store = home.open().await;
    let first = store.remember(&a, "roses are red", false, NOON).await.unwrap();
    store.remember(&a, "roses are white", false, NOON).await.unwrap();
    assert_eq!(store.forget(&"b".into(), Some(first.id)).await.unwrap(), 0, "another profile's");
    assert_eq!(store.forget(&a, Some(first.id)).await.unwrap(), 1);
    assert_eq!(words(store.recall(&a, "roses red", 8).await.unwrap()), ["roses are white"]);
    store.put_profile(&Profile::gone(a.clone())).await.unwrap();
    store.remove_profile(&a).await.unwrap();
    assert_eq!(store.memos(&a).await.unwrap(), []);
}

#[tokio::test]
async fn notes_are_bounded_in_length_and_number() {
    let home = Home::new();
    let a: ProfileName = "a".into();
    let store = home.open().await;
    let long = store.remember(&a, &"x".repeat(Memo::LONGEST + 1), false, NOON).await.expect_err("too long");
    assert_eq!(long.kind, StoreErrorKind::TooLong);
    for n in 0..Memo::MOST {
        store.remember(&a, &format!("note {n}"), false, NOON).await.unwrap();
    }
    let full = store.remember(&a, "one more", false, NOON).await.expect_err("full");
    assert_eq!(full.kind, StoreErrorKind::TooLong);
    store.remember(&"b".into(), "another's", false, NOON).await.expect("its own bound");
}

#[tokio::test]
async fn what_was_drawn_by_lot_stays() {
    let home = Home::new();
    let dice = sb_testkit::suites::store::samples::Seeded::new(1);
    let store = home.open().await;
    let drawn = store.drawn("marks", &dice).await.unwrap();
    assert_eq!((drawn.len(), &drawn), (64, &store.drawn("marks", &dice).await.unwrap()));
    assert_ne!(drawn, store.drawn("other", &dice).await.unwrap());
}

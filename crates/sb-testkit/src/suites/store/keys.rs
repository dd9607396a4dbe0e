//! Laws of the desk: profiles, tokens that are looked up by what they hash to, sealed secrets.

use sb_store::model::{Rights, Secret, TokenId};
use sb_store::{StoreErrorKind, secret_name};

use super::Ground;
use super::samples::{NOON, Seeded, profile};

const INSTRUCTS: Rights = Rights { decide: false, instruct: true };

pub async fn profiles_are_kept_replaced_and_removed(ground: &impl Ground) {
    let store = ground.open().await;
    let (mut b, a) = (profile("b"), profile("a"));
    store.put_profile(&b).await.unwrap();
    store.put_profile(&a).await.unwrap();
    b.instructions = "Be long.".into();
    store.put_profile(&b).await.unwrap();
    let store = ground.reopen(store).await;
    assert_eq!(store.profiles().await.unwrap(), [a, b.clone()]);
    assert_eq!(store.profile(&b.name).await.unwrap(), Some(b.clone()));
    assert!(store.remove_profile(&b.name).await.unwrap());
    assert!(!store.remove_profile(&b.name).await.unwrap());
    assert_eq!(store.profile(&b.name).await.unwrap(), None);
}

pub async fn a_profile_takes_its_tokens_and_secrets_with_it(ground: &impl Ground) {
    let store = ground.open().await;
    let dice = Seeded::new(1);
    let (a, ab) = (profile("a"), profile("a_b"));
    for p in [&a, &ab] {
        store.put_profile(p).await.unwrap();
        store.put_secret(&secret_name(&p.name, "key"), &Secret::new("sk-1")).await.unwrap();
    }
    let (_, gone) = store.add_token(&a.name, Rights::ALL, NOON, &dice).await.unwrap();
    let (kept, stays) = store.add_token(&ab.name, INSTRUCTS, NOON, &dice).await.unwrap();
    assert!(!kept.decide && kept.instruct, "one right without the other");
    store.remove_profile(&a.name).await.unwrap();
    assert_eq!(store.find_token(&gone).await.unwrap(), None);
    assert_eq!(store.find_token(&stays).await.unwrap(), Some(kept.clone()));
    assert_eq!(store.tokens(None).await.unwrap(), [kept]);
    assert!(store.secret(&secret_name(&a.name, "key")).await.unwrap().is_none());
    assert!(store.secret(&secret_name(&ab.name, "key")).await.unwrap().is_some());
}

pub async fn a_token_opens_only_as_a_whole(ground: &impl Ground) {
    let store = ground.open().await;
    let dice = Seeded::new(1);
    let p = profile("a");
    let nobody = store.add_token(&p.name, Rights::ALL, NOON, &dice).await.unwrap_err();
    assert_eq!(nobody.kind, StoreErrorKind::NotFound, "a token needs its profile");
    store.put_profile(&p).await.unwrap();
    let (record, secret) = store.add_token(&p.name, Rights::ALL, NOON, &dice).await.unwrap();
    let whole = secret.expose().to_owned();
    assert!(whole.starts_with("sb_") && whole.len() >= 35);
    assert_eq!(record.id.as_str().len(), 8);
    assert!(record.decide && record.instruct);
    let store = ground.reopen(store).await;
    assert_eq!(store.find_token(&Secret::new(whole.clone())).await.unwrap(), Some(record.clone()));
    let wrong = [
        String::new(),
        "sb_".into(),
        whole[..whole.len() - 1].to_owned(),
        format!("{whole}0"),
        format!(" {whole}"),
        whole.to_uppercase(),
        record.id.0.clone(),
        "%".into(),
        "x".repeat(100_000),
    ];
    for text in wrong {
        assert_eq!(store.find_token(&Secret::new(text.clone())).await.unwrap(), None, "{text:.60}");
    }
    assert!(!store.remove_token(&"other".into(), &record.id).await.unwrap());
    assert!(!store.remove_token(&p.name, &TokenId("".into())).await.unwrap());
    assert!(store.remove_token(&p.name, &record.id).await.unwrap());
    assert_eq!(store.find_token(&secret).await.unwrap(), None, "removed, it opens nothing");
}

pub async fn a_secret_comes_back_as_it_was_given(ground: &impl Ground) {
    let store = ground.open().await;
    for text in ["sk-ant-1", "", "ключ\n"] {
        store.put_secret("a", &Secret::new(text)).await.unwrap();
        let store = store.clone();
        assert_eq!(store.secret("a").await.unwrap().unwrap().expose(), text);
    }
    let store = ground.reopen(store).await;
    assert_eq!(store.secret("a").await.unwrap().unwrap().expose(), "ключ\n");
    assert!(store.secret("b").await.unwrap().is_none());
    assert!(store.remove_secret("a").await.unwrap());
    assert!(!store.remove_secret("a").await.unwrap());
    assert!(store.secret("a").await.unwrap().is_none());
}

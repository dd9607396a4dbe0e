//! Laws of channels: what is configured is kept apart from what was said.

use sb_store::StoreErrorKind;
use sb_store::model::{Chat, Guest, Secret};

use super::Ground;
use super::samples::{NOON, Seeded, address, batch, bridged, channel, chat_of, commit, post, posted, slug};

fn field(name: &str, value: &str) -> (String, Secret) {
    (name.into(), Secret::new(value))
}

pub async fn channels_are_kept_changed_and_removed(ground: &impl Ground) {
    let store = ground.open().await;
    let (mut tg, dc) = (channel("tg"), channel("dc"));
    store.put_channel(&tg, vec![]).await.unwrap();
    store.put_channel(&dc, vec![]).await.unwrap();
    tg.enabled = false;
    tg.options.routes.insert("7".into(), "other".into());
    store.put_channel(&tg, vec![]).await.unwrap();
    let store = ground.reopen(store).await;
    assert_eq!(store.channels().await.unwrap(), [dc.clone(), tg.clone()]);
    assert_eq!(store.channel(&tg.slug).await.unwrap(), Some(tg.clone()));
    assert!(store.remove_channel(&tg.slug).await.unwrap());
    assert!(!store.remove_channel(&tg.slug).await.unwrap());
    assert_eq!(store.channel(&tg.slug).await.unwrap(), None);
    assert_eq!(store.channels().await.unwrap(), [dc]);
}

pub async fn a_secret_that_is_not_named_stays_and_an_empty_one_goes(ground: &impl Ground) {
    let store = ground.open().await;
    let (tg, longer) = (channel("tg"), channel("tg-2"));
    let shown = async |of: &str| {
        let found = store.channel_secrets(&slug(of)).await.unwrap();
        found.iter().map(|(name, secret)| format!("{name}={}", secret.expose())).collect::<Vec<_>>()
    };
    store.put_channel(&longer, vec![field("token", "other")]).await.unwrap();
    store.put_channel(&tg, vec![field("token", "1:a"), field("hook", "h/1")]).await.unwrap();
    assert_eq!(shown("tg").await, ["hook=h/1", "token=1:a"]);
    store.put_channel(&tg, vec![field("token", "2:b")]).await.unwrap();
    assert_eq!(shown("tg").await, ["hook=h/1", "token=2:b"]);
    store.put_channel(&tg, vec![field("hook", ""), field("none", "")]).await.unwrap();
    assert_eq!(shown("tg").await, ["token=2:b"]);
    store.remove_channel(&tg.slug).await.unwrap();
    assert_eq!(shown("tg").await, [""; 0]);
    assert_eq!(shown("tg-2").await, ["token=other"]);
}

pub async fn what_an_adapter_keeps_is_kept_up_to_its_limit(ground: &impl Ground) {
    let store = ground.open().await;
    let tg = slug("tg");
    assert_eq!(store.channel_state(&tg).await.unwrap(), None);
    let most = "x".repeat(64 * 1024);
    store.put_channel_state(&tg, &most).await.unwrap();
    let refused = store.put_channel_state(&tg, &format!("{most}x")).await.unwrap_err();
    assert_eq!(refused.kind, StoreErrorKind::TooLong);
    assert!(
        refused.to_string().ends_with("65537 bytes are more than the 65536 a channel may keep"),
        "{refused}"
    );
    let store = ground.reopen(store).await;
    assert_eq!(store.channel_state(&tg).await.unwrap(), Some(most));
    store.put_channel_state(&tg, "").await.unwrap();
    assert_eq!(store.channel_state(&tg).await.unwrap().as_deref(), Some(""));
}

pub async fn a_removed_channel_keeps_its_outbox_and_inbox(ground: &impl Ground) {
    let store = ground.open().await;
    let (tg, of, dice) = (channel("tg"), chat_of("tg", "7"), Seeded::new(1));
    store.put_channel(&tg, vec![field("token", "1:a")]).await.unwrap();
    store.put_channel_state(&tg.slug, "words").await.unwrap();
    let full = (0..=sb_store::MOST_WAITING_BRIDGED).map(|n| bridged("tg", "7", &n.to_string(), "x"));
    store.take_batch(batch("tg", "1", full.collect()), vec![], NOON).await.unwrap();
    commit(&store, &of, vec![posted(post("message:1", address("tg", "7"), "hello"))]).await;
    let guest = Guest { channel: tg.slug.clone(), id: "42".into(), name: "Ada".into(), since: NOON };
    store.let_in(&guest).await.unwrap();
    for channel in ["tg", "dc"] {
        store.offer_pairing(&slug(channel), "43", "Bob", &Chat::direct("43"), NOON, &dice).await.unwrap();
    }
    store.remove_channel(&tg.slug).await.unwrap();
    let store = ground.reopen(store).await;
    assert_eq!(store.cursor(&tg.slug, "updates").await.unwrap(), None);
    assert_eq!(store.channel_state(&tg.slug).await.unwrap(), None);
    let left = store.pairings(NOON).await.unwrap();
    assert_eq!(left.iter().map(|p| p.channel.as_str()).collect::<Vec<_>>(), ["dc"]);
    assert_eq!(store.guests(None).await.unwrap(), [guest]);
    assert_eq!(store.outbox(Some(&tg.slug), false, 9).await.unwrap().len(), 1);
    assert_eq!(store.inbox(Some(&tg.slug), 9).await.unwrap().len(), 1);
    assert_eq!(store.held().await.unwrap(), [of]);
}

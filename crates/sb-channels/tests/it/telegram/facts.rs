//! Settings that cannot be are refused with what to do; the manifest says what is true.

use sb_channel::model::{ChatSort, FaultKind};
use sb_channel::{Field, Live};
use sb_channels::telegram::KIND;

use super::{context, settings, world};

type Pairs = &'static [(&'static str, &'static str)];

#[tokio::test]
async fn settings_that_cannot_be_are_refused_with_what_to_do() {
    let world = world();
    let table: [(Pairs, bool, &str); 7] = [
        (&[], false, "@BotFather"),
        (&[("token", "")], false, "@BotFather"),
        (&[("token", "123456")], false, "no token"),
        (&[("token", "123:a/../b")], false, "no token"),
        (&[("token", "123:abc"), ("api_url", "ftp://x")], false, "api_url"),
        (&[("token", "123:abc")], true, "secret_token"),
        (&[("token", "123:abc"), ("secret_token", "two words")], true, "secret_token"),
    ];
    for (pairs, by_webhook, says) in table {
        let pairs = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let opened = (KIND.open)(context(world.platform.http(), by_webhook), &settings(pairs));
        let Err(fault) = opened else { panic!("it opens without {says}") };
        assert_eq!(fault.kind, FaultKind::Refused);
        assert!(fault.detail.contains(says) && !fault.detail.contains("123:"), "{fault}");
    }
}

/// Holds: M-telegram-06.
#[test]
fn a_group_is_edited_seldom_enough_for_its_limit() {
    let manifest = (KIND.manifest)();
    let Live::Edit { every, .. } = manifest.features(ChatSort::Group).live else { panic!("by edits") };
    assert!(60 / every.as_secs() <= 20);
}

#[test]
fn ids_are_numbers_and_never_names() {
    let manifest = (KIND.manifest)();
    for id in ["4242", "-1001234567890", "-4001"] {
        assert!((manifest.is_id)(id), "{id}");
    }
    for name in ["@ann", "Ann", "", "-", "0", "--1", "+1", "1 ", "99999999999999999999"] {
        assert!(!(manifest.is_id)(name), "{name:?}");
    }
}

#[test]
fn each_secret_is_marked_and_each_fact_is_told() {
    let manifest = (KIND.manifest)();
    let secrets = manifest.fields.iter().filter(|field| field.secret).map(|field| field.key);
    assert_eq!(secrets.collect::<Vec<_>>(), ["token", "secret_token"]);
    let told = |field: &Field| !field.label.is_empty() && !field.hint.is_empty();
    assert!(manifest.fields.iter().all(told));
    let trust: Vec<_> = manifest.trust.iter().map(|trust| trust.id).collect();
    let all = ["agent:telegram-chats", "agent:messenger-identity", "agent:pairing", "agent:webhooks"];
    assert_eq!(trust, all);
    assert!(manifest.page.starts_with("# Telegram") && manifest.page.contains("@BotFather"));
    let kinds: Vec<_> = sb_channels::kinds().iter().map(|kind| (kind.manifest)().id).collect();
    assert!(kinds.contains(&"telegram"));
}

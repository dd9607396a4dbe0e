//! Settings that cannot be are refused with what to do; the manifest says what is true.

use std::time::Duration;

use sb_channel::model::{ChatSort, FaultKind};
use sb_channel::{FirstWord, Live, Typing};
use sb_channels::whatsapp::KIND;

use super::{Recorder, by, world};
use crate::telegram::{context, settings};

/// Holds: M-whatsapp-04.
#[tokio::test]
async fn without_a_secret_or_with_one_that_cannot_be_it_does_not_start() {
    let world = world();
    let table = [
        ("phone_number_id", "", "phone_number_id"),
        ("phone_number_id", "+1 555", "phone_number_id"),
        ("account_id", "../me", "account_id"),
        ("token", "", "token"),
        ("app_secret", "", "app_secret"),
        ("verify_token", "", "verify_token"),
        ("app_secret", sb_channels::whatsapp::standin::VERIFY_TOKEN, "must not be the app secret"),
        ("version", "26", "version"),
        ("version", "v26.0/../..", "version"),
        ("version", "v.0", "version"),
    ];
    for (field, value, says) in table {
        let mut pairs = world.platform.settings();
        pairs.retain(|(key, _)| key != field);
        pairs.push((field.to_owned(), value.to_owned()));
        let opened = (KIND.open)(context(world.platform.http(), true), &settings(pairs));
        let Err(fault) = opened else { panic!("it opens with {field}={value:?}") };
        assert_eq!(fault.kind, FaultKind::Refused, "{fault}");
        assert!(fault.detail.contains(says), "{fault}");
        assert!(!format!("{fault:?}").contains("stand-in"), "it names no secret: {fault:?}");
    }
    let secret = |key: &str| (KIND.manifest)().fields.iter().any(|f| f.key == key && f.secret && f.required);
    assert!(["token", "app_secret", "verify_token"].into_iter().all(secret));
}

#[test]
fn ids_are_business_scoped_and_never_numbers_or_names() {
    let manifest = (KIND.manifest)();
    for id in ["US.7001", "DE.13491208655302741918", "US.ENT.9", "BR.aB3"] {
        assert!((manifest.is_id)(id), "{id}");
    }
    let long = format!("US.{}", "7".repeat(129));
    for other in [
        "15550002222",
        "+15550002222",
        "ada.l",
        "@ada.l",
        "Ada",
        "",
        "US.",
        "US.ENT.",
        "us.7",
        "USA.7",
        "US.7 1",
        "US.7.1",
        &long,
    ] {
        assert!(!(manifest.is_id)(other), "{other:?}");
    }
}

/// Holds: M-whatsapp-02.
#[test]
fn it_says_that_a_reply_comes_whole_and_within_a_day() {
    let manifest = (KIND.manifest)();
    for sort in [ChatSort::Direct, ChatSort::Group] {
        let features = manifest.features(sort);
        assert_eq!((features.live, features.edits), (Live::Off, false));
        assert_eq!(features.first_word, FirstWord::Within(Duration::from_secs(24 * 60 * 60)));
    }
    let Typing::Renew { every } = manifest.direct.typing else { panic!("it types") };
    assert!(every < Duration::from_secs(25), "it lapses after 25 seconds");
    assert_eq!(manifest.group.typing, Typing::Off);
    let trust: Vec<_> = manifest.trust.iter().map(|trust| trust.id).collect();
    let all = ["agent:messenger-identity", "agent:pairing", "agent:webhooks"];
    assert_eq!(trust, all);
    assert!(manifest.gaps.iter().any(|gap| gap.contains("24 hours")), "the window, in plain words");
    assert!(manifest.gaps.iter().any(|gap| gap.contains("terms")), "what Meta allows");
}

#[tokio::test]
async fn who_we_are_is_asked_with_what_may_be_wrong_with_it() {
    let account = world().number.check().await.expect("who we are");
    assert_eq!((account.id.as_str(), account.name.as_str()), ("900001", "Test Lab (+15550001111)"));
    assert_eq!((account.link.as_deref(), account.notes.len()), (Some("https://wa.me/15550001111"), 0));
    let answer = serde_json::json!({
        "display_phone_number": "+1 555-000-1111", "quality_rating": "RED", "status": "BANNED",
    });
    let recorder = Recorder::answering(200, &answer);
    let number = by(recorder.http(), &world().platform);
    let account = number.check().await.expect("who we are");
    assert_eq!((account.name.as_str(), account.notes.len()), ("+15550001111", 2), "{:?}", account.notes);
    assert!(account.notes[1].contains("BANNED"));
    let asked = recorder.asked();
    assert!(asked[0].path.contains("/v26.0/900001?fields="), "{asked:?}");
    assert_eq!(asked[0].authorization, "Bearer stand-in_token");
}

#[tokio::test]
async fn the_account_is_told_to_call_us_with_the_word_we_know() {
    let recorder = Recorder::answering(200, &serde_json::json!({"success": true}));
    let number = by(recorder.http(), &world().platform);
    number.register(Some("https://example.org/hooks/wa")).await.expect("registered");
    number.register(None).await.expect("taken off");
    let asked = recorder.asked();
    assert!(asked.iter().all(|asked| asked.path.ends_with("/v26.0/100200300/subscribed_apps")), "{asked:?}");
    assert_eq!(asked[0].body["override_callback_uri"], "https://example.org/hooks/wa");
    assert_eq!(asked[0].body["verify_token"], sb_channels::whatsapp::standin::VERIFY_TOKEN);
    assert_eq!(asked[1].body, serde_json::json!({}));
}

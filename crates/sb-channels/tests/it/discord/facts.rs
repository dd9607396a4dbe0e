//! Settings that cannot be are refused with what to do; the manifest says what is true.

use sb_channel::model::{Chat, FaultKind};
use sb_channels::discord::KIND;

use super::{settings, world};

type Pairs = &'static [(&'static str, &'static str)];

#[tokio::test]
async fn settings_that_cannot_be_are_refused_with_what_to_do() {
    let table: [(Pairs, &str); 6] = [
        (&[], "Developer Portal"),
        (&[("token", "")], "Developer Portal"),
        (&[("token", "Bot abc")], "without `Bot`"),
        (&[("token", "a/../b")], "no token"),
        (&[("token", "abc.d"), ("api_url", "ftp://x")], "api_url"),
        (&[("token", "abc.d"), ("api_url", "https://discord.com/api/v10")], "api_url"),
    ];
    for (pairs, says) in table {
        let pairs = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let clock = std::sync::Arc::new(sb_channel::net::SystemClock);
        let context = sb_channel::ChannelContext {
            http: sb_channel::net::Http::new().expect("a client"),
            clock,
            dice: std::sync::Arc::new(sb_channel::net::FixedDice::new(1)),
            state: std::sync::Arc::new(super::Kept::default()),
            by_webhook: false,
        };
        let Err(fault) = (KIND.open)(context, &settings(pairs)) else { panic!("it opens without {says}") };
        assert_eq!(fault.kind, FaultKind::Refused);
        assert!(fault.detail.contains(says) && !fault.detail.contains("abc.d"), "{fault}");
    }
}

#[test]
fn ids_are_snowflakes_and_never_names() {
    let manifest = (KIND.manifest)();
    for id in ["175928847299117063", "41771983423143937", "1400000000000000001"] {
        assert!((manifest.is_id)(id), "{id}");
    }
    for name in [
        "@ann",
        "ann",
        "Ann#1234",
        "",
        "0",
        "000000000000000000",
        "12345",
        "-175928847299117063",
        "1759288472991170631759",
    ] {
        assert!(!(manifest.is_id)(name), "{name:?}");
    }
}

#[test]
fn each_secret_is_marked_and_what_safety_rests_on_is_told() {
    let manifest = (KIND.manifest)();
    let secrets = manifest.fields.iter().filter(|field| field.secret).map(|field| field.key);
    assert_eq!(secrets.collect::<Vec<_>>(), ["token"]);
    let trust: Vec<_> = manifest.trust.iter().map(|trust| trust.id).collect();
    assert_eq!(trust, ["agent:discord-gateway", "agent:messenger-identity", "agent:pairing"]);
    assert!(manifest.page.starts_with("# Discord") && manifest.page.contains("Developer Portal"));
}

#[tokio::test]
async fn who_we_are_and_what_the_portal_lacks_is_told() {
    let world = world();
    let account = world.bot.check().await.expect("who we are");
    assert_eq!((account.id.as_str(), account.name.as_str()), ("900000000000000000", "Switchboard"));
    assert_eq!(account.notes, Vec::<String>::new());
    world.platform.set_content_intent(false);
    let account = world.bot.check().await.expect("who we are");
    assert!(account.notes[0].contains("Developer Portal, your application, Bot, Message Content Intent"));
    assert_eq!(world.bot.features(&Chat::direct("1")), world.bot.features(&world.lab));
}

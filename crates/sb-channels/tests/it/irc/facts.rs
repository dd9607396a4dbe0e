//! Settings that cannot be are refused with what to do; the manifest says what is true.

use std::sync::Arc;

use sb_channel::model::{ChatSort, FaultKind, Secret, Timestamp};
use sb_channel::net::{FixedDice, Http, ManualClock};
use sb_channel::{ChannelContext, FilesOut, Marks, Settings, Typing};
use sb_channels::irc::KIND;

use super::{NoState, Wires};

fn open(pairs: &[(&str, &str)]) -> Result<(), sb_channel::model::Fault> {
    let context = ChannelContext {
        http: Http::in_process(Arc::new(Wires::default())),
        clock: Arc::new(ManualClock::at(Timestamp(0))),
        dice: Arc::new(FixedDice::new(1)),
        state: Arc::new(NoState),
        by_webhook: false,
    };
    let pairs = pairs.iter().map(|(key, value)| ((*key).to_owned(), Secret::new((*value).to_owned())));
    (KIND.open)(context, &Settings::new(pairs)).map(drop)
}

#[test]
fn settings_that_cannot_be_are_refused_with_what_to_do() {
    let table: &[(&[(&str, &str)], &str)] = &[
        (&[("nick", "robo")], "`server`"),
        (&[("server", "irc.example.org")], "`nick`"),
        (&[("server", "http://irc.example.org"), ("nick", "robo")], "such as irc.libera.chat"),
        (&[("server", "irc.example.org"), ("nick", "two words")], "`nick`"),
        (&[("server", "irc.example.org"), ("nick", "1robo")], "`nick`"),
        (&[("server", "irc.example.org"), ("nick", "robo"), ("channels", "lab")], "`channels`"),
        (&[("server", "irc.example.org"), ("nick", "robo"), ("channels", "#lab a\rb")], "`channels`"),
        (&[("server", "irc.example.org"), ("nick", "robo"), ("fingerprint", "abc")], "`fingerprint`"),
        (&[("server", "irc.example.org"), ("nick", "robo"), ("pace_ms", "fast")], "`pace_ms`"),
        (&[("server", "irc.example.org"), ("nick", "robo"), ("login", "external")], "`certificate`"),
        (&[("server", "irc.example.org"), ("nick", "robo"), ("login", "nickserv")], "`password`"),
        // A password goes over TLS only, except on this machine.
        (&[("server", "irc://irc.example.org"), ("nick", "robo"), ("password", "s3cret")], "without TLS"),
        (
            &[("server", "irc://irc.example.org"), ("nick", "robo"), ("server_password", "s3cret")],
            "without TLS",
        ),
        (&[("server", "irc://127.0.0.1"), ("nick", "robo"), ("certificate", "s3cret")], "for TLS"),
    ];
    for (pairs, says) in table {
        let why = open(pairs).expect_err(says);
        assert_eq!(why.kind, FaultKind::Refused);
        assert!(why.detail.contains(says) && !why.detail.contains("s3cret"), "{why}");
    }
    open(&[("server", "irc://127.0.0.1"), ("nick", "robo"), ("password", "s3cret")])
        .expect("on this machine");
    open(&[("server", "irc.example.org"), ("nick", "robo"), ("password", "s3cret")]).expect("over TLS");
}

/// Holds: M-irc-05, T-05.
#[test]
fn ids_are_accounts_and_channels_and_never_nicks() {
    let is_id = (KIND.manifest)().is_id;
    for id in ["account:ann", "account:ann[1]", "#lab", "##rust", "&local"] {
        assert!(is_id(id), "{id}");
    }
    for name in
        ["ann", "Ann", "ann!a@h", "*@h", "account:", "account:Ann", "account:a b", "#", "@#lab", "#a,#b", ""]
    {
        assert!(!is_id(name), "{name:?}");
    }
    let trust: Vec<_> = (KIND.manifest)().trust.iter().map(|trust| trust.id).collect();
    assert_eq!(trust, ["agent:irc-nicks", "agent:messenger-identity", "agent:pairing"]);
}

/// Holds: M-irc-01, M-irc-02, M-irc-03, M-irc-04.
#[test]
fn it_declares_words_and_typing_and_nothing_else() {
    let manifest = (KIND.manifest)();
    for sort in [ChatSort::Direct, ChatSort::Group] {
        let features = manifest.features(sort);
        assert_eq!((features.files_in, features.files_out), (None, None::<FilesOut>));
        assert_eq!(features.marks, Marks::NONE);
        assert!(matches!(features.typing, Typing::OnOff { every } if every.as_secs() < 6));
        assert!(!features.edits && !features.threads && features.sends_over_feed);
    }
    let secrets: Vec<_> =
        manifest.fields.iter().filter(|field| field.secret).map(|field| field.key).collect();
    assert_eq!(secrets, ["password", "certificate", "server_password"]);
    assert!(manifest.page.starts_with("# IRC") && manifest.page.contains("NickServ"));
}

/// Holds: M-irc-02.
#[tokio::test(start_paused = true)]
async fn typing_is_shown_where_the_server_passes_it_on() {
    use sb_channel::Gesture;
    use sb_channel::model::Chat;
    for (abilities, shows) in [("account-tag message-tags", true), ("account-tag", false)] {
        let (mut bot, [mut server]) = super::world::<1>(&[]);
        server.let_in(abilities).await;
        bot.is_in().await.expect("let in");
        let chat = Chat::group("#lab");
        assert_eq!(bot.channel.features(&chat).typing != Typing::Off, shows);
        for at_work in [true, false] {
            bot.channel.gesture(&chat, Gesture::Typing(at_work)).await.expect("shown");
        }
        if shows {
            server.expect("@+typing=active TAGMSG #lab").await;
            server.expect("@+typing=done TAGMSG #lab").await;
        }
        server.say("PING :end").await;
        server.expect("PONG :end").await;
    }
}

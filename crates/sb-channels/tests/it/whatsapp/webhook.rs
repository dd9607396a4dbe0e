//! The webhook: only Meta is believed, and only for what it really sent.

use bytes::Bytes;
use sb_channel::model::Timestamp;
use sb_channel::{Event, Verdict, WebhookRequest, signed_hex};
use sb_channels::whatsapp::standin::{APP_SECRET, VERIFY_TOKEN};
use serde_json::{Value, json};

use super::{NOW, accept, signed, told, world};

const SHORT: &str = r#"{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"messages":[{"text":{"body":"hé 👋"}}]}}]}]}"#;
const ESCAPED: &str = r#"{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550001111","phone_number_id":"900001"},"contacts":[{"profile":{"name":"Ada"},"wa_id":"15550002222","user_id":"US.7001"}],"messages":[{"from":"15550002222","id":"wamid.TEST1","timestamp":"1796000000","type":"text","text":{"body":"h\u00e9 \ud83d\udc4b"}}]}}]}]}"#;
/// Bodies, and how they are signed with the secret `wa-test-app-secret-0123456789abcd`.
const VECTORS: [(&str, &str); 3] = [
    (SHORT, "9b4799abd706a86f3da53dd3893b7cf9bb290e0b21a96d6ba446f724474d6708"),
    ("", "1c64600288ed14870f7968c57d7ae9b5a066189fc146d030cbe54461a2bc928b"),
    (ESCAPED, "14dd5f7597021fb3b21c2dc7d5e2664ca3588bf9a7c0b72759f51ab687ebe1d4"),
];

fn status(verdict: &Verdict) -> u16 {
    match verdict {
        Verdict::Take(_, reply) | Verdict::Refuse(reply) => reply.status,
    }
}

/// Holds: M-whatsapp-04.
#[tokio::test]
async fn a_call_is_believed_for_a_signature_over_its_very_bytes() {
    let world = world();
    assert_eq!(ESCAPED.len(), 425);
    for (body, hex) in VECTORS {
        assert_eq!(signed_hex(APP_SECRET, body.as_bytes()), hex);
        for hex in [hex.to_owned(), hex.to_uppercase()] {
            let verdict = accept(&world.number, &signed(body, &format!("sha256={hex}")));
            // What is empty is signed, and no JSON.
            assert_eq!(status(&verdict), if body.is_empty() { 400 } else { 200 });
        }
        for wrong in [
            hex.to_owned(),
            format!("sha1={hex}"),
            format!("SHA256={hex}"),
            format!("sha256={}", &hex[1..]),
            format!("sha256={hex}0"),
            format!("sha256= {hex}"),
            format!("sha256={}", hex.replacen(&hex[..1], if hex.starts_with('0') { "1" } else { "0" }, 1)),
            format!("sha256={}", signed_hex("another secret", body.as_bytes())),
            "sha256=".to_owned(),
            String::new(),
        ] {
            let verdict = accept(&world.number, &signed(body, &wrong));
            assert!(matches!(verdict, Verdict::Refuse(_)), "{wrong}");
            assert_eq!(status(&verdict), 401, "{wrong}");
        }
        let mut changed = body.as_bytes().to_vec();
        changed.push(b' ');
        let changed = String::from_utf8(changed).expect("a text");
        assert_eq!(status(&accept(&world.number, &signed(&changed, &format!("sha256={hex}")))), 401);
    }
    let bare = WebhookRequest { headers: Vec::new(), ..signed(ESCAPED, "") };
    assert_eq!(status(&accept(&world.number, &bare)), 401);
    // The old header, over the same bytes, is no proof.
    let old = ("x-hub-signature".to_owned(), format!("sha256={}", VECTORS[2].1));
    assert_eq!(status(&accept(&world.number, &WebhookRequest { headers: vec![old], ..bare })), 401);
    let Verdict::Take(batch, _) = told(&world.number, ESCAPED) else { panic!("refused") };
    let [Event::Said(said)] = &batch.events[..] else { panic!("a message: {batch:?}") };
    assert_eq!((said.text.as_str(), said.chat.id.as_str()), ("hé 👋", "US.7001"));
}

/// Holds: M-whatsapp-04.
#[tokio::test]
async fn what_was_copied_on_its_way_and_sent_again_after_its_id_was_forgotten_is_passed_over() {
    let world = world();
    let day = 24 * 60 * 60 * 1000;
    let mut call = signed(ESCAPED, &format!("sha256={}", VECTORS[2].1));
    for (later, events) in [(0, 1), (8 * day, 1), (8 * day + 1, 0), (800 * day, 0)] {
        call.at = Timestamp(NOW.0 + later);
        let Verdict::Take(batch, reply) = accept(&world.number, &call) else { panic!("refused") };
        assert_eq!((batch.events.len(), reply.status), (events, 200), "{later}");
    }
}

fn asked(query: &str) -> WebhookRequest {
    let (method, path) = ("GET".to_owned(), query.to_owned());
    WebhookRequest { method, path, headers: Vec::new(), body: Bytes::new(), at: NOW }
}

#[tokio::test]
async fn whoever_knows_the_word_is_told_that_calls_are_wanted() {
    let world = world();
    let word = VERIFY_TOKEN.replace(' ', "%20");
    let good = format!("?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token={word}");
    for query in [good.clone(), good.replace("%20", "+"), format!("/{good}")] {
        let Verdict::Take(batch, reply) = accept(&world.number, &asked(&query)) else {
            panic!("{query} is refused")
        };
        assert!(batch.events.is_empty());
        assert_eq!((reply.status, reply.media_type, reply.body.as_str()), (200, "text/plain", "1158201444"));
    }
    for wrong in [
        good.replace("subscribe", "unsubscribe"),
        good.replace(&word, "wrong"),
        good.replace(&word, ""),
        good.replace("hub.", "hub_"),
        String::new(),
    ] {
        let verdict = accept(&world.number, &asked(&wrong));
        assert!(matches!(verdict, Verdict::Refuse(_)) && status(&verdict) == 403, "{wrong}");
    }
    let other = WebhookRequest { method: "PUT".into(), ..asked(&good) };
    assert_eq!(status(&accept(&world.number, &other)), 405);
}

#[tokio::test]
async fn what_nobody_knows_is_kept_and_can_be_read_again_once_somebody_does() {
    let world = world();
    for garbage in ["", "{", "nothing"] {
        let verdict = told(&world.number, garbage);
        assert!(matches!(verdict, Verdict::Refuse(_)) && status(&verdict) == 400, "{garbage}");
    }
    for strange in ["[]", "null", "{}", r#"{"object":"page","entry":7}"#] {
        let Verdict::Take(batch, reply) = told(&world.number, strange) else {
            panic!("{strange} is refused")
        };
        assert!(matches!(&batch.events[..], [Event::Unknown { .. }]), "{strange}: {batch:?}");
        assert_eq!(reply.status, 200);
    }
    let mut call: Value = serde_json::from_str(ESCAPED).expect("JSON");
    let message = "/entry/0/changes/0/value/messages/0";
    *call.pointer_mut(message).expect("a message") =
        json!({"id": "wamid.H", "from": "15550002222", "timestamp": "1796000000", "type": "hologram"});
    let Verdict::Take(batch, _) = told(&world.number, &call.to_string()) else { panic!("refused") };
    let [Event::Unknown { what, raw }] = &batch.events[..] else { panic!("{batch:?}") };
    assert_eq!(what, "hologram");
    assert_eq!(world.number.read_again(raw), None, "nobody knows it yet");
    // As if a later version knew it: it is all there, with whose it is, however old it is by then.
    let known = raw.replace("hologram", "text").replace(r#""from""#, r#""text":{"body":"now"},"from""#);
    let Some(Event::Said(said)) = world.number.read_again(&known) else { panic!("it is not read: {known}") };
    assert_eq!((said.text.as_str(), said.chat.id.as_str()), ("now", "US.7001"));
}

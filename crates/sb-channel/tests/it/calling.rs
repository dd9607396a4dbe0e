//! How a platform that calls us does so: in order, until it is answered, and never losing anything.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use sb_channel::model::{Secret, Timestamp};
use sb_channel::net::{Answering, Content, Http, ManualClock, Method, Request, Service};
use sb_channel::standin::{Breakage, Imitated, Named, Platform, StandIn, Told};
use serde_json::{Value, json};

/// Whoever is called: answers with what is planned, then with success, and keeps what was told.
#[derive(Clone, Default)]
struct Called {
    planned: Arc<Mutex<Vec<u16>>>,
    told: Arc<Mutex<Vec<String>>>,
}

impl Service for Called {
    fn call(&self, request: axum::http::Request<reqwest::Body>) -> Answering {
        let body = String::from_utf8_lossy(request.body().as_bytes().unwrap_or_default()).into_owned();
        let planned = self.planned.lock().expect("unpoisoned").pop().unwrap_or(200);
        self.told.lock().expect("unpoisoned").push(body);
        let response = axum::http::Response::builder().status(planned).body(reqwest::Body::from(""));
        Box::pin(async move { Ok(response.expect("a response")) })
    }
}

impl Called {
    fn told(&self) -> Vec<String> {
        self.told.lock().expect("unpoisoned").clone()
    }
    async fn heard(&self, many: usize) -> Vec<String> {
        while self.told().len() < many {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        self.told()
    }
}

fn make(platform: &Platform, update: &Value) -> Option<Request> {
    let content = Content::Json(update.to_string().into());
    Some(Request::new(Method::Post, platform.kept("address")?, content))
}

fn tell(told: &Told) -> Vec<Value> {
    match told {
        Told::Said { text, .. } => vec![json!(text)],
        _ => Vec::new(),
    }
}

fn platform() -> Platform {
    let imitated = Imitated {
        settings: &[],
        ids: |named, n| (named == Named::Person).then(|| format!("u{n}")),
        router: |_| Router::new(),
        tell,
        refuse: Breakage::plainly,
    };
    Platform::new(imitated, Arc::new(ManualClock::at(Timestamp(0)))).that_calls(make)
}

fn outside(called: &Called) -> Http {
    Http::in_process(Arc::new(called.clone()))
}

#[tokio::test(start_paused = true)]
async fn it_calls_in_order_and_again_until_it_is_answered() {
    let (platform, called) = (platform(), Called::default());
    let ann = platform.person("Ann");
    let chat = platform.direct(&ann);
    platform.say(&chat, &ann, "one");
    platform.say(&chat, &ann, "two");
    let calling = tokio::spawn(platform.calling(outside(&called)).expect("it calls"));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(called.told().is_empty(), "nobody said where");
    *called.planned.lock().expect("unpoisoned") = vec![500, 401];
    let begun = tokio::time::Instant::now();
    platform.keep("address", "http://here.invalid/hooks/x");
    assert_eq!(called.heard(4).await, [r#""one""#, r#""one""#, r#""one""#, r#""two""#]);
    assert!(begun.elapsed() >= Duration::from_secs(3), "it waits longer each time: {:?}", begun.elapsed());
    // What is told aside counts as no update, and goes first.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(platform.unacknowledged(), 0);
    platform.tell_aside(json!("aside"));
    assert_eq!(platform.unacknowledged(), 0);
    assert_eq!(called.heard(5).await[4], r#""aside""#);
    calling.abort();
}

#[tokio::test(start_paused = true)]
async fn what_was_not_answered_is_told_in_the_next_life() {
    let (platform, called) = (platform(), Called::default());
    platform.keep("address", "http://here.invalid/hooks/x");
    let ann = platform.person("Ann");
    let chat = platform.direct(&ann);
    *called.planned.lock().expect("unpoisoned") = vec![503; 3];
    let calling = tokio::spawn(platform.calling(outside(&called)).expect("it calls"));
    platform.say(&chat, &ann, "kept");
    called.heard(1).await;
    calling.abort();
    assert_eq!(platform.unacknowledged(), 1);
    *called.planned.lock().expect("unpoisoned") = Vec::new();
    let calling = tokio::spawn(platform.calling(outside(&called)).expect("it calls"));
    called.heard(2).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(platform.unacknowledged(), 0);
    // A receiving that is broken on purpose: an answer that is lost was heard all the same.
    platform.break_receiving(Breakage::LostAnswer, 1);
    platform.break_receiving(Breakage::Flaky, 1);
    platform.say(&chat, &ann, "again");
    assert_eq!(called.heard(4).await[2..], [r#""again""#, r#""again""#]);
    calling.abort();
}

#[tokio::test]
async fn reading_a_message_reads_those_before_it_and_not_those_after() {
    let platform = platform().with_message_ids("w.");
    let ann = platform.person("Ann");
    let chat = platform.direct(&ann);
    let ids: Vec<String> = ["a", "b", "c"].iter().map(|text| platform.say(&chat, &ann, text)).collect();
    assert!(ids.iter().all(|id| id.starts_with("w.")), "{ids:?}");
    platform.mark(&ids[0], Some("!"));
    assert_eq!(platform.read_up_to(&ids[1], "read").as_deref(), Some(chat.id.as_str()));
    let marks: Vec<_> = platform.seen(&chat).messages.into_iter().map(|message| message.mark).collect();
    assert_eq!(marks, [Some("!".to_owned()), Some("read".to_owned()), None]);
    assert_eq!(platform.read_up_to("w.99", "read"), None);
    assert_eq!(platform.spoken(&chat.id), Some(Timestamp(0)));
    assert_eq!(platform.spoken("nowhere"), None);
}

#[test]
fn a_signature_is_taken_in_digits_of_either_case_and_nothing_else() {
    let secret = Secret::new("a secret");
    let signed = sb_channel::signed_hex("a secret", b"bytes");
    assert!(sb_channel::is_signed_hex(&signed, &secret, b"bytes"));
    assert!(sb_channel::is_signed_hex(&signed.to_uppercase(), &secret, b"bytes"));
    for (hex, secret, bytes) in [
        (signed.as_str(), "a secret", &b"byte"[..]),
        (&signed, "another", b"bytes"),
        (&signed[1..], "a secret", b"bytes"),
        ("", "a secret", b"bytes"),
        (&signed.replace(&signed[..1], "g"), "a secret", b"bytes"),
    ] {
        assert!(!sb_channel::is_signed_hex(hex, &Secret::new(secret), bytes), "{hex}");
    }
}

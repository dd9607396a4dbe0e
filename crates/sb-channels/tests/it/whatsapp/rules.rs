//! What the imitated platform refuses and does, as Meta's documentation has it.

use std::sync::Arc;

use axum::http;
use bytes::Bytes;
use sb_channel::model::Secret;
use sb_channel::net::{Answering, Content, Http, Method, Request, Service};
use sb_channel::{Verdict, WebhookRequest};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::{NOW, World, accept, world};

/// What the platform calls: hands on what it is told, and says yes when it is asked.
struct Called(UnboundedSender<WebhookRequest>);

pub fn outside(calls: UnboundedSender<WebhookRequest>) -> Http {
    Http::in_process(Arc::new(Called(calls)))
}

impl Service for Called {
    fn call(&self, request: http::Request<reqwest::Body>) -> Answering {
        let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
        let body = match query.split("hub.challenge=").nth(1) {
            Some(challenge) if !query.contains("refuse") => challenge.to_owned(),
            _ => String::new(),
        };
        let headers = request.headers().iter();
        let headers =
            headers.map(|(k, v)| (k.to_string(), v.to_str().unwrap_or_default().to_owned())).collect();
        let _ = self.0.send(WebhookRequest {
            method: request.method().to_string(),
            path: query,
            headers,
            body: Bytes::copy_from_slice(request.body().as_bytes().unwrap_or_default()),
            at: NOW,
        });
        Box::pin(async move { Ok(http::Response::new(reqwest::Body::from(body))) })
    }
}

/// A call as anybody could make it: its status, and its answer.
async fn ask(world: &World, method: Method, path: &str, token: &str, body: Value) -> (u16, Value) {
    let content =
        if method == Method::Get { Content::Nothing } else { Content::Json(body.to_string().into()) };
    let mut request = Request::new(method, Secret::new(format!("http://platform.invalid{path}")), content);
    request.headers.push(("authorization", format!("Bearer {token}")));
    let reply = world.platform.http().send(request).await.expect("an answer");
    (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
}

const TOKEN: &str = "stand-in_token";
const MESSAGES: &str = "/v26.0/900001/messages";

async fn code(world: &World, body: Value) -> u64 {
    let (_, answer) = ask(world, Method::Post, MESSAGES, TOKEN, body).await;
    answer["error"]["code"].as_u64().unwrap_or_default()
}

fn to(chat: &str, more: Value) -> Value {
    let mut body = json!({"messaging_product": "whatsapp", "recipient": chat});
    body.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
    body
}

#[tokio::test]
async fn it_takes_nothing_without_the_token_and_only_at_its_own_addresses() {
    let world = world();
    for token in ["", "wrong"] {
        let (status, answer) = ask(&world, Method::Get, "/v26.0/900001", token, Value::Null).await;
        assert_eq!((status, &answer["error"]["code"]), (401, &json!(190)));
    }
    for (path, status) in
        [("/v26.0/900001", 200), ("/v21.0/900001", 200), ("/26/900001", 400), ("/v26.0/900002", 400)]
    {
        assert_eq!(ask(&world, Method::Get, path, TOKEN, Value::Null).await.0, status, "{path}");
    }
    assert_eq!(ask(&world, Method::Get, "/files/x?until=9999999999999", TOKEN, Value::Null).await.0, 404);
    let words =
        |to: &str| json!({"messaging_product": "whatsapp", "to": to, "type": "text", "text": {"body": "x"}});
    assert_eq!(code(&world, words("15559999999")).await, 131_026, "nobody is there");
}

#[tokio::test]
async fn it_refuses_what_meta_refuses() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let heard = world.platform.say(&chat, &ann, "Hello");
    let text = |body: &str| to(&chat.id, json!({"type": "text", "text": {"body": body}}));
    let question = |more: Value| {
        let mut content = json!({"body": {"text": "Which?"}});
        content.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
        to(&chat.id, json!({"type": "interactive", "interactive": content}))
    };
    let buttons = |titles: &[&str]| {
        let one =
            |title: &&str| json!({"type": "reply", "reply": {"id": format!("id {title}"), "title": title}});
        question(json!({"type": "button", "action": {"buttons": titles.iter().map(one).collect::<Vec<_>>()}}))
    };
    let list = |many: usize| {
        let rows: Vec<Value> =
            (0..many).map(|n| json!({"id": n.to_string(), "title": format!("Row {n}")})).collect();
        question(json!({"type": "list", "action": {"button": "Choose", "sections": [{"rows": rows}]}}))
    };
    let read = |id: &str| json!({"messaging_product": "whatsapp", "status": "read", "message_id": id});
    let react =
        |id: &str| to(&chat.id, json!({"type": "reaction", "reaction": {"message_id": id, "emoji": "⚠️"}}));
    let long = "x".repeat(4096);
    for good in [text("Hi"), text(&long), buttons(&["a", "b", "c"]), list(10), read(&heard), react(&heard)] {
        assert_eq!(code(&world, good.clone()).await, 0, "{good}");
    }
    for bad in [
        text(""),
        text(&format!("{long}x")),
        buttons(&[]),
        buttons(&["a", "b", "c", "d"]),
        buttons(&["a", "a"]),
        buttons(&["twenty-one characters"]),
        list(0),
        list(11),
        read("wamid.none"),
        react("wamid.none"),
        json!({"to": "15550002222", "type": "text", "text": {"body": "no product"}}),
    ] {
        assert_eq!(code(&world, bad.clone()).await, 131_009, "{bad}");
    }
    assert_eq!(code(&world, to(&chat.id, json!({"type": "hologram"}))).await, 131_051);
    // Nothing but a template is taken a day after the person's last words, to the second.
    let day = 24 * 60 * 60 * 1000;
    world.clock.pass_ms(day);
    assert_eq!(code(&world, text("still")).await, 0);
    world.clock.pass_ms(1);
    assert_eq!(code(&world, text("too late")).await, 131_047);
    world.platform.say(&chat, &ann, "Hello again");
    assert_eq!(code(&world, text("again")).await, 0);
}

/// Holds: M-whatsapp-04.
#[tokio::test(start_paused = true)]
async fn it_calls_signed_and_only_whoever_knows_the_word() {
    let world = world();
    let ann = world.platform.person("@ada.l");
    let chat = world.platform.direct(&ann);
    let (calls, mut called) = tokio::sync::mpsc::unbounded_channel();
    let calling = tokio::spawn(world.platform.calling(outside(calls)).expect("it calls"));
    let refusing = world.number.register(Some("https://here.invalid/refuse?refuse=")).await;
    assert!(refusing.expect_err("nobody knows the word there").detail.contains("2200"));
    world.number.register(Some("https://here.invalid/hooks/wa")).await.expect("registered");
    world.platform.say(&chat, &ann, "hé 👋");
    let mut posted = Vec::new();
    while posted.is_empty() {
        let call = called.recv().await.expect("a call");
        match call.method.as_str() {
            "GET" if call.path.contains("refuse") => {}
            "GET" => assert!(matches!(accept(&world.number, &call), Verdict::Take(..)), "it knows the word"),
            _ => posted.push(call),
        }
    }
    calling.abort();
    assert!(posted[0].body.is_ascii(), "letters beyond ASCII are written as sequences");
    let Verdict::Take(batch, _) = accept(&world.number, &posted[0]) else { panic!("refused") };
    let [sb_channel::Event::Said(said)] = &batch.events[..] else { panic!("{batch:?}") };
    assert_eq!((said.text.as_str(), &said.person.id), ("hé 👋", &ann.id));
    assert!(!String::from_utf8_lossy(&posted[0].body).contains("wa_id"), "a username shows no number");
}

#[tokio::test]
async fn an_address_of_a_file_is_good_for_minutes_and_with_the_token() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let file = sb_channel::standin::SeenFile {
        name: "a.txt".into(),
        media_type: "text/plain".into(),
        bytes: Bytes::from_static(b"some bytes"),
    };
    assert!(world.platform.send_files(&chat, &ann, "", &[file]));
    let id = world.platform.seen(&chat).messages[0].reference.0.clone() + ".0";
    let (_, found) = ask(&world, Method::Get, &format!("/v26.0/{id}"), TOKEN, Value::Null).await;
    assert_eq!((&found["file_size"], &found["mime_type"]), (&json!(10), &json!("text/plain")));
    let path = found["url"]
        .as_str()
        .and_then(|url| url.strip_prefix("http://platform.invalid"))
        .expect("an address");
    assert_eq!(ask(&world, Method::Get, path, TOKEN, Value::Null).await.0, 200);
    assert_eq!(ask(&world, Method::Get, path, "wrong", Value::Null).await.0, 404);
    world.clock.pass_ms(5 * 60 * 1000 + 1);
    assert_eq!(ask(&world, Method::Get, path, TOKEN, Value::Null).await.0, 404);
    assert_eq!(ask(&world, Method::Delete, &format!("/v26.0/{id}"), TOKEN, Value::Null).await.0, 200);
}

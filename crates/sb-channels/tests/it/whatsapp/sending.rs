//! What is sent, as Meta takes it.

use sb_channel::model::{Chat, Choice, MessageRef, Tone};
use sb_channel::{Gesture, Mark, Piece};
use serde_json::{Value, json};

use super::{Recorder, by, world};
use crate::telegram::{attempt, choice, words};

fn ann() -> Chat {
    Chat::direct("US.70002222")
}

/// The body that is sent for these words.
async fn body(to: &Chat, text: &str, choices: &[Choice], answers: Option<&str>) -> Value {
    let recorder = Recorder::answering(200, &json!({"messages": [{"id": "wamid.X"}]}));
    let number = by(recorder.http(), &world().platform);
    let (words, answers) = (words(text), answers.map(|id| MessageRef(id.to_owned())));
    let piece = Piece::Text { words: &words, choices, answers: answers.as_ref() };
    let sent = number.send(to, piece, &attempt()).await.expect("sent");
    assert_eq!(sent.0, "wamid.X");
    let asked = recorder.asked();
    assert!(asked.len() == 1 && asked[0].path.ends_with("/v26.0/900001/messages"), "{asked:?}");
    assert_eq!(asked[0].authorization, "Bearer stand-in_token");
    asked[0].body.clone()
}

#[tokio::test]
async fn words_go_to_a_person_by_the_id_they_came_with_and_to_a_group() {
    let same = json!({
        "messaging_product": "whatsapp", "recipient_type": "individual", "type": "text",
        "text": {"body": "*hi*", "preview_url": false}, "biz_opaque_callback_data": "k",
    });
    let with = |more: Value| {
        let mut all = same.clone();
        all.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
        all
    };
    assert_eq!(body(&ann(), "*hi*", &[], None).await, with(json!({"recipient": "US.70002222"})));
    let by_number = Chat::direct("15550002222");
    assert_eq!(body(&by_number, "*hi*", &[], None).await, with(json!({"to": "15550002222"})));
    let group = Chat::group("120363000000001");
    let to_group =
        json!({"to": "120363000000001", "recipient_type": "group", "context": {"message_id": "wamid.Q"}});
    assert_eq!(body(&group, "*hi*", &[], Some("wamid.Q")).await, with(to_group));
}

fn choices(labels: &[&str]) -> Vec<Choice> {
    let one = |(n, label): (usize, &&str)| choice(label, &format!("/approve 3f2a {}", n + 1), Tone::Plain);
    labels.iter().enumerate().map(one).collect()
}

/// Holds: M-whatsapp-02.
#[tokio::test]
async fn a_question_has_buttons_or_a_list_and_else_is_answered_by_typing() {
    let short = choices(&["Allow once", "Twenty letters long.", "Decline"]);
    let asked = body(&ann(), "May I?", &short, None).await;
    let button = |n: usize| json!({"type": "reply", "reply": {"id": short[n].says, "title": short[n].label}});
    let expected = json!({"type": "button", "body": {"text": "May I?"},
        "action": {"buttons": [button(0), button(1), button(2)]}});
    assert_eq!((&asked["type"], &asked["interactive"]), (&json!("interactive"), &expected));

    let longer = choices(&["Allow once", "Always in this session", "A label that is longer than any row"]);
    let asked = body(&ann(), "May I?", &longer, None).await;
    let expected = json!({"type": "list", "body": {"text": "May I?"}, "action": {"button": "Choose", "sections": [{"rows": [
        {"id": "/approve 3f2a 1", "title": "Allow once"},
        {"id": "/approve 3f2a 2", "title": "Always in this session"},
        {"id": "/approve 3f2a 3", "title": "A label that is longer t", "description": "A label that is longer than any row"},
    ]}]}});
    assert_eq!(asked["interactive"], expected);

    let ten: Vec<String> = (1..=10).map(|n| format!("Number {n}")).collect();
    let ten: Vec<&str> = ten.iter().map(String::as_str).collect();
    let asked = body(&ann(), "Which?", &choices(&ten), None).await;
    assert_eq!(asked["interactive"]["action"]["sections"][0]["rows"].as_array().map(Vec::len), Some(10));

    let eleven: Vec<&str> = ten.iter().copied().chain(["One more"]).collect();
    let long = "x".repeat(1025);
    for (to, text, labels) in [
        (ann(), "Which?", &eleven[..]),
        (ann(), "Which?", &["The same", "The same"][..]),
        (ann(), &long, &ten[..2]),
        (Chat::group("120363000000001"), "Which?", &ten[..2]),
    ] {
        let asked = body(&to, text, &choices(labels), None).await;
        assert_eq!((&asked["type"], &asked["text"]["body"]), (&json!("text"), &json!(text)));
    }
}

/// Holds: M-whatsapp-02, M-whatsapp-03.
#[tokio::test]
async fn a_message_is_read_worked_on_and_marked() {
    let recorder = Recorder::answering(200, &json!({"success": true}));
    let number = by(recorder.http(), &world().platform);
    let at = MessageRef("wamid.A".to_owned());
    number.gesture(&ann(), Gesture::Mark(&at, Some(Mark::Taken))).await.expect("read");
    number.work_on(&ann(), &at).await.expect("typing");
    number.gesture(&ann(), Gesture::Mark(&at, Some(Mark::Failed))).await.expect("marked");
    let bodies: Vec<Value> = recorder.asked().into_iter().map(|asked| asked.body).collect();
    let read = json!({"messaging_product": "whatsapp", "status": "read", "message_id": "wamid.A"});
    let mut typing = read.clone();
    typing["typing_indicator"] = json!({"type": "text"});
    let failed = json!({
        "messaging_product": "whatsapp", "recipient_type": "individual", "recipient": "US.70002222",
        "type": "reaction", "reaction": {"message_id": "wamid.A", "emoji": "⚠️"},
    });
    assert_eq!(bodies, [read, typing, failed]);
    // What stays by itself, or ends by itself, asks for nothing.
    for gesture in
        [Gesture::Mark(&at, None), Gesture::Typing(true), Gesture::Typing(false), Gesture::Heard("p")]
    {
        number.gesture(&ann(), gesture).await.expect("nothing to do");
    }
    assert_eq!(recorder.asked().len(), 3);
}

#[tokio::test]
async fn an_answer_that_names_no_message_is_garbled_and_perhaps_done() {
    for answer in [json!({}), json!({"messages": []}), json!([])] {
        let number = by(Recorder::answering(200, &answer).http(), &world().platform);
        let words = words("hi");
        let piece = Piece::Text { words: &words, choices: &[], answers: None };
        let fault = number.send(&ann(), piece, &attempt()).await.expect_err("nothing was sent");
        assert_eq!((fault.kind, fault.maybe_done), (sb_channel::model::FaultKind::Garbled, true));
    }
}

//! Every recorded update gives the events that its fixture names.

use std::path::Path;

use bytes::Bytes;
use sb_channel::model::{Chat, FileRef, Timestamp};
use sb_channel::{Event, Inlet, Verdict, WebhookRequest};
use sb_channels::telegram::standin;
use serde_json::{Map, Value, json};

use super::opened;

#[tokio::test]
async fn each_recorded_update_gives_the_events_its_fixture_names() {
    let world = opened(true);
    world.bot.check().await.expect("who we are");
    let Inlet::Webhook(hook) = world.bot.inlet() else { panic!("by webhook") };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/telegram/fixtures");
    let mut faults = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("fixtures") {
        let path = entry.expect("an entry").path();
        let fixture: Value = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
        let request = WebhookRequest {
            method: "POST".into(),
            path: String::new(),
            headers: vec![("x-telegram-bot-api-secret-token".into(), standin::SECRET.into())],
            body: Bytes::from(fixture["update"].to_string()),
            at: Timestamp(0),
        };
        let Verdict::Take(batch, _) = hook.accept(&request) else { panic!("{} is refused", path.display()) };
        let events: Vec<Value> = batch.events.iter().map(told).collect();
        if Value::from(events.clone()) != fixture["expect"] {
            faults.push(format!("{}:\n got {}\nwant {}", path.display(), json!(events), fixture["expect"]));
        }
        count += 1;
    }
    assert!(count > 60, "{count} fixtures");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Every oddity the parser speaks of has the fixture it names.
#[test]
fn each_quirk_names_a_fixture_that_is_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/telegram");
    for file in ["parse.rs", "content.rs", "wire.rs"] {
        let source = std::fs::read_to_string(folder.join(file)).expect("source");
        for quirk in source.split("Quirk: ").skip(1) {
            let name: String =
                quirk.chars().take_while(|c| c.is_ascii_alphanumeric() || "_".contains(*c)).collect();
            assert!(folder.join("fixtures").join(format!("{name}.json")).exists(), "{file}: {name}");
        }
    }
}

/// An event with what is empty left out.
fn told(event: &Event) -> Value {
    match event {
        Event::Said(said) => {
            let mut fields = place(&said.chat);
            fields.insert("key".into(), said.key.clone().into());
            fields.insert("person".into(), person(&said.person));
            fields.insert("addressed".into(), said.addressed.into());
            let quoted = |quoted: &sb_channel::Quoted| json!({"from": quoted.from, "ours": quoted.ours, "text": quoted.text});
            let some = [
                ("message", said.message.as_ref().map(|at| json!(at.0))),
                ("text", (!said.text.is_empty()).then(|| json!(said.text))),
                ("files", (!said.files.is_empty()).then(|| said.files.iter().map(file).collect())),
                ("album", said.album.as_ref().map(|album| json!(album))),
                ("quoted", said.quoted.as_ref().map(quoted)),
                ("forwarded", said.forwarded.as_ref().map(|name| json!(name))),
                ("at", said.at.map(|at| json!(at.0))),
            ];
            fields.extend(some.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
            json!({"said": fields})
        }
        Event::Pressed(press) => {
            let mut fields = place(&press.chat);
            fields.insert("key".into(), press.key.clone().into());
            fields.insert("person".into(), person(&press.person));
            fields.insert("says".into(), press.says.clone().into());
            fields.insert("on".into(), press.on.as_ref().map(|at| at.0.clone()).into());
            fields.insert("handle".into(), press.handle.clone().into());
            json!({"pressed": fields})
        }
        Event::Stopped { key, chat, person: by } => {
            let mut fields = place(chat);
            fields.insert("key".into(), key.clone().into());
            fields.insert("person".into(), person(by));
            json!({"stopped": fields})
        }
        Event::Edited { key, text } => json!({"edited": {"key": key, "text": text}}),
        Event::Unsent { key } => json!({"unsent": key}),
        Event::Moved { chat, to } => json!({"moved": {"chat": chat, "to": to}}),
        Event::Gone { chat, why } => json!({"gone": {"chat": chat, "why": why}}),
        Event::Back { chat } => json!({"back": chat}),
        Event::Unknown { what, .. } => json!({"unknown": what}),
    }
}

fn place(chat: &Chat) -> Map<String, Value> {
    let mut fields =
        Map::from_iter([("chat".to_owned(), json!(chat.id)), ("sort".to_owned(), json!(chat.sort))]);
    if let Some(thread) = &chat.thread {
        fields.insert("thread".into(), thread.clone().into());
    }
    fields
}

fn person(person: &sb_channel::model::Person) -> Value {
    json!({"id": person.id, "name": person.name, "bot": person.bot})
}

fn file(file: &FileRef) -> Value {
    serde_json::to_value(file).expect("JSON")
}

//! Every recorded update gives the events that its fixture names.

use std::path::Path;

use bytes::Bytes;
use sb_channel::model::{Chat, Dice, FileRef, Timestamp};
use sb_channel::net::FixedDice;
use sb_channel::{Event, Inlet, Verdict, WebhookRequest};
use sb_channels::telegram::standin;
use serde_json::{Map, Value, json};

use super::opened;

#[tokio::test]
async fn each_recorded_update_gives_the_events_its_fixture_names() {
    let world = opened(true);
    world.bot.check().await.expect("who we are");
    let Inlet::Webhook(hook) = world.bot.inlet() else { panic!("by webhook") };
    let mut faults = Vec::new();
    let fixtures = fixtures();
    assert!(fixtures.len() > 60, "{} fixtures", fixtures.len());
    for (name, fixture) in fixtures {
        let Verdict::Take(batch, _) = hook.accept(&request(&fixture["update"])) else {
            panic!("{name} is refused")
        };
        let events: Vec<Value> = batch.events.iter().map(told).collect();
        if Value::from(events.clone()) != fixture["expect"] {
            faults.push(format!("{name}:\n got {}\nwant {}", json!(events), fixture["expect"]));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The recorded updates by name, in order.
fn fixtures() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/telegram/fixtures");
    let paths = std::fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("an entry").path());
    let read = |path: std::path::PathBuf| {
        let fixture = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
        (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), fixture)
    };
    let mut all: Vec<_> = paths.map(read).collect();
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    all
}

/// Telegram's call with an update.
fn request(update: &Value) -> WebhookRequest {
    WebhookRequest {
        method: "POST".into(),
        path: String::new(),
        headers: vec![("x-telegram-bot-api-secret-token".into(), standin::SECRET.into())],
        body: Bytes::from(update.to_string()),
        at: Timestamp(0),
    }
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
pub fn told(event: &Event) -> Value {
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
                ("handle", said.handle.as_ref().map(|handle| json!({"until": handle.until.0}))),
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
            if let Some(lent) = &press.lends {
                fields.insert("lends".into(), json!({"until": lent.until.0}));
            }
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
        Event::Reported(report) => {
            let fate = report.fate.as_ref().map_or_else(|why| json!(why.to_string()), |()| json!("there"));
            json!({"reported": {"key": report.key, "message": report.message.0, "fate": fate}})
        }
        Event::Noted { what } => json!({"noted": what}),
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

/// What stands in place of a value, to see whether anything breaks on it.
fn odd(roll: u64) -> Value {
    let odd = [
        json!(null),
        json!(-1),
        json!(i64::MAX),
        json!(1.5),
        json!(""),
        json!("@sb_bot"),
        json!("/x@sb_bot 😀"),
        json!("mention"),
        json!("bot_command"),
        json!([]),
        json!({}),
        json!([{"type": "mention", "offset": 0, "length": 7}, {"type": "bot_command", "offset": 0, "length": 9}]),
        json!([{"type": "bot_command", "offset": 2, "length": 7}, {"type": "mention", "offset": 0, "length": 7}]),
        json!(true),
    ];
    odd[usize::try_from(roll).unwrap_or_default() % odd.len()].clone()
}

/// Puts something odd at a place of the value that the dice choose.
pub fn spoil(value: &mut Value, dice: &dyn Dice) {
    let roll = dice.roll();
    let children: Vec<&mut Value> = match value {
        Value::Object(fields) => fields.values_mut().collect(),
        Value::Array(items) => items.iter_mut().collect(),
        _ => Vec::new(),
    };
    let many = u64::try_from(children.len()).unwrap_or(1);
    match children.into_iter().nth(usize::try_from(roll % (many + 1)).unwrap_or_default()) {
        Some(child) => spoil(child, dice),
        None => *value = odd(dice.roll()),
    }
}

#[tokio::test]
async fn no_update_however_odd_breaks_the_parser() {
    let world = opened(true);
    world.bot.check().await.expect("who we are");
    let Inlet::Webhook(hook) = world.bot.inlet() else { panic!("by webhook") };
    let dice = FixedDice::new(4242);
    for (_, fixture) in fixtures() {
        for _ in 0..200 {
            let mut update = fixture["update"].clone();
            for _ in 0..1 + dice.roll() % 4 {
                spoil(&mut update, &dice);
            }
            hook.accept(&request(&update));
        }
    }
}

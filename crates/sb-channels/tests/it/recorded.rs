//! What platforms were recorded to tell: a fixture is an update and the events it must become.

use std::path::{Path, PathBuf};

use sb_channel::Event;
use sb_channel::model::{Chat, Dice, FileRef};
use sb_channel::net::FixedDice;
use serde_json::{Map, Value, json};

/// How often each fixture is spoiled.
const SPOILED: usize = 200;

/// Those of a kind by name, in order; so many at least.
pub fn all(kind: &str, least: usize) -> Vec<(String, Value)> {
    let paths = std::fs::read_dir(folder(kind).join("fixtures")).expect("fixtures");
    let read = |path: PathBuf| {
        let fixture = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
        (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), fixture)
    };
    let mut all: Vec<_> = paths.map(|entry| read(entry.expect("an entry").path())).collect();
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    assert!(all.len() >= least, "{} fixtures", all.len());
    all
}

fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(kind)
}

/// What differs from what was expected, told of all at once.
#[derive(Default)]
pub struct Differences(Vec<String>);

impl Differences {
    pub fn look(&mut self, name: &str, fixture: &Value, events: &[Value]) {
        let got = Value::from(events);
        if got != fixture["expect"] {
            self.0.push(format!("{name}:\n got {got}\nwant {}", fixture["expect"]));
        }
    }
    pub fn are_none(self) {
        assert!(self.0.is_empty(), "{}", self.0.join("\n"));
    }
}

/// Every oddity that these files of the adapter speak of has the fixture they name.
pub fn each_quirk_has_one(kind: &str, files: &[&str]) {
    let folder = folder(kind);
    let mut quirks = 0;
    for file in files {
        let source = std::fs::read_to_string(folder.join(file)).expect("source");
        for quirk in source.split("Quirk: ").skip(1) {
            let name: String =
                quirk.chars().take_while(|c| c.is_ascii_alphanumeric() || "_".contains(*c)).collect();
            assert!(folder.join("fixtures").join(format!("{name}.json")).exists(), "{file}: {name}");
            quirks += 1;
        }
    }
    assert!(quirks > 0, "none of {files:?} speaks of one");
}

/// Gives the part of each fixture under this name, with some of it made odd, in many ways. `own`: what is odd on this
/// platform alone.
pub fn spoiled(kind: &str, part: &str, own: &[Value], mut read: impl FnMut(&Value, &Value)) {
    let common = [
        json!(null),
        json!(-1),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(1.5),
        json!(""),
        json!([]),
        json!({}),
        json!([null, {}]),
        json!(true),
    ];
    let odd: Vec<Value> = common.into_iter().chain(own.iter().cloned()).collect();
    let dice = FixedDice::new(4242);
    for (_, fixture) in all(kind, 1) {
        for _ in 0..SPOILED {
            let mut raw = fixture[part].clone();
            for _ in 0..1 + dice.roll() % 4 {
                spoil(&mut raw, &dice, &odd);
            }
            read(&fixture, &raw);
        }
    }
}

/// Puts something odd at a place of the value that the dice choose.
fn spoil(value: &mut Value, dice: &dyn Dice, odd: &[Value]) {
    let roll = dice.roll();
    let children: Vec<&mut Value> = match value {
        Value::Object(fields) => fields.values_mut().collect(),
        Value::Array(items) => items.iter_mut().collect(),
        _ => Vec::new(),
    };
    let many = u64::try_from(children.len()).unwrap_or(1);
    match children.into_iter().nth(usize::try_from(roll % (many + 1)).unwrap_or_default()) {
        Some(child) => spoil(child, dice, odd),
        None => *value = odd[usize::try_from(dice.roll()).unwrap_or_default() % odd.len()].clone(),
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

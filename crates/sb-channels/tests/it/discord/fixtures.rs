//! Every recorded event gives the events that its fixture names.

use std::path::Path;

use sb_channel::model::Dice;
use sb_channel::net::FixedDice;
use serde_json::{Value, json};

use super::{next, world};
use crate::telegram::fixtures::told;

/// The recorded events by name, in order.
fn fixtures() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/discord/fixtures");
    let paths = std::fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("an entry").path());
    let read = |path: std::path::PathBuf| {
        let fixture = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
        (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), fixture)
    };
    let mut all: Vec<_> = paths.map(read).collect();
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    all
}

/// Through the gateway, as they would come.
#[tokio::test(start_paused = true)]
async fn each_recorded_event_gives_the_events_its_fixture_names() {
    let world = world();
    let mut updates = world.listening(None).await;
    let (mut faults, fixtures) = (Vec::new(), fixtures());
    assert!(fixtures.len() > 40, "{} fixtures", fixtures.len());
    for (name, fixture) in fixtures {
        let kind = fixture["t"].as_str().expect("a kind").to_owned();
        world.platform.tell_raw(kind.leak(), &fixture["d"]);
        world.platform.say(&world.chat, &world.ann, "That was it.");
        let mut events = Vec::new();
        loop {
            events.extend(next(&mut updates).await.events.iter().map(told));
            if events.last().is_some_and(|event| event["said"]["text"] == "That was it.") {
                events.pop();
                break;
            }
        }
        if Value::from(events.clone()) != fixture["expect"] {
            faults.push(format!("{name}:\n got {}\nwant {}", json!(events), fixture["expect"]));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Every oddity the adapter speaks of has the fixture it names.
#[test]
fn each_quirk_names_a_fixture_that_is_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/discord");
    let source = std::fs::read_to_string(folder.join("parse.rs")).expect("source");
    for quirk in source.split("Quirk: ").skip(1) {
        let name: String =
            quirk.chars().take_while(|c| c.is_ascii_alphanumeric() || "_".contains(*c)).collect();
        assert!(folder.join("fixtures").join(format!("{name}.json")).exists(), "{name}");
    }
}

/// Puts something odd at a place of the value that the dice choose.
fn spoil(value: &mut Value, dice: &dyn Dice) {
    let roll = dice.roll();
    let children: Vec<&mut Value> = match value {
        Value::Object(fields) => fields.values_mut().collect(),
        Value::Array(items) => items.iter_mut().collect(),
        _ => Vec::new(),
    };
    let many = u64::try_from(children.len()).unwrap_or(1);
    match children.into_iter().nth(usize::try_from(roll % (many + 1)).unwrap_or_default()) {
        Some(child) => spoil(child, dice),
        None => {
            let odd = [
                json!(null),
                json!(-1),
                json!(u64::MAX),
                json!(1.5),
                json!(""),
                json!("<@900000000000000000>"),
                json!("<@!<:a:1>> < <@"),
                json!("18446744073709551615"),
                json!([]),
                json!({}),
                json!([null, {}]),
                json!(true),
            ];
            *value = odd[usize::try_from(dice.roll()).unwrap_or_default() % odd.len()].clone();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn no_event_however_odd_breaks_the_parser() {
    let world = world();
    world.bot.check().await.expect("who we are");
    let dice = FixedDice::new(4242);
    for (_, fixture) in fixtures() {
        for _ in 0..200 {
            let mut raw = json!({"t": fixture["t"], "d": fixture["d"]});
            for _ in 0..1 + dice.roll() % 4 {
                spoil(&mut raw["d"], &dice);
            }
            world.bot.read_again(&raw.to_string());
        }
    }
}

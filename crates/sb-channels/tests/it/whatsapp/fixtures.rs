//! Every recorded call gives the events that its fixture names.

use std::path::Path;

use sb_channel::Verdict;
use sb_channel::model::Dice;
use sb_channel::net::FixedDice;
use serde_json::{Value, json};

use super::{told, world};
use crate::telegram::fixtures::{spoil, told as written};

#[tokio::test]
async fn each_recorded_call_gives_the_events_its_fixture_names() {
    let world = world();
    world.number.check().await.expect("who we are");
    let mut faults = Vec::new();
    let fixtures = fixtures();
    assert!(fixtures.len() > 50, "{} fixtures", fixtures.len());
    for (name, fixture) in fixtures {
        let Verdict::Take(batch, reply) = told(&world.number, &fixture["update"].to_string()) else {
            panic!("{name} is refused")
        };
        assert_eq!((reply.status, batch.cursor), (200, None), "{name}");
        let events: Vec<Value> = batch.events.iter().map(written).collect();
        if Value::from(events.clone()) != fixture["expect"] {
            faults.push(format!("{name}:\n got {}\nwant {}", json!(events), fixture["expect"]));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The recorded calls by name, in order.
fn fixtures() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/whatsapp/fixtures");
    let paths = std::fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("an entry").path());
    let read = |path: std::path::PathBuf| {
        let fixture = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
        (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), fixture)
    };
    let mut all: Vec<_> = paths.map(read).collect();
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    all
}

/// Every oddity the parser speaks of has the fixture it names.
#[test]
fn each_quirk_names_a_fixture_that_is_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/whatsapp");
    let mut quirks = 0;
    for file in ["parse.rs", "content.rs"] {
        let source = std::fs::read_to_string(folder.join(file)).expect("source");
        for quirk in source.split("Quirk: ").skip(1) {
            let name: String =
                quirk.chars().take_while(|c| c.is_ascii_alphanumeric() || "_".contains(*c)).collect();
            assert!(folder.join("fixtures").join(format!("{name}.json")).exists(), "{file}: {name}");
            quirks += 1;
        }
    }
    assert!(quirks > 0, "the parser speaks of none");
}

#[tokio::test]
async fn no_call_however_odd_breaks_the_parser() {
    let world = world();
    world.number.check().await.expect("who we are");
    let dice = FixedDice::new(4242);
    for (_, fixture) in fixtures() {
        for _ in 0..200 {
            let mut update = fixture["update"].clone();
            for _ in 0..1 + dice.roll() % 4 {
                spoil(&mut update, &dice);
            }
            told(&world.number, &update.to_string());
        }
    }
}

//! Every recorded call gives the events that its fixture names.

use sb_channel::Verdict;
use serde_json::{Value, json};

use super::{told, world};
use crate::recorded::{self, Differences};

#[tokio::test]
async fn each_recorded_call_gives_the_events_its_fixture_names() {
    let world = world();
    world.number.check().await.expect("who we are");
    let mut differences = Differences::default();
    for (name, fixture) in recorded::all("whatsapp", 51) {
        let Verdict::Take(batch, reply) = told(&world.number, &fixture["update"].to_string()) else {
            panic!("{name} is refused")
        };
        assert_eq!((reply.status, batch.cursor), (200, None), "{name}");
        let events: Vec<Value> = batch.events.iter().map(recorded::told).collect();
        differences.look(&name, &fixture, &events);
    }
    differences.are_none();
}

#[test]
fn each_quirk_names_a_fixture_that_is_there() {
    recorded::each_quirk_has_one("whatsapp", &["parse.rs", "content.rs"]);
}

#[tokio::test]
async fn no_call_however_odd_breaks_the_parser() {
    let world = world();
    world.number.check().await.expect("who we are");
    let own = [json!("@Test Lab"), json!("wamid."), json!("text"), json!("99999999999999999999")];
    recorded::spoiled("whatsapp", "update", &own, |_, update| drop(told(&world.number, &update.to_string())));
}

//! Every recorded event gives the events that its fixture names.

use serde_json::json;

use super::{next, world};
use crate::recorded::{self, Differences, told};

/// Through the gateway, as they would come.
#[tokio::test(start_paused = true)]
async fn each_recorded_event_gives_the_events_its_fixture_names() {
    let world = world();
    let mut updates = world.listening(None).await;
    let mut differences = Differences::default();
    for (name, fixture) in recorded::all("discord", 41) {
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
        differences.look(&name, &fixture, &events);
    }
    differences.are_none();
}

#[test]
fn each_quirk_names_a_fixture_that_is_there() {
    recorded::each_quirk_has_one("discord", &["parse.rs"]);
}

#[tokio::test(start_paused = true)]
async fn no_event_however_odd_breaks_the_parser() {
    let world = world();
    world.bot.check().await.expect("who we are");
    let own = [json!("<@900000000000000000>"), json!("<@!<:a:1>> < <@"), json!("18446744073709551615")];
    recorded::spoiled("discord", "d", &own, |fixture, event| {
        world.bot.read_again(&json!({"t": fixture["t"], "d": event}).to_string());
    });
}

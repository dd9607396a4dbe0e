//! Every recorded update gives the events that its fixture names.

use bytes::Bytes;
use sb_channel::model::Timestamp;
use sb_channel::{Inlet, Verdict, WebhookRequest};
use sb_channels::telegram::standin;
use serde_json::{Value, json};

use super::opened;
use crate::recorded::{self, Differences, told};

#[tokio::test]
async fn each_recorded_update_gives_the_events_its_fixture_names() {
    let world = opened(true);
    world.bot.check().await.expect("who we are");
    let Inlet::Webhook(hook) = world.bot.inlet() else { panic!("by webhook") };
    let mut differences = Differences::default();
    for (name, fixture) in recorded::all("telegram", 61) {
        let Verdict::Take(batch, _) = hook.accept(&request(&fixture["update"])) else {
            panic!("{name} is refused")
        };
        let events: Vec<Value> = batch.events.iter().map(told).collect();
        differences.look(&name, &fixture, &events);
    }
    differences.are_none();
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

#[test]
fn each_quirk_names_a_fixture_that_is_there() {
    recorded::each_quirk_has_one("telegram", &["parse.rs", "content.rs", "wire.rs"]);
}

#[tokio::test]
async fn no_update_however_odd_breaks_the_parser() {
    let world = opened(true);
    world.bot.check().await.expect("who we are");
    let Inlet::Webhook(hook) = world.bot.inlet() else { panic!("by webhook") };
    let own = [
        json!("@sb_bot"),
        json!("/x@sb_bot 😀"),
        json!("mention"),
        json!("bot_command"),
        json!([{"type": "mention", "offset": 0, "length": 7}, {"type": "bot_command", "offset": 0, "length": 9}]),
        json!([{"type": "bot_command", "offset": 2, "length": 7}, {"type": "mention", "offset": 0, "length": 7}]),
    ];
    recorded::spoiled("telegram", "update", &own, |_, update| drop(hook.accept(&request(update))));
}

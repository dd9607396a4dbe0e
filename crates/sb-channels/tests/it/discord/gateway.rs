//! The connection: heartbeats, resuming, beginning anew, and what is missed meanwhile.

use std::time::Duration;

use sb_channel::model::{Chat, FaultKind};
use sb_channel::standin::{Breakage, StandIn};
use sb_channel::{Event, Updates};
use sb_channels::discord::standin::{Calls, TOKEN};
use tokio::time::timeout;

use super::{World, next, opened, said, world};

/// Longer than Discord leaves a silent connection.
const LONG: Duration = Duration::from_secs(300);

/// The fault that a feed ends with.
async fn ended(updates: &mut Box<dyn Updates>) -> sb_channel::model::Fault {
    loop {
        match timeout(LONG, updates.next()).await.expect("it ends") {
            Ok(_) => updates.ack().await.expect("noted"),
            Err(why) => return why,
        }
    }
}

/// The cursor of the one message that is waited for.
async fn heard(world: &World, updates: &mut Box<dyn Updates>, text: &str) -> String {
    world.platform.say(&world.chat, &world.ann, text);
    let batch = next(updates).await;
    assert_eq!(said(&batch).text, text);
    batch.cursor.expect("a cursor")
}

/// Holds: M-discord-09.
#[tokio::test(start_paused = true)]
async fn a_quiet_connection_is_kept_by_its_heartbeats() {
    let world = world();
    let mut updates = world.listening(None).await;
    for round in 0..3 {
        assert!(timeout(LONG, updates.next()).await.is_err(), "nothing happens");
        heard(&world, &mut updates, &format!("round {round}")).await;
    }
    assert_eq!(world.platform.begun_and_resumed(), (1, 0));
}

/// Holds: F-17.
#[tokio::test(start_paused = true)]
async fn a_connection_that_answers_no_heartbeat_is_left_and_resumed() {
    let world = world();
    let mut updates = world.listening(None).await;
    let cursor = heard(&world, &mut updates, "first").await;
    world.platform.answer_heartbeats(false);
    let why = ended(&mut updates).await;
    assert_eq!(why.kind, FaultKind::Passing { wait_ms: None });
    assert!(why.detail.contains("heartbeats"), "{why}");
    world.platform.answer_heartbeats(true);
    world.platform.say(&world.chat, &world.ann, "meanwhile");
    drop(updates);
    let mut updates = world.updates(Some(&cursor)).await;
    assert_eq!(said(&next(&mut updates).await).text, "meanwhile");
    assert_eq!(world.platform.begun_and_resumed(), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn asked_to_come_again_it_does_so_at_once() {
    let world = world();
    let mut updates = world.listening(None).await;
    heard(&world, &mut updates, "first").await;
    world.platform.ask_to_reconnect();
    // The one that was on its way already, and the one after.
    heard(&world, &mut updates, "second").await;
    heard(&world, &mut updates, "third").await;
    assert_eq!(world.platform.begun_and_resumed(), (1, 1));
}

/// Dropped where it stands, with a batch that nobody stored.
#[tokio::test(start_paused = true)]
async fn what_was_not_stored_is_told_again() {
    let world = world();
    let mut updates = world.listening(None).await;
    let cursor = heard(&world, &mut updates, "stored").await;
    world.platform.say(&world.chat, &world.ann, "not stored");
    while updates.next().await.expect("a batch").events.is_empty() {}
    assert!(world.platform.unacknowledged() > 0);
    drop(updates);
    // Another run of the program.
    let bot = opened(&world.platform, world.clock.clone());
    let again = World { bot, ..world };
    let mut updates = again.updates(Some(&cursor)).await;
    assert_eq!(said(&next(&mut updates).await).text, "not stored");
}

/// Holds: M-discord-04, E-01.
#[tokio::test(start_paused = true)]
async fn what_was_missed_is_fetched_when_the_session_is_gone() {
    let world = world();
    let thread = world.platform.thread(&world.lab, "a thread");
    let silent = world.platform.channel("nobody speaks here");
    let mut updates = world.listening(None).await;
    let cursor = heard(&world, &mut updates, "before").await;
    world.clock.pass_ms(60_000);
    for number in 1..=250 {
        world.platform.say(&world.chat, &world.ann, &format!("number {number}"));
    }
    world.platform.say(&world.lab, &world.ann, "in the lab");
    world.platform.say(&thread, &world.ann, "in the thread");
    world.platform.forget_sessions();
    let why = ended(&mut updates).await;
    assert!(matches!(why.kind, FaultKind::Passing { wait_ms: Some(1_000..=5_000) }), "{why:?}");
    drop(updates);
    let mut updates = world.updates(Some(&cursor)).await;
    let (mut texts, mut cursors) = (Vec::new(), Vec::new());
    while texts.len() < 253 {
        let batch = timeout(LONG, updates.next()).await.expect("in time").expect("a batch");
        for event in &batch.events {
            let Event::Said(said) = event else { panic!("{event:?}") };
            texts.push((said.chat.clone(), said.text.clone()));
        }
        cursors.push(batch.cursor.expect("a cursor"));
        updates.ack().await.expect("noted");
    }
    let direct = texts.iter().filter(|(chat, _)| *chat == world.chat).map(|(_, text)| text.as_str());
    let direct: Vec<_> = direct.filter(|text| *text != "before").map(str::to_owned).collect();
    assert_eq!(direct, (1..=250).map(|number| format!("number {number}")).collect::<Vec<_>>());
    assert!(texts.contains(&(world.lab.clone(), "in the lab".to_owned())));
    assert!(texts.contains(&(thread, "in the thread".to_owned())));
    let looked = |chat: &Chat| {
        world
            .platform
            .asked()
            .iter()
            .filter(|asked| asked.contains(&chat.id) && asked.starts_with("GET"))
            .count()
    };
    assert_eq!((looked(&world.chat), looked(&silent)), (3, 0), "no more is asked than is needed");
    // Killed in the midst of it, it begins where it began.
    let goes_on = |cursor: &String| !cursor.contains("\"session\":null");
    assert!(!cursors.iter().any(goes_on), "{cursors:?}");
    assert!(goes_on(&updates.next().await.expect("the end of it").cursor.expect("a cursor")));
    heard(&world, &mut updates, "and on").await;
}

/// Where nothing was told yet our own clock says when that was, and it may be wrong.
#[tokio::test(start_paused = true)]
async fn a_clock_that_is_ahead_hides_nothing_that_was_missed() {
    let world = world();
    let ahead = std::sync::Arc::new(sb_channel::net::ManualClock::at(sb_channel::model::Timestamp(
        1_796_000_000_000,
    )));
    ahead.pass_ms(3_600_000);
    let world = World { bot: opened(&world.platform, ahead), ..world };
    let mut updates = world.listening(None).await;
    let cursor = heard(&world, &mut updates, "before").await;
    world.clock.pass_ms(60_000);
    world.platform.say(&world.chat, &world.ann, "missed");
    world.platform.forget_sessions();
    ended(&mut updates).await;
    let mut updates = world.updates(Some(&cursor)).await;
    loop {
        let batch = timeout(LONG, next(&mut updates)).await.expect("it is fetched");
        if batch.events.iter().any(|event| matches!(event, Event::Said(said) if said.text == "missed")) {
            break;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_history_that_cannot_be_had_now_is_looked_at_again() {
    let world = world();
    let mut updates = world.listening(None).await;
    let cursor = heard(&world, &mut updates, "before").await;
    world.clock.pass_ms(60_000);
    world.platform.say(&world.chat, &world.ann, "missed");
    world.platform.forget_sessions();
    ended(&mut updates).await;
    drop(updates);
    world.platform.break_calls(Calls::History, Breakage::Flaky, 2);
    let mut updates = world.updates(Some(&cursor)).await;
    loop {
        let batch = next(&mut updates).await;
        if batch.events.iter().any(|event| matches!(event, Event::Said(said) if said.text == "missed")) {
            break;
        }
    }
    assert_eq!(world.platform.begun_and_resumed().0, 2, "in the same session");
}

/// Holds: F-17.
#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_resumed_is_not_tried_for_ever() {
    let world = world();
    let mut updates = world.listening(None).await;
    let cursor = heard(&world, &mut updates, "before").await;
    world.platform.drop_connections();
    ended(&mut updates).await;
    drop(updates);
    world.clock.pass_ms(60_000);
    world.platform.say(&world.chat, &world.ann, "meanwhile");
    world.platform.break_calls(Calls::Gateway, Breakage::Flaky, 10);
    for _ in 0..10 {
        ended(&mut world.updates(Some(&cursor)).await).await;
    }
    let mut updates = world.updates(Some(&cursor)).await;
    loop {
        let batch = next(&mut updates).await;
        if batch.events.iter().any(|event| matches!(event, Event::Said(said) if said.text == "meanwhile")) {
            break;
        }
    }
    assert_eq!(world.platform.begun_and_resumed(), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn each_way_a_connection_is_closed_is_told_apart() {
    let operator = FaultKind::Passing { wait_ms: Some(15 * 60 * 1000) };
    let soon = FaultKind::Passing { wait_ms: None };
    let table = [
        (4_000, soon.clone(), "4000", true),
        (4_001, soon.clone(), "4001", true),
        (4_002, soon.clone(), "4002", true),
        (4_003, soon.clone(), "4003", true),
        (4_005, soon.clone(), "4005", true),
        (4_007, soon.clone(), "a new one begins", false),
        (4_008, soon.clone(), "4008", true),
        (4_009, soon.clone(), "a new one begins", false),
        (4_004, FaultKind::Auth, "Reset Token", true),
        (4_010, operator.clone(), "2,500 servers", true),
        (4_011, operator.clone(), "2,500 servers", true),
        (4_012, operator.clone(), "newer version", true),
        (4_013, operator.clone(), "newer version", true),
    ];
    for (code, kind, says, resumes) in table {
        let world = world();
        let mut updates = world.listening(None).await;
        let cursor = heard(&world, &mut updates, "before").await;
        world.platform.close_gateway(code);
        let why = ended(&mut updates).await;
        assert_eq!(why.kind, kind, "{code}");
        assert!(why.detail.contains(says) && !why.to_string().contains(TOKEN), "{code}: {why}");
        drop(updates);
        world.clock.pass_ms(60_000);
        let mut updates = world.updates(Some(&cursor)).await;
        timeout(LONG, updates.next()).await.expect("in time").expect("a session");
        assert_eq!(world.platform.begun_and_resumed(), if resumes { (1, 1) } else { (2, 0) }, "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_intent_that_is_off_is_named_and_done_without() {
    let world = world();
    world.bot.check().await.expect("who we are");
    world.platform.set_content_intent(false);
    let mut updates = world.updates(None).await;
    let why = ended(&mut updates).await;
    assert_eq!(why.kind, FaultKind::Passing { wait_ms: Some(5_000) });
    assert!(why.detail.contains("Developer Portal, your application, Bot, Message Content Intent"), "{why}");
    drop(updates);
    let mut updates = world.updates(None).await;
    updates.next().await.expect("a session");
    updates.ack().await.expect("noted");
    world.platform.say(&world.lab, &world.ann, "not for us");
    StandIn::mention(&world.platform, &world.lab, &world.ann, "for us");
    assert_eq!(said(&next(&mut updates).await).text, "for us");
    heard(&world, &mut updates, "in a direct chat").await;
}

#[tokio::test(start_paused = true)]
async fn no_session_begins_when_a_day_has_seen_too_many() {
    let world = world();
    world.platform.set_starts_left(19);
    let why = ended(&mut world.updates(None).await).await;
    assert_eq!(why.kind, FaultKind::Passing { wait_ms: Some(14_400_000) });
    assert_eq!(world.platform.begun_and_resumed(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_thread_is_known_by_its_channel_and_our_role_by_its_server() {
    let world = world();
    let mut updates = world.listening(None).await;
    let thread = world.platform.thread(&world.lab, "a thread");
    world.platform.say(&thread, &world.ann, "in the thread");
    let batch = next(&mut updates).await;
    assert_eq!((&said(&batch).chat, said(&batch).addressed), (&thread, false));
    let cursor = batch.cursor.expect("a cursor");
    drop(updates);
    // A resumed session tells nothing of servers, so another run of the program asks.
    let again = World { bot: opened(&world.platform, world.clock.clone()), ..world };
    again.bot.check().await.expect("who we are");
    let mut updates = again.updates(Some(&cursor)).await;
    again.platform.say(&thread, &again.ann, "once more");
    assert_eq!(said(&next(&mut updates).await).chat, thread);
    again.platform.say(&again.lab, &again.ann, "<@&810000000000000000> hello");
    let batch = next(&mut updates).await;
    assert_eq!((said(&batch).text.as_str(), said(&batch).addressed), ("hello", true));
    again.platform.say(&thread, &again.ann, "and again");
    next(&mut updates).await;
    let asked = again.platform.asked();
    let looked = |end: &str| asked.iter().filter(|asked| asked.ends_with(end)).count();
    let thread = thread.thread.expect("a thread");
    assert_eq!((looked(&format!("channels/{thread}")), looked("/roles")), (1, 1), "once each");
    heard(&again, &mut updates, "a direct chat is a channel too").await;
}

#[tokio::test(start_paused = true)]
async fn the_token_is_told_to_no_gateway_in_the_open() {
    let world = world();
    let pairs = [("token", TOKEN), ("api_url", "https://discord.invalid")];
    let context = sb_channel::ChannelContext {
        http: world.platform.http(),
        clock: world.clock.clone(),
        dice: std::sync::Arc::new(sb_channel::net::FixedDice::new(1)),
        state: std::sync::Arc::new(super::Kept::default()),
        by_webhook: false,
    };
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let bot = (sb_channels::discord::KIND.open)(context, &super::settings(pairs)).expect("a bot");
    let world = World { bot, ..world };
    let why = ended(&mut world.updates(None).await).await;
    assert_eq!(why.kind, FaultKind::Refused);
    assert!(why.detail.contains("safe address"), "{why}");
}

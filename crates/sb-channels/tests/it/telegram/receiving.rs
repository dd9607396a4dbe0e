//! What people do reaches us, once it is stored never again, and before that never lost.

use bytes::Bytes;
use sb_channel::model::{FaultKind, MessageRef, Person};
use sb_channel::{Event, Gesture, Incoming, Inlet};
use sb_channels::telegram::standin::{Break, Calls, SaidFile, Saying};

use super::{World, choice, words, world};

fn said(events: &[Event]) -> Vec<&Incoming> {
    events
        .iter()
        .filter_map(|event| if let Event::Said(said) = event { Some(&**said) } else { None })
        .collect()
}

fn texts(events: &[Event]) -> Vec<String> {
    said(events).iter().map(|said| said.text.clone()).collect()
}

fn photo(name: &str) -> SaidFile {
    let bytes = Bytes::from_static(b"\x89PNG\r\n\x1a\n picture");
    SaidFile { sort: "photo", name: name.into(), media_type: "image/png".into(), bytes, duration: None }
}

async fn events(world: &World) -> Vec<Event> {
    let mut updates = world.updates(None).await;
    let batch = updates.next().await.expect("a batch");
    updates.ack().await.expect("told");
    batch.events
}

/// Holds: M-telegram-07.
#[tokio::test(start_paused = true)]
async fn nothing_is_forgotten_before_it_is_stored() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    world.platform.say(&chat, &ann, "one");
    world.platform.say(&chat, &ann, "two");
    let mut updates = world.updates(None).await;
    let first = updates.next().await.expect("a batch");
    assert_eq!(texts(&first.events), ["one", "two"]);
    // It was not stored: it comes again, from this poll and from a new one.
    assert_eq!(updates.next().await.expect("a batch"), first);
    drop(updates);
    let mut updates = world.updates(None).await;
    assert_eq!(updates.next().await.expect("a batch"), first);
    updates.ack().await.expect("told");
    assert_eq!(world.platform.waiting(), 2);
    world.platform.say(&chat, &ann, "three");
    assert_eq!(texts(&updates.next().await.expect("a batch").events), ["three"]);
    assert_eq!(world.platform.waiting(), 1);
    drop(updates);
    // A restart goes on after what was stored.
    let mut updates = world.updates(first.cursor.as_deref()).await;
    assert_eq!(texts(&updates.next().await.expect("a batch").events), ["three"]);
}

/// Holds: M-telegram-07.
#[tokio::test(start_paused = true)]
async fn a_quiet_poll_is_a_sign_of_life_and_keeps_its_place() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let mut updates = world.updates(Some("700001")).await;
    let began = tokio::time::Instant::now();
    let quiet = updates.next().await.expect("an empty batch");
    assert_eq!((quiet.events.len(), quiet.cursor), (0, None));
    assert_eq!(began.elapsed().as_secs(), 50);
    updates.ack().await.expect("nothing to tell");
    let (batch, ()) = tokio::join!(updates.next(), async {
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        world.platform.say(&chat, &ann, "hi");
    });
    assert_eq!(texts(&batch.expect("a batch").events), ["hi"]);
    assert_eq!(began.elapsed().as_secs(), 53);
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_is_dropped_half_way_loses_nothing() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let mut updates = world.updates(None).await;
    for _ in 0..3 {
        let short = std::time::Duration::from_millis(700);
        assert!(tokio::time::timeout(short, updates.next()).await.is_err());
    }
    world.platform.say(&chat, &ann, "hi");
    assert_eq!(texts(&updates.next().await.expect("a batch").events), ["hi"]);
}

#[tokio::test(start_paused = true)]
async fn what_waits_at_the_start_is_taken_and_a_webhook_is_taken_off() {
    let world = super::opened(true);
    let (url, ann) = ("https://example.org/hooks/t", world.platform.person("Ann"));
    world.bot.register(Some(url)).await.expect("registered");
    world.platform.say(&world.platform.direct(&ann), &ann, "while down");
    let polls = sb_channels::telegram::KIND.open;
    let bot =
        polls(super::context(world.platform.http(), false), &super::settings(world.platform.settings()));
    let bot = bot.expect("a bot");
    let Inlet::Feeds(feeds) = bot.inlet() else { panic!("it polls") };
    let mut updates = feeds[0].1.open(None).await.expect("open");
    assert_eq!(texts(&updates.next().await.expect("a batch").events), ["while down"]);
}

#[tokio::test(start_paused = true)]
async fn another_poller_is_reported_and_left_alone_for_a_while() {
    let world = world();
    let mut updates = world.updates(None).await;
    let mut other = world.updates(None).await;
    let (older, _newer) = tokio::join!(updates.next(), async {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        other.next().await
    });
    let fault = older.expect_err("ended");
    assert_eq!(fault.kind, FaultKind::Passing { wait_ms: Some(5_000) });
    assert!(fault.detail.contains("only one can"), "{fault}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_is_a_passing_fault() {
    let world = world();
    let mut updates = world.updates(None).await;
    let (broken, ()) = tokio::join!(updates.next(), async {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        world.platform.drop_connections();
    });
    assert_eq!(broken.expect_err("broken").kind, FaultKind::Passing { wait_ms: None });
    world.platform.break_next(Break::RateLimit(2), Calls::Polls, 1);
    let limited = updates.next().await.expect_err("limited");
    assert_eq!(limited.kind, FaultKind::Passing { wait_ms: Some(2_000) });
}

/// Holds: M-telegram-01, M-telegram-11.
#[tokio::test(start_paused = true)]
async fn files_come_in_with_their_words_and_can_be_fetched() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let saying = Saying { text: "see".into(), file: Some(photo("a.png")), ..Saying::default() };
    world.platform.post(&chat, &ann, saying);
    let voice = SaidFile {
        sort: "voice",
        name: String::new(),
        media_type: "audio/ogg".into(),
        bytes: Bytes::from_static(b"OggS"),
        duration: Some(7),
    };
    world.platform.post(&chat, &ann, Saying { file: Some(voice), ..Saying::default() });
    let events = events(&world).await;
    let [picture, note] = said(&events)[..] else { panic!("two messages") };
    assert_eq!((picture.text.as_str(), picture.files.len()), ("see", 1));
    assert_eq!(picture.person, Person { id: Some(chat.id.clone()), name: "Ann".into(), bot: false });
    assert_eq!((note.files[0].voice_s, note.files[0].media_type.as_str()), (Some(7), "audio/ogg"));
    let mut poured = Vec::new();
    let many = world.bot.fetch(&picture.files[0], &mut poured, 1_000).await.expect("fetched");
    assert_eq!((many, &poured[..]), (16, &b"\x89PNG\r\n\x1a\n picture"[..]));
    assert!(world.bot.fetch(&picture.files[0], &mut Vec::new(), 5).await.is_err(), "more than is wanted");
}

/// Holds: M-telegram-04.
#[tokio::test(start_paused = true)]
async fn a_file_too_large_for_bots_is_refused_with_its_reason() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let bytes = Bytes::from(vec![0; 20 * 1024 * 1024 + 1]);
    let file = SaidFile { sort: "document", name: "big.bin".into(), bytes, ..photo("") };
    world.platform.post(&chat, &ann, Saying { file: Some(file), ..Saying::default() });
    let events = events(&world).await;
    let file = &said(&events)[0].files[0];
    let fault = world.bot.fetch(file, &mut Vec::new(), u64::MAX).await.expect_err("too large");
    assert_eq!(fault.kind, FaultKind::Refused);
    assert!(fault.detail.contains("20 MB"), "{fault}");
}

#[tokio::test(start_paused = true)]
async fn an_album_is_several_messages_of_one_name() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    world.platform.album(&chat, &ann, "all of them", vec![photo("a"), photo("b"), photo("c")]);
    let events = events(&world).await;
    let albums: Vec<_> = said(&events).iter().map(|said| said.album.clone()).collect();
    assert_eq!(albums.len(), 3);
    assert!(albums[0].is_some() && albums.iter().all(|album| *album == albums[0]));
}

#[tokio::test(start_paused = true)]
async fn a_press_is_told_and_heard() {
    let world = world();
    let ann = world.platform.person("Ann");
    let group = world.platform.group("The lab", false);
    let chat = world.platform.topic(&group, "Plans");
    let (question, choices) = (words("May I?"), [choice("Yes", "/approve 1", sb_channel::model::Tone::Good)]);
    let piece = sb_channel::Piece::Text { words: &question, choices: &choices, answers: None };
    let at = world.bot.send(&chat, piece, &super::attempt()).await.expect("sent");
    assert!(world.platform.press(&chat, &ann, "Yes"));
    let events = events(&world).await;
    let [Event::Pressed(press)] = &events[..] else { panic!("a press: {events:?}") };
    assert_eq!((press.says.as_str(), &press.on, &press.chat), ("/approve 1", &Some(at), &chat));
    assert_eq!(press.person.id, ann.id);
    world.bot.gesture(&chat, Gesture::Heard(&press.handle)).await.expect("heard");
    world.bot.gesture(&chat, Gesture::Heard(&press.handle)).await.expect("too late counts as well");
}

#[tokio::test(start_paused = true)]
async fn the_stop_button_of_a_growing_reply_is_told() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.topic(&world.platform.direct(&ann), "Mine");
    world.bot.live().expect("live").grow(&chat, 9, &words("The answer")).await.expect("grown");
    assert!(world.platform.stop_draft(&chat));
    let events = events(&world).await;
    let [Event::Stopped { chat: at, person, .. }] = &events[..] else { panic!("a stop: {events:?}") };
    assert_eq!((at, &person.id), (&chat, &ann.id));
}

#[tokio::test(start_paused = true)]
async fn news_of_chats_and_changed_messages_are_told() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let key = world.platform.say(&chat, &ann, "one");
    world.platform.edit(&key, "two");
    world.platform.block(&chat);
    world.platform.unblock(&chat);
    let group = world.platform.group("The lab", true);
    world.platform.add_to_group(&group);
    let moved = world.platform.migrate(&group);
    let events = events(&world).await;
    assert_eq!(events[1], Event::Edited { key, text: "two".into() });
    assert_eq!(events[2], Event::Gone { chat: chat.id.clone(), why: "the bot was blocked".into() });
    assert_eq!(events[3], Event::Back { chat: chat.id });
    assert_eq!(events[4], Event::Back { chat: group.id.clone() });
    assert_eq!(events[5..], [Event::Moved { chat: group.id, to: moved.id }]);
}

#[tokio::test(start_paused = true)]
async fn in_groups_it_is_told_what_is_meant_for_us() {
    let world = world();
    let ann = world.platform.person("Ann");
    let group = world.platform.group("The lab", false);
    let ours = world.send(&group, "Shall I?").await.expect("sent");
    world.platform.say(&group, &ann, "lunch?");
    world.platform.say(&group, &ann, "@sb_bot what is new?");
    let answer = Saying { text: "yes".into(), answers: Some(ours), ..Saying::default() };
    world.platform.post(&group, &ann, answer);
    let anonymous = Person { id: None, name: "The lab".into(), bot: false };
    world.platform.say(&group, &anonymous, "/status@sb_bot");
    let forwarded = Saying { text: "buy".into(), forwarded: Some("Eve".into()), ..Saying::default() };
    world.platform.post(&group, &ann, forwarded);
    let events = events(&world).await;
    let told: Vec<_> = said(&events).iter().map(|said| (said.text.as_str(), said.addressed)).collect();
    let meant = [("lunch?", false), ("what is new?", true), ("yes", true), ("/status", true), ("buy", false)];
    assert_eq!(told, meant);
    assert_eq!(said(&events)[3].person.id, None);
    assert_eq!(said(&events)[4].forwarded.as_deref(), Some("Eve"));
    let quoted = said(&events)[2].quoted.clone().expect("quoted");
    assert!(quoted.ours && quoted.text == "Shall I?");
}

#[tokio::test(start_paused = true)]
async fn with_privacy_mode_only_what_names_it_comes_and_check_says_so() {
    let world = world();
    let ann = world.platform.person("Ann");
    let group = world.platform.group("The lab", false);
    world.platform.set_privacy(true);
    world.platform.say(&group, &ann, "lunch?");
    world.platform.say(&group, &ann, "/help");
    assert_eq!(texts(&events(&world).await), ["/help"]);
    let account = world.bot.check().await.expect("who we are");
    assert_eq!((account.id.as_str(), account.name.as_str()), ("123456", "@sb_bot"));
    assert_eq!(account.link.as_deref(), Some("https://t.me/sb_bot"));
    assert!(account.notes.iter().any(|note| note.starts_with("Privacy mode is on")), "{:?}", account.notes);
}

#[tokio::test(start_paused = true)]
async fn a_mark_finds_the_message_that_was_told() {
    let world = world();
    let ann = world.platform.person("Ann");
    let group = world.platform.group("The lab", false);
    world.platform.say(&group, &ann, "/help");
    let events = events(&world).await;
    let at: MessageRef = said(&events)[0].message.clone().expect("a reference");
    let mark = Gesture::Mark(&at, Some(sb_channel::Mark::Taken));
    world.bot.gesture(&group, mark).await.expect("marked");
    assert_eq!(world.platform.seen(&group)[0].mark.as_deref(), Some("👀"));
}

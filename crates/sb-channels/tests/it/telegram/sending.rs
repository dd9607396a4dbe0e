//! What is sent is what people see.

use std::time::Duration;

use sb_channel::model::text::{Rendered, Span, Style, Unit};
use sb_channel::model::{Chat, FaultKind, MessageRef, Tone};
use sb_channel::{Command, Gesture, Live, Mark, Piece, Typing};
use serde_json::json;

use super::{attempt, choice, file, png, words, world};

fn span(from: usize, len: usize, style: Style) -> Span {
    Span { from, len, style }
}

#[tokio::test]
async fn styles_arrive_where_they_belong_also_behind_wide_characters() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let text = "😀 bold, italic, gone, code, site\nfn main() {}\nquoted <b>&*_`".to_owned();
    let at = |what: &str| Unit::Utf16.count(&text[..text.find(what).expect("a part")]);
    let spans = vec![
        span(at("bold"), 4, Style::Bold),
        span(at("italic"), 6, Style::Italic),
        span(at("gone"), 4, Style::Strike),
        span(at("code"), 4, Style::Code),
        span(at("site"), 4, Style::Link { url: "https://example.org".into() }),
        span(at("fn"), 12, Style::Pre { language: "rust".into() }),
        span(at("quoted"), 6, Style::Quote),
    ];
    let piece = Rendered { text: text.clone(), spans };
    let piece = Piece::Text { words: &piece, choices: &[], answers: None };
    let sent = world.bot.send(&chat, piece, &attempt()).await.expect("sent");
    let seen = world.platform.seen_of_us(&chat);
    assert_eq!(seen[0].text, text);
    assert_eq!(seen[0].reference, sent);
    assert_eq!(
        seen[0].marked,
        "😀 **bold**, _italic_, ~~gone~~, `code`, [site](https://example.org)\n```rust\nfn main() {}\n```\n> quoted <b>&*_`"
    );
    assert_eq!(seen[0].entities[0], json!({"type": "bold", "offset": 3, "length": 4}));
}

#[tokio::test]
async fn a_topic_is_answered_in_the_topic() {
    let world = world();
    let group = world.platform.group("The lab", false);
    let plans = world.platform.topic(&group, "Plans");
    world.send(&plans, "in plans").await.expect("sent");
    world.send(&group, "in general").await.expect("sent");
    let seen = world.platform.seen_of_us(&group);
    assert_eq!(seen.iter().map(|m| m.thread.clone()).collect::<Vec<_>>(), [plans.thread.clone(), None]);
    let ann = world.platform.person("Ann");
    let own = world.platform.topic(&world.platform.direct(&ann), "Mine");
    world.send(&own, "in private").await.expect("sent");
    assert_eq!(world.platform.seen_of_us(&own)[0].thread, own.thread);
    world.platform.close_topic(&plans, true);
    assert_eq!(world.send(&plans, "late").await.expect_err("closed").kind, FaultKind::Lost);
    let gone = Chat { thread: Some("9999".into()), ..group };
    assert_eq!(world.send(&gone, "later").await.expect_err("gone").kind, FaultKind::Lost);
}

#[tokio::test]
async fn an_answer_names_what_it_answers_while_that_is_there() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let asked = MessageRef(world.platform.say(&chat, &ann, "why?"));
    let gone = MessageRef(format!("{}:9999", chat.id));
    let elsewhere = MessageRef("-77:1".into());
    let hello = words("because");
    for answers in [&asked, &gone, &elsewhere] {
        let piece = Piece::Text { words: &hello, choices: &[], answers: Some(answers) };
        world.bot.send(&chat, piece, &attempt()).await.expect("sent");
    }
    let seen = world.platform.seen_of_us(&chat);
    assert_eq!(seen.iter().map(|m| m.answers.clone()).collect::<Vec<_>>(), [Some(asked), None, None]);
}

/// Holds: M-telegram-08.
#[tokio::test]
async fn a_question_has_buttons_until_it_is_edited() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let choices = [
        choice("Allow once", "/approve 3f2a", Tone::Good),
        choice("Allow always", "/approve 3f2a always", Tone::Plain),
        choice("Reject", "/reject 3f2a", Tone::Bad),
    ];
    let question = words("May I?");
    let piece = Piece::Text { words: &question, choices: &choices, answers: None };
    let at = world.bot.send(&chat, piece, &attempt()).await.expect("sent");
    let seen = world.platform.seen_of_us(&chat);
    let pairs = choices.iter().map(|choice| (choice.label.clone(), choice.says.clone()));
    assert_eq!(seen[0].buttons, pairs.collect::<Vec<_>>());
    let answered = words("May I? Allowed by Ann.");
    let piece = Piece::Text { words: &answered, choices: &[], answers: None };
    world.bot.edit(&chat, &at, piece).await.expect("edited");
    world.bot.edit(&chat, &at, piece).await.expect("the same again is a success");
    let seen = world.platform.seen_of_us(&chat);
    assert_eq!((seen.len(), seen[0].edits, seen[0].buttons.len()), (1, 1, 0));
    assert_eq!(seen[0].text, "May I? Allowed by Ann.");
}

#[tokio::test]
async fn an_edit_keeps_the_buttons_that_it_names() {
    let world = world();
    let chat = world.platform.direct(&world.platform.person("Ann"));
    let at = world.send(&chat, "one").await.expect("sent");
    let (two, choices) = (words("two"), [choice("Yes", "y", Tone::Plain), choice("No", "n", Tone::Plain)]);
    let piece = Piece::Text { words: &two, choices: &choices, answers: None };
    world.bot.edit(&chat, &at, piece).await.expect("edited");
    assert_eq!(world.platform.seen_of_us(&chat)[0].buttons.len(), 2);
}

#[tokio::test]
async fn a_message_that_stayed_behind_is_not_edited_by_its_number() {
    let world = world();
    let group = world.platform.group("The lab", true);
    let at = world.send(&group, "one").await.expect("sent");
    let moved = world.platform.migrate(&group);
    world.send(&moved, "another with the same number").await.expect("sent");
    let two = words("two");
    let piece = Piece::Text { words: &two, choices: &[], answers: None };
    assert_eq!(world.bot.edit(&moved, &at, piece).await.expect_err("lost").kind, FaultKind::Lost);
}

#[tokio::test]
async fn a_mark_is_set_changed_and_taken_off() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let at = MessageRef(world.platform.say(&chat, &ann, "hi"));
    for (mark, shown) in [(Some(Mark::Taken), Some("👀")), (Some(Mark::Failed), Some("😢")), (None, None)]
    {
        world.bot.gesture(&chat, Gesture::Mark(&at, mark)).await.expect("marked");
        assert_eq!(world.platform.seen(&chat)[0].mark.as_deref(), shown);
    }
}

#[tokio::test]
async fn typing_is_shown_for_as_long_as_it_is_renewed() {
    let world = world();
    let chat = world.platform.direct(&world.platform.person("Ann"));
    let Typing::Renew { every } = world.bot.features(&chat).typing else { panic!("it renews") };
    for _ in 0..3 {
        world.bot.gesture(&chat, Gesture::Typing(true)).await.expect("typing");
        world.clock.pass_ms(u32::try_from(every.as_millis()).expect("short"));
        assert!(world.platform.is_typing(&chat));
    }
    world.clock.pass_ms(5_000);
    assert!(!world.platform.is_typing(&chat));
    world.bot.gesture(&chat, Gesture::Typing(false)).await.expect("nothing to do");
}

#[tokio::test]
async fn a_reply_grows_as_a_draft_until_its_message_replaces_it() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    let live = world.bot.live().expect("a way of its own");
    live.grow(&chat, 7, &words("")).await.expect("without words");
    assert_eq!(world.platform.draft(&chat).as_deref(), Some(""));
    live.grow(&chat, 7, &words("The answer")).await.expect("grown");
    assert_eq!(world.platform.draft(&chat).as_deref(), Some("The answer"));
    let Live::Stream { renew, .. } = world.bot.features(&chat).live else { panic!("it streams") };
    assert!(renew < Duration::from_secs(30));
    world.clock.pass_ms(30_000);
    assert_eq!(world.platform.draft(&chat), None);
    live.grow(&chat, 7, &words("The answer is")).await.expect("grown");
    world.send(&chat, "The answer is 4.").await.expect("sent");
    assert_eq!(world.platform.draft(&chat), None);
    live.grow(&chat, 8, &words("More")).await.expect("grown");
    assert!(world.platform.stop_draft(&chat), "it has a stop button");
}

#[tokio::test]
async fn a_growing_reply_that_is_refused_is_unsupported() {
    let world = world();
    let group = world.platform.group("The lab", false);
    let live = world.bot.live().expect("a way of its own");
    assert_eq!(live.grow(&group, 7, &words("x")).await.expect_err("a group").kind, FaultKind::Unsupported);
    // An older server knows no drafts without words.
    let chat = world.platform.direct(&world.platform.person("Ann"));
    use sb_channels::telegram::standin::{Break, Calls};
    for broken in
        [Break::Says("TEXTDRAFT_PEER_INVALID"), Break::Says("text must be non-empty"), Break::Unknown]
    {
        world.platform.break_next(broken, Calls::Gestures, 1);
        let fault = live.grow(&chat, 7, &words("")).await.expect_err("refused");
        assert_eq!(fault.kind, FaultKind::Unsupported, "{broken:?}");
    }
    world.platform.break_next(Break::RateLimit(3), Calls::Gestures, 1);
    let fault = live.grow(&chat, 7, &words("x")).await.expect_err("too fast");
    assert_eq!(fault.kind, FaultKind::ChatBusy { wait_ms: Some(3_000) });
}

/// Holds: M-telegram-01.
#[tokio::test]
async fn a_picture_goes_as_photo_and_all_else_as_document_in_its_topic() {
    let world = world();
    let group = world.platform.group("The lab", false);
    let chat = world.platform.topic(&group, "Plans");
    let caption = Rendered { text: "see here".into(), spans: vec![span(4, 4, Style::Bold)] };
    let picture = png(640, 480);
    let sent = [
        ("chart.png", "image/png", picture.clone(), "photo"),
        ("cat.gif", "image/gif", b"GIF89a".to_vec(), "document"),
        ("report.pdf", "application/pdf", b"%PDF-1.7".to_vec(), "document"),
        ("odd name ü\".bin", "no type", vec![0, 1, 2], "document"),
    ];
    for (name, media_type, bytes, sort) in sent {
        world.send_files(&chat, &[file(name, media_type, &bytes)], Some(&caption)).await.expect("sent");
        let seen = world.platform.seen_of_us(&chat).pop().expect("a message");
        let shown = seen.file.expect("a file");
        assert_eq!((shown.sort.as_str(), shown.name.as_str(), shown.bytes.to_vec()), (sort, name, bytes));
        assert_eq!((seen.marked.as_str(), &seen.thread), ("see **here**", &chat.thread), "{name}");
    }
}

#[tokio::test]
async fn a_picture_that_is_none_to_telegram_goes_as_document() {
    let world = world();
    let chat = world.platform.direct(&world.platform.person("Ann"));
    let large = vec![0; 10 * 1024 * 1024 + 1];
    for bytes in [png(30_000, 20), png(9_000, 2_000), b"no picture at all".to_vec(), large] {
        let picture = file("wide.png", "image/png", &bytes);
        world.send_files(&chat, &[picture], None).await.expect("sent");
        let shown = world.platform.seen_of_us(&chat).pop().and_then(|message| message.file).expect("a file");
        assert_eq!((shown.sort.as_str(), shown.bytes.len()), ("document", bytes.len()));
    }
    assert_eq!(world.platform.seen_of_us(&chat).len(), 4);
}

#[tokio::test]
async fn several_files_are_one_album_with_one_caption() {
    let world = world();
    let chat = world.platform.direct(&world.platform.person("Ann"));
    let (picture, text) = (png(64, 48), b"words".to_vec());
    let photos = [file("a.png", "image/png", &picture), file("b.png", "image/png", &picture)];
    let first = world.send_files(&chat, &photos, Some(&words("two"))).await.expect("sent");
    let mixed = [file("a.png", "image/png", &picture), file("b.txt", "text/plain", &text)];
    world.send_files(&chat, &mixed, None).await.expect("sent");
    let seen = world.platform.seen_of_us(&chat);
    assert_eq!(seen[0].reference, first);
    let sorts: Vec<String> = seen.iter().filter_map(|m| m.file.as_ref()).map(|f| f.sort.clone()).collect();
    assert_eq!(sorts, ["photo", "photo", "document", "document"]);
    assert_eq!(seen.iter().map(|m| m.text.as_str()).collect::<Vec<_>>(), ["two", "", "", ""]);
    assert!(seen[0].album.is_some() && seen[0].album == seen[1].album && seen[0].album != seen[2].album);
}

#[tokio::test]
async fn the_menu_offers_what_telegram_takes() {
    let world = world();
    let long = "x".repeat(400);
    let command = |name: &str, help: &str| Command { name: name.into(), help: help.into() };
    let commands =
        [command("help", "What there is"), command("not-taken", "Has a line"), command("long", &long)];
    world.bot.offer(&commands).await.expect("offered");
    let menu = world.platform.menu();
    assert_eq!(menu[0], ("help".to_owned(), "What there is".to_owned()));
    assert_eq!((menu.len(), menu[1].1.chars().count()), (2, 256));
}

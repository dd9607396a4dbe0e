//! Every refusal is sorted by what is to be done about it, and none tells the token.

use sb_channel::Gesture;
use sb_channel::model::FaultKind;
use sb_channels::telegram::standin::{Break, Calls, TOKEN};

use super::{file, settings, words, world};

#[tokio::test]
async fn each_refusal_of_a_send_is_sorted() {
    let world = world();
    let chat = world.platform.direct(&world.platform.person("Ann"));
    let table = [
        (Break::Flaky, FaultKind::Passing { wait_ms: None }),
        (Break::RateLimit(7), FaultKind::ChatBusy { wait_ms: Some(7_000) }),
        (Break::Revoked, FaultKind::Auth),
        (Break::ChatGone, FaultKind::ChatGone),
        (Break::Format, FaultKind::Format),
        (Break::Unknown, FaultKind::Unsupported),
        (Break::Says("ENTITY_BOUNDS_INVALID"), FaultKind::Format),
        (Break::Says("PEER_ID_INVALID"), FaultKind::ChatGone),
        (Break::Says("TOPIC_CLOSED"), FaultKind::Lost),
        (Break::Says("message to edit not found"), FaultKind::Lost),
        (Break::Says("message can't be edited"), FaultKind::Lost),
        (Break::Says("message is too long"), FaultKind::Refused),
        (Break::Says("CHAT_WRITE_FORBIDDEN"), FaultKind::Refused),
        (Break::Says("have no rights to send a message"), FaultKind::Refused),
        (Break::Says("words nobody has seen before"), FaultKind::Refused),
    ];
    for (what, kind) in table {
        world.platform.break_next(what, Calls::Posts, 1);
        let fault = world.send(&chat, "hi").await.expect_err("broken");
        assert_eq!((&fault.kind, fault.maybe_done), (&kind, false), "{what:?}: {fault}");
        assert!(!format!("{fault:?}").contains("stand-in_token"), "{fault:?}");
    }
    world.send(&chat, "hi").await.expect("mended");
}

#[tokio::test]
async fn a_lost_answer_is_told_as_perhaps_done() {
    let world = world();
    let chat = world.platform.direct(&world.platform.person("Ann"));
    world.platform.break_next(Break::LostAnswer, Calls::Posts, 1);
    let fault = world.send(&chat, "hi").await.expect_err("lost");
    assert_eq!((fault.kind, fault.maybe_done), (FaultKind::Passing { wait_ms: None }, true));
    assert_eq!(world.platform.seen_of_us(&chat).len(), 1);
}

#[tokio::test]
async fn a_chat_that_is_gone_moved_or_mute_is_told_apart() {
    let world = world();
    let ann = world.platform.person("Ann");
    let chat = world.platform.direct(&ann);
    world.platform.block(&chat);
    assert_eq!(world.send(&chat, "hi").await.expect_err("blocked").kind, FaultKind::ChatGone);
    let nobody = sb_channel::model::Chat::direct("99");
    assert_eq!(world.send(&nobody, "hi").await.expect_err("unknown").kind, FaultKind::ChatGone);
    let no_number = sb_channel::model::Chat::direct("@ann");
    assert_eq!(world.send(&no_number, "hi").await.expect_err("a name").kind, FaultKind::Refused);
    let group = world.platform.group("The lab", true);
    world.platform.mute(&group, true);
    assert_eq!(world.send(&group, "hi").await.expect_err("mute").kind, FaultKind::Refused);
    world.platform.mute(&group, false);
    let moved = world.platform.migrate(&group);
    let fault = world.send(&group, "hi").await.expect_err("moved");
    assert_eq!(fault.kind, FaultKind::Moved { to: moved.id.clone() });
    world.send(&moved, "hi").await.expect("sent to where it is now");
}

#[tokio::test]
async fn refused_gestures_and_files_are_sorted_as_well() {
    let world = world();
    let chat = world.platform.direct(&world.platform.person("Ann"));
    world.platform.break_next(Break::RateLimit(4), Calls::Gestures, 1);
    let fault = world.bot.gesture(&chat, Gesture::Typing(true)).await.expect_err("too fast");
    assert_eq!(fault.kind, FaultKind::ChatBusy { wait_ms: Some(4_000) });
    world.platform.break_next(Break::RateLimit(5), Calls::Posts, 1);
    let fault = world.send_files(&chat, &[file("a", "text/plain", b"a")], None).await.expect_err("too fast");
    assert_eq!(fault.kind, FaultKind::ChatBusy { wait_ms: Some(5_000) });
    let fault = world.send_files(&chat, &[], None).await.expect_err("nothing");
    assert_eq!(fault.kind, FaultKind::Refused);
    let caption = words(&"x".repeat(1_025));
    let fault =
        world.send_files(&chat, &[file("a", "text/plain", b"a")], Some(&caption)).await.expect_err("long");
    assert_eq!(fault.kind, FaultKind::Refused);
    assert_eq!(world.send(&chat, &"😀".repeat(2_049)).await.expect_err("long").kind, FaultKind::Refused);
}

#[tokio::test]
async fn a_token_that_is_not_known_says_where_to_get_one() {
    let world = world();
    for what in [Break::Revoked, Break::Unknown] {
        world.platform.break_next(what, Calls::Any, 1);
        let fault = world.bot.check().await.expect_err("refused");
        assert_eq!(fault.kind, FaultKind::Auth, "{what:?}");
        assert!(fault.detail.contains("@BotFather") && !fault.detail.contains(TOKEN), "{fault}");
    }
    let other = [("token".to_owned(), "123456:another".to_owned())];
    let bot = (sb_channels::telegram::KIND.open)(
        super::context(world.platform.http(), false),
        &settings(other.to_vec()),
    );
    assert_eq!(bot.expect("a bot").check().await.expect_err("refused").kind, FaultKind::Auth);
}

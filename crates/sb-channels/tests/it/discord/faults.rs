//! Every refusal is sorted by what is to be done about it, limits are kept, and none tells the token.

use sb_channel::model::{Chat, FaultKind};
use sb_channel::standin::{Breakage, StandIn};
use sb_channel::{Gesture, Piece};
use sb_channels::discord::standin::{Calls, TOKEN};

use super::{attempt, settings, words, world};

#[tokio::test]
async fn each_refusal_of_a_send_is_sorted() {
    let table = [
        (401, 0, FaultKind::Auth),
        (401, 50_014, FaultKind::Auth),
        (429, 0, FaultKind::Passing { wait_ms: None }),
        (500, 0, FaultKind::Passing { wait_ms: None }),
        (502, 0, FaultKind::Passing { wait_ms: None }),
        (503, 130_000, FaultKind::ChatBusy { wait_ms: None }),
        (400, 40_062, FaultKind::ChatBusy { wait_ms: None }),
        (400, 20_016, FaultKind::ChatBusy { wait_ms: None }),
        (400, 20_028, FaultKind::ChatBusy { wait_ms: None }),
        (404, 10_003, FaultKind::ChatGone),
        (404, 10_004, FaultKind::ChatGone),
        (404, 10_013, FaultKind::ChatGone),
        (403, 50_001, FaultKind::ChatGone),
        (403, 50_007, FaultKind::ChatGone),
        (403, 50_278, FaultKind::ChatGone),
        (403, 50_013, FaultKind::ChatGone),
        (400, 50_008, FaultKind::ChatGone),
        (400, 50_024, FaultKind::ChatGone),
        (403, 40_007, FaultKind::ChatGone),
        (400, 40_058, FaultKind::ChatGone),
        (404, 10_008, FaultKind::Lost),
        (400, 30_046, FaultKind::Lost),
        (429, 30_046, FaultKind::Lost),
        (400, 50_083, FaultKind::Lost),
        (413, 40_005, FaultKind::Refused),
        (400, 50_045, FaultKind::Refused),
        (400, 50_006, FaultKind::Refused),
        (403, 240_000, FaultKind::Refused),
        (403, 40_333, FaultKind::Refused),
        (404, 99_999, FaultKind::Refused),
    ];
    for (status, code, kind) in table {
        let world = world();
        world.platform.refuse_next(Calls::Posts, status, code, None, None);
        let fault = world.send(&world.chat, "hi").await.expect_err("refused");
        // A gate that fails does not know whether what is behind it has done it.
        let expected = (&kind, status == 502, Some(status));
        assert_eq!((&fault.kind, fault.maybe_done, fault.status), expected, "{code}: {fault}");
        assert!(!format!("{fault:?}").contains(TOKEN), "{fault:?}");
        world.send(&world.chat, "hi").await.expect("mended");
    }
}

#[tokio::test]
async fn a_thread_that_is_gone_or_locked_leaves_its_channel() {
    let world = world();
    let thread = world.platform.thread(&world.lab, "a thread");
    world.send(&thread, "hi").await.expect("sent");
    world.platform.end_thread(&thread, true);
    assert_eq!(world.send(&thread, "hi").await.expect_err("locked").kind, FaultKind::Lost);
    let none = Chat { thread: Some("123456789012345678".into()), ..world.lab.clone() };
    assert_eq!(world.send(&none, "hi").await.expect_err("none").kind, FaultKind::Lost);
    let nobody = Chat::group("123456789012345678");
    assert_eq!(world.send(&nobody, "hi").await.expect_err("none").kind, FaultKind::ChatGone);
    assert_eq!(world.send(&Chat::group("#lab"), "hi").await.expect_err("a name").kind, FaultKind::Refused);
    // One that rests is opened by writing there; until then its messages cannot be changed.
    let other = world.platform.thread(&world.lab, "another");
    let at = world.send(&other, "first").await.expect("sent");
    world.platform.end_thread(&other, false);
    let words = words("second");
    let piece = Piece::Text { words: &words, choices: &[], answers: None };
    assert_eq!(world.bot.edit(&other, &at, piece).await.expect_err("archived").kind, FaultKind::Lost);
    world.send(&other, "second").await.expect("sent");
    world.bot.edit(&other, &at, piece).await.expect("changed");
}

#[tokio::test]
async fn a_body_that_is_wrong_says_where_and_only_words_are_blamed_on_their_form() {
    let world = world();
    world.platform.refuse_next(Calls::Posts, 400, 50_035, Some("content"), None);
    assert_eq!(world.send(&world.chat, "hi").await.expect_err("words").kind, FaultKind::Format);
    world.platform.refuse_next(Calls::Posts, 400, 50_035, Some("components"), None);
    let fault = world.send(&world.chat, "hi").await.expect_err("buttons");
    assert_eq!(fault.kind, FaultKind::Refused);
    assert!(fault.detail.contains("components"), "{fault}");
    assert_eq!(world.send(&world.chat, &"x".repeat(2_001)).await.expect_err("long").kind, FaultKind::Format);
}

#[tokio::test]
async fn a_limit_of_one_channel_stops_that_one_and_a_global_one_all() {
    let world = world();
    world.platform.refuse_next(Calls::Posts, 429, 0, None, Some((2.5, false)));
    let fault = world.send(&world.chat, "hi").await.expect_err("too fast");
    assert_eq!(fault.kind, FaultKind::ChatBusy { wait_ms: Some(2_500) });
    // It is not asked again before its time, which would count against us.
    let asked = world.platform.asked().len();
    world.clock.pass_ms(1_000);
    let fault = world.send(&world.chat, "hi").await.expect_err("too fast");
    assert_eq!((fault.kind, fault.status), (FaultKind::ChatBusy { wait_ms: Some(1_500) }, None));
    assert_eq!(world.platform.asked().len(), asked);
    world.send(&world.lab, "hi").await.expect("another channel");
    world.clock.pass_ms(1_500);
    world.send(&world.chat, "hi").await.expect("in its time");
    world.platform.refuse_next(Calls::Posts, 429, 0, None, Some((3.0, true)));
    let fault = world.send(&world.chat, "hi").await.expect_err("too fast");
    assert_eq!(fault.kind, FaultKind::Passing { wait_ms: Some(3_000) });
    let fault = world.bot.gesture(&world.lab, Gesture::Typing(true)).await.expect_err("all wait");
    assert_eq!(fault.kind, FaultKind::Passing { wait_ms: Some(3_000) });
    world.clock.pass_ms(3_000);
    world.bot.gesture(&world.lab, Gesture::Typing(true)).await.expect("in its time");
}

#[tokio::test]
async fn what_an_answer_says_of_its_bucket_is_kept() {
    let world = world();
    for number in 1..=5 {
        world.send(&world.chat, &format!("number {number}")).await.expect("within the limit");
    }
    let asked = world.platform.asked().len();
    let fault = world.send(&world.chat, "number 6").await.expect_err("the bucket is empty");
    assert!(matches!(fault.kind, FaultKind::ChatBusy { wait_ms: Some(1..=5_000) }), "{fault:?}");
    assert_eq!(world.platform.asked().len(), asked, "it was not asked");
    world.send(&world.lab, "number 1").await.expect("its bucket is another one");
    let words = words("changed");
    let piece = Piece::Text { words: &words, choices: &[], answers: None };
    let at = world.platform.seen(&world.chat).messages[0].reference.clone();
    world.bot.edit(&world.chat, &at, piece).await.expect("so is that of changes");
    world.clock.pass_ms(5_000);
    world.send(&world.chat, "number 6").await.expect("in its time");
}

#[tokio::test]
async fn a_lost_answer_is_perhaps_done_and_goes_again_under_the_same_key() {
    let world = world();
    world.platform.break_next(Breakage::LostAnswer, 1);
    let fault = world.send_as("key", &world.chat, "hi", &[]).await.expect_err("lost");
    assert_eq!((fault.kind, fault.maybe_done), (FaultKind::Passing { wait_ms: None }, true));
    let first = world.platform.seen(&world.chat).messages[0].reference.clone();
    assert_eq!(world.send_as("key", &world.chat, "hi", &[]).await.expect("again"), first);
    assert_ne!(world.send_as("other", &world.chat, "hi", &[]).await.expect("another"), first);
    assert_eq!(world.platform.seen(&world.chat).messages.len(), 2);
    let long = "k".repeat(400);
    let first = world.send_as(&long, &world.chat, "hi", &[]).await.expect("a long key");
    assert_eq!(world.send_as(&long, &world.chat, "hi", &[]).await.expect("again"), first);
    assert_eq!(attempt("key").key, "key");
}

#[tokio::test]
async fn a_token_that_is_not_known_says_where_to_get_one() {
    let world = world();
    let pairs = [("token", "OTAw.another"), ("api_url", "http://discord.invalid")];
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let context = sb_channel::ChannelContext {
        http: world.platform.http(),
        clock: world.clock.clone(),
        dice: std::sync::Arc::new(sb_channel::net::FixedDice::new(1)),
        state: std::sync::Arc::new(super::Kept::default()),
        by_webhook: false,
    };
    let bot = (sb_channels::discord::KIND.open)(context, &settings(pairs)).expect("a bot");
    let fault = bot.check().await.expect_err("refused");
    assert_eq!(fault.kind, FaultKind::Auth);
    assert!(fault.detail.contains("Reset Token") && !fault.detail.contains("another"), "{fault}");
}

//! Each code is treated alike, whether it refuses a request or is told later of a message that was taken.

use sb_channel::model::{Chat, FaultKind};
use sb_channel::standin::Breakage;
use sb_channel::{Event, Piece, Verdict};
use serde_json::json;

use super::{Recorder, by, told, world};
use crate::telegram::{attempt, words};

fn passing(s: u64) -> FaultKind {
    FaultKind::Passing { wait_ms: (s > 0).then_some(s * 1_000) }
}

fn table() -> Vec<(FaultKind, Vec<u32>)> {
    vec![
        (passing(0), vec![1, 2, 131_000, 131_016, 131_057]),
        (passing(10), vec![4, 80_007, 130_429]),
        (passing(60 * 60), vec![131_048, 131_064]),
        (FaultKind::ChatBusy { wait_ms: Some(6_000) }, vec![131_056]),
        (FaultKind::Auth, vec![0, 3, 10, 190, 200, 250, 299, 368, 131_005, 131_031, 131_042, 131_045]),
        (FaultKind::ChatGone, vec![131_026]),
        (FaultKind::Expired, vec![131_047]),
        (
            FaultKind::Refused,
            vec![
                100, 131_008, 131_009, 131_021, 131_030, 131_049, 131_050, 131_051, 131_052, 131_053,
                131_062, 137_000,
            ],
        ),
        // One that nobody knows.
        (FaultKind::Refused, vec![199, 300, 999_999]),
    ]
}

#[tokio::test]
async fn each_code_of_a_refusal_is_sorted() {
    for (kind, codes) in table() {
        for code in codes {
            let error = json!({"message": format!("(#{code}) words"), "type": "OAuthException", "code": code,
                "error_data": {"details": "their words"}, "fbtrace_id": "ABC"});
            let number = by(Recorder::answering(400, &json!({"error": error})).http(), &world().platform);
            let words = words("hi");
            let piece = Piece::Text { words: &words, choices: &[], answers: None };
            let fault = number.send(&Chat::direct("US.1"), piece, &attempt()).await.expect_err("refused");
            assert_eq!((&fault.kind, fault.maybe_done), (&kind, false), "{code}: {fault}");
            assert!(fault.detail.contains(&code.to_string()) && fault.detail.contains("ABC"), "{fault}");
            assert!(!format!("{fault:?}").contains("stand-in_token"), "{fault:?}");
        }
    }
}

#[tokio::test]
async fn each_code_that_is_told_later_is_sorted_alike() {
    let world = world();
    for (kind, codes) in table() {
        for code in codes {
            let value = json!({
                "metadata": {"display_phone_number": "15550001111", "phone_number_id": "900001"},
                "statuses": [{"id": "wamid.X", "status": "failed", "biz_opaque_callback_data": "turn:1:0:0",
                    "errors": [{"code": code, "title": "words"}]}],
            });
            let body = json!({"entry": [{"changes": [{"field": "messages", "value": value}]}]});
            let Verdict::Take(batch, _) = told(&world.number, &body.to_string()) else { panic!("refused") };
            let [Event::Reported(report)] = &batch.events[..] else { panic!("{batch:?}") };
            assert_eq!((report.key.as_str(), report.message.0.as_str()), ("turn:1:0:0", "wamid.X"));
            assert_eq!(report.fate.as_ref().expect_err("failed").kind, kind, "{code}");
        }
    }
}

#[tokio::test]
async fn a_status_without_a_code_is_sorted_by_what_it_is() {
    for (status, kind) in [
        (400, FaultKind::Refused),
        (401, FaultKind::Auth),
        (403, FaultKind::Auth),
        (429, passing(0)),
        (500, passing(0)),
        (503, passing(0)),
    ] {
        let number = by(Recorder::answering(status, &json!("<html>")).http(), &world().platform);
        let fault = number.check().await.expect_err("refused");
        assert_eq!(fault.kind, kind, "{status}");
    }
}

/// What became of it may yet be told, so it is left alone for a while.
#[tokio::test]
async fn a_lost_answer_is_waited_for() {
    let world = world();
    let chat = world.platform.direct(&world.platform.person("Ann"));
    world.platform.break_next(Breakage::LostAnswer, 1);
    let words = words("hi");
    let piece = Piece::Text { words: &words, choices: &[], answers: None };
    world.platform.say(&chat, &world.platform.person("Bob"), "so that we may write");
    let fault = world.number.send(&chat, piece, &attempt()).await.expect_err("lost");
    assert_eq!((fault.kind, fault.maybe_done), (passing(60), true));
    assert_eq!(world.platform.seen(&chat).count("hi"), 1);
}

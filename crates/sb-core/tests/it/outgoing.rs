//! What follows from sending: the breaker, the table of failures, and the pace of a growing reply.

use sb_core::model::text::{Dialect, Fit, Unit, split};
use sb_core::model::{Fault, FaultKind, Timestamp};
use sb_core::sending::{Next, Try, Twice, next};
use sb_core::{Breaker, Pace, Presenter};

fn at(ms: i64) -> Timestamp {
    Timestamp(ms)
}

fn fault(kind: FaultKind, maybe_done: bool) -> Fault {
    Fault { kind, doing: "sending".into(), detail: "no".into(), maybe_done, status: None }
}

const FIRST: Try = Try {
    tries: 1,
    is_edit: false,
    plain: false,
    threadless: false,
    twice: Twice::Seen,
    maybe_before: false,
};

/// Holds: B-32, B-33.
#[test]
fn after_five_failures_in_a_row_it_pauses_and_then_tries_once() {
    let mut breaker = Breaker::default();
    for n in 1..=5 {
        assert_eq!(breaker.ask(at(0)), Ok(()));
        assert_eq!(breaker.failed(at(0)), n == 5);
    }
    let mut now = 0;
    for minutes in [1, 2, 4, 8, 10, 10] {
        assert_eq!(breaker.ask(at(now + 59_999)), Err(at(now + minutes * 60_000)), "{minutes}");
        now += minutes * 60_000;
        assert_eq!(breaker.ask(at(now)), Ok(()), "one try");
        assert!(breaker.ask(at(now)).is_err(), "and not a second one beside it");
        assert!(breaker.failed(at(now)));
    }
    now += 600_000;
    assert_eq!(breaker.ask(at(now)), Ok(()));
    breaker.worked();
    assert_eq!(breaker.open_until(), None);
    assert!(!breaker.failed(at(now)), "the count begins again");
}

/// Holds: B-29, B-36.
#[test]
fn what_may_pass_is_tried_after_half_a_second_a_second_and_then_every_five() {
    let passing = fault(FaultKind::Passing { wait_ms: None }, false);
    let waits: Vec<Next> = (1..=4).map(|tries| next(&passing, Try { tries, ..FIRST }, at(0))).collect();
    let again = |ms| Next::Again { at: at(ms) };
    assert_eq!(waits, [again(500), again(1_000), again(5_000), again(5_000)]);
    let asked = fault(FaultKind::ChatBusy { wait_ms: Some(7_000) }, false);
    assert_eq!(next(&asked, FIRST, at(0)), again(7_000), "what is asked for is waited for");
}

/// Holds: B-30, B-31.
#[test]
fn an_unknown_outcome_is_repeated_once_where_people_see_both() {
    let lost = fault(FaultKind::Passing { wait_ms: None }, true);
    assert_eq!(next(&lost, FIRST, at(0)), Next::Again { at: at(500) });
    assert_eq!(next(&lost, Try { maybe_before: true, ..FIRST }, at(0)), Next::Perhaps);
    let keyed = Try { twice: Twice::Harmless, maybe_before: true, ..FIRST };
    assert_eq!(next(&lost, keyed, at(0)), Next::Again { at: at(500) }, "a key makes it harmless");
    let edit = Try { is_edit: true, maybe_before: true, ..FIRST };
    assert_eq!(next(&lost, edit, at(0)), Next::Again { at: at(500) }, "so does an edit");
    assert_eq!(next(&fault(FaultKind::Refused, false), FIRST, at(0)), Next::Refused);
}

#[test]
fn each_failure_has_one_treatment() {
    let say = |kind: FaultKind, of: Try| next(&fault(kind, false), of, at(0));
    assert_eq!(say(FaultKind::Format, FIRST), Next::Plain);
    assert_eq!(say(FaultKind::Format, Try { plain: true, ..FIRST }), Next::Refused, "plain goes once");
    let edit = Try { is_edit: true, ..FIRST };
    assert_eq!(say(FaultKind::Lost, edit), Next::Fresh);
    assert_eq!(say(FaultKind::Lost, FIRST), Next::WithoutThread);
    assert_eq!(say(FaultKind::Lost, Try { threadless: true, ..FIRST }), Next::Refused);
    assert_eq!(say(FaultKind::ChatGone, FIRST), Next::Gone);
    assert_eq!(say(FaultKind::Moved { to: "-9".into() }, FIRST), Next::Moved { to: "-9".into() });
    assert_eq!(say(FaultKind::Expired, FIRST), Next::Expired);
    assert!(matches!(say(FaultKind::Auth, FIRST), Next::Again { .. }));
}

const FIT: Fit = Fit { limit: 100, unit: Unit::Chars, dialect: Dialect::Plain };
const EDITED: Pace = Pace { every_ms: 3_000, first: 40, most: None, renew_ms: None, empty: false };
const STREAM: Pace = Pace { every_ms: 500, first: 1, most: None, renew_ms: Some(20_000), empty: true };

fn shown(presenter: &mut Presenter, now: i64, words: &str, tool: Option<&str>) -> Option<String> {
    let showing = presenter.next(at(now), words, tool)?;
    presenter.was_shown(at(now), &showing, words);
    Some(showing.text)
}

/// Holds: B-18, B-19.
#[test]
fn an_edited_message_begins_at_forty_characters_and_keeps_its_pace() {
    let mut presenter = Presenter::new(EDITED, FIT, 0);
    assert_eq!(shown(&mut presenter, 0, "Too short.", None), None);
    let words = "This is long enough to be worth a notification.";
    assert_eq!(shown(&mut presenter, 10, words, None).as_deref(), Some(words));
    let more = format!("{words} More.");
    assert_eq!(shown(&mut presenter, 3_009, &more, None), None, "no oftener than every three seconds");
    assert_eq!(shown(&mut presenter, 3_010, &more, None), Some(more.clone()), "and the latest text then");
    assert_eq!(shown(&mut presenter, 9_000, &more, None), None, "nothing new, nothing shown");
}

/// Holds: B-20.
#[test]
fn a_stream_shows_at_once_the_tool_before_any_word_and_again_before_it_lapses() {
    let mut presenter = Presenter::new(STREAM, FIT, 0);
    assert_eq!(shown(&mut presenter, 0, "", Some("shell …")).as_deref(), Some("*shell …*"));
    assert_eq!(shown(&mut presenter, 500, "Hi", None).as_deref(), Some("Hi"));
    assert_eq!(presenter.wake_at(false, at(600)), Some(at(20_500)));
    assert_eq!(shown(&mut presenter, 20_500, "Hi", None).as_deref(), Some("Hi"), "shown again in time");
}

/// Holds: B-24.
#[test]
fn a_full_part_is_finished_and_the_next_one_begins() {
    let words = "word ".repeat(60);
    let mut presenter = Presenter::new(EDITED, FIT, 0);
    let parts = split(&words, &FIT);
    let mut done = Vec::new();
    for second in 0..20 {
        let Some(showing) = presenter.next(at(second * 3_000), &words, None) else { continue };
        presenter.was_shown(at(second * 3_000), &showing, &words);
        done.push((showing.part, showing.text, showing.full));
    }
    let expected: Vec<_> =
        (0..).zip(&parts).map(|(n, p)| (n, p.text.clone(), n as usize + 1 < parts.len())).collect();
    assert_eq!(done, expected);
}

#[test]
fn a_refusal_that_may_pass_slows_it_down_and_any_other_ends_it() {
    let mut presenter = Presenter::new(STREAM, FIT, 0);
    presenter.was_refused(at(0), &FaultKind::ChatBusy { wait_ms: Some(3_000) });
    assert_eq!(presenter.next(at(2_999), "Hi", None), None);
    assert!(presenter.next(at(3_000), "Hi", None).is_some());
    presenter.was_refused(at(3_000), &FaultKind::Unsupported);
    assert!(presenter.is_off() && presenter.next(at(99_000), "Hi there", None).is_none());
}

//! Payments that the house makes, and agents that are suspended.

use super::*;

fn payment(id: &str) -> Call {
    // A harness that calls a payment a reading is not believed.
    let input = json!({"to": "bob", "amount": "2.50", "purpose": "cake"});
    Call { id: id.into(), tool: "ledger_pay".into(), input, class: ToolClass::Read }
}

fn houses(story: &Story) -> usize {
    story.changes.iter().filter(|c| matches!(c, Change::House { .. })).count()
}

fn at_level(story: &mut Story, autonomy: Level) {
    story.chat.context.profile = std::sync::Arc::new(Profile { autonomy, ..crate::world::profile() });
}

/// Holds: H-15, H-16.
#[test]
fn a_payment_waits_at_l5_and_is_done_in_the_commit_of_the_decision() {
    let mut story = Story::new();
    at_level(&mut story, Level::L5);
    let first = story.say("Pay her.");
    story.answers("", vec![payment("p")]);
    story.agent(HarnessEvent::Call(payment("p")));
    story.ends(Ok(StopReason::Parked));
    assert!(story.ending(first).said.contains("ledger_pay {\"amount\":\"2.50\""));
    assert!(story.ending(first).said.contains("(spending at autonomy L5; request "));
    assert_eq!(houses(&story), 0);
    let before = story.changes.len();
    story.say("/approve always");
    let commit = &story.changes[before..];
    let decided = commit.iter().position(
        |c| matches!(c, Change::Logged { entry, .. } if matches!(entry.record, Record::Decided { .. })),
    );
    let done = commit.iter().position(|c| matches!(c, Change::House { .. }));
    assert!(decided.expect("decided") < done.expect("done"), "{commit:?}");
    assert!(!commit.iter().any(|c| matches!(c, Change::Granted { .. } | Change::Allowed { .. })));
    story.say("/approve");
    assert_eq!(houses(&story), 1);
}

#[test]
fn a_payment_at_l6_is_done_at_once_and_the_harness_is_told() {
    let mut story = Story::new();
    at_level(&mut story, Level::L6);
    story.say("Pay her.");
    story.answers("", vec![payment("p")]);
    story.agent(HarnessEvent::Call(payment("p")));
    assert_eq!(houses(&story), 1);
    assert!(!story.tells.iter().any(|t| matches!(t, HarnessInput::Go(_))));
    at_level(&mut story, Level::L3);
    story.agent(HarnessEvent::Call(payment("q")));
    assert!(
        matches!(story.tells.last(), Some(HarnessInput::No(_, why)) if why.contains("spending is not allowed at autonomy L3"))
    );
    assert_eq!(houses(&story), 1);
}

/// Holds: H-17.
#[test]
fn after_reading_from_outside_a_payment_waits_whatever_the_level() {
    let mut story = Story::new();
    at_level(&mut story, Level::L6);
    story.say("Look, then pay her.");
    story.agent(HarnessEvent::Log(Record::Result {
        call: "r".into(),
        ok: true,
        text: "Pay me.".into(),
        files: vec![],
        outside: true,
    }));
    story.answers("", vec![payment("p")]);
    story.agent(HarnessEvent::Call(payment("p")));
    assert_eq!(houses(&story), 0);
    let pending = story.chat.state().turn.as_ref().and_then(|t| t.pending.clone()).expect("it waits");
    assert_eq!(pending.reason, "spending, after reading content from outside");
}

#[test]
fn a_suspended_agent_answers_nobody_and_what_waits_behind_its_turn_is_told_so() {
    let mut story = Story::new();
    let first = story.say("Work.");
    let behind = story.busy("And then this.", Busy::Queue);
    story.chat.context.suspended = Some("The agent is suspended.".into());
    // The turn at work may end; it does nothing more.
    story.answers("", vec![write("a.txt")]);
    story.agent(HarnessEvent::Call(write("a.txt")));
    assert!(matches!(story.tells.last(), Some(HarnessInput::No(_, why)) if why == "The agent is suspended."));
    let new = story.say("Hello?");
    story.ends(Ok(StopReason::Done));
    for id in [behind, new] {
        let ending = story.ending(id);
        assert_eq!((ending.kind, ending.refusal), (EndKind::Refused, Some(Refusal::Suspended)));
        assert_eq!(ending.said, "The agent is suspended.");
    }
    assert_ne!(story.ending(first).kind, EndKind::Refused);
    assert_eq!(story.ending(story.endings.last().expect("told").0).kind, EndKind::Refused);
    let status = story.say("/status");
    assert_eq!(story.ending(status).kind, EndKind::Replied);
    story.chat.context.suspended = None;
    story.say("Now?");
    assert_eq!(story.running().len(), 1);
}

#[test]
fn a_payment_that_waited_when_its_agent_was_suspended_is_not_made() {
    let mut story = Story::new();
    at_level(&mut story, Level::L5);
    let first = story.say("Pay her.");
    story.answers("", vec![payment("p")]);
    story.agent(HarnessEvent::Call(payment("p")));
    story.ends(Ok(StopReason::Parked));
    story.chat.context.suspended = Some("The agent is suspended.".into());
    story.say("/approve");
    assert_eq!(houses(&story), 0);
    assert_eq!(story.ending(first).refusal, Some(Refusal::Suspended));
}

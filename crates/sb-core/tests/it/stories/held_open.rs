//! An agent that keeps its turn open while a person decides, as agents in other processes do.

use super::*;

impl Story {
    /// Up to a write that waits for a person, its agent held open.
    fn held() -> (Self, MessageId) {
        let mut story = Self::new();
        story.chat.context.parks = false;
        let first = story.say("write it");
        story.answers("I will.", vec![write("a.txt")]);
        story.agent(HarnessEvent::Call(write("a.txt")));
        (story, first)
    }

    fn told(&self) -> Vec<String> {
        let told = |input: &HarnessInput| match input {
            HarnessInput::Go(call) => format!("go {}", call.0),
            HarnessInput::No(call, why) => format!("no {}: {why}", call.0),
            HarnessInput::Wait(call) => format!("wait {}", call.0),
            other => format!("{other:?}"),
        };
        self.tells.iter().map(told).collect()
    }
}

#[test]
fn it_is_told_to_go_once_a_person_allowed_it_and_works_on_in_the_same_run() {
    let (mut story, first) = Story::held();
    assert_eq!(story.ending(first).kind, EndKind::Waiting);
    assert_eq!(story.told(), ["wait call a.txt"]);
    let turn = story.turn();
    // A person takes their time: that is none of the turn's.
    story.now = story.now.plus_ms(20 * 60 * 1000);
    story.input(Input::Wake);
    story.say(&format!("/approve {}", story.request()));
    assert_eq!(story.told(), ["wait call a.txt", "go call a.txt"]);
    assert_eq!(story.turn(), turn);
    assert!(matches!(story.logged.last().map(|e| &e.record), Some(Record::Acting { .. })), "committed first");
    story.now = story.now.plus_ms(500_000);
    story.input(Input::Wake);
    story.answers("Done.", vec![]);
    story.ends(Ok(StopReason::Done));
    assert_eq!(
        (story.ending(first).kind, story.ending(first).said.as_str()),
        (EndKind::Replied, "I will.\n\nDone.")
    );
}

#[test]
fn it_is_told_why_a_person_declined_or_that_nobody_came() {
    let (mut story, _) = Story::held();
    story.say(&format!("/decline {} not that one", story.request()));
    assert_eq!(story.told()[1], "no call a.txt: The person declined this call: not that one");
    story.agent(HarnessEvent::Call(write("b.txt")));
    assert_eq!(story.told()[2], "wait call b.txt");
    story.now = story.chat.wake_at().expect("it does not wait for ever");
    assert_eq!(story.now.ms_since(Timestamp(1_000)), 30 * 60 * 1000);
    story.input(Input::Wake);
    assert!(story.told()[3].starts_with("no call b.txt: You have no permission"), "{:?}", story.told());
}

#[test]
fn a_second_question_does_not_push_the_first_out() {
    let (mut story, _) = Story::held();
    let request = story.request();
    story.agent(HarnessEvent::Call(write("b.txt")));
    assert!(story.told()[1].starts_with("no call b.txt: Another call waits"), "{:?}", story.told());
    assert_eq!(story.request(), request);
    let read = Call { class: ToolClass::Read, ..write("c.txt") };
    story.agent(HarnessEvent::Call(read));
    assert_eq!(story.told()[2], "go call c.txt", "what needs nobody is not held up");
}

#[test]
fn after_a_restart_the_question_is_closed_and_the_turn_runs_again() {
    let (story, first) = Story::held();
    let request = story.request();
    let mut context = context();
    context.parks = false;
    let mut story = Story::with(story.now, story.chat.state().clone(), context);
    assert_eq!(story.running(), [first]);
    assert!(story.chat.state().turn.as_ref().is_some_and(|t| t.pending.is_none() && t.starts == 2));
    let late = story.say(&format!("/approve {request}"));
    assert_eq!(story.ending(late).kind, EndKind::Refused);
    story.answers("Again.", vec![]);
    story.ends(Ok(StopReason::Done));
    assert!(story.ending(first).said.ends_with("Again."), "{}", story.ending(first).said);
}

#[test]
fn an_agent_that_dies_while_it_waits_fails_its_turn_and_closes_the_question() {
    let (mut story, first) = Story::held();
    let request = story.request();
    story.ends(Err(TurnFault::new(TurnFaultKind::Crashed, "The agent ended")));
    assert_eq!(story.ending(first).kind, EndKind::Failed);
    let late = story.say(&format!("/approve {request}"));
    assert_eq!(story.ending(late).kind, EndKind::Refused);
}

#[test]
fn a_stop_while_it_waits_is_told_to_it() {
    let (mut story, first) = Story::held();
    story.say("/stop");
    assert_eq!(story.tells.last(), Some(&HarnessInput::Stop));
    story.ends(Ok(StopReason::Stopped));
    assert_eq!(story.ending(first).kind, EndKind::Stopped);
}

//! What may be used, and what is said when it is used up.

use super::*;

impl Story {
    fn with_budgets(change: impl FnOnce(&mut Budgets)) -> Self {
        let mut story = Self::new();
        let mut profile = (*story.chat.context.profile).clone();
        change(&mut profile.budgets);
        story.chat.context.profile = Arc::new(profile);
        story
    }

    fn uses(&mut self, input: u64, output: u64) {
        self.agent(HarnessEvent::Usage(Usage { calls: 1, input, output, ..Usage::default() }));
    }

    fn spent(&self) -> Vec<u64> {
        let spent = |c: &Change| match c {
            Change::Spent { used, .. } => Some(used.input + used.output),
            _ => None,
        };
        self.changes.iter().filter_map(spent).collect()
    }
}

fn budget(text: &str) -> Budget {
    text.parse().expect("a budget")
}

/// Holds: H-23.
#[test]
fn a_run_over_its_budget_is_stopped_with_what_it_wrote_and_the_next_has_a_budget_of_its_own() {
    let mut story = Story::with_budgets(|b| b.run = budget("tokens=100"));
    let first = story.say("Hello");
    story.uses(60, 30);
    assert!(!story.tells.contains(&HarnessInput::Stop));
    story.answers("Half of it.", vec![]);
    story.uses(60, 1);
    assert!(story.tells.contains(&HarnessInput::Stop));
    story.ends(Ok(StopReason::Stopped));
    let ending = story.ending(first);
    assert_eq!(ending.kind, EndKind::Failed);
    assert_eq!(ending.fault.as_ref().map(|f| f.kind), Some(TurnFaultKind::Budget));
    assert!(
        ending.said.starts_with("Half of it.\n\n⚠️ The budget of one run, 100 tokens, is used up."),
        "{}",
        ending.said
    );
    let second = story.say("Again");
    story.uses(10, 10);
    story.answers("Whole.", vec![]);
    story.ends(Ok(StopReason::Done));
    assert_eq!(story.ending(second).kind, EndKind::Replied);
}

#[test]
fn calls_beyond_the_budget_of_tools_are_refused_and_the_agent_may_still_answer() {
    let mut story = Story::with_budgets(|b| b.run = budget("tools=2"));
    let read =
        |id: &str| Call { id: id.into(), tool: "read_file".into(), input: json!({}), class: ToolClass::Read };
    let first = story.say("Look");
    for id in ["1", "2", "3"] {
        story.agent(HarnessEvent::Call(read(id)));
    }
    let go = |id: &str| HarnessInput::Go(id.into());
    assert_eq!(story.tells[..2], [go("1"), go("2")]);
    let HarnessInput::No(_, why) = &story.tells[2] else { panic!("{:?}", story.tells[2]) };
    assert!(why.contains("2 tool calls") && why.contains("say what you have"), "{why}");
    story.answers("What I have.", vec![]);
    story.ends(Ok(StopReason::Done));
    assert_eq!(
        (story.ending(first).kind, story.ending(first).said.as_str()),
        (EndKind::Replied, "What I have.")
    );
}

/// Holds: C-31.
#[test]
fn a_session_that_is_used_up_says_so_and_a_new_one_goes_on() {
    let mut story = Story::with_budgets(|b| b.session = budget("tokens=50"));
    story.say("Hello");
    story.uses(30, 10);
    story.answers("Hi.", vec![]);
    story.ends(Ok(StopReason::Done));
    let usage = story.say("/usage");
    assert!(
        story.ending(usage).said.contains("The budget of this session: 40 of 50 tokens."),
        "{}",
        story.ending(usage).said
    );
    story.say("More");
    story.uses(30, 10);
    story.ends(Ok(StopReason::Stopped));
    let third = story.say("And more");
    let ending = story.ending(third);
    assert_eq!((ending.kind, ending.refusal), (EndKind::Refused, Some(Refusal::Budget)));
    assert!(ending.said.contains("50 tokens") && ending.said.contains("/new"), "{}", ending.said);
    story.say("/new");
    let fourth = story.say("Hello again");
    story.answers("Hi again.", vec![]);
    story.ends(Ok(StopReason::Done));
    assert_eq!(story.ending(fourth).kind, EndKind::Replied);
}

#[test]
fn what_a_sender_used_is_counted_only_where_there_is_a_budget_for_it() {
    let mut story = Story::with_budgets(|b| b.sender = budget("tokens=50"));
    story.say("Hello");
    story.uses(30, 10);
    story.answers("Hi.", vec![]);
    story.ends(Ok(StopReason::Done));
    assert_eq!(story.spent().iter().sum::<u64>(), 40);
    let mut other = Story::new();
    other.say("Hello");
    other.uses(30, 10);
    other.answers("Hi.", vec![]);
    other.ends(Ok(StopReason::Done));
    assert!(other.spent().is_empty());
}

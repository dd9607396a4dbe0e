//! Single stories of one conversation, told input by input.

mod budgets;
mod held_open;
mod ledger;

use std::sync::Arc;

use sb_core::model::*;
use sb_core::{Context, Conversation, Effect, Input, Outcome, Seen, Show};
use serde_json::json;

use crate::conversation::PLAIN;
use crate::world::{context, empty};

/// A conversation whose shell grants places and starts harnesses at once.
struct Story {
    chat: Conversation,
    now: Timestamp,
    last: i64,
    changes: Vec<Change>,
    tells: Vec<HarnessInput>,
    endings: Vec<(MessageId, Ending)>,
    logged: Vec<Entry>,
}

impl Story {
    fn new() -> Self {
        Self::over(empty())
    }

    fn over(state: Snapshot) -> Self {
        Self::at(Timestamp(1_000), state)
    }

    fn at(now: Timestamp, state: Snapshot) -> Self {
        Self::with(now, state, context())
    }

    fn with(now: Timestamp, state: Snapshot, context: Context) -> Self {
        let mut story = Self {
            last: state.newest.0,
            chat: Conversation::new(state, context, 7),
            now,
            changes: Vec::new(),
            tells: Vec::new(),
            endings: Vec::new(),
            logged: Vec::new(),
        };
        story.input(Input::Recovered);
        story
    }

    fn input(&mut self, input: Input) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            let Outcome { record, perform } = self.chat.handle(self.now, input);
            for change in &record {
                if let Change::Logged { entry, .. } = change {
                    self.logged.push(entry.clone());
                }
            }
            self.changes.extend(record);
            for effect in perform {
                match effect {
                    Effect::WantSlot { .. } => inputs.push(Input::Granted),
                    Effect::Run(turn) => inputs.push(Input::Opened(turn, self.logged.clone())),
                    Effect::Tell(told) => self.tells.push(told),
                    Effect::Show(Show::Ended(id, ending)) => self.endings.push((id, ending)),
                    Effect::Recall(id) => {
                        let waiting = self.chat.state().waiting.iter().find(|m| m.id == id).cloned();
                        inputs.extend(waiting.map(|m| Input::Arrived(m, Seen::default())));
                    }
                    _ => {}
                }
            }
        }
    }

    fn say_with(&mut self, text: &str, manner: Manner, rights: Rights) -> MessageId {
        self.last += 1;
        let id = MessageId(self.last);
        let from = Principal("slack:U07".into());
        let message = Message {
            id,
            at: self.now,
            from,
            rights,
            text: text.into(),
            files: vec![],
            manner,
            session: None,
            origin: None,
        };
        self.input(Input::Arrived(message, Seen::default()));
        id
    }

    fn say(&mut self, text: &str) -> MessageId {
        self.say_with(text, PLAIN, Rights::ALL)
    }

    fn busy(&mut self, text: &str, busy: Busy) -> MessageId {
        self.say_with(text, Manner { busy, commands_wait: true, ..PLAIN }, Rights::ALL)
    }

    fn turn(&self) -> TurnId {
        self.chat.state().turn.as_ref().expect("a turn").id
    }

    fn agent(&mut self, event: HarnessEvent) {
        let turn = self.turn();
        self.input(Input::Harness(turn, event));
    }

    fn answers(&mut self, text: &str, calls: Vec<Call>) {
        self.agent(HarnessEvent::Log(Record::Answered {
            text: text.into(),
            calls,
            model: "scripted".into(),
            kept: None,
            usage: Usage::default(),
            cut: false,
        }));
    }

    fn ends(&mut self, how: Result<StopReason, TurnFault>) {
        let turn = self.turn();
        self.input(Input::Ended(turn, how));
    }

    fn ending(&self, id: MessageId) -> &Ending {
        &self.endings.iter().rev().find(|(m, _)| *m == id).unwrap_or_else(|| panic!("{id:?} has no ending")).1
    }

    fn running(&self) -> Vec<MessageId> {
        self.chat.state().turn.iter().flat_map(|t| t.messages.iter().map(|(m, _)| m.id)).collect()
    }

    /// Up to a write that waits for a person.
    fn asked() -> (Self, MessageId) {
        let mut story = Self::new();
        let first = story.say("write it");
        story.answers("I will.", vec![write("a.txt")]);
        story.agent(HarnessEvent::Call(write("a.txt")));
        story.ends(Ok(StopReason::Parked));
        (story, first)
    }

    fn request(&self) -> String {
        self.chat.state().turn.as_ref().and_then(|t| t.pending.as_ref()).expect("a request").request.short()
    }
}

fn write(path: &str) -> Call {
    Call {
        id: CallId(format!("call {path}")),
        tool: "write_file".into(),
        input: json!({ "path": path }),
        class: ToolClass::Write,
    }
}

/// Holds: H-08.
#[test]
fn a_reply_is_all_the_agent_said_each_answer_a_paragraph() {
    let mut story = Story::new();
    let first = story.say("hello");
    story.answers("One.", vec![]);
    story.answers("", vec![]);
    story.answers("Two.", vec![]);
    story.ends(Ok(StopReason::Done));
    assert_eq!(story.ending(first).said, "One.\n\nTwo.");
    assert_eq!(story.ending(first).kind, EndKind::Replied);
}

#[test]
fn a_turn_that_says_nothing_is_an_explicit_silence() {
    let mut story = Story::new();
    let first = story.say("hello");
    story.ends(Ok(StopReason::Done));
    assert_eq!(story.ending(first).kind, EndKind::Silent);
}

/// Holds: H-26.
#[test]
fn a_failed_turn_says_what_failed_and_what_to_do() {
    let mut story = Story::new();
    let first = story.say("hello");
    story.ends(Err(TurnFault::new(TurnFaultKind::Credit, "The provider's credit is used up")));
    let ending = story.ending(first);
    assert_eq!(ending.kind, EndKind::Failed);
    assert!(ending.said.contains("credit is used up") && ending.said.contains("/retry"), "{}", ending.said);
}

/// Holds: C-17, C-46, H-16.
#[test]
fn an_approved_call_acts_once_and_the_record_says_who_decided() {
    let (mut story, first) = Story::asked();
    let waiting = story.ending(first).clone();
    assert_eq!(waiting.kind, EndKind::Waiting);
    assert!(waiting.said.starts_with("I will.\n\nwaiting for your approval: write_file {\"path\":\"a.txt\"} (a write at autonomy L3; request "));
    let request = story.request();
    let decision = story.say(&format!("/approve {request}"));
    story.agent(HarnessEvent::Call(write("a.txt")));
    assert!(story.tells.contains(&HarnessInput::Go("call a.txt".into())));
    let decided = story.logged.iter().find_map(|e| match &e.record {
        Record::Decided { by, allowed, .. } => Some((by.0.clone(), *allowed)),
        _ => None,
    });
    assert_eq!(decided, Some(("slack:U07".to_owned(), true)));
    story.answers("Done.", vec![]);
    story.ends(Ok(StopReason::Done));
    assert_eq!(story.ending(decision).said, "Done.");
    assert_eq!(story.ending(first).said, "I will.\n\nDone.");
}

/// Who is behind a turn that waits for a person reads what it waits for, whenever it came.
#[test]
fn words_held_behind_a_request_read_what_is_asked_at_once() {
    let mut story = Story::new();
    story.say("write it");
    let before = story.say("and then?");
    story.answers("", vec![write("a.txt")]);
    story.agent(HarnessEvent::Call(write("a.txt")));
    story.ends(Ok(StopReason::Parked));
    let after = story.say("hello?");
    for held in [before, after] {
        assert_eq!(story.ending(held).kind, EndKind::Waiting);
    }
    story.say("/decline no");
    story.ends(Ok(StopReason::Done));
    assert_eq!(story.running(), [before], "held, not lost");
}

/// The call that was approved is the call that runs: another input under the same id asks again.
#[test]
fn an_approval_holds_for_the_very_call_only() {
    let (mut story, _) = Story::asked();
    story.say("/approve");
    let changed = Call { input: json!({"path": "b.txt"}), ..write("a.txt") };
    story.agent(HarnessEvent::Call(changed));
    assert!(!story.tells.iter().any(|t| matches!(t, HarnessInput::Go(_))));
    assert!(matches!(story.tells.last(), Some(HarnessInput::Wait(_))));
}

/// Holds: C-18, C-19.
#[test]
fn only_the_very_request_that_waits_can_be_decided() {
    let (mut story, _) = Story::asked();
    let wrong = story.say("/approve 00000000");
    assert_eq!(story.ending(wrong).refusal, Some(Refusal::NotWaiting));
    let wrong = story.say("/decline 00000000 no");
    assert_eq!(story.ending(wrong).refusal, Some(Refusal::NotWaiting));
    let short = story.request();
    story.say(&format!("/decline {} too early", &short[..4]));
    let why = story
        .logged
        .iter()
        .any(|e| matches!(&e.record, Record::Decided { allowed: false, why, .. } if why == "too early"));
    assert!(why, "the reason is given with it");
    story.ends(Ok(StopReason::Done));
    let late = story.say("/approve");
    assert_eq!(story.ending(late).refusal, Some(Refusal::NotWaiting));
}

/// Holds: C-43, W-24.
#[test]
fn who_may_only_talk_neither_decides_nor_instructs() {
    let (mut story, _) = Story::asked();
    for (text, refusal) in [
        ("/approve", Refusal::MayNotDecide),
        ("/decline no", Refusal::MayNotDecide),
        ("/model 2", Refusal::MayNotInstruct),
        ("/system x", Refusal::MayNotInstruct),
        ("/tools all", Refusal::MayNotInstruct),
    ] {
        let id = story.say_with(text, PLAIN, Rights::TALK);
        assert_eq!(story.ending(id).refusal, Some(refusal), "{text}");
    }
}

/// Holds: C-50.
#[test]
fn always_while_tainted_allows_once_and_says_so() {
    let mut story = Story::new();
    story.say("write it");
    story.answers("", vec![write("a.txt")]);
    let outside =
        Record::Result { call: "x".into(), ok: true, text: "page".into(), files: vec![], outside: true };
    story.agent(HarnessEvent::Log(outside));
    story.agent(HarnessEvent::Call(write("a.txt")));
    story.ends(Ok(StopReason::Parked));
    let decision = story.say("/approve always");
    assert_eq!(story.chat.state().session.as_ref().map(|s| s.allowed.len()), Some(0));
    story.agent(HarnessEvent::Call(write("a.txt")));
    assert!(story.tells.contains(&HarnessInput::Go("call a.txt".into())));
    story.ends(Ok(StopReason::Done));
    assert!(story.ending(decision).said.contains("Allowed once"));
}

/// Holds: C-08, C-09, C-10.
#[test]
fn stop_ends_the_turn_keeps_its_words_and_drops_what_waited() {
    let mut story = Story::new();
    let first = story.say("a long story");
    let second = story.say("and another");
    story.agent(HarnessEvent::Text("Once upon".into()));
    let stop = story.say("/stop");
    assert_eq!(story.ending(second).kind, EndKind::Dropped);
    assert_eq!(story.tells.last(), Some(&HarnessInput::Stop));
    story.agent(HarnessEvent::Call(write("a.txt")));
    assert_eq!(story.tells.last(), Some(&HarnessInput::Stop), "no call begins any more");
    story.answers("Once upon", vec![]);
    story.ends(Ok(StopReason::Stopped));
    assert_eq!(
        (story.ending(first).kind, story.ending(first).said.as_str()),
        (EndKind::Stopped, "Once upon\n\nStopped.")
    );
    assert_eq!(story.ending(stop).said, "Stopped.");
}

/// Holds: C-16.
#[test]
fn stop_where_nothing_runs_says_that_nothing_is_running() {
    let mut story = Story::new();
    let stop = story.say("/stop");
    assert_eq!(story.ending(stop).said, "Nothing is running.");
}

#[test]
fn stop_while_a_request_waits_closes_it() {
    let (mut story, first) = Story::asked();
    let stop = story.say("/stop");
    assert_eq!(story.ending(first).kind, EndKind::Stopped);
    assert_eq!(story.ending(stop).said, "Stopped.");
    let late = story.say("/approve");
    assert_eq!(story.ending(late).refusal, Some(Refusal::NotWaiting));
}

#[test]
fn a_harness_that_will_not_stop_is_dropped_after_ten_seconds() {
    let mut story = Story::new();
    let first = story.say("hello");
    story.say("/stop");
    story.now = story.chat.wake_at().expect("patience has an end");
    assert_eq!(story.now, Timestamp(11_000));
    story.input(Input::Wake);
    assert_eq!(story.ending(first).kind, EndKind::Stopped);
}

/// Holds: F-29.
#[test]
fn a_turn_has_a_deadline_that_stands_still_while_a_person_is_asked() {
    let (mut story, first) = Story::asked();
    assert_eq!(story.chat.wake_at(), None);
    story.now = story.now.plus_ms(10_000_000);
    story.say("/approve");
    story.now = story.chat.wake_at().expect("a deadline");
    assert_eq!(story.now, Timestamp(1_000 + 10_000_000 + 600_000));
    story.input(Input::Wake);
    story.ends(Ok(StopReason::Stopped));
    assert_eq!(story.ending(first).fault.as_ref().map(|f| f.kind), Some(TurnFaultKind::Deadline));
}

/// Holds: B-06, B-07.
#[test]
fn steered_words_join_the_turn_once_the_agent_took_them_else_they_are_the_next_one() {
    let mut story = Story::new();
    let first = story.say("hello");
    let taken = story.busy("in French", Busy::Steer);
    let late = story.busy("or German", Busy::Steer);
    assert_eq!(story.tells.len(), 2);
    story.agent(HarnessEvent::Took(taken));
    assert_eq!(story.running(), [first, taken]);
    story.answers("Bonjour.", vec![]);
    story.ends(Ok(StopReason::Done));
    assert_eq!(story.ending(taken).said, "Bonjour.");
    assert_eq!(story.running(), [late]);
}

/// Holds: B-08, B-09.
#[test]
fn queued_messages_are_turns_of_their_own_and_collected_ones_are_one() {
    let mut story = Story::new();
    story.say("hello");
    let queued = [story.busy("a", Busy::Queue), story.busy("b", Busy::Queue)];
    let collected = [story.busy("c", Busy::Collect), story.busy("d", Busy::Collect)];
    for expected in [&queued[..1], &queued[1..], &collected[..]] {
        story.ends(Ok(StopReason::Done));
        assert_eq!(story.running(), expected);
    }
}

/// Holds: B-10.
#[test]
fn an_interrupting_message_stops_the_turn_and_is_the_next_one() {
    let mut story = Story::new();
    let first = story.say("hello");
    let next = story.busy("no, wait: this", Busy::Interrupt);
    assert_eq!(story.tells, [HarnessInput::Stop]);
    story.answers("So far", vec![]);
    story.ends(Ok(StopReason::Stopped));
    assert!(story.ending(first).said.starts_with("So far"));
    assert_eq!(story.running(), [next]);
}

/// Holds: B-04, B-05.
#[test]
fn messages_close_together_are_one_turn_whose_lines_say_who_wrote() {
    let mut story = Story::new();
    let manner = Manner { debounce_ms: 500, names_writers: true, ..PLAIN };
    let a = story.say_with("one", manner.clone(), Rights::ALL);
    story.now = story.now.plus_ms(400);
    let b = story.say_with("two", manner, Rights::TALK);
    assert!(story.running().is_empty());
    story.now = story.chat.wake_at().expect("it settles");
    story.input(Input::Wake);
    assert_eq!(story.running(), [a, b]);
    assert_eq!(
        story.chat.state().turn.as_ref().map(|t| t.rights),
        Some(Rights::TALK),
        "the least of their rights"
    );
    assert!(
        story
            .logged
            .iter()
            .any(|e| matches!(&e.record, Record::Said { text, .. } if text == "slack:U07: one"))
    );
}

#[test]
fn a_message_of_a_clock_that_was_set_back_waits_for_nothing() {
    let mut story = Story::new();
    let manner = Manner { debounce_ms: 500, ..PLAIN };
    let a = story.say_with("one", manner, Rights::ALL);
    assert!(story.running().is_empty(), "another may follow");
    // It is started again, and the clock shows a day before.
    let mut story = Story::at(story.now.plus_ms(-86_400_000), story.chat.state().clone());
    story.input(Input::Wake);
    assert_eq!(story.running(), [a]);
}

/// Holds: C-55, C-56.
#[test]
fn other_commands_wait_for_the_turn_on_a_bridge_and_are_refused_on_http() {
    let mut story = Story::new();
    story.say("hello");
    let refused = story.say("/new");
    assert_eq!(story.ending(refused).refusal, Some(Refusal::Busy));
    let waits = story.busy("/whoami", Busy::Steer);
    assert!(!story.endings.iter().any(|(m, _)| *m == waits));
    story.ends(Ok(StopReason::Done));
    assert!(story.ending(waits).said.contains("slack:U07"));
}

/// Holds: C-62, C-63.
#[test]
fn after_a_restart_the_chat_is_told_first_and_the_third_crash_gives_up() {
    let mut story = Story::new();
    let first = story.say("hello");
    story.answers("Half.", vec![write("a.txt")]);
    for start in 2..=3 {
        let logged = std::mem::take(&mut story.logged);
        story = Story::over(story.chat.state().clone());
        story.logged.splice(0..0, logged);
        assert_eq!(story.chat.state().turn.as_ref().map(|t| t.starts), Some(start));
    }
    let mut done = Story::over(story.chat.state().clone());
    assert_eq!(done.ending(first).fault.as_ref().map(|f| f.kind), Some(TurnFaultKind::Crashed));
    assert!(done.chat.state().turn.is_none());
    done.say("again");
    assert_eq!(done.running().len(), 1);

    story.input(Input::Opened(story.turn(), story.logged.clone()));
    story.answers("Whole.", vec![]);
    story.ends(Ok(StopReason::Done));
    let said = &story.ending(first).said;
    assert!(
        said.starts_with("I was restarted")
            && said.ends_with("Whole.")
            && said.matches("restarted").count() == 1,
        "{said}"
    );
}

/// Holds: C-58.
#[test]
fn what_a_chat_chose_holds_for_its_later_sessions() {
    let mut story = Story::new();
    story.say("/model 2");
    story.say("/tools read_file");
    story.say("/system Be brief.");
    story.say("/new");
    let choices = &story.chat.state().choices;
    assert_eq!(choices.model.as_deref(), Some("openai:other"));
    assert_eq!(choices.tools.as_deref(), Some(&["read_file".to_owned()][..]));
    assert_eq!(choices.system.as_deref(), Some("Be brief."));
    let unknown = story.say("/model 9");
    assert_eq!(story.ending(unknown).refusal, Some(Refusal::Unknown));
}

/// Holds: C-23, C-24.
#[test]
fn what_is_allowed_is_listed_and_can_be_withdrawn() {
    let (mut story, _) = Story::asked();
    story.say("/approve always write_file(a.txt)");
    story.agent(HarnessEvent::Call(write("a.txt")));
    let again = Call { id: "again".into(), ..write("a.txt") };
    story.agent(HarnessEvent::Call(again));
    assert!(story.tells.contains(&HarnessInput::Go("again".into())), "the rule lets it pass unasked");
    story.ends(Ok(StopReason::Done));
    let list = story.say("/allowed");
    assert!(story.ending(list).said.contains("write_file(a.txt)"));
    story.say("/allowed off");
    let list = story.say("/allowed");
    assert!(story.ending(list).said.contains("Nothing is allowed"));
}

#[test]
fn who_comes_second_is_told_who_decided() {
    let (mut story, _) = Story::asked();
    let request = story.chat.state().turn.as_ref().and_then(|t| t.pending.clone()).expect("it waits").request;
    story.say("/approve");
    let decisions = vec![Decision { request, allowed: true, by: Principal("telegram:4242".into()) }];
    story.last += 1;
    let id = MessageId(story.last);
    let text = format!("/approve {request}");
    let (from, at) = (Principal("slack:U07".into()), story.now);
    let (rights, manner) = (Rights::ALL, PLAIN);
    let message = Message { id, at, from, rights, text, files: vec![], manner, session: None, origin: None };
    story.input(Input::Arrived(message, Seen { decisions, ..Seen::default() }));
    assert_eq!(
        story.ending(id).said,
        "That request is no longer open: it was allowed by telegram:4242. Nothing more was done."
    );
}

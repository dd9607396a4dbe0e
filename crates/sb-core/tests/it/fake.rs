//! An agent that keeps the harness contract and otherwise improvises.

use sb_core::model::*;
use serde_json::json;

use crate::world::Chance;

pub struct Agent {
    pub turn: TurnId,
    session: SessionId,
    task: Task,
    pub told: Vec<HarnessInput>,
    /// Logged here and perhaps not committed yet.
    mine: Vec<Record>,
    waits_for: Option<Call>,
    stopping: bool,
    steps: u32,
    /// It never listens and never returns.
    deaf: bool,
}

type Act = Option<Result<HarnessEvent, Result<StopReason, TurnFault>>>;

impl Agent {
    pub fn new(turn: TurnId, session: SessionId, task: Task) -> Self {
        Self {
            turn,
            session,
            task,
            told: Vec::new(),
            mine: Vec::new(),
            waits_for: None,
            stopping: false,
            steps: 0,
            deaf: false,
        }
    }

    pub fn acts(&self, id: &CallId) -> bool {
        self.waits_for.as_ref().is_some_and(|c| c.id == *id && c.class.acts())
    }

    /// What it does next; `None`: it waits to be told.
    pub fn act(&mut self, chance: &mut Chance, log: &[(SessionId, Entry)]) -> Act {
        if self.deaf {
            return None;
        }
        if self.stopping {
            return Some(Err(Ok(StopReason::Stopped)));
        }
        if !self.told.is_empty() {
            let told = self.told.remove(0);
            return self.hear(chance, told);
        }
        if self.waits_for.is_some() {
            return None;
        }
        self.steps += 1;
        if chance.one_in(200) {
            self.deaf = true;
            return None;
        }
        if chance.one_in(60) {
            return Some(Err(Err(TurnFault::new(TurnFaultKind::Overloaded, "overloaded"))));
        }
        if self.task == Task::Compact {
            return Some(Err(Ok(StopReason::Done)));
        }
        match self.open_call(log) {
            Some(call) => {
                self.waits_for = Some(call.clone());
                Some(Ok(HarnessEvent::Call(call)))
            }
            None => self.write(chance, log),
        }
    }

    fn hear(&mut self, chance: &mut Chance, told: HarnessInput) -> Act {
        match told {
            HarnessInput::Stop => {
                self.stopping = true;
                Some(Ok(HarnessEvent::Text("…".into())))
            }
            HarnessInput::Steer(id, _) if chance.one_in(2) => Some(Ok(HarnessEvent::Took(id))),
            HarnessInput::Wait(_) => Some(Err(Ok(StopReason::Parked))),
            HarnessInput::Go(id) => Some(self.result(id, true, "did it")),
            HarnessInput::No(id, why) => Some(self.result(id, false, &why)),
            _ => Some(Ok(HarnessEvent::Thought("hm".into()))),
        }
    }

    fn result(
        &mut self,
        call: CallId,
        ok: bool,
        text: &str,
    ) -> Result<HarnessEvent, Result<StopReason, TurnFault>> {
        self.waits_for = None;
        let outside = ok && call.0.ends_with('7');
        let record = Record::Result { call, ok, text: text.to_owned(), files: Vec::new(), outside };
        self.mine.push(record.clone());
        Ok(HarnessEvent::Log(record))
    }

    /// The turn's records: the committed ones, and those of this run that may not be.
    fn records<'a>(&'a self, log: &'a [(SessionId, Entry)]) -> impl Iterator<Item = &'a Record> {
        let stored = log
            .iter()
            .filter(|(s, e)| *s == self.session && e.turn == Some(self.turn))
            .map(|(_, e)| &e.record);
        stored.chain(&self.mine)
    }

    fn open_call(&mut self, log: &[(SessionId, Entry)]) -> Option<Call> {
        let (mut open, mut begun): (Vec<Call>, Vec<CallId>) = (Vec::new(), Vec::new());
        for record in self.records(log) {
            match record {
                Record::Answered { calls, .. } => open = calls.clone(),
                Record::Result { call, .. } => open.retain(|c| c.id != *call),
                Record::Acting { call } => begun.push(call.clone()),
                _ => {}
            }
        }
        // What was begun before a crash may have been done: it is not done again.
        open.into_iter().find(|c| !begun.contains(&c.id))
    }

    fn write(&mut self, chance: &mut Chance, log: &[(SessionId, Entry)]) -> Act {
        if chance.one_in(3) {
            return Some(Ok(HarnessEvent::Text("some words ".into())));
        }
        if chance.one_in(8) {
            return Some(Ok(HarnessEvent::Void));
        }
        let last_has_calls = self.records(log).filter_map(|r| match r {
            Record::Answered { calls, .. } => Some(!calls.is_empty()),
            _ => None,
        });
        if last_has_calls.last() == Some(false) || self.steps > 60 {
            return Some(Err(Ok(StopReason::Done)));
        }
        let calls = (0..chance.below(3)).map(|_| self.call(chance)).collect();
        let text = if chance.one_in(4) { "" } else { "An answer." };
        let record = Record::Answered {
            text: text.into(),
            calls,
            model: "scripted".into(),
            kept: None,
            usage: Usage::default(),
            cut: false,
        };
        self.mine.push(record.clone());
        Some(Ok(HarnessEvent::Log(record)))
    }

    fn call(&mut self, chance: &mut Chance) -> Call {
        let (tool, class) = *chance.pick(&[
            ("read_file", ToolClass::Read),
            ("write_file", ToolClass::Write),
            ("shell", ToolClass::Shell),
            ("web", ToolClass::Outside),
        ]);
        let id = CallId(format!("call_{}", chance.next()));
        Call { id, tool: tool.into(), input: json!({"path": format!("{}.txt", chance.below(3))}), class }
    }
}

//! A message was taken: is it a command, a decision, or something for the agent?

use sb_model::{Busy, HarnessInput, Message, MessageId, Phase, Record, Refusal, Task};

use super::run::{Plan, StopCause};
use super::{Conversation, Effect, Seen, Show};
use crate::commands::{self, Command, Entry, Need, When};

impl Conversation {
    pub(super) fn arrived(&mut self, message: Message, seen: Seen) {
        let id = message.id;
        if matches!(self.plan, Some(Plan::Recall(recalled)) if recalled == id) {
            self.plan = None;
        }
        if !self.keep_waiting(&message) {
            return;
        }
        if message.session.is_some() && message.session != self.session_id() {
            let said = "That session is no longer the conversation's current one. /resume goes back to it.";
            self.refuse(id, Refusal::OtherSession, said);
        } else {
            match commands::read(&message) {
                Err(bad) => self.refuse(id, Refusal::BadCommand, bad.0),
                Ok(None) => self.words_arrived(&message),
                Ok(Some((entry, command))) => self.command_arrived(&message, entry, command, seen),
            }
        }
        self.next();
    }

    /// Whether the message waits for its ending here; one that came before we were loaded, and is no
    /// longer among those waiting, was dealt with.
    fn keep_waiting(&mut self, message: &Message) -> bool {
        if self.state.waiting.iter().any(|m| m.id == message.id) {
            return true;
        }
        if message.id <= self.loaded_to {
            return false;
        }
        // Two that were taken at once may be told in either order.
        self.state.newest = self.state.newest.max(message.id);
        let at = self.state.waiting.partition_point(|m| m.id < message.id);
        self.state.waiting.insert(at, message.clone());
        true
    }

    fn words_arrived(&mut self, message: &Message) {
        if !message.files.is_empty() && !self.prepared.contains_key(&message.id) {
            self.prepared.insert(message.id, None);
            self.perform(Effect::Prepare(message.id));
        }
        let Some(turn) = &self.state.turn else {
            // Something is before it, though nothing runs yet.
            if message.manner.busy == Busy::Refuse && self.is_behind(message.id) {
                self.refuse_busy(message.id);
            }
            return;
        };
        match (turn.phase, message.manner.busy) {
            (_, Busy::Refuse) => self.refuse_busy(message.id),
            // Words said while a question is open are held, and the question is shown again.
            (Phase::Parked, _) => {
                let ending = self.waiting_ending(None);
                self.perform(Effect::Show(Show::Ended(message.id, ending)));
            }
            (Phase::Running, Busy::Steer) if turn.task == Task::Answer => self.steer(message.id),
            (Phase::Running, Busy::Interrupt) => self.stop_run(StopCause::Interrupted),
            _ => {}
        }
    }

    /// Gives waiting words to the agent at work. They wait on until it confirms them.
    pub(super) fn steer(&mut self, id: MessageId) {
        let ready = self.is_ready(id);
        let Some(record) = self.said(id, true).filter(|_| ready && self.context.steers) else { return };
        let Some(run) = self.run.as_mut().filter(|r| r.stop.is_none()) else { return };
        if !run.steering.contains(&id) {
            run.steering.push(id);
            self.perform(Effect::Tell(HarnessInput::Steer(id, record)));
        }
    }

    /// The record of a waiting message's words, as they reach the agent.
    pub(super) fn said(&self, id: MessageId, steered: bool) -> Option<Record> {
        let m = self.state.waiting.iter().find(|m| m.id == id)?;
        let mut text = match m.manner.names_writers {
            true => format!("{}: {}", sb_model::text::one_line(&m.from.0, 64), m.text),
            false => m.text.clone(),
        };
        for line in self.prepared.get(&id).and_then(Option::as_ref).into_iter().flatten() {
            text.push('\n');
            text.push_str(line);
        }
        Some(Record::Said { message: id, from: m.from.clone(), text, files: m.files.clone(), steered })
    }

    fn refuse_busy(&mut self, id: MessageId) {
        let (refusal, said) = match self.state.turn.as_ref().is_some_and(|t| t.phase == Phase::Parked) {
            true => {
                (Refusal::Waiting, "A request waits for a person here: /approve, /decline or /stop first.")
            }
            false => (Refusal::Busy, "The agent is at work here. Wait for its answer, or send /stop."),
        };
        self.refuse(id, refusal, said);
    }

    fn command_arrived(&mut self, message: &Message, entry: &Entry, command: Command, seen: Seen) {
        let id = message.id;
        let may = match entry.need {
            Need::Nothing => true,
            Need::Decide => message.rights.decide,
            Need::Instruct => message.rights.instruct,
        };
        if !may {
            let (refusal, what) = match entry.need {
                Need::Instruct => (Refusal::MayNotInstruct, "change what is set here"),
                _ => (Refusal::MayNotDecide, "approve or decline"),
            };
            return self.refuse(id, refusal, format!("You may talk here, not {what}."));
        }
        let parked = self.state.turn.as_ref().is_some_and(|t| t.phase == Phase::Parked);
        let working = self.state.turn.is_some() && !parked;
        let clear = match entry.when {
            When::Always => true,
            When::NotWorking => !working,
            When::Idle => self.state.turn.is_none() && !self.is_behind(id),
        };
        if clear {
            self.run_command(message, command, seen);
        } else if !message.manner.commands_wait {
            self.refuse_busy(id);
        } else if parked {
            self.refuse(
                id,
                Refusal::Waiting,
                "A request waits for a person here: /approve, /decline or /stop first.",
            );
        }
        // Otherwise it waits its turn.
    }

    /// Whether messages taken earlier still wait for their turn.
    fn is_behind(&self, id: MessageId) -> bool {
        self.state.waiting.iter().any(|m| m.id < id)
    }

    fn run_command(&mut self, message: &Message, command: Command, seen: Seen) {
        match command {
            Command::Stop => self.stop(message.id),
            Command::Approve { request, always } => self.approve(message, request, always),
            Command::Decline { words } => self.decline(message, &words),
            Command::Allowed { off } => self.allowed(message, off),
            Command::New => self.new_session(message.id),
            Command::Status => self.status(message.id, &seen),
            Command::Retry => self.retry(message.id, seen),
            Command::Undo => self.undo(message, seen),
            Command::Compact => self.compact(message.id),
            Command::Usage => self.usage(message.id),
            Command::Sessions => self.sessions(message.id, &seen),
            Command::Resume(prefix) => self.resume(message.id, &prefix, seen),
            Command::Title(title) => self.title(message, title),
            Command::Model(number) => self.model(message, number),
            Command::System(text) => self.system(message, text),
            Command::Tools(names) => self.tools(message, names),
            Command::Whoami => self.whoami(message),
            Command::Help => self.answer(message.id, commands::help()),
        }
    }
}
